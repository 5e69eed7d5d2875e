"""Compares two versions of a record field by field: settings, recipients, chats and others, but not messages."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from holdfast.backup.order import RECIPIENT_IDS
from holdfast.backup.public import public
from holdfast.backup.wire.collect import name_of
from holdfast.redacted_repr import redacted

__all__ = ["HIDDEN", "FieldChange", "NameLookup", "RecordChange", "field_changes"]

# Ids that have no meaning outside of their file, and fields that say nothing new: a call's state has one value
# only, and contacts are registered unless `notRegistered` is set.
IGNORED: Final = frozenset({"Recipient.id", "Chat.id", "AdHocCall.state", "Contact.registered"})
# Text fields that give access to an account.
SECRETS: Final = frozenset({"AccountData.svrPin", "AccountData.IAPSubscriberData.purchaseToken"})
# Repeated fields whose entries are matched by a key, with the path of that key.
KEYED_LISTS: Final = {
    "Group.GroupSnapshot.members": "userId",
    "Group.GroupSnapshot.membersPendingProfileKey": "member.userId",
    "Group.GroupSnapshot.membersPendingAdminApproval": "userId",
    "Group.GroupSnapshot.members_banned": "userId",
    "AccountData.AccountSettings.customChatColors": "id",
}
HIDDEN: Final = "(not shown)"
ABSENT: Final = ""
NameLookup = Callable[[object], str | None]


@public
@redacted
@dataclass(frozen=True, slots=True)
class FieldChange:
    """A changed field of a record: the old and the new value; empty where the field is absent."""

    field: str
    before: str
    after: str


@public
@redacted
@dataclass(frozen=True, slots=True)
class RecordChange:
    """An added, removed or changed record; `kind` is person, group, chat and so on, `what` is the change."""

    kind: str
    name: str
    what: str
    fields: tuple[FieldChange, ...] = ()


@redacted
@dataclass(frozen=True, slots=True)
class FieldValue:
    """A value for comparison and for display; `absent` is displayed where the other record lacks the field."""

    value: object
    shown: str
    absent: str = ABSENT


MISSING: Final = FieldValue(None, ABSENT)


def field_changes(
    before: Message,
    after: Message,
    lookup_name: NameLookup,
    numbers: tuple[Mapping[int, int], Mapping[int, int]] = ({}, {}),
) -> tuple[FieldChange, ...]:
    """List the fields in which two records differ.

    `lookup_name` returns a recipient's name for a service id (bytes) or a common number (int); `numbers` maps the
    ids in each record to common numbers.
    """
    old = dict(field_values(before, lookup_name, numbers[0]))
    new = dict(field_values(after, lookup_name, numbers[1]))
    changes: list[FieldChange] = []
    for path in {**old, **new}:
        first, second = old.get(path), new.get(path)
        if first is None or second is None:
            absent = (first or second or MISSING).absent
            changes.append(FieldChange(path, first.shown if first else absent, second.shown if second else absent))
        elif first.value != second.value:
            changes.append(FieldChange(path, first.shown, second.shown))
    return tuple(changes)


def field_values(
    message: Message, lookup_name: NameLookup, numbers: Mapping[int, int], path: str = ""
) -> Iterator[tuple[str, FieldValue]]:
    """Yield the fields of a record that are set, each with its path."""
    for field, value in message.ListFields():
        name = name_of(field)
        place = f"{path}{field.name}"
        if name in IGNORED:
            continue
        if name in KEYED_LISTS:
            for entry in value:
                key = value_at(entry, KEYED_LISTS[name])
                label = lookup_name(key) or format_key(key)
                rest = {
                    inner: field_value.shown
                    for inner, field_value in field_values(entry, lookup_name, numbers)
                    if inner != KEYED_LISTS[name]
                }
                shown = ", ".join(f"{inner} {text}" for inner, text in rest.items())
                yield (
                    f"{place} {label}",
                    FieldValue((key, entry.SerializeToString(deterministic=True)), shown or label),
                )
        elif name in RECIPIENT_IDS and field.is_repeated:
            recipients = sorted(numbers.get(entry, entry) for entry in value)
            yield place, FieldValue(recipients, ", ".join(lookup_name(entry) or "Unknown" for entry in recipients))
        elif name in RECIPIENT_IDS:
            number = numbers.get(value, value)
            yield place, FieldValue(number, lookup_name(number) or "Unknown")
        elif field.message_type is None:
            yield place, scalar_value(field, name, value)
        elif field.is_repeated:
            for index, entry in enumerate(value):
                yield from field_values(entry, lookup_name, numbers, f"{place}[{index}].")
        else:
            inside = list(field_values(value, lookup_name, numbers, f"{place}."))
            # The presence of an empty submessage is a value too.
            yield from inside or [(place, FieldValue(True, "yes"))]


def scalar_value(field: FieldDescriptor, name: str, value: Any) -> FieldValue:
    """Return the value of a scalar field or of a list of scalars."""
    values = list(value) if field.is_repeated else [value]
    if field.type == FieldDescriptor.TYPE_BYTES or name in SECRETS:
        return FieldValue(values, HIDDEN)
    if field.enum_type is not None:
        enum_values = field.enum_type.values_by_number
        return FieldValue(
            values, ", ".join(enum_values[entry].name if entry in enum_values else str(entry) for entry in values)
        )
    if field.type == FieldDescriptor.TYPE_BOOL:
        shown = ", ".join("yes" if entry else "no" for entry in values)
        return FieldValue(values, shown, ABSENT if field.has_presence else "no")
    return FieldValue(values, ", ".join(str(entry) for entry in values))


def value_at(entry: Message, path: str) -> object:
    """Return the value at a dotted path of fields."""
    value: Any = entry
    for part in path.split("."):
        value = getattr(value, part)
    return value


def format_key(key: object) -> str:
    """Format a service id as a UUID, and any other key as text."""
    if isinstance(key, bytes):
        return str(UUID(bytes=key[-16:])) if len(key) in {16, 17} else key.hex()
    return str(key)
