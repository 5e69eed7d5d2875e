"""Checks of single values: numbers, dates, ids, texts and bytes."""

import cython

from holdfast.backup.rules.checks import Op
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

if not cython.compiled:
    from holdfast.backup.rules.check_tables import (
        APART,
        ARGUMENTS,
        KIND_RULES,
        KINDS,
        OPS,
        TWICE,
        VALUE_RULES,
    )
    from holdfast.backup.rules.checks import LOW_ARGUMENT, SECOND_ARGUMENT_AT
    from holdfast.backup.rules.stream import FOREVER, LAST_DATE, USUAL_FROM, USUAL_TO
    from holdfast.backup.rules.value_forms import code_points, is_decimal, is_service_id, is_username
    from holdfast.backup.wire.layout import WIDTH

__all__: list[str] = []

if not cython.compiled:
    LENGTH = int(Op.LENGTH)
    AT_LEAST = int(Op.AT_LEAST)
    NONZERO = int(Op.NONZERO)
    AMONG = int(Op.AMONG)
    DATE = int(Op.DATE)
    DATE_OR_FOREVER = int(Op.DATE_OR_FOREVER)
    REFERS = int(Op.REFERS)
    SERVICE_ID = int(Op.SERVICE_ID)
    OPAQUE = int(Op.OPAQUE)
    DECIMAL = int(Op.DECIMAL)
    USERNAME = int(Op.USERNAME)
    CLOCK = int(Op.CLOCK)
    CHARACTERS = int(Op.CHARACTERS)
    PREFIXED = int(Op.PREFIXED)

    DATE_LIMIT = number_of_rule("date.limit")
    DATE_ZERO = number_of_rule("date.zero")
    DATE_PAST = number_of_rule("date.past")
    DATE_FUTURE = number_of_rule("date.future")

    # Bits of `muted`.
    MUTED_ZERO = 1
    MUTED_PAST = 2
    MUTED_FUTURE = 4


def check_number(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    context: RuleContext,
    slot: cython.size_t,
    depth: cython.int,
    number: cython.uint,
    element: cython.Py_ssize_t,
    value: cython.ulonglong,
) -> cython.void:
    """Check a number."""
    op: cython.int = OPS[slot]
    bad: cython.bint = False
    if op in (DATE, DATE_OR_FOREVER):
        check_date(context, slot, depth, number, value)
    elif op == REFERS:
        check_reference(context, slot, depth, number, element, value)
    elif op == NONZERO:
        bad = value == 0
        if TWICE[slot] and 0 < value < 64:
            check_twice(context, slot, depth, number, element, value)
    elif op == AMONG:
        bad = value > 63 or not (ARGUMENTS[slot] >> value) & 1
    elif op == OPAQUE:
        bad = value >> 24 != 255
    elif op == CLOCK:
        bad = value >= 2400 or value % 100 >= 60
    if bad:
        context.report(VALUE_RULES[slot], depth, number, element, 0, 0, 0)


def check_twice(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    context: RuleContext,
    slot: cython.size_t,
    depth: cython.int,
    number: cython.uint,
    element: cython.Py_ssize_t,
    value: cython.ulonglong,
) -> cython.void:
    """Check that an enum value is unique in its list."""
    met: cython.ulonglong = context.note(depth, 0)
    if (met >> value) & 1:
        context.report(TWICE[slot], depth, number, element, 0, 0, 0)
    context.set_note(depth, 0, met | cython.cast(cython.ulonglong, 1) << value)


def check_date(
    context: RuleContext, slot: cython.size_t, depth: cython.int, number: cython.uint, value: cython.ulonglong
) -> cython.void:
    """Check that a date is plausible."""
    if value > LAST_DATE:
        if not (OPS[slot] == DATE_OR_FOREVER and value >= FOREVER):
            context.report_field(DATE_LIMIT, depth, number)
    elif value > USUAL_TO:
        if not context.muted[slot] & MUTED_FUTURE:
            context.report_field(DATE_FUTURE, depth, number)
    elif value == 0:
        if ARGUMENTS[slot] and not context.muted[slot] & MUTED_ZERO:
            context.report_field(DATE_ZERO, depth, number)
    elif value < USUAL_FROM and not context.muted[slot] & MUTED_PAST:
        context.report_field(DATE_PAST, depth, number)


def check_reference(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    context: RuleContext,
    slot: cython.size_t,
    depth: cython.int,
    number: cython.uint,
    element: cython.Py_ssize_t,
    value: cython.ulonglong,
) -> cython.void:
    """Look up a recipient; store its index in the id table and its kind in the registers.

    In a list, the recipient is marked with the message and the field, to find duplicates.
    """
    at: cython.Py_ssize_t = context.recipients.find(value, context.frame)
    kind: cython.uint = 0
    mark: cython.ulonglong
    if at < 0:
        context.report(VALUE_RULES[slot], depth, number, element, 0, 0, 0)
    else:
        kind = cython.cast(cython.uint, context.recipients.marks[at] & 0xFF)
        if KIND_RULES[slot] and not (KINDS[slot] >> kind) & 1:
            context.report(KIND_RULES[slot], depth, number, element, 0, 0, 0)
        if TWICE[slot]:
            mark = context.serials[depth] << 6 | number
            if context.listed_in[at] == mark:
                context.report(TWICE[slot], depth, number, element, 0, 0, 0)
            elif APART[slot] and context.listed_in[at] >> 6 == context.serials[depth]:
                context.report(APART[slot], depth, number, element, 0, 0, 0)
            context.listed_in[at] = mark
    context.starts[depth * WIDTH + number] = at
    context.sizes[depth * WIDTH + number] = kind


def check_span(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    context: RuleContext,
    slot: cython.size_t,
    depth: cython.int,
    number: cython.uint,
    element: cython.Py_ssize_t,
    start: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.void:
    """Check a text or bytes."""
    op: cython.int = OPS[slot]
    argument: cython.ulonglong = ARGUMENTS[slot]
    bad: cython.bint = False
    if op == LENGTH:
        bad = cython.cast(cython.ulonglong, size) != argument
    elif op == AT_LEAST:
        bad = cython.cast(cython.ulonglong, size) < argument
    elif op == SERVICE_ID:
        bad = not is_service_id(context, start, size, argument != 0)
    elif op == DECIMAL:
        bad = not is_decimal(context, start, start + size)
    elif op == USERNAME:
        bad = not is_username(
            context,
            start,
            start + size,
            cython.cast(cython.Py_ssize_t, argument & LOW_ARGUMENT),
            cython.cast(cython.Py_ssize_t, argument >> SECOND_ARGUMENT_AT),
        )
    elif op == PREFIXED:
        bad = (
            cython.cast(cython.ulonglong, size) < argument & LOW_ARGUMENT
            or context.data[start] != argument >> SECOND_ARGUMENT_AT
        )
    elif op == CHARACTERS:
        # Grapheme clusters are not counted here; but there are never more of them than code points.
        if code_points(context, start, start + size) > argument:
            context.report(VALUE_RULES[slot], depth, number, element, 0, start, start + size)
        return
    if bad:
        context.report(VALUE_RULES[slot], depth, number, element, cython.cast(cython.ulonglong, size) + 1, 0, 0)
