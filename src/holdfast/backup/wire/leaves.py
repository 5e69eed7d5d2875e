"""Finds the byte ranges of selected values in frames, so that they can be overwritten in place.

Unlike `collect`, it returns the range of a number too, and finds unknown fields at any depth.
"""

from typing import TypeAlias

import cython

from holdfast.backup.wire import tables
from holdfast.backup.wire.cursor import Cursor

__all__ = ["Leaf", "leaves", "leaves_of"]

WIRE_TYPE = cython.declare(cython.uint, tables.WIRE_TYPE)
KIND = cython.declare(cython.uint, tables.KIND)
MESSAGE = cython.declare(cython.uint, tables.MESSAGE)
PACKABLE = cython.declare(cython.uint, tables.PACKABLE)
BASES = cython.declare(cython.const[cython.uint][::1], tables.BASES)
LIMITS = cython.declare(cython.const[cython.uint][::1], tables.LIMITS)
SHAPES = cython.declare(cython.const[cython.uint][::1], tables.SHAPES)
TARGETS = cython.declare(cython.const[cython.uint][::1], tables.TARGETS)
NO_CAP = cython.declare(cython.Py_ssize_t, (1 << 32) - 1)

# The slot of a field, and the start and end of its value, without tag and length. An unknown field has slot 0, and
# its range includes the tag.
Leaf: TypeAlias = tuple[int, int, int]


class Finder(Cursor):
    """A cursor that collects the byte ranges of the selected fields."""

    def __init__(
        self, data: bytes | memoryview, pos: cython.Py_ssize_t, end: cython.Py_ssize_t, selected: bytes
    ) -> None:
        super().__init__(data, pos, end)
        self.found: list[Leaf] = []
        self.selected = selected

    def message(self, message: cython.uint) -> cython.void:
        """Search one message, which is well-formed, up to `end`."""
        base: cython.Py_ssize_t = BASES[message]
        limit: cython.uint = LIMITS[message]
        outer: cython.Py_ssize_t = self.end
        begin: cython.Py_ssize_t
        size: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        tag: cython.uint
        shape: cython.uint
        while self.pos < outer and not self.fault:
            begin = self.pos
            tag = self.any_tag()
            slot = base + (tag >> 3) if tag >> 3 < limit else 0
            shape = SHAPES[slot]
            if tag & 7 != shape & WIRE_TYPE and (tag & 7 != 2 or not shape & PACKABLE):
                self.skip(tag, 0)
                self.found.append((0, begin, self.pos))
            elif tag & 7 == 2:
                size = self.length()
                begin = self.pos
                if shape & KIND == MESSAGE:
                    self.end = begin + size
                    self.message(TARGETS[slot])
                    self.end = outer
                elif self.selected[slot]:
                    self.found.append((slot, begin, begin + size))
                self.pos = begin + size
            else:
                begin = self.pos
                self.skip(tag, 0)
                if self.selected[slot]:
                    self.found.append((slot, begin, self.pos))


def leaves(
    data: bytes | memoryview, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, selected: bytes
) -> list[Leaf]:
    """Find the selected fields of all frames of a block from `start` to `stop`.

    `selected` has a byte for each slot, nonzero if the field is selected; unknown fields are always included. The
    frames must be well-formed (see `walk`): nothing is checked here.
    """
    finder: Finder = Finder(data, start, stop, selected)
    while finder.enter(NO_CAP):
        finder.message(0)
        if finder.fault:
            break
    return finder.found


def leaves_of(raw: bytes | memoryview, selected: bytes, root: cython.uint = tables.FRAME) -> list[Leaf]:
    """Find the selected fields of one well-formed record."""
    finder: Finder = Finder(raw, 0, len(raw), selected)
    finder.message(root)
    return finder.found
