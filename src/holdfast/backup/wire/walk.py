"""Parses every field of a record, at every depth, against the schema.

It accepts exactly what `protobuf` accepts: a known field with another wire type is an unknown field, repeated
numbers may be packed or not, text must be UTF-8; see `cursor` for the rest. A record is canonical if `protobuf`
would write the same bytes again and all of its fields are known.
"""

from typing import NamedTuple

import cython

from holdfast.backup.wire import cursor, faults, tables
from holdfast.backup.wire.cursor import Cursor

if not cython.compiled:
    from holdfast.backup.wire.cursor import six_bytes

__all__ = ["RecordWalk", "Walk", "Walker", "walk", "walk_record"]

CUT = cython.declare(cython.int, faults.CUT)
BAD_TAG = cython.declare(cython.int, faults.BAD_TAG)
TOO_DEEP = cython.declare(cython.int, faults.TOO_DEEP)
BAD_LIST = cython.declare(cython.int, faults.BAD_LIST)
MAX_DEPTH = cython.declare(cython.int, cursor.MAX_DEPTH)

WIRE_TYPE = cython.declare(cython.uint, tables.WIRE_TYPE)
KIND = cython.declare(cython.uint, tables.KIND)
MESSAGE = cython.declare(cython.uint, tables.MESSAGE)
STRING = cython.declare(cython.uint, tables.STRING)
BYTES = cython.declare(cython.uint, tables.BYTES)
UINT32 = cython.declare(cython.uint, tables.UINT32)
BOOL = cython.declare(cython.uint, tables.BOOL)
ENUM = cython.declare(cython.uint, tables.ENUM)
FLOAT = cython.declare(cython.uint, tables.FLOAT)
REPEATED = cython.declare(cython.uint, tables.REPEATED)
PACKABLE = cython.declare(cython.uint, tables.PACKABLE)
KEPT = cython.declare(cython.uint, tables.KEPT)

BASES = cython.declare(cython.const[cython.uint][::1], tables.BASES)
LIMITS = cython.declare(cython.const[cython.uint][::1], tables.LIMITS)
SHAPES = cython.declare(cython.const[cython.uint][::1], tables.SHAPES)
TARGETS = cython.declare(cython.const[cython.uint][::1], tables.TARGETS)
CLASHES = cython.declare(cython.const[cython.ulonglong][::1], tables.CLASHES)
VALUE_BASES = cython.declare(cython.const[cython.uint][::1], tables.VALUE_BASES)
VALUE_LIMITS = cython.declare(cython.const[cython.uint][::1], tables.VALUE_LIMITS)
TEXT_AT = cython.declare(cython.const[cython.uint][::1], tables.TEXT_AT)

ONE = cython.declare(cython.ulonglong, 1)
LOW_32 = cython.declare(cython.ulonglong, (1 << 32) - 1)
# The upper bits of a negative number, which takes ten bytes on the wire.
MINUS = cython.declare(cython.ulonglong, (1 << 33) - 1)
# The bit pattern that "NaN" in JSON stands for.
NAN = cython.declare(cython.uint, 0x7FC00000)


class RecordWalk(NamedTuple):
    """The result of parsing one record; `fault` is 0 if it is well-formed, `at` is the offset of the fault."""

    fault: int
    at: int
    fields: int
    unknown_fields: int
    unknown_values: int
    canonical: bool


class Walk(NamedTuple):
    """The result of parsing the complete frames of a buffer.

    `rest` is the offset of the first incomplete record, and `needed` the buffer size that would hold it (0 if its
    length prefix is incomplete too). With a `fault`, `rest` is the offset of the faulty record and `at` that of
    the fault; only the count of fields includes that record.
    """

    frames: int
    canonical: int
    fields: int
    unknown_fields: int
    unknown_values: int
    rest: int
    needed: int
    fault: int
    at: int


class Walker(Cursor):
    """A cursor that parses every field, and counts.

    shuffled   fields are not in the order of their numbers; JSON preserves it as the order of the keys
    odd        another deviation from the canonical encoding, which JSON cannot represent
    knotted    a duplicate singular field, a repeated field that is interrupted or empty, or two members of a
    oneof:
               protobuf must normalize the record
    lossy      the bits of a NaN, which JSON cannot represent
    """

    def __init__(self, data: bytes | memoryview, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> None:
        super().__init__(data, pos, end)
        self.fields = 0
        self.unknown = 0
        self.unnamed = 0
        self.shuffled = False
        self.odd = False
        self.knotted = False
        self.lossy = False

    def body(self, root: cython.uint) -> cython.void:
        """Parse one record up to `end`."""
        self.padded = False
        self.shuffled = False
        self.odd = False
        self.knotted = False
        self.lossy = False
        self.message(root, 0)
        if self.padded:
            self.odd = True

    def message(self, message: cython.uint, depth: cython.int) -> cython.void:
        """Parse one message up to `end`, at nesting level `depth`."""
        base: cython.Py_ssize_t = BASES[message]
        limit: cython.uint = LIMITS[message]
        seen: cython.ulonglong = 0
        last: cython.uint = 0
        tag: cython.uint
        number: cython.uint
        wire_type: cython.uint
        slot: cython.Py_ssize_t
        shape: cython.uint
        if depth > MAX_DEPTH:
            self.fault = TOO_DEEP
            return
        while self.pos < self.end:
            tag = self.quick_tag(limit)
            if self.fault:
                return
            self.fields += 1
            number = tag >> 3
            wire_type = tag & 7
            slot = base + number if number < limit else 0
            shape = SHAPES[slot]
            if wire_type != shape & WIRE_TYPE and (wire_type != 2 or not shape & PACKABLE):
                self.unknown += 1
                self.odd = True
                self.skip(tag, depth)
            else:
                if number < last:
                    self.shuffled = True
                elif number == last and shape & PACKABLE:
                    self.odd = True
                if seen & CLASHES[slot] and (number != last or not shape & REPEATED):
                    self.odd = True
                    self.knotted = True
                seen |= ONE << number
                last = number
                if wire_type == 2:
                    self.delimited(slot, shape, depth)
                else:
                    self.single(slot, shape)
            if self.fault:
                return

    def single(self, slot: cython.Py_ssize_t, shape: cython.uint) -> cython.void:
        """Parse a known field that is a number and not packed."""
        if shape & PACKABLE:
            self.odd = True
        if shape & WIRE_TYPE == 0:
            self.number(slot, shape)
        else:
            self.quad(shape)

    def delimited(self, slot: cython.Py_ssize_t, shape: cython.uint, depth: cython.int) -> cython.void:
        """Parse a known length-delimited field."""
        outer: cython.Py_ssize_t = self.end
        kind: cython.uint = shape & KIND
        size: cython.Py_ssize_t = self.quick_length()
        if self.fault:
            return
        if kind == MESSAGE:
            self.end = self.pos + size
            self.message(TARGETS[slot], depth + 1)
            self.end = outer
        elif kind in (STRING, BYTES):
            if size == 0 and not shape & KEPT:
                self.odd = True
            if kind == STRING:
                self.utf8(self.pos + size)
            else:
                self.pos += size
        else:
            self.end = self.pos + size
            self.packed(slot, shape, size)
            self.end = outer

    def packed(self, slot: cython.Py_ssize_t, shape: cython.uint, size: cython.Py_ssize_t) -> cython.void:
        """Parse a packed field up to `end`."""
        if size == 0:
            self.odd = True
            self.knotted = True
        if shape & WIRE_TYPE == 5 and size & 3:
            self.fault = BAD_LIST
        while self.pos < self.end and not self.fault:
            if shape & WIRE_TYPE == 5:
                self.quad(shape)
            else:
                self.number(slot, shape)

    def number(self, slot: cython.Py_ssize_t, shape: cython.uint) -> cython.void:
        """Parse a varint."""
        kind: cython.uint = shape & KIND
        value: cython.ulonglong = self.quick_varint()
        low: cython.uint
        enum: cython.Py_ssize_t
        text: cython.Py_ssize_t
        if value == 0 and not shape & KEPT:
            self.odd = True
        if kind == ENUM:
            low = cython.cast(cython.uint, value & LOW_32)
            if value >> 31 and value >> 31 != MINUS:
                self.odd = True
            enum = TARGETS[slot]
            text = VALUE_BASES[enum]
            if low >= VALUE_LIMITS[enum] or TEXT_AT[text + low] == TEXT_AT[text + low + 1]:
                self.unnamed += 1
        elif (kind == UINT32 and value >> 32) or (kind == BOOL and value > 1):
            self.odd = True

    def quad(self, shape: cython.uint) -> cython.void:
        """Parse a 32-bit number."""
        value: cython.uint = self.fixed32()
        if value == 0 and not shape & KEPT:
            self.odd = True
        if shape & KIND == FLOAT and value >> 23 & 255 == 255 and value << 9 & LOW_32 and value != NAN:
            self.lossy = True

    def quick_tag(self, limit: cython.uint) -> cython.uint:
        """Read a tag; the common case of one byte is read inline."""
        tag: cython.uint = self.data[self.pos]
        if 8 <= tag < 0x80:
            self.pos += 1
            return tag
        tag = self.any_tag()
        # protobuf accepts the field number 0 in a message type without fields.
        if tag < 8 and limit > 1 and not self.fault:
            self.fault = BAD_TAG
        return tag

    def quick_varint(self) -> cython.ulonglong:
        """Read a varint; the common cases of one byte, and of six (timestamps), are read inline."""
        value: cython.ulonglong
        if self.pos < self.end and self.data[self.pos] < 0x80:
            self.pos += 1
            return self.data[self.pos - 1]
        if self.end - self.pos >= 6:
            value = six_bytes(self, self.pos)
            if value >> 35:
                self.pos += 6
                return value
        return self.varint()

    def quick_length(self) -> cython.Py_ssize_t:
        """Read the length of a field; the common case of one byte is read inline."""
        size: cython.Py_ssize_t
        if self.pos < self.end and self.data[self.pos] < 0x80:
            size = self.data[self.pos]
            self.pos += 1
            if size > self.end - self.pos:
                self.fault = CUT
            return size
        return self.length()


def walk_record(raw: bytes | memoryview, root: cython.uint = tables.FRAME) -> RecordWalk:
    """Parse one record, a frame or (with `tables.BACKUP_INFO`) a header."""
    walker: Walker = Walker(raw, 0, len(raw))
    with cython.nogil:
        walker.body(root)
    canonical = not (walker.fault or walker.odd or walker.shuffled)
    return RecordWalk(walker.fault, walker.pos, walker.fields, walker.unknown, walker.unnamed, canonical)


def walk(data: bytes | memoryview, start: cython.Py_ssize_t, cap: cython.Py_ssize_t) -> Walk:
    """Parse the complete frames of a buffer; releases the GIL."""
    walker: Walker = Walker(data, start, len(data))
    frames: cython.Py_ssize_t = 0
    canonical: cython.Py_ssize_t = 0
    with cython.nogil:
        while walker.enter(cap):
            walker.body(0)
            if walker.fault:
                break
            frames += 1
            if not (walker.odd or walker.shuffled):
                canonical += 1
    return Walk(
        frames,
        canonical,
        walker.fields,
        walker.unknown,
        walker.unnamed,
        walker.begin,
        walker.needed,
        walker.fault,
        walker.pos,
    )
