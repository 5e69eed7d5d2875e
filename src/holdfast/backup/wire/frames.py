"""Splits a buffer of length-prefixed records and says what each holds, without looking deeper."""

import cython

from holdfast.backup.wire.cursor import Cursor
from holdfast.backup.wire.faults import FAULTS

__all__ = ["COMPILED", "FAULTS", "kind_of", "measure", "split"]

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
