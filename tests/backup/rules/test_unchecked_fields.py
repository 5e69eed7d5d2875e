"""Every field of the schema has a rule, or a documented reason why it needs none."""

import pytest
from google.protobuf.descriptor import FieldDescriptor

from holdfast.backup.rules import RULES, Edition
from holdfast.backup.rules.checks import ADDITIONS, LOSSES, MESSAGE_BY_NAME, SLOT_BY_NAME
from holdfast.backup.rules.unchecked_fields import REASONS, UNCHECKED, of
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import name_of

# What a file of one edition does not have; all else is of both.
ABSENT = {Edition.SPEC: ADDITIONS, Edition.CURRENT: LOSSES}


def oneofs() -> set[str]:
    """Name the oneofs of the schema, each as `Message.oneof`."""
    return {
        f"{name}.{oneof}"
        for name, index in MESSAGE_BY_NAME.items()
        for oneof in tables.MESSAGES[index].oneofs_by_name
    }


def fields_of(edition: Edition) -> dict[str, FieldDescriptor]:
    """Walk the descriptors from the records down, past what the edition does not have."""
    fields: dict[str, FieldDescriptor] = {}
    waiting = [Frame.DESCRIPTOR, BackupInfo.DESCRIPTOR]
    while waiting:
        for field in waiting.pop().fields:
            name = name_of(field)
            if name not in fields and name not in ABSENT[edition]:
                fields[name] = field
                waiting += [field.message_type] if field.message_type is not None else []
    return fields


def checked_fields(edition: Edition) -> set[str]:
    """Return the fields that the rules of an edition check."""
    return {name for rule in RULES if edition in rule.editions for name in rule.fields}


def without_rule(edition: Edition) -> set[str]:
    """Return the fields of an edition that no rule checks."""
    named = checked_fields(edition)
    fields = set()
    for name, field in fields_of(edition).items():
        oneof = field.containing_oneof
        by_oneof = oneof is not None and f"{name.rpartition('.')[0]}.{oneof.name}" in named
        inside = field.message_type is not None and (by_oneof or bool(field.message_type.fields))
        if name not in named and not inside:
            fields.add(name)
    return fields


def undecided(edition: Edition) -> set[str]:
    """Return the fields without a rule that are not documented as needing none."""
    return without_rule(edition) - set(UNCHECKED)


@pytest.mark.parametrize("edition", Edition)
def test_every_field_is_decided(edition: Edition) -> None:
    """Every field of the schema has a rule, or an entry with the reason why it has none."""
    assert undecided(edition) == set()


def test_a_field_nobody_thought_of_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field without a rule is reported if its entry is removed from the list."""
    monkeypatch.delitem(UNCHECKED, "Chat.archived")
    assert {name for edition in Edition for name in undecided(edition)} == {"Chat.archived"}


def test_no_reason_is_out_of_date() -> None:
    """The list has only fields of the schema without a rule, each once and with a reason."""
    assert set(UNCHECKED) <= {name for edition in Edition for name in without_rule(edition)}
    assert sum(len(fields) for _why, fields in REASONS) == len(UNCHECKED)
    assert all(reason.endswith(".") for reason in UNCHECKED.values())


def test_rules_name_fields_of_the_schema() -> None:
    """Rules name fields of the schema, each once; only rules about bytes or unknown fields name none."""
    for rule in RULES:
        assert set(rule.fields) <= set(SLOT_BY_NAME) | oneofs(), rule.id
        assert len(set(rule.fields)) == len(rule.fields)
    silent = {rule.id.partition(".")[0] for rule in RULES if not rule.fields}
    assert silent == {"container", "folder", "stream", "frame", "schema", "media"}


def test_fields_are_named_with_their_message() -> None:
    """A field is named as `Message.field`."""
    assert of("Quote", "text", "type") == ("Quote.text", "Quote.type")
