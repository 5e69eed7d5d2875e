"""Coverage of the schema by a sample of 400 messages."""

from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from holdfast.backup.schema import backup_pb2
from holdfast_demo.sample import Edition
from tests.backup.schema import spec_table
from tests.holdfast_demo.sample.sample_parts import PACKAGE, frames, header, local_name, values

EDITIONS: tuple[Edition, ...] = ("spec", "current")

# What no sample has, and why.
NEVER = {
    "GiftBadge.receiptCredentialPresentation",  # only the service can issue one
    "Group.GroupAttributeBlob.avatar",  # not valid for any attribute a backup holds
}
# Only one of the two stores can be where a subscription was bought.
STORES = {
    "AccountData.IAPSubscriberData.purchaseToken",
    "AccountData.IAPSubscriberData.originalTransactionId",
}
RETIRED = {"CallLink.epoch"}

# Choices that no sample makes, besides "unknown": a range without a style, a badge that needs a credential, and
# access to a group that no client lets its admins grant.
NEVER_VALUES = {
    "BodyRange.Style.NONE",
    "GiftBadge.State.UNOPENED",
    "GiftBadge.State.OPENED",
    "GiftBadge.State.REDEEMED",
    "GroupV2AccessLevel.ANY",
    "GroupV2AccessLevel.UNSATISFIABLE",
}


def message_types() -> Iterator[Descriptor]:
    """Every message of the schema."""
    waiting = list(backup_pb2.DESCRIPTOR.message_types_by_name.values())
    while waiting:
        message = waiting.pop()
        yield message
        waiting.extend(message.nested_types)


def later_fields() -> set[str]:
    """Every field that is not in the specification."""
    return {f"{message}.{line.split()[3]}" for message, lines in spec_table.LATER_FIELDS.items() for line in lines}


def set_fields(edition: Edition, size: int, seed: int) -> list[tuple[FieldDescriptor, object]]:
    """Every field that is set in a sample."""
    records = [header(size, seed, edition), *frames(size, seed, edition)]
    return [entry for record in records for entry in values(record)]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_every_field_is_set_somewhere(edition: Edition, seed: int) -> None:
    """No field of the edition is missing, and none of another edition is there."""
    expected = {local_name(field) for message in message_types() for field in message.fields} - NEVER - STORES
    expected -= later_fields() if edition == "spec" else RETIRED
    actual = {local_name(field) for field, _ in set_fields(edition, 400, seed)}
    assert len(actual & STORES) == 1
    assert expected == actual - STORES


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_value_is_used_somewhere(edition: Edition) -> None:
    """Every choice the format offers is made, apart from settings of which an account has only one."""
    enums: dict[str, EnumDescriptor] = {}
    for message in message_types():
        for field in message.fields:
            if field.enum_type is not None and not local_name(field).startswith("AccountData"):
                enums[field.enum_type.full_name] = field.enum_type
    expected = {
        f"{name.removeprefix(PACKAGE)}.{value.name}"
        for name, enum in enums.items()
        for value in enum.values
        if not value.name.startswith("UNKNOWN") and not (value.number == 0 and omits_zero(enum))
    }
    actual = {
        f"{field.enum_type.full_name.removeprefix(PACKAGE)}.{field.enum_type.values_by_number[value].name}"
        for seed in (1, 2)
        for field, value in set_fields(edition, 3000, seed)
        if field.enum_type is not None and isinstance(value, int)
    }
    assert expected - NEVER_VALUES - actual == set()


def omits_zero(enum: EnumDescriptor) -> bool:
    """Whether fields of this enum leave out the value 0, so that it cannot be seen."""
    return enum.name != "AvatarColor"


@pytest.mark.parametrize("edition", EDITIONS)
def test_polls_keep_to_the_limit_of_their_edition(edition: Edition) -> None:
    """The specification allows 100 characters; later 200 were allowed, and are used."""
    items = [frame.chatItem for frame in frames(20_000, 1, edition)]
    longest = max(len(item.poll.question) for item in items if item.HasField("poll"))
    assert longest <= 100 if edition == "spec" else 100 < longest <= 200
