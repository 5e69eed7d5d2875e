"""Checks of single values: numbers, dates, ids, texts and bytes."""

import cython

from holdfast.backup.rules.checks import UUID_SIZE, Op
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

if not cython.compiled:
    from holdfast.backup.wire.layout import WIDTH

__all__: list[str] = []

LENGTH = cython.declare(cython.int, int(Op.LENGTH))
AT_LEAST = cython.declare(cython.int, int(Op.AT_LEAST))
NONZERO = cython.declare(cython.int, int(Op.NONZERO))
AMONG = cython.declare(cython.int, int(Op.AMONG))
DATE = cython.declare(cython.int, int(Op.DATE))
DATE_OR_FOREVER = cython.declare(cython.int, int(Op.DATE_OR_FOREVER))
REFERS = cython.declare(cython.int, int(Op.REFERS))
SERVICE_ID = cython.declare(cython.int, int(Op.SERVICE_ID))
OPAQUE = cython.declare(cython.int, int(Op.OPAQUE))
DECIMAL = cython.declare(cython.int, int(Op.DECIMAL))
USERNAME = cython.declare(cython.int, int(Op.USERNAME))
CLOCK = cython.declare(cython.int, int(Op.CLOCK))
CHARACTERS = cython.declare(cython.int, int(Op.CHARACTERS))
IDENTITY_KEY = cython.declare(cython.int, int(Op.IDENTITY_KEY))

DATE_LIMIT = cython.declare(cython.uint, number_of_rule("date.limit"))
DATE_ZERO = cython.declare(cython.uint, number_of_rule("date.zero"))
DATE_PAST = cython.declare(cython.uint, number_of_rule("date.past"))
DATE_FUTURE = cython.declare(cython.uint, number_of_rule("date.future"))
IN_BOTH_LISTS = cython.declare(cython.uint, number_of_rule("chat-folder.recipients.apart"))

# The last date JavaScript knows, 2100 and 2000, in milliseconds; and the number that means never.
LAST_DATE = cython.declare(cython.ulonglong, 8_640_000_000_000_000)
FUTURE = cython.declare(cython.ulonglong, 4_102_444_800_000)
PAST = cython.declare(cython.ulonglong, 946_684_800_000)
FOREVER = cython.declare(cython.ulonglong, (1 << 63) - 1)
# Bits of `muted`.
MUTED_ZERO = cython.declare(cython.uint, 1)
MUTED_PAST = cython.declare(cython.uint, 2)
MUTED_FUTURE = cython.declare(cython.uint, 4)

LONGEST_NICKNAME = cython.declare(cython.Py_ssize_t, 48)
# The largest number a discriminator can be, without its last digit, and that digit.
MOST = cython.declare(cython.ulonglong, ((1 << 64) - 1) // 10)
LAST_DIGIT = cython.declare(cython.ulonglong, ((1 << 64) - 1) % 10)
ACI_SIZE = cython.declare(cython.Py_ssize_t, UUID_SIZE)
KEY_TYPE = cython.declare(cython.uchar, 5)
KEY_SIZE = cython.declare(cython.Py_ssize_t, 33)
ONE = cython.declare(cython.ulonglong, 1)


def check_number(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    context: RuleContext,
    slot: cython.size_t,
    depth: cython.int,
    number: cython.uint,
    element: cython.Py_ssize_t,
    value: cython.ulonglong,
) -> cython.void:
    """Hold a number to its check."""
    op: cython.int = context.ops[slot]
    bad: cython.bint = False
    if op in (DATE, DATE_OR_FOREVER):
        check_date(context, slot, depth, number, value)
    elif op == REFERS:
        check_reference(context, slot, depth, number, element, value)
    elif op == NONZERO:
        bad = value == 0
        if context.twice[slot] and 0 < value < 64:
            check_twice(context, slot, depth, number, element, value)
    elif op == AMONG:
        bad = value > 63 or not (context.arguments[slot] >> value) & 1
    elif op == OPAQUE:
        bad = value >> 24 != 255
    elif op == CLOCK:
        bad = value >= 2400 or value % 100 >= 60
    if bad:
        context.report(context.rules[slot], depth, number, element, 0, 0, 0)


def check_twice(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    context: RuleContext,
    slot: cython.size_t,
    depth: cython.int,
    number: cython.uint,
    element: cython.Py_ssize_t,
    value: cython.ulonglong,
) -> cython.void:
    """Hold a value of an enum to standing only once in its list."""
    met: cython.ulonglong = context.note(depth, 0)
    if (met >> value) & 1:
        context.report(context.twice[slot], depth, number, element, 0, 0, 0)
    context.set_note(depth, 0, met | ONE << value)


def check_date(
    context: RuleContext, slot: cython.size_t, depth: cython.int, number: cython.uint, value: cython.ulonglong
) -> cython.void:
    """Hold a date to the calendar."""
    if value > LAST_DATE:
        if not (context.ops[slot] == DATE_OR_FOREVER and value >= FOREVER):
            context.report_field(DATE_LIMIT, depth, number)
    elif value > FUTURE:
        if not context.muted[slot] & MUTED_FUTURE:
            context.report_field(DATE_FUTURE, depth, number)
    elif value == 0:
        if context.arguments[slot] and not context.muted[slot] & MUTED_ZERO:
            context.report_field(DATE_ZERO, depth, number)
    elif value < PAST and not context.muted[slot] & MUTED_PAST:
        context.report_field(DATE_PAST, depth, number)


def check_reference(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    context: RuleContext,
    slot: cython.size_t,
    depth: cython.int,
    number: cython.uint,
    element: cython.Py_ssize_t,
    value: cython.ulonglong,
) -> cython.void:
    """Look a recipient up, and keep where it was found and of what kind it is.

    In a list a recipient is marked with the message and the field it stands in.
    """
    at: cython.Py_ssize_t = context.recipients.find(value, context.frame)
    kind: cython.uint = 0
    mark: cython.ulonglong
    if at < 0:
        context.report(context.rules[slot], depth, number, element, 0, 0, 0)
    else:
        kind = cython.cast(cython.uint, context.recipients.marks[at] & 0xFF)
        if context.kind_rules[slot] and not (context.kinds[slot] >> kind) & 1:
            context.report(context.kind_rules[slot], depth, number, element, 0, 0, 0)
        if context.twice[slot]:
            mark = context.serials[depth] << 6 | number
            if context.listed_in[at] == mark:
                context.report(context.twice[slot], depth, number, element, 0, 0, 0)
            elif context.listed_in[at] >> 6 == context.serials[depth]:
                context.report(IN_BOTH_LISTS, depth, number, element, 0, 0, 0)
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
    """Hold a text or bytes to their check."""
    op: cython.int = context.ops[slot]
    argument: cython.ulonglong = context.arguments[slot]
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
        bad = not is_username(context, start, start + size)
    elif op == IDENTITY_KEY:
        bad = size < KEY_SIZE or context.data[start] != KEY_TYPE
    elif op == CHARACTERS:
        # What is one character is not for the core to say; but there are never more than code points.
        if code_points(context, start, start + size) > argument:
            context.report(context.rules[slot], depth, number, element, 0, start, start + size)
        return
    if bad:
        context.report(context.rules[slot], depth, number, element, cython.cast(cython.ulonglong, size) + 1, 0, 0)


def is_service_id(
    context: RuleContext, start: cython.Py_ssize_t, size: cython.Py_ssize_t, pni: cython.bint
) -> cython.bint:
    """Tell whether bytes are a service id: 16 of an account, or one more before those of a number."""
    if size == ACI_SIZE:
        return True
    return bool(pni and size == ACI_SIZE + 1 and context.data[start] == 1)


def is_decimal(context: RuleContext, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Tell whether a text is digits with at most one dot among them."""
    digits: cython.Py_ssize_t = 0
    dots: cython.Py_ssize_t = 0
    while pos < end:
        if 48 <= context.data[pos] <= 57:
            digits += 1
        elif context.data[pos] == 46:
            dots += 1
        else:
            return False
        pos += 1
    return digits > 0 and dots < 2


def is_username(context: RuleContext, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Tell whether a text is a nickname, a dot, and a number of two digits or more."""
    dot: cython.Py_ssize_t = end - 1
    pos: cython.Py_ssize_t
    byte: cython.uchar
    number: cython.ulonglong = 0
    digit: cython.ulonglong
    while dot > start and context.data[dot] != 46:
        dot -= 1
    if dot <= start or dot - start > LONGEST_NICKNAME or 48 <= context.data[start] <= 57:
        return False
    for pos in range(start, dot):
        byte = context.data[pos]
        if not (48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == 95):
            return False
    if end - dot < 3 or (end - dot > 3 and context.data[dot + 1] == 48):
        return False
    for pos in range(dot + 1, end):
        byte = context.data[pos]
        if not 48 <= byte <= 57:
            return False
        digit = byte - 48
        if number > MOST or (number == MOST and digit > LAST_DIGIT):
            return False
        number = number * 10 + digit
    return bool(number > 0)


def code_points(context: RuleContext, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.ulonglong:
    """Count the code points of a text."""
    count: cython.ulonglong = 0
    while pos < end:
        if context.data[pos] & 0xC0 != 0x80:
            count += 1
        pos += 1
    return count
