"""Clears unknown fields: their content is unknown, so only their structure is kept."""

from typing import Final

from holdfast.backup.wire.varint import varint_at

__all__ = ["clear_field"]

VARINT: Final = 0
FIXED64: Final = 1
DELIMITED: Final = 2
FIXED32: Final = 5


def clear_field(field: bytes) -> bytes:
    """Clear a well-formed field, given with its tag; in a group, all of its fields.

    Bytes become zeros, and numbers the lowest with the same size.
    """
    out = bytearray(field)
    pos = 0
    while pos < len(out):
        tag, start = varint_at(field, pos)
        pos = start
        if tag & 7 == VARINT:
            _value, pos = varint_at(field, pos)
            out[start:pos] = b"\x80" * (pos - start - 1) + b"\x01" if pos - start > 1 else b"\0"
        elif tag & 7 == DELIMITED:
            size, start = varint_at(field, pos)
            pos = start + size
            out[start:pos] = bytes(size)
        elif tag & 7 in (FIXED32, FIXED64):
            pos += 4 if tag & 7 == FIXED32 else 8
            out[start:pos] = bytes(pos - start)
    return bytes(out)
