"""Reads the fields of a record and checks them, without building message objects.

Well-formed is what `walk` accepts. A record with a duplicate singular field, or with two members of a oneof, is
rejected with the fault `TANGLED`: the caller normalizes it and checks the result instead.

The validator spends most of its time here, in `check_message`: the common forms of fields are read inline, the
others by the functions below. The read position is the local `pos` there, and `context.pos` everywhere else.
"""

import cython

from holdfast.backup.rules.checks import MESSAGE_BY_NAME, SLOT_BY_NAME, field
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.wire import faults

if not cython.compiled:
    from holdfast.backup.rules.check_tables import (
        AGES,
        CLASHES,
        HEADS,
        MISSING,
        NAMED,
        ONEOF_RULES,
        ONEOFS,
        REQUIRED,
        SHAPES,
    )
    from holdfast.backup.rules.checks import NEWER
    from holdfast.backup.rules.dispatch import run_checks
    from holdfast.backup.rules.stream import USUAL_FROM, USUAL_TO
    from holdfast.backup.rules.value_checks import check_number, check_reference, check_span
    from holdfast.backup.wire.cursor import six_bytes
    from holdfast.backup.wire.layout import (
        AGED,
        BOOL,
        CHECKED,
        DATED,
        ENUM,
        FIXED32,
        HEAD,
        KEPT,
        KIND,
        LIMIT_AT,
        MAX_DEPTH,
        MESSAGE,
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

__all__ = ["TANGLED"]

# Not a fault of the format: the frame must be normalized before it can be checked.
TANGLED = 100
if not cython.compiled:
    TANGLED_FRAME = TANGLED
    CUT = faults.CUT
    BAD_TAG = faults.BAD_TAG
    BAD_LIST = faults.BAD_LIST
    TOO_DEEP = faults.TOO_DEEP

    LOW_32 = (1 << 32) - 1
    CHAT_ITEM = MESSAGE_BY_NAME["ChatItem"]
    POSITIONS = SLOT_BY_NAME["ChatStyle.Gradient.positions"]
    ITEM_SLOT = SLOT_BY_NAME["Frame.chatItem"]
    REVISIONS = field("ChatItem.revisions")
    REVISIONS_SLOT = SLOT_BY_NAME["ChatItem.revisions"]

    UNKNOWN_FIELD = number_of_rule("schema.field.unknown")
    UNKNOWN_VALUE = number_of_rule("schema.value.unknown")
    NEWER_FIELD = number_of_rule("schema.field.newer")
    RETIRED_FIELD = number_of_rule("schema.field.retired")
    DATE_ZERO = number_of_rule("date.zero")
    CROWDED = number_of_rule("frame.crowded")


def check_record(context: RuleContext, root: cython.uint) -> cython.void:
    """Check one record up to `end`; a record with a fault has no findings."""
    used: cython.Py_ssize_t = context.used
    context.dropped = 0
    context.dropped_error = False
    check_message(context, root, 0)
    if context.fault:
        context.used = used
    elif context.dropped:
        report_dropped(context)


def check_item_frame(context: RuleContext) -> cython.void:
    """Check a frame that consists of a single message, with `pos` at the message."""
    used: cython.Py_ssize_t = context.used
    context.dropped = 0
    context.dropped_error = False
    context.messages[0] = 0
    context.steps[0] = ITEM_SLOT
    context.elements[0] = -1
    check_message(context, CHAT_ITEM, 1)
    if context.fault:
        context.used = used
    elif context.dropped:
        report_dropped(context)


def report_dropped(context: RuleContext) -> cython.void:
    """Report that a record has more findings than fit into the buffer, and whether one of those is an error."""
    context.write_head(CROWDED, HEAD, context.dropped << 1 | (1 if context.dropped_error else 0), 0, 0)
    context.used += HEAD


def check_message(context: RuleContext, message: cython.uint, depth: cython.int) -> cython.void:  # noqa: PLR0915  # one loop: a call per field costs more
    """Check one message up to `end`, at nesting level `depth`."""
    head: cython.ulonglong = HEADS[4 * message]
    base: cython.size_t = head & 0xFFFF
    limit: cython.uint = cython.cast(cython.uint, head >> LIMIT_AT & 0xFF)
    begin: cython.size_t = context.pos
    pos: cython.size_t = begin
    end: cython.size_t = context.end
    row: cython.Py_ssize_t = depth * WIDTH
    seen: cython.ulonglong = 0
    filled: cython.ulonglong = 0
    bit: cython.ulonglong
    tag: cython.uint
    number: cython.uint
    slot: cython.size_t
    size: cython.size_t
    more: cython.size_t
    shape: cython.ulonglong
    value: cython.ulonglong
    kind: cython.uint
    if depth > MAX_DEPTH:
        context.fault = TOO_DEEP
        return
    context.messages[depth] = message
    context.serial += 1
    context.serials[depth] = context.serial
    for number in range(NOTES):
        context.notes[depth * NOTES + number] = 0
    while pos < end:
        # Most tags are one byte, and always valid.
        tag = context.data[pos]
        if 8 <= tag < 0x80:
            pos += 1
        else:
            context.pos = pos
            tag = read_tag(context, limit)
            if context.fault:
                return
            pos = context.pos
        number = tag >> 3
        slot = base + number if number < limit else 0
        shape = SHAPES[slot]
        if tag & 7 != shape & (WIRE_TYPE | AGED):
            context.pos = pos
            if is_skipped(context, slot, shape, tag, depth):
                context.skip(tag, depth)
                if context.fault:
                    return
                pos = context.pos
                continue
        bit = cython.cast(cython.ulonglong, 1) << number
        if shape & REPEATED:
            if not seen & bit:
                context.values[row + number] = 0
        elif seen & CLASHES[slot]:
            context.fault = TANGLED_FRAME
            return
        seen |= bit
        kind = shape & KIND
        if tag & 7 == 2:
            size = context.data[pos] if pos < end else 0x80
            more = size >> 7
            if pos + more < end and context.data[pos + more] < 0x80:
                size = (size & 0x7F) | more * context.data[pos + more] << 7
                pos += 1 + more
                if size > end - pos:
                    context.fault = CUT
                    return
            else:
                context.pos = pos
                size = context.length()
                if context.fault:
                    return
                pos = context.pos
            if kind == MESSAGE:
                context.steps[depth] = slot
                context.elements[depth] = -1
                filled |= bit
                if shape & REPEATED:
                    context.elements[depth] = cython.cast(cython.Py_ssize_t, context.values[row + number])
                    context.values[row + number] += 1
                    if slot == cython.cast(cython.size_t, REVISIONS_SLOT):
                        pos += size
                        continue
                context.pos = pos
                pos += size
                context.end = pos
                check_message(context, cython.cast(cython.uint, shape >> TARGET_AT), depth + 1)
                if context.fault:
                    return
                context.end = end
            elif shape & PACKABLE:
                context.pos = pos
                pos += size
                context.end = pos
                read_packed(context, slot, shape, depth, number, size)
                if context.fault:
                    return
                context.end = end
                if context.values[row + number]:
                    filled |= bit
            else:
                if kind == STRING:
                    context.pos = pos
                    context.utf8(pos + size)
                    if context.fault:
                        return
                if shape & REPEATED:
                    context.values[row + number] += 1
                context.starts[row + number] = pos
                context.sizes[row + number] = size
                if size or shape & KEPT:
                    filled |= bit
                    if shape & CHECKED:
                        check_span(context, slot, depth, number, -1, pos, size)
                pos += size
        elif shape & REPEATED or kind >= FIXED32:
            context.pos = pos
            if read_number(context, slot, shape, depth, number):
                filled |= bit
            if context.fault:
                return
            pos = context.pos
        else:
            if shape & DATED and end - pos >= 6:
                value = six_bytes(context, pos)
                if USUAL_FROM <= value <= USUAL_TO:
                    pos += 6
                    context.values[row + number] = value
                    filled |= bit
                    continue
            value = context.data[pos] if pos < end else 0x80
            more = cython.cast(cython.size_t, value >> 7)
            if pos + more < end and context.data[pos + more] < 0x80:
                value = (value & 0x7F) | cython.cast(cython.ulonglong, more * context.data[pos + more]) << 7
                pos += 1 + more
            else:
                context.pos = pos
                value = context.varint()
                if context.fault:
                    return
                pos = context.pos
            if kind == ENUM:
                value = enum_value(context, shape, depth, number, -1, value)
            elif kind == UINT32:
                value &= LOW_32
            elif kind == BOOL:
                value = value != 0
            context.values[row + number] = value
            if value or shape & KEPT:
                filled |= bit
                if not shape & CHECKED:
                    pass
                elif shape & REFERRING:
                    check_reference(context, slot, depth, number, -1, value)
                elif not shape & DATED or value < USUAL_FROM or value > USUAL_TO:
                    check_number(context, slot, depth, number, -1, value)
    context.pos = pos
    context.seen[depth] = seen
    context.filled[depth] = filled
    if HEADS[4 * message + 1] & ~filled:
        report_missing(context, message, depth)
    if not seen & HEADS[4 * message + 2] or not seen & HEADS[4 * message + 3]:
        report_unset_oneofs(context, message, depth)
    run_checks(context, message, depth)
    if message == CHAT_ITEM and (seen >> REVISIONS) & 1:
        check_revisions(context, begin, depth)


def check_revisions(context: RuleContext, begin: cython.size_t, depth: cython.int) -> cython.void:
    """Read a message again from `begin`, and check only its earlier revisions.

    They are compared with the message that replaced them, so they are checked last, wherever they are.
    """
    outer: cython.Py_ssize_t = context.end
    element: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t
    tag: cython.uint
    context.pos = begin
    while context.pos < outer:
        tag = context.any_tag()
        if tag != (REVISIONS << 3 | 2):
            context.skip(tag, depth)
        else:
            size = context.length()
            context.steps[depth] = REVISIONS_SLOT
            context.elements[depth] = element
            element += 1
            context.end = context.pos + size
            check_message(context, CHAT_ITEM, depth + 1)
            context.end = outer
        if context.fault:
            return


def is_skipped(
    context: RuleContext, slot: cython.Py_ssize_t, shape: cython.ulonglong, tag: cython.uint, depth: cython.int
) -> cython.bint:
    """Report a field that is unknown, or was added or removed in another edition; return whether to skip it."""
    if tag & 7 != shape & WIRE_TYPE and (tag & 7 != 2 or not shape & PACKABLE):
        context.report(UNKNOWN_FIELD, depth, 0, -1, tag >> 3, 0, 0)
        return True
    if not shape & AGED:
        return False
    if AGES[slot] != NEWER:
        context.report(RETIRED_FIELD, depth, tag >> 3, -1, 0, 0, 0)
        return False
    context.newer = True
    if context.spec_only:
        context.report(NEWER_FIELD, depth, tag >> 3, -1, 0, 0, 0)
    return context.spec_only


def read_number(
    context: RuleContext, slot: cython.Py_ssize_t, shape: cython.ulonglong, depth: cython.int, number: cython.uint
) -> cython.bint:
    """Read a number of a repeated field, or one of fixed size; return whether it differs from a missing field."""
    element: cython.Py_ssize_t = -1
    value: cython.ulonglong
    row: cython.Py_ssize_t = depth * WIDTH + number
    kind: cython.uint = shape & KIND
    value = context.fixed32() if shape & WIRE_TYPE == 5 else context.varint()
    if context.fault:
        return False
    if shape & REPEATED:
        element = cython.cast(cython.Py_ssize_t, context.values[row])
    if kind == ENUM:
        value = enum_value(context, shape, depth, number, element, value)
    elif kind == UINT32:
        value &= LOW_32
    elif kind == BOOL:
        value = value != 0
    if shape & REPEATED:
        context.values[row] += 1
        if element < 2 and slot == POSITIONS:
            context.set_note(depth, cython.cast(cython.int, element), value)
    else:
        context.values[row] = value
    if value == 0 and not shape & KEPT:
        return False
    if shape & CHECKED:
        check_number(context, slot, depth, number, element, value)
    return True


def read_packed(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    context: RuleContext,
    slot: cython.Py_ssize_t,
    shape: cython.ulonglong,
    depth: cython.int,
    number: cython.uint,
    size: cython.Py_ssize_t,
) -> cython.void:
    """Read a packed field up to `end`."""
    if shape & WIRE_TYPE == 5 and size & 3:
        context.fault = BAD_LIST
    while context.pos < context.end and not context.fault:
        read_number(context, slot, shape, depth, number)


def enum_value(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    context: RuleContext,
    shape: cython.ulonglong,
    depth: cython.int,
    number: cython.uint,
    element: cython.Py_ssize_t,
    value: cython.ulonglong,
) -> cython.ulonglong:
    """Return an enum value; a value without a name is reported and read as 0."""
    low: cython.uint = cython.cast(cython.uint, value & LOW_32)
    if low < 64 and (NAMED[cython.cast(cython.Py_ssize_t, shape >> TARGET_AT)] >> low) & 1:
        return low
    context.report(UNKNOWN_VALUE, depth, number, element, low, 0, 0)
    return 0


def report_missing(context: RuleContext, message: cython.uint, depth: cython.int) -> cython.void:
    """Report the missing fields of a message."""
    left: cython.ulonglong = REQUIRED[message] & ~context.filled[depth]
    slot: cython.Py_ssize_t = context.slot(depth, 0)
    number: cython.uint = 0
    while left:
        if left & 1:
            if MISSING[slot]:
                context.report_field(MISSING[slot], depth, number)
            elif not context.muted[slot] & 1:
                context.report_field(DATE_ZERO, depth, number)
        left >>= 1
        number += 1
        slot += 1


def report_unset_oneofs(context: RuleContext, message: cython.uint, depth: cython.int) -> cython.void:
    """Report the oneofs of a message that are not set."""
    seen: cython.ulonglong = context.seen[depth]
    place: cython.Py_ssize_t = 2 * message
    if ONEOFS[place] and not seen & ONEOFS[place]:
        context.report_field(ONEOF_RULES[place], depth, 0)
    if ONEOFS[place + 1] and not seen & ONEOFS[place + 1]:
        context.report_field(ONEOF_RULES[place + 1], depth, 0)


def read_tag(context: RuleContext, limit: cython.uint) -> cython.uint:
    """Read a tag that is longer or invalid: only a message type without fields may have the field number 0."""
    tag: cython.uint = context.any_tag()
    if tag < 8 and limit > 1 and not context.fault:
        context.fault = BAD_TAG
    return tag
