"""Reads the fields of a message and holds them to the rules, without building objects and without the interpreter.

What counts as well-formed is what the walk accepts. A message in which a field stands twice, or beside another of
its oneof, is given back: protobuf says what that adds up to, and what it says is checked instead.

Here the validator spends most of its time, in `message`: what most fields are is read where they stand, and the
rest by the methods below. The place in the buffer is in `pos` there, and in `self.pos` for everybody else.
"""

from array import array

import cython

from holdfast.backup.rules import items
from holdfast.backup.rules.checks import MESSAGE_BY_NAME, NEWER, SLOT_BY_NAME, CheckTables
from holdfast.backup.rules.hooks import HOOKS, Hooks
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.wire import faults, layout, tables

if not cython.compiled:
    from holdfast.backup.rules.rule_numbers import Hook
    from holdfast.backup.wire.layout import (
        AGED,
        BOOL,
        CHECKED,
        DATED,
        ENUM,
        FIXED32,
        HOOK_AT,
        KEPT,
        KIND,
        LIMIT_AT,
        MAX_DEPTH,
        MESSAGE,
        MOST_MESSAGES,
        MOST_SLOTS,
        NOTES,
        PACKABLE,
        REFERRING,
        REPEATED,
        STRING,
        TARGET_AT,
        UINT32,
        WIDTH,
        WIRE_TYPE,
    )

__all__ = ["TANGLED", "Fields"]

# A fault of no record: the frame must be written anew before it can be checked.
TANGLED = 100
_TANGLED = cython.declare(cython.int, TANGLED)
CUT = cython.declare(cython.int, faults.CUT)
BAD_TAG = cython.declare(cython.int, faults.BAD_TAG)
BAD_LIST = cython.declare(cython.int, faults.BAD_LIST)
TOO_DEEP = cython.declare(cython.int, faults.TOO_DEEP)

NAMED = cython.declare(cython.const[cython.ulonglong][::1], tables.NAMED)
ALL = (1 << 64) - 1
LOW_32 = cython.declare(cython.ulonglong, (1 << 32) - 1)
CHAT_ITEM = cython.declare(cython.uint, MESSAGE_BY_NAME["ChatItem"])
POSITIONS = cython.declare(cython.Py_ssize_t, SLOT_BY_NAME["ChatStyle.Gradient.positions"])
ITEM_SLOT = cython.declare(cython.Py_ssize_t, SLOT_BY_NAME["Frame.chatItem"])
REVISIONS = cython.declare(cython.uint, items.REVISIONS)
REVISIONS_SLOT = cython.declare(cython.Py_ssize_t, SLOT_BY_NAME["ChatItem.revisions"])
# Dates between 2000 and 2100, in milliseconds, cannot be wrong.
FIRST_DATE = cython.declare(cython.ulonglong, 946_684_800_000)
DATES = cython.declare(cython.ulonglong, 4_102_444_800_000 - 946_684_800_000)

UNKNOWN_FIELD = cython.declare(cython.uint, number_of_rule("schema.field.unknown"))
UNKNOWN_VALUE = cython.declare(cython.uint, number_of_rule("schema.value.unknown"))
NEWER_FIELD = cython.declare(cython.uint, number_of_rule("schema.field.newer"))
RETIRED_FIELD = cython.declare(cython.uint, number_of_rule("schema.field.retired"))
DATE_ZERO = cython.declare(cython.uint, number_of_rule("date.zero"))
_NEWER = cython.declare(cython.uint, NEWER)

HEADS = array(
    "Q",
    [
        tables.BASES[index] | tables.LIMITS[index] << layout.LIMIT_AT | HOOKS.get(name, 0) << layout.HOOK_AT
        for name, index in MESSAGE_BY_NAME.items()
    ],
)


class Fields(Hooks):
    """A ground on which whole messages are read."""

    def __init__(self, plan: CheckTables) -> None:
        super().__init__(plan)
        slot: cython.Py_ssize_t
        message: cython.Py_ssize_t
        if len(plan.shapes) > MOST_SLOTS or len(HEADS) > MOST_MESSAGES or max(tables.LIMITS) > WIDTH:
            raise IndexError("the schema has outgrown the core")
        if not cython.compiled:
            self.shapes = array("Q", bytes(8 * MOST_SLOTS))
            self.clashes = array("Q", bytes(8 * MOST_SLOTS))
            self.heads = array("Q", bytes(32 * MOST_MESSAGES))
        for slot in range(len(plan.shapes)):
            self.shapes[slot] = plan.shapes[slot]
            self.clashes[slot] = tables.CLASHES[slot]
        for message in range(len(HEADS)):
            self.heads[4 * message] = HEADS[message]
            self.heads[4 * message + 1] = plan.wanted[message]
            # Where there is no oneof, nothing but a message without fields looks as if one were not set.
            self.heads[4 * message + 2] = plan.oneofs[2 * message] or ALL
            self.heads[4 * message + 3] = plan.oneofs[2 * message + 1] or ALL

    def body(self, root: cython.uint) -> cython.void:
        """Check one record up to `end`; one with a fault leaves no findings."""
        used: cython.Py_ssize_t = self.used
        self.dropped = 0
        self.dropped_error = False
        self.message(root, 0)
        if self.fault:
            self.used = used
        elif self.dropped:
            self.report_dropped()

    def item_body(self) -> cython.void:
        """Check a frame that is a message and nothing else, with `pos` where the message is."""
        used: cython.Py_ssize_t = self.used
        self.dropped = 0
        self.dropped_error = False
        self.messages[0] = 0
        self.steps[0] = ITEM_SLOT
        self.elements[0] = -1
        self.message(CHAT_ITEM, 1)
        if self.fault:
            self.used = used
        elif self.dropped:
            self.report_dropped()

    def message(self, message: cython.uint, depth: cython.int) -> cython.void:  # noqa: PLR0915  # one loop: a call per field costs more
        """Check one message up to `end`, `depth` levels below the record."""
        head: cython.ulonglong = self.heads[4 * message]
        base: cython.size_t = head & 0xFFFF
        limit: cython.uint = cython.cast(cython.uint, head >> LIMIT_AT & 0xFF)
        hook: cython.uint
        begin: cython.size_t = self.pos
        pos: cython.size_t = begin
        end: cython.size_t = self.end
        row: cython.Py_ssize_t = depth * WIDTH
        seen: cython.ulonglong = 0
        filled: cython.ulonglong = 0
        bit: cython.ulonglong
        tag: cython.uint
        number: cython.uint
        slot: cython.size_t
        size: cython.size_t
        shape: cython.ulonglong
        value: cython.ulonglong
        kind: cython.uint
        if depth > MAX_DEPTH:
            self.fault = TOO_DEEP
            return
        self.messages[depth] = message
        self.serial += 1
        self.serials[depth] = self.serial
        for number in range(NOTES):
            self.notes[depth * NOTES + number] = 0
        while pos < end:
            # Most tags take one byte, which cannot be wrong.
            tag = self.data[pos]
            if 8 <= tag < 0x80:
                pos += 1
            else:
                self.pos = pos
                tag = self.other_tag(limit)
                if self.fault:
                    return
                pos = self.pos
            number = tag >> 3
            slot = base + number if number < limit else 0
            shape = self.shapes[slot]
            if tag & 7 != shape & WIRE_TYPE or shape & AGED:
                self.pos = pos
                if self.passed_over(slot, shape, tag, depth):
                    self.skip(tag, depth)
                    if self.fault:
                        return
                    pos = self.pos
                    continue
            bit = cython.cast(cython.ulonglong, 1) << number
            if shape & REPEATED:
                if not seen & bit:
                    self.values[row + number] = 0
            elif seen & self.clashes[slot]:
                self.fault = _TANGLED
                return
            seen |= bit
            kind = shape & KIND
            if tag & 7 == 2:
                if pos < end and self.data[pos] < 0x80:
                    size = self.data[pos]
                    pos += 1
                    if size > end - pos:
                        self.fault = CUT
                        return
                else:
                    self.pos = pos
                    size = self.length()
                    if self.fault:
                        return
                    pos = self.pos
                if kind == MESSAGE:
                    self.steps[depth] = slot
                    self.elements[depth] = -1
                    filled |= bit
                    if shape & REPEATED:
                        self.elements[depth] = cython.cast(cython.Py_ssize_t, self.values[row + number])
                        self.values[row + number] += 1
                        if slot == cython.cast(cython.size_t, REVISIONS_SLOT):
                            pos += size
                            continue
                    self.pos = pos
                    pos += size
                    self.end = pos
                    self.message(cython.cast(cython.uint, shape >> TARGET_AT), depth + 1)
                    if self.fault:
                        return
                    self.end = end
                elif shape & PACKABLE:
                    self.pos = pos
                    pos += size
                    self.end = pos
                    self.packed(slot, shape, depth, number, size)
                    if self.fault:
                        return
                    self.end = end
                    if self.values[row + number]:
                        filled |= bit
                else:
                    if kind == STRING:
                        self.pos = pos
                        self.utf8(pos + size)
                        if self.fault:
                            return
                    if shape & REPEATED:
                        self.values[row + number] += 1
                    self.starts[row + number] = pos
                    self.sizes[row + number] = size
                    if size or shape & KEPT:
                        filled |= bit
                        if shape & CHECKED:
                            self.check_span(slot, depth, number, -1, pos, size)
                    pos += size
            elif shape & REPEATED or kind >= FIXED32:
                self.pos = pos
                if self.single(slot, shape, depth, number):
                    filled |= bit
                if self.fault:
                    return
                pos = self.pos
            else:
                if pos < end and self.data[pos] < 0x80:
                    value = self.data[pos]
                    pos += 1
                elif pos + 1 < end and self.data[pos + 1] < 0x80:
                    value = (self.data[pos] & 0x7F) | cython.cast(cython.ulonglong, self.data[pos + 1]) << 7
                    pos += 2
                else:
                    self.pos = pos
                    value = self.varint()
                    if self.fault:
                        return
                    pos = self.pos
                if kind == ENUM:
                    value = self.named(shape, depth, number, -1, value)
                elif kind == UINT32:
                    value &= LOW_32
                elif kind == BOOL:
                    value = value != 0
                self.values[row + number] = value
                if value or shape & KEPT:
                    filled |= bit
                    if not shape & CHECKED:
                        pass
                    elif shape & REFERRING:
                        self.check_reference(slot, depth, number, -1, value)
                    elif not shape & DATED or value < FIRST_DATE or value - FIRST_DATE > DATES:
                        self.check_number(slot, depth, number, -1, value)
        self.pos = pos
        self.seen[depth] = seen
        self.filled[depth] = filled
        if self.heads[4 * message + 1] & ~filled:
            self.lacking(message, depth)
        if not seen & self.heads[4 * message + 2] or not seen & self.heads[4 * message + 3]:
            self.unchosen(message, depth)
        hook = cython.cast(cython.uint, self.heads[4 * message] >> HOOK_AT)
        if hook:
            self.run_hook(hook, depth)
            if hook == Hook.CHAT_ITEM and (seen >> REVISIONS) & 1:
                self.revisions(begin, depth)

    def revisions(self, begin: cython.size_t, depth: cython.int) -> cython.void:
        """Read a message again from its `begin`, but only its earlier revisions.

        They are compared with what replaced them, so they come last, wherever they stand.
        """
        outer: cython.Py_ssize_t = self.end
        element: cython.Py_ssize_t = 0
        size: cython.Py_ssize_t
        tag: cython.uint
        self.pos = begin
        while self.pos < outer:
            tag = self.any_tag()
            if tag != (REVISIONS << 3 | 2):
                self.skip(tag, depth)
            else:
                size = self.length()
                self.steps[depth] = REVISIONS_SLOT
                self.elements[depth] = element
                element += 1
                self.end = self.pos + size
                self.message(CHAT_ITEM, depth + 1)
                self.end = outer
            if self.fault:
                return

    def passed_over(
        self, slot: cython.Py_ssize_t, shape: cython.ulonglong, tag: cython.uint, depth: cython.int
    ) -> cython.bint:
        """Remark upon a field that is unknown, was added to the format or taken out; tell whether to skip it."""
        if tag & 7 != shape & WIRE_TYPE and (tag & 7 != 2 or not shape & PACKABLE):
            self.report(UNKNOWN_FIELD, depth, 0, -1, tag >> 3, 0, 0)
            return True
        if not shape & AGED:
            return False
        if self.ages[slot] != _NEWER:
            self.report(RETIRED_FIELD, depth, tag >> 3, -1, 0, 0, 0)
            return False
        self.newer = True
        if self.spec_only:
            self.report(NEWER_FIELD, depth, tag >> 3, -1, 0, 0, 0)
        return self.spec_only

    def single(
        self, slot: cython.Py_ssize_t, shape: cython.ulonglong, depth: cython.int, number: cython.uint
    ) -> cython.bint:
        """Read one number of a list, or one of fixed size; tell whether it says more than if it were not there."""
        element: cython.Py_ssize_t = -1
        value: cython.ulonglong
        row: cython.Py_ssize_t = depth * WIDTH + number
        kind: cython.uint = shape & KIND
        value = self.fixed32() if shape & WIRE_TYPE == 5 else self.varint()
        if self.fault:
            return False
        if shape & REPEATED:
            element = cython.cast(cython.Py_ssize_t, self.values[row])
        if kind == ENUM:
            value = self.named(shape, depth, number, element, value)
        elif kind == UINT32:
            value &= LOW_32
        elif kind == BOOL:
            value = value != 0
        if shape & REPEATED:
            self.values[row] += 1
            if element < 2 and slot == POSITIONS:
                self.set_note(depth, cython.cast(cython.int, element), value)
        else:
            self.values[row] = value
        if value == 0 and not shape & KEPT:
            return False
        if shape & CHECKED:
            self.check_number(slot, depth, number, element, value)
        return True

    def packed(
        self,
        slot: cython.Py_ssize_t,
        shape: cython.ulonglong,
        depth: cython.int,
        number: cython.uint,
        size: cython.Py_ssize_t,
    ) -> cython.void:
        """Read a packed list of numbers up to `end`."""
        if shape & WIRE_TYPE == 5 and size & 3:
            self.fault = BAD_LIST
        while self.pos < self.end and not self.fault:
            self.single(slot, shape, depth, number)

    def named(
        self,
        shape: cython.ulonglong,
        depth: cython.int,
        number: cython.uint,
        element: cython.Py_ssize_t,
        value: cython.ulonglong,
    ) -> cython.ulonglong:
        """Return the number of an enum's value; one that has no name is reported and read as 0."""
        low: cython.uint = cython.cast(cython.uint, value & LOW_32)
        if low < 64 and (NAMED[cython.cast(cython.Py_ssize_t, shape >> TARGET_AT)] >> low) & 1:
            return low
        self.report(UNKNOWN_VALUE, depth, number, element, low, 0, 0)
        return 0

    def lacking(self, message: cython.uint, depth: cython.int) -> cython.void:
        """Report what a message lacks."""
        left: cython.ulonglong = self.wanted[message] & ~self.filled[depth]
        slot: cython.Py_ssize_t = self.slot(depth, 0)
        number: cython.uint = 0
        while left:
            if left & 1:
                if self.missing[slot]:
                    self.report_field(self.missing[slot], depth, number)
                elif not self.muted[slot] & 1:
                    self.report_field(DATE_ZERO, depth, number)
            left >>= 1
            number += 1
            slot += 1

    def unchosen(self, message: cython.uint, depth: cython.int) -> cython.void:
        """Report a oneof of which nothing is there."""
        seen: cython.ulonglong = self.seen[depth]
        place: cython.Py_ssize_t = 2 * message
        if self.oneofs[place] and not seen & self.oneofs[place]:
            self.report_field(self.oneof_rules[place], depth, 0)
        if self.oneofs[place + 1] and not seen & self.oneofs[place + 1]:
            self.report_field(self.oneof_rules[place + 1], depth, 0)

    def other_tag(self, limit: cython.uint) -> cython.uint:
        """Read a tag that takes more bytes, or is wrong: only a message without fields may have the number 0."""
        tag: cython.uint = self.any_tag()
        if tag < 8 and limit > 1 and not self.fault:
            self.fault = BAD_TAG
        return tag
