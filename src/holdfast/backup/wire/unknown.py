"""Describes the fields and enum values of a record that are not in the schema; `walk` only counts them."""

from typing import NamedTuple

import cython

from holdfast.backup.errors import DamagedRecord
from holdfast.backup.wire import tables
from holdfast.backup.wire.cursor import Cursor
from holdfast.backup.wire.faults import FAULTS
from holdfast.backup.wire.walk import Walker

__all__ = ["Unknown", "unknown_in"]


class Unknown(NamedTuple):
    """An unknown field or an unknown enum value.

    `path` is the path of the message that contains an unknown field, or of the field with an unknown value, as in
    `chatItem.revisions[0].standardMessage`; it is empty for the record itself. `number` is the field number or the
    enum value. `start` and `end` are the range of the whole field, tag included.
    """

    path: str
    is_value: bool
    number: int
    start: int
    end: int


def unknown_in(raw: bytes | memoryview, root: cython.uint = tables.FRAME) -> list[Unknown]:
    """Return what is unknown in a frame or, with `tables.BACKUP_INFO`, in a header, in wire order."""
    walker: Walker = Walker(raw, 0, len(raw))
    found: list[Unknown] = []
    walker.body(root)
    if walker.fault:
        raise DamagedRecord(f"the record {FAULTS[walker.fault]}", offset=walker.pos)
    if walker.unknown or walker.unnamed:
        search(Cursor(raw, 0, len(raw)), root, "", found)
    return found


def search(cursor: Cursor, message: cython.uint, path: str, found: list[Unknown]) -> None:
    """Search one message, which is well-formed, up to `end`."""
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    outer: cython.Py_ssize_t = cursor.end
    size: cython.Py_ssize_t
    tag: cython.uint
    number: cython.uint
    counts: dict[int, int] = {}
    while cursor.pos < outer:
        start = cursor.pos
        tag = cursor.any_tag()
        number = tag >> 3
        slot = tables.BASES[message] + number if number < tables.LIMITS[message] else 0
        shape = tables.SHAPES[slot]
        kind = shape & tables.KIND
        delimited = tag & 7 == 2
        if tag & 7 != shape & tables.WIRE_TYPE and not (delimited and shape & tables.PACKABLE):
            cursor.skip(tag, 0)
            found.append(Unknown(path, False, number, start, cursor.pos))
            continue
        if kind not in (tables.MESSAGE, tables.ENUM):
            cursor.skip(tag, 0)
            continue
        size = cursor.length() if delimited else 1
        stop = cursor.pos + size
        name = f"{path}.{tables.FIELDS[slot].name}" if path else tables.FIELDS[slot].name
        while True:
            index = counts.get(number, 0)
            counts[number] = index + 1
            place = f"{name}[{index}]" if shape & tables.REPEATED else name
            if kind == tables.MESSAGE:
                cursor.end = stop
                search(cursor, tables.TARGETS[slot], place, found)
                cursor.end = outer
            elif cursor.pos < stop:
                value = signed(cursor.varint())
                if value not in tables.ENUMS[tables.TARGETS[slot]].values_by_number:
                    found.append(Unknown(place, True, value, start, max(cursor.pos, stop)))
            if cursor.pos >= stop:
                break


def signed(value: int) -> int:
    """Return the lower 32 bits of a number as a signed integer."""
    return ((value + (1 << 31)) & ((1 << 32) - 1)) - (1 << 31)
