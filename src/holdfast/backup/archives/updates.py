"""Converts chat updates to events: the kind of each, and its details with ids of the archive.

The kind is the name of the protobuf field: `simpleUpdate.BLOCKED`, `groupNameUpdate`, `individualCall`.
"""

from collections.abc import Mapping
from typing import Final

from google.protobuf.message import Message

from holdfast.backup.archives.identity import service_id
from holdfast.backup.archives.item_rows import PEOPLE
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.schema import backup_pb2 as pb

__all__ = ["Details", "Event", "events_of"]

Details = dict[str, object]
Event = tuple[str, Details]

PEOPLE_FIELDS: Final = frozenset(name.rpartition(".")[2] for name in PEOPLE)


def events_of(update: pb.ChatUpdateMessage, people: Mapping[int, int], notes: Notes) -> list[Event]:
    """Return the events of an update; empty for one to be ignored."""
    kind = update.WhichOneof("update")
    if kind is None:
        notes.skip("ChatUpdateMessage.update not set")
        return []
    if kind == "simpleUpdate":
        simple = notes.enum(update.simpleUpdate, "type")
        return [(f"simpleUpdate.{simple}", {})] if simple else []
    if kind != "groupChange":
        return [(kind, details_of(getattr(update, kind), people, notes))]
    events: list[Event] = []
    for group_update in update.groupChange.updates:
        change = group_update.WhichOneof("update")
        if change is None:
            notes.default("GroupChangeChatUpdate.Update.update not set, read as genericGroupUpdate")
            events.append(("genericGroupUpdate", {}))
        else:
            events.append((change, details_of(getattr(group_update, change), people, notes)))
    return events


def details_of(message: Message, people: Mapping[int, int], notes: Notes) -> Details:
    """Convert the set fields of a message to a dictionary: recipient ids of the archive, service ids as text."""
    details: Details = {}
    for field in message.DESCRIPTOR.fields:
        if field.has_presence and not field.is_repeated and not message.HasField(field.name):
            continue
        value = getattr(message, field.name)
        if field.is_repeated:
            details[field.name] = [plain_value(field.name, item, people, notes) for item in value]
        elif field.enum_type is not None:
            details[field.name] = notes.enum(message, field.name)
        else:
            details[field.name] = plain_value(field.name, value, people, notes)
    return details


def plain_value(name: str, value: object, people: Mapping[int, int], notes: Notes) -> object:
    """Convert one value to a JSON type."""
    if isinstance(value, Message):
        return details_of(value, people, notes)
    if isinstance(value, bytes):
        return service_id(value)
    if name in PEOPLE_FIELDS and isinstance(value, int):
        return people.get(value)
    # JavaScript cannot represent integers beyond 2**53.
    return str(value) if name == "callId" else value
