"""What two versions of a record that is no message differ in: settings, people, groups, chats and the rest."""

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

__all__ = ["HIDDEN", "FieldChange", "Naming", "RecordChange", "field_changes"]

# What says nothing outside of its file, or is no news: a call's state has one value only, and people are
# registered unless the opposite is said.
IGNORED: Final = frozenset({"Recipient.id", "Chat.id", "AdHocCall.state", "Contact.registered"})
# Texts that open an account.
SECRETS: Final = frozenset({"AccountData.svrPin", "AccountData.IAPSubscriberData.purchaseToken"})
# Lists of members, by what tells one entry from another.
MEMBERS: Final = {
    "Group.GroupSnapshot.members": "userId",
    "Group.GroupSnapshot.membersPendingProfileKey": "member.userId",
    "Group.GroupSnapshot.membersPendingAdminApproval": "userId",
    "Group.GroupSnapshot.members_banned": "userId",
    "AccountData.AccountSettings.customChatColors": "id",
}
HIDDEN: Final = "(not shown)"
NOTHING: Final = ""
Naming = Callable[[object], str | None]


@public
@redacted
@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a record: what it was and what it is; empty where it was not there, or is not any more."""

    field: str
    before: str
    after: str


@public
@redacted
@dataclass(frozen=True, slots=True)
class RecordChange:
    """A record that is new, gone or changed; `kind` says person, group, chat, `what` added, removed or changed."""

    kind: str
    name: str
    what: str
    fields: tuple[FieldChange, ...] = ()


@redacted
@dataclass(frozen=True, slots=True)
class Fact:
    """A value as it is compared and as it is shown; `absent` is what its absence on the other side means."""

    value: object
    shown: str
    absent: str = NOTHING


MISSING: Final = Fact(None, NOTHING)


def field_changes(
    before: Message,
    after: Message,
    naming: Naming,
    numbers: tuple[Mapping[int, int], Mapping[int, int]] = ({}, {}),
) -> tuple[FieldChange, ...]:
    """List the fields two records differ in.

    `naming` gives a person's name for a service id (bytes) or a common number (int); `numbers` turns the ids in
    each record into common numbers.
    """
    old = dict(facts(before, naming, numbers[0]))
    new = dict(facts(after, naming, numbers[1]))
    changes: list[FieldChange] = []
    for path in {**old, **new}:
        first, second = old.get(path), new.get(path)
        if first is None or second is None:
            absent = (first or second or MISSING).absent
            changes.append(FieldChange(path, first.shown if first else absent, second.shown if second else absent))
        elif first.value != second.value:
            changes.append(FieldChange(path, first.shown, second.shown))
    return tuple(changes)


def facts(
    message: Message, naming: Naming, numbers: Mapping[int, int], path: str = ""
) -> Iterator[tuple[str, Fact]]:
    """Yield the fields of a record that are set, each under its path."""
    for field, value in message.ListFields():
        name = name_of(field)
        place = f"{path}{field.name}"
        if name in IGNORED:
            continue
        if name in MEMBERS:
            for entry in value:
                key = key_of(entry, MEMBERS[name])
                label = naming(key) or as_text(key)
                rest = {
                    inner: fact.shown for inner, fact in facts(entry, naming, numbers) if inner != MEMBERS[name]
                }
                shown = ", ".join(f"{inner} {text}" for inner, text in rest.items())
                yield f"{place} {label}", Fact((key, entry.SerializeToString(deterministic=True)), shown or label)
        elif name in RECIPIENT_IDS and field.is_repeated:
            recipients = sorted(numbers.get(entry, entry) for entry in value)
            yield place, Fact(recipients, ", ".join(naming(entry) or "Unknown" for entry in recipients))
        elif name in RECIPIENT_IDS:
            number = numbers.get(value, value)
            yield place, Fact(number, naming(number) or "Unknown")
        elif field.message_type is None:
            yield place, scalar(field, name, value)
        elif field.is_repeated:
            for index, entry in enumerate(value):
                yield from facts(entry, naming, numbers, f"{place}[{index}].")
        else:
            inside = list(facts(value, naming, numbers, f"{place}."))
            # A record that is there and empty says something too.
            yield from inside or [(place, Fact(True, "yes"))]


def scalar(field: FieldDescriptor, name: str, value: Any) -> Fact:
    """Show a number, a text or a list of them."""
    values = list(value) if field.is_repeated else [value]
    if field.type == FieldDescriptor.TYPE_BYTES or name in SECRETS:
        return Fact(values, HIDDEN)
    if field.enum_type is not None:
        enum_values = field.enum_type.values_by_number
        return Fact(
            values, ", ".join(enum_values[entry].name if entry in enum_values else str(entry) for entry in values)
        )
    if field.type == FieldDescriptor.TYPE_BOOL:
        shown = ", ".join("yes" if entry else "no" for entry in values)
        return Fact(values, shown, NOTHING if field.has_presence else "no")
    return Fact(values, ", ".join(str(entry) for entry in values))


def key_of(entry: Message, path: str) -> object:
    """Follow a path of fields."""
    value: Any = entry
    for part in path.split("."):
        value = getattr(value, part)
    return value


def as_text(key: object) -> str:
    """Write a service id the way people exchange it, and any other key as it is."""
    if isinstance(key, bytes):
        return str(UUID(bytes=key[-16:])) if len(key) in {16, 17} else key.hex()
    return str(key)
