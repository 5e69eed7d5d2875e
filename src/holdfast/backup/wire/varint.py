"""Varints: the variable-length integers of protobuf."""

from typing import BinaryIO, Final

from holdfast.backup.errors import DamagedBackup

__all__ = ["encode_varint", "read_varint", "varint_at"]

LONGEST: Final = 10


def encode_varint(value: int) -> bytes:
    """Encode a varint."""
    if value < 0:
        raise ValueError("a varint cannot be negative")
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(source: BinaryIO) -> int:
    """Read a varint of up to 32 bits, encoded in at most ten bytes."""
    begin = source.tell()
    value = 0
    for index in range(LONGEST):
        byte = source.read(1)
        if not byte:
            raise DamagedBackup("the file ends in the middle of a length", offset=begin + index)
        value |= (byte[0] & 0x7F) << (7 * index)
        if byte[0] < 0x80:
            if value >> 32:
                raise DamagedBackup("a length is larger than 32 bits can say", offset=begin)
            return value
    raise DamagedBackup(f"a length does not end within {LONGEST} bytes", offset=begin)


def varint_at(data: bytes, pos: int) -> tuple[int, int]:
    """Decode a complete varint; return it and the offset after it."""
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, pos
