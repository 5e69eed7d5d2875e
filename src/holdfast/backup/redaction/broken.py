"""Replaces records that cannot be parsed by others of the same length with the same fault.

What looks like a tag or a length in a damaged record may be content, so nothing is kept except the kind of record,
its length and its fault.
"""

from typing import Final

from holdfast.backup.wire import faults, tables
from holdfast.backup.wire.salvage import is_plain
from holdfast.backup.wire.varint import encode_varint, varint_at
from holdfast.backup.wire.walk import walk_record

__all__ = ["broken_like"]

# Prefixes with each fault; they use the field number 15, which no record has.
FAULT_PREFIXES: Final = {
    faults.LONG_VARINT: (b"\x80" * 10,),
    faults.TOO_LONG: (b"\x7a\xff\xff\xff\xff\x0f",),
    faults.BAD_TAG: (b"\0",),
    faults.BAD_WIRE_TYPE: (b"\x7e",),
    faults.BAD_GROUP: (b"\x7c",),
    faults.TOO_DEEP: (b"\x7b" * 101,),
}
# The shortest path of tags to a text field in each record that has one. A packed list that can be damaged is only
# in the account.
TEXT_PATHS: Final = (
    (b"\x0a", b"\x22"),
    (b"\x12", b"\x12", b"\x1a"),
    (b"\x1a", b"\x4a", b"\x12", b"\x22"),
    (b"\x22", b"\x82\x01", b"\x0a"),
    (b"\x3a", b"\x0a"),
    (b"\x42", b"\x0a"),
    (b"\x22",),
)
LIST_PATH: Final = (b"\x0a", b"\x4a", b"\x9a\x01", b"\x1a", b"\x12")


def broken_like(raw: bytes, fault: int, root: int = tables.FRAME) -> bytes:
    """Return a record with the same length and fault as another, without its content.

    If the first field fills the record, its tag and length are kept, so that a tolerant reader still accepts the
    length of the record.
    """
    for start in (*plain_prefixes(raw, fault), *fault_prefixes(raw, fault)):
        candidate = start[: len(raw)].ljust(len(raw), b"\0")
        if walk_record(candidate, root).fault == fault:
            return candidate
    return bytes(len(raw))


def plain_prefixes(raw: bytes, fault: int) -> tuple[bytes, ...]:
    """Return candidate prefixes for a record that one field fills, with the tag and length of that field."""
    record = encode_varint(len(raw)) + raw
    if not is_plain(record):
        return ()
    _size, body = varint_at(raw, 1)
    head, inner = raw[:body], raw[body:]
    if fault == faults.BAD_TEXT:
        return tuple(head + nest(path[1:], b"\xff") for path in TEXT_PATHS if path[1:] and raw.startswith(path[0]))
    if fault == faults.BAD_LIST:
        return (head + nest(LIST_PATH[1:], b"\0"),)
    return tuple(head + start for start in fault_prefixes(inner, fault))


def fault_prefixes(raw: bytes, fault: int) -> tuple[bytes, ...]:
    """Return candidate prefixes for a record with a fault, most likely first."""
    if fault == faults.CUT:
        # Each has a length that exceeds the rest of the record.
        return (b"\x7a" + encode_varint(max(len(raw), 1)), b"\x7a\x7f", b"\x7a")
    if fault == faults.BAD_TEXT:
        matching = [path for path in TEXT_PATHS if raw.startswith(path[0])]
        return tuple(nest(path, b"\xff") for path in (*matching, *TEXT_PATHS))
    if fault == faults.BAD_LIST:
        return (nest(LIST_PATH, b"\0"),)
    return FAULT_PREFIXES[fault]


def nest(path: tuple[bytes, ...], value: bytes) -> bytes:
    """Wrap a value in nested messages."""
    for tag in reversed(path):
        value = tag + encode_varint(len(value)) + value
    return value
