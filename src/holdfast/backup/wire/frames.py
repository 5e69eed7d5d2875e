"""Splits a buffer of length-prefixed records and says what each holds, without looking deeper."""

import cython

from holdfast.backup.wire.cursor import Cursor
from holdfast.backup.wire.faults import FAULTS

__all__ = ["COMPILED", "FAULTS", "kind_of", "measure", "measure_plain", "split"]

COMPILED: bool = cython.compiled


def kind(cursor: Cursor) -> cython.uint:
    """Walk the top level of one frame; return the number of the record it holds, 0 when it holds none.

    The records are the members of one oneof, numbered 1 to 8: the last one set wins.
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
    """Walk one frame; return the number of its record, the fault found (0: none) and where."""
    cursor: Cursor = Cursor(raw, 0, len(raw))
    found: cython.uint = kind(cursor)
    return found, cursor.fault, cursor.pos


def split(
    data: bytes | memoryview, start: cython.Py_ssize_t, cap: cython.Py_ssize_t
) -> tuple[list[tuple[int, int]], int, int, int]:
    """Find the whole records of a buffer.

    Return the span of each record's body, where the first record that is not whole begins, how many bytes the
    buffer would need to hold it (0: its length is cut off too), and the fault found there (0: none).
    """
    cursor: Cursor = Cursor(data, start, len(data))
    spans: list[tuple[int, int]] = []
    while cursor.enter(cap):
        spans.append((cursor.pos, cursor.end))
        cursor.pos = cursor.end
    return spans, cursor.begin, cursor.needed, cursor.fault


def measure(
    data: bytes | memoryview, start: cython.Py_ssize_t, cap: cython.Py_ssize_t
) -> tuple[int, int, int, int]:
    """Count the whole records of a buffer; the rest of the answer is that of `split`."""
    cursor: Cursor = Cursor(data, start, len(data))
    frames: cython.Py_ssize_t = 0
    with cython.nogil:
        while cursor.enter(cap):
            frames += 1
            cursor.pos = cursor.end
    return frames, cursor.begin, cursor.needed, cursor.fault


def is_plain(cursor: Cursor) -> cython.bint:
    """Return whether the record that was entered is one of the known ones and nothing else.

    Its length then stands there twice, around it and inside of it, so it is hardly wrong.
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
) -> tuple[int, int, int, int, int, int]:
    """Count the whole records of a buffer up to the first that is not a plain one.

    Return how many there are, where the last of them begins, then what `split` says of the record behind it, and
    last where that ends if it is whole and not a plain one (0: there is none).
    """
    cursor: Cursor = Cursor(data, start, len(data))
    frames: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t = start
    end: cython.Py_ssize_t
    odd: cython.Py_ssize_t = 0
    with cython.nogil:
        while cursor.enter(cap):
            end = cursor.end
            if not is_plain(cursor):
                cursor.fault = 0
                odd = end
                break
            frames += 1
            last = cursor.begin
            cursor.pos = end
    return frames, last, cursor.begin, cursor.needed, cursor.fault, odd
