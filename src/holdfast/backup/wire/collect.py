"""Extracts selected fields from frames, at any depth, without parsing the rest into objects.

A summary, a reference check or a search for attachments needs only a few fields of each frame. A `Selection`
names them; `collect` descends only into messages that can contain one of them.
"""

from collections.abc import Iterable
from functools import cache
from typing import TypeAlias

import cython
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from holdfast.backup.errors import DamagedRecord
from holdfast.backup.schema import backup_pb2
from holdfast.backup.wire import cursor, faults, tables
from holdfast.backup.wire.cursor import Cursor

__all__ = ["Found", "Selection", "collect", "collect_block"]

CUT = cython.declare(cython.int, faults.CUT)
TOO_DEEP = cython.declare(cython.int, faults.TOO_DEEP)
MAX_DEPTH = cython.declare(cython.int, cursor.MAX_DEPTH)
WIRE_TYPE = cython.declare(cython.uint, tables.WIRE_TYPE)
KIND = cython.declare(cython.uint, tables.KIND)
MESSAGE = cython.declare(cython.uint, tables.MESSAGE)
PACKABLE = cython.declare(cython.uint, tables.PACKABLE)
BASES = cython.declare(cython.const[cython.uint][::1], tables.BASES)
LIMITS = cython.declare(cython.const[cython.uint][::1], tables.LIMITS)
SHAPES = cython.declare(cython.const[cython.uint][::1], tables.SHAPES)
TARGETS = cython.declare(cython.const[cython.uint][::1], tables.TARGETS)


# A selected field: its slot, the nesting depth of its message (0 is the frame), and its value. For a number, the
# value and -1; for a length-delimited field, its start and end. A plain tuple: there are millions of them.
Found: TypeAlias = tuple[int, int, int, int]


class Selection:
    """Fields to extract, each written as `Message.field` with the names of the schema: `ChatItem.chatId`."""

    def __init__(self, names: Iterable[str]) -> None:
        self.slots = {name: slot_of(name) for name in names}
        selected = bytearray(tables.SLOTS)
        for slot in self.slots.values():
            selected[slot] = 1
        self.selected = bytes(selected)
        self.leads = bytes(leading(selected))


def slot_of(name: str) -> int:
    """Return the slot of a field."""
    slot = slots_by_name().get(name)
    if slot is None:
        raise KeyError(f"the schema has no field {name}")
    return slot


@cache
def slots_by_name() -> dict[str, int]:
    """Return the slots of all fields by name, as returned by `name_of`."""
    return {name_of(field): slot for slot, field in tables.FIELDS.items()}


def name_of(field: FieldDescriptor) -> str:
    """Return the name of a field in the form that a `Selection` accepts."""
    return f"{parent_of(field).full_name}.{field.name}".removeprefix(f"{backup_pb2.DESCRIPTOR.package}.")


def parent_of(field: FieldDescriptor) -> Descriptor:
    """Return the message a field belongs to."""
    parent = field.containing_type
    assert parent is not None  # noqa: S101  # only extensions, which the schema has none of, have no message
    return parent


def leading(selected: bytearray) -> bytearray:
    """Mark the messages that can contain a selected field, directly or nested."""
    marked = bytearray(len(tables.MESSAGES))
    changed = True
    while changed:
        changed = False
        for message, (base, limit) in enumerate(zip(tables.BASES, tables.LIMITS, strict=True)):
            if marked[message]:
                continue
            for slot in range(base, base + limit):
                below = tables.SHAPES[slot] & tables.KIND == tables.MESSAGE and marked[tables.TARGETS[slot]]
                if selected[slot] or below:
                    marked[message] = changed = True
                    break
    return marked


class Collector(Cursor):
    """A cursor that collects the selected fields."""

    def __init__(
        self, data: bytes | memoryview, pos: cython.Py_ssize_t, end: cython.Py_ssize_t, selection: Selection
    ) -> None:
        super().__init__(data, pos, end)
        self.found: list[Found] = []
        self.selected = selection.selected
        self.leads = selection.leads

    def message(self, message: cython.uint, depth: cython.int) -> cython.void:
        """Search one message up to `end`."""
        base: cython.Py_ssize_t = BASES[message]
        limit: cython.uint = LIMITS[message]
        outer: cython.Py_ssize_t = self.end
        tag: cython.uint
        shape: cython.uint
        slot: cython.Py_ssize_t
        size: cython.Py_ssize_t
        if depth > MAX_DEPTH:
            self.fault = TOO_DEEP
            return
        while self.pos < outer:
            # Most tags and lengths are one byte: read inline, without a call into another module.
            tag = self.data[self.pos]
            if 8 <= tag < 0x80:
                self.pos += 1
            else:
                tag = self.tag()
                if self.fault:
                    return
            slot = base + (tag >> 3) if tag >> 3 < limit else 0
            shape = SHAPES[slot]
            if tag & 7 != shape & WIRE_TYPE and (tag & 7 != 2 or not shape & PACKABLE):
                self.skip(tag, depth)
            elif tag & 7 == 2:
                if self.pos < outer and self.data[self.pos] < 0x80:
                    size = self.data[self.pos]
                    self.pos += 1
                    if size > outer - self.pos:
                        self.fault = CUT
                else:
                    size = self.length()
                if self.fault:
                    return
                self.end = self.pos + size
                if shape & PACKABLE:
                    if self.selected[slot]:
                        self.numbers(slot, depth)
                elif self.selected[slot]:
                    self.found.append((slot, depth, self.pos, self.end))
                size = self.end
                if shape & KIND == MESSAGE and self.leads[TARGETS[slot]]:
                    self.message(TARGETS[slot], depth + 1)
                if self.fault:
                    return
                self.pos = size
                self.end = outer
            elif self.selected[slot] and tag & 7 == 0:
                self.found.append((slot, depth, self.varint(), -1))
            else:
                self.skip(tag, depth)
            if self.fault:
                return

    def numbers(self, slot: cython.Py_ssize_t, depth: cython.int) -> cython.void:
        """Collect the numbers of a packed repeated field up to `end`."""
        while self.pos < self.end and not self.fault:
            self.found.append((slot, depth, self.varint(), -1))


def collect(raw: bytes | memoryview, selection: Selection, root: cython.uint = tables.FRAME) -> list[Found]:
    """Return the selected fields of one record, in wire order."""
    collector: Collector = Collector(raw, 0, len(raw), selection)
    collector.message(root, 0)
    if collector.fault:
        raise DamagedRecord(f"the record {faults.FAULTS[collector.fault]}", offset=collector.pos)
    return collector.found


def collect_block(
    data: bytes | memoryview, cap: cython.Py_ssize_t, selection: Selection
) -> tuple[list[Found], int, int, int]:
    """Return the selected fields of all frames of a block.

    Returns the fields in wire order, the number of complete frames, the fault found (0: none) and its offset.
    """
    collector: Collector = Collector(data, 0, len(data), selection)
    frames: cython.Py_ssize_t = 0
    while collector.enter(cap):
        collector.message(0, 0)
        if collector.fault:
            break
        frames += 1
    return collector.found, frames, collector.fault, collector.pos
