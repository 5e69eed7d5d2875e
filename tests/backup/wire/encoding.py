"""Functions that encode the wire format, for records that protobuf would never write."""

__all__ = ["delimited", "fixed32", "fixed64", "gradient", "group", "nested_items", "number", "tag", "varint"]


def varint(value: int, *, size: int = 1) -> bytes:
    """Write a number, padded to `size` bytes."""
    out = bytearray()
    while value > 0x7F or len(out) + 1 < size:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(number: int, wire_type: int) -> bytes:
    """Write the tag of a field."""
    return varint(number << 3 | wire_type)


def number(field: int, value: int) -> bytes:
    """Write a field that holds a number; below 0 as 64 bits."""
    return tag(field, 0) + varint(value % (1 << 64))


def delimited(field: int, body: bytes) -> bytes:
    """Write a field that has a length."""
    return tag(field, 2) + varint(len(body)) + body


def fixed32(field: int, body: bytes) -> bytes:
    """Write a field of four bytes."""
    assert len(body) == 4
    return tag(field, 5) + body


def fixed64(field: int, body: bytes) -> bytes:
    """Write a field of eight bytes."""
    assert len(body) == 8
    return tag(field, 1) + body


def group(field: int, body: bytes) -> bytes:
    """Write a group."""
    return tag(field, 3) + body + tag(field, 4)


def nested_items(levels: int, innermost: bytes = b"") -> bytes:
    """Write a frame with a chat item that has a revision that has a revision, so many levels deep."""
    body = innermost
    for _ in range(levels - 1):
        body = delimited(6, body)
    return delimited(4, body)


def gradient(body: bytes) -> bytes:
    """Write a frame that holds a gradient."""
    return delimited(1, delimited(9, delimited(19, delimited(3, body))))
