"""Finds content that survives a redaction, with protobuf's own parser instead of the frame reader."""

import io
from collections.abc import Iterable, Iterator

from google.protobuf.message import Message

from holdfast.backup.redaction.texts import KNOWN_TYPES, VERSION
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import tables
from holdfast.backup.wire.unknown import unknown_in
from holdfast.backup.wire.varint import read_varint

__all__ = ["Value", "allowed", "survivors", "values_of", "values_of_all"]

# The name of a field, and its value as bytes.
Value = tuple[str, bytes]
SHORT = 4
# Shorter values may stand inside of others by chance, and unknown ones may look like a number of ours.
TELLING = 8


def values_of(message: Message) -> Iterator[Value]:
    """Yield every text and every bytes of a message, at any depth."""
    for field, content in message.ListFields():
        for value in content if field.is_repeated else (content,):
            if isinstance(value, Message):
                yield from values_of(value)
            elif isinstance(value, str):
                yield field.name, value.encode()
            elif isinstance(value, bytes):
                yield field.name, value


def values_of_all(records: Iterable[bytes]) -> Iterator[Value]:
    """Yield the values of a header and its frames, with those of unknown fields."""
    header, *frames = records
    yield from values_of(BackupInfo.FromString(header))
    yield from unknown_values(header, tables.BACKUP_INFO)
    for frame in frames:
        yield from values_of(Frame.FromString(frame))
        yield from unknown_values(frame, tables.FRAME)


def unknown_values(raw: bytes, root: int) -> Iterator[Value]:
    """Yield the bytes of unknown fields that have a length."""
    for unknown in unknown_in(raw, root):
        field = io.BytesIO(raw[unknown.start : unknown.end])
        if not unknown.is_value and read_varint(field) & 7 == 2:
            size = read_varint(field)
            yield "", field.read(size)


def allowed(name: str, value: bytes) -> bool:
    """Return whether a value is one of those that the guide lists as kept."""
    return (
        (name == "contentType" and value in KNOWN_TYPES)
        or (name in {"currentAppVersion", "firstAppVersion"} and VERSION.fullmatch(value) is not None)
        or not any(value)
    )


def survivors(before: Iterable[bytes], after: Iterable[bytes]) -> list[Value]:
    """List values that are in both and long enough to be content."""
    copies = list(after)
    stream = b"".join(copies)
    copied = {value for _name, value in values_of_all(copies)}
    return [
        (name, value)
        for name, value in values_of_all(before)
        if len(value) > SHORT and not allowed(name, value)
        if value in copied or (name and len(value) >= TELLING and value in stream)
    ]
