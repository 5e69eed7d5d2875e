"""Splits a buffer of length-prefixed records, and reads the kind of each frame."""

import cython

from holdfast.backup.wire.cursor import Cursor
from holdfast.backup.wire.faults import FAULTS

__all__ = ["COMPILED", "FAULTS", "kind_of", "measure", "measure_plain", "split"]

COMPILED: bool = cython.compiled
# The tag of a message in a frame.
ITEM_TAG = cython.declare(cython.uint, 4 << 3 | 2)


def kind(cursor: Cursor) -> cython.uint:
    """Read the top-level fields of a frame; return the field number of the record it holds, 0 if it holds none.

    The records are the members of a oneof, fields 1 to 8: the last one on the wire wins.
    """
    found: cython.uint = 0
    tag: cython.uint
    while cursor.pos < cursor.end:
        tag = cursor.tag()
        if cursor.fault:
            break
        cursor.skip(tag, 0)
        if cursor.fault:
            break
        if tag & 7 == 2 and tag >> 3 <= 8:
            found = tag >> 3
    return found


def kind_of(raw: bytes | memoryview) -> tuple[int, int, int]:
    """Return the field number of the record a frame holds, the fault found (0: none) and its offset."""
    cursor: Cursor = Cursor(raw, 0, len(raw))
    found: cython.uint = kind(cursor)
    return found, cursor.fault, cursor.pos


def split(
    data: bytes | memoryview, start: cython.Py_ssize_t, cap: cython.Py_ssize_t
) -> tuple[list[tuple[int, int]], int, int, int]:
    """Find the complete records of a buffer.

    Return the start and end of each body, the offset of the first incomplete record, the buffer size that would
    hold it (0 if its length prefix is incomplete too), and the fault found there (0: none).
    """
    cursor: Cursor = Cursor(data, start, len(data))
    spans: list[tuple[int, int]] = []
    while cursor.enter(cap):
        spans.append((cursor.pos, cursor.end))
        cursor.pos = cursor.end
    return spans, cursor.begin, cursor.needed, cursor.fault


def enter_item(cursor: Cursor) -> cython.bint:
    """Enter the message of a frame; return whether the frame consists of a single message."""
    pos: cython.size_t = cursor.pos
    end: cython.size_t = cursor.end
    size: cython.size_t
    if end - pos < 2 or cursor.data[pos] != ITEM_TAG:
        return False
    size = cursor.data[pos + 1]
    if size < 0x80:
        pos += 2
    elif end - pos > 2 and cursor.data[pos + 2] < 0x80:
        size = (size & 0x7F) | cython.cast(cython.size_t, cursor.data[pos + 2]) << 7
        pos += 3
    else:
        cursor.pos = pos + 1
        size = cursor.length()
        if cursor.fault:
            cursor.fault = 0
            return False
        pos = cursor.pos
    cursor.pos = pos
    return pos + size == end


def measure(
    data: bytes | memoryview, start: cython.Py_ssize_t, cap: cython.Py_ssize_t
) -> tuple[int, int, int, int, int]:
    """Count the complete records of a buffer, and those that consist of a single message.

    The other values are those of `split`.
    """
    cursor: Cursor = Cursor(data, start, len(data))
    frames: cython.Py_ssize_t = 0
    items: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    with cython.nogil:
        while cursor.enter(cap):
            end = cursor.end
            frames += 1
            items += enter_item(cursor)
            cursor.pos = end
    return frames, items, cursor.begin, cursor.needed, cursor.fault


def is_plain(cursor: Cursor) -> cython.bint:
    """Return whether the frame that was entered is a single known record without further fields.

    The length prefix of the frame and that of the field inside it then agree, so both are likely correct.
    """
    tag: cython.uint
    size: cython.Py_ssize_t
    if cursor.pos >= cursor.end:
        return False
    tag = cursor.data[cursor.pos]
    if tag & 7 != 2 or not 1 <= tag >> 3 <= 8:
        return False
    cursor.pos += 1
    size = cursor.length()
    return not cursor.fault and cursor.pos + size == cursor.end


def measure_plain(
    data: bytes | memoryview, start: cython.Py_ssize_t, cap: cython.Py_ssize_t
) -> tuple[int, int, int, int, int, int, int]:
    """Count the complete records of a buffer up to the first that is not plain (see `is_plain`).

    Return their number, how many of them are messages, the offset of the last of them, the values of `split` for
    the record that follows, and the end of that record if it is complete and not plain (0 otherwise).
    """
    cursor: Cursor = Cursor(data, start, len(data))
    frames: cython.Py_ssize_t = 0
    items: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t = start
    end: cython.Py_ssize_t
    odd: cython.Py_ssize_t = 0
    tag: cython.uint
    with cython.nogil:
        while cursor.enter(cap):
            end = cursor.end
            tag = cursor.data[cursor.pos] if cursor.pos < end else 0
            if not is_plain(cursor):
                cursor.fault = 0
                odd = end
                break
            items += tag == ITEM_TAG
            frames += 1
            last = cursor.begin
            cursor.pos = end
    return frames, items, last, cursor.begin, cursor.needed, cursor.fault, odd
