"""Reads records in which a singular field occurs more than once the way importers do: the last one wins.

protobuf merges two occurrences of a message field; importers that use another library keep only the last.
"""

from typing import Final

from holdfast.backup.wire import tables
from holdfast.backup.wire.varint import encode_varint, varint_at

__all__ = ["keep_last_fields"]

DELIMITED: Final = 2
GROUP: Final = 3
SIZES: Final = {1: 8, 5: 4}


def keep_last_fields(raw: bytes, message: int = tables.FRAME) -> bytes:
    """Return a record, one that protobuf can parse, without the occurrences of a field that a later one replaces.

    This applies to singular fields and members of a oneof; repeated and unknown fields are kept.
    """
    parts: dict[object, bytes] = {}
    pos = 0
    while pos < len(raw):
        begin = pos
        tag, pos = varint_at(raw, pos)
        body = pos
        if tag & 7 == DELIMITED:
            size, body = varint_at(raw, pos)
            pos = body + size
        else:
            pos = end_of(raw, pos, tag & 7)
        key, target = meaning_of(message, tag, begin)
        parts.pop(key, None)
        if target is None:
            parts[key] = raw[begin:pos]
        else:
            inner = keep_last_fields(raw[body:pos], target)
            parts[key] = encode_varint(tag) + encode_varint(len(inner)) + inner
    return b"".join(parts.values())


def meaning_of(message: int, tag: int, begin: int) -> tuple[object, int | None]:
    """Return the identity of a singular field or its oneof (unique for other fields), and its message, if any."""
    number = tag >> 3
    slot = tables.BASES[message] + number if number < tables.LIMITS[message] else 0
    field = tables.FIELDS.get(slot)
    shape = tables.SHAPES[slot]
    if field is None or shape & tables.WIRE_TYPE != tag & 7:
        return ("unknown", begin), None
    target = tables.TARGETS[slot] if shape & tables.KIND == tables.MESSAGE else None
    if field.is_repeated:
        return ("element", begin), target
    return (number if field.containing_oneof is None else field.containing_oneof.name), target


def end_of(raw: bytes, pos: int, wire_type: int) -> int:
    """Return the end of a value that is not length-delimited."""
    if wire_type in SIZES:
        return pos + SIZES[wire_type]
    if wire_type != GROUP:
        return varint_at(raw, pos)[1]
    while True:
        tag, pos = varint_at(raw, pos)
        if tag & 7 == DELIMITED:
            size, pos = varint_at(raw, pos)
            pos += size
        elif tag & 7 == GROUP + 1:
            return pos
        else:
            pos = end_of(raw, pos, tag & 7)
