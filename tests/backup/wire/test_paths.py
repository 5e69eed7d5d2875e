"""Paths of messages in a record, which are the paths of findings."""

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from holdfast.backup.schema import Frame
from holdfast.backup.wire.paths import PathFinder
from tests.backup.rules.example_backup import ExampleBackup
from tests.backup.streams import sample
from tests.backup.wire.encoding import delimited, number


def follow(message: Message, path: str) -> Message:
    """Return the message at a path."""
    value: object = message
    for step in path.split("."):
        name, _, rest = step.partition("[")
        value = getattr(value, name)
        value = value[int(rest.rstrip("]"))] if rest else value  # type: ignore[index]  # the path is valid
    assert isinstance(value, Message)
    return value


def places(raw: bytes, inside: Message, base: int) -> list[tuple[int, bytes]]:
    """List the offsets and bytes of nested messages whose bytes occur exactly once in the record."""
    entries = []
    for field, value in inside.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for child in value if field.is_repeated else [value]:
                data = child.SerializeToString()
                if len(data) > 3 and raw.count(data) == 1:
                    entries.append((raw.index(data), data))
                entries += places(raw, child, base)
    return entries


def test_every_message_of_a_record_is_found() -> None:
    """The path to the position of a message leads to that message."""
    looked_at = 0
    for raw in (*ExampleBackup().records()[1:], *sample()[1:]):
        frame = Frame.FromString(raw)
        finder = PathFinder(raw)
        for offset, data in sorted(places(raw, frame, 0)):
            assert finder.path_to(offset) == PathFinder(raw).path_to(offset)
            inner = follow(frame, PathFinder(raw).path_to(offset))
            # A message that begins where another does, and holds nothing before it, is named by the outer one.
            assert inner.SerializeToString().startswith(data) or inner.SerializeToString().endswith(data)
            looked_at += 1
    assert looked_at > 500


def test_unknown_fields_are_passed_over() -> None:
    """Unknown fields before and around a message do not change its path."""
    inside = delimited(2, delimited(1, b"abc")) + number(90, 7) + delimited(3, b"") + delimited(3, b"\x12\x01x")
    raw = number(95, 1) + delimited(99, b"12345678") + delimited(4, delimited(11, inside))
    assert PathFinder(raw).path_to(raw.index(b"\x12\x01x")) == "chatItem.standardMessage.attachments[1]"
