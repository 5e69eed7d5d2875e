"""Formats of texts and bytes: service ids, decimal numbers, usernames, and the number of code points of a text."""

import cython

from holdfast.backup.rules.checks import UUID_SIZE
from holdfast.backup.rules.rule_context import RuleContext

__all__: list[str] = []

if not cython.compiled:
    ACI_SIZE = UUID_SIZE
    # The largest discriminator of a username, without its last digit, and that digit.
    MOST = ((1 << 64) - 1) // 10
    LAST_DIGIT = ((1 << 64) - 1) % 10


def is_service_id(
    context: RuleContext, start: cython.Py_ssize_t, size: cython.Py_ssize_t, pni: cython.bint
) -> cython.bint:
    """Return whether bytes are a service id: the 16 bytes of an ACI, or those of a PNI with a prefix byte."""
    if size == ACI_SIZE:
        return True
    return bool(pni and size == ACI_SIZE + 1 and context.data[start] == 1)


def is_decimal(context: RuleContext, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether a text is digits with at most one dot among them."""
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


def is_username(
    context: RuleContext,
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    longest: cython.Py_ssize_t,
    digits: cython.Py_ssize_t,
) -> cython.bint:
    """Return whether a text is a nickname, a dot, and a number with a permitted count of digits."""
    dot: cython.Py_ssize_t = end - 1
    pos: cython.Py_ssize_t
    byte: cython.uchar
    number: cython.ulonglong = 0
    digit: cython.ulonglong
    while dot > start and context.data[dot] != 46:
        dot -= 1
    if dot <= start or dot - start > longest or 48 <= context.data[start] <= 57:
        return False
    for pos in range(start, dot):
        byte = context.data[pos]
        if not (48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == 95):
            return False
    if end - dot - 1 < digits or (end - dot - 1 > digits and context.data[dot + 1] == 48):
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
