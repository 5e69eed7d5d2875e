"""Checks of single values: numbers, dates, ids, texts and bytes."""

import cython

from holdfast.backup.rules.checks import Op
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

if not cython.compiled:
    from holdfast.backup.wire.layout import WIDTH

__all__ = ["Values"]

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
ACI_SIZE = cython.declare(cython.Py_ssize_t, 16)
KEY_TYPE = cython.declare(cython.uchar, 5)
KEY_SIZE = cython.declare(cython.Py_ssize_t, 33)
ONE = cython.declare(cython.ulonglong, 1)


class Values(RuleContext):
    """A ground on which single values are checked."""

    def check_number(
        self,
        slot: cython.size_t,
        depth: cython.int,
        number: cython.uint,
        element: cython.Py_ssize_t,
        value: cython.ulonglong,
    ) -> cython.void:
        """Hold a number to its check."""
        op: cython.int = self.ops[slot]
        bad: cython.bint = False
        if op in (DATE, DATE_OR_FOREVER):
            self.check_date(slot, depth, number, value)
        elif op == REFERS:
            self.check_reference(slot, depth, number, element, value)
        elif op == NONZERO:
            bad = value == 0
            if self.twice[slot] and 0 < value < 64:
                self.check_twice(slot, depth, number, element, value)
        elif op == AMONG:
            bad = value > 63 or not (self.arguments[slot] >> value) & 1
        elif op == OPAQUE:
            bad = value >> 24 != 255
        elif op == CLOCK:
            bad = value >= 2400 or value % 100 >= 60
        if bad:
            self.report(self.rules[slot], depth, number, element, 0, 0, 0)

    def check_twice(
        self,
        slot: cython.size_t,
        depth: cython.int,
        number: cython.uint,
        element: cython.Py_ssize_t,
        value: cython.ulonglong,
    ) -> cython.void:
        """Hold a value of an enum to standing only once in its list."""
        met: cython.ulonglong = self.note(depth, 0)
        if (met >> value) & 1:
            self.report(self.twice[slot], depth, number, element, 0, 0, 0)
        self.set_note(depth, 0, met | ONE << value)

    def check_date(
        self, slot: cython.size_t, depth: cython.int, number: cython.uint, value: cython.ulonglong
    ) -> cython.void:
        """Hold a date to the calendar."""
        if value > LAST_DATE:
            if not (self.ops[slot] == DATE_OR_FOREVER and value >= FOREVER):
                self.report_field(DATE_LIMIT, depth, number)
        elif value > FUTURE:
            if not self.muted[slot] & MUTED_FUTURE:
                self.report_field(DATE_FUTURE, depth, number)
        elif value == 0:
            if self.arguments[slot] and not self.muted[slot] & MUTED_ZERO:
                self.report_field(DATE_ZERO, depth, number)
        elif value < PAST and not self.muted[slot] & MUTED_PAST:
            self.report_field(DATE_PAST, depth, number)

    def check_reference(
        self,
        slot: cython.size_t,
        depth: cython.int,
        number: cython.uint,
        element: cython.Py_ssize_t,
        value: cython.ulonglong,
    ) -> cython.void:
        """Look a recipient up, and keep where it was found and of what kind it is.

        In a list a recipient is marked with the message and the field it stands in.
        """
        at: cython.Py_ssize_t = self.recipients.find(value, self.frame)
        kind: cython.uint = 0
        mark: cython.ulonglong
        if at < 0:
            self.report(self.rules[slot], depth, number, element, 0, 0, 0)
        else:
            kind = cython.cast(cython.uint, self.recipients.marks[at] & 0xFF)
            if self.kind_rules[slot] and not (self.kinds[slot] >> kind) & 1:
                self.report(self.kind_rules[slot], depth, number, element, 0, 0, 0)
            if self.twice[slot]:
                mark = self.serials[depth] << 6 | number
                if self.listed_in[at] == mark:
                    self.report(self.twice[slot], depth, number, element, 0, 0, 0)
                elif self.listed_in[at] >> 6 == self.serials[depth]:
                    self.report(IN_BOTH_LISTS, depth, number, element, 0, 0, 0)
                self.listed_in[at] = mark
        self.starts[depth * WIDTH + number] = at
        self.sizes[depth * WIDTH + number] = kind

    def check_span(  # noqa: PLR0917
        self,
        slot: cython.size_t,
        depth: cython.int,
        number: cython.uint,
        element: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
    ) -> cython.void:
        """Hold a text or bytes to their check."""
        op: cython.int = self.ops[slot]
        argument: cython.ulonglong = self.arguments[slot]
        bad: cython.bint = False
        if op == LENGTH:
            bad = cython.cast(cython.ulonglong, size) != argument
        elif op == AT_LEAST:
            bad = cython.cast(cython.ulonglong, size) < argument
        elif op == SERVICE_ID:
            bad = not self.is_service_id(start, size, argument != 0)
        elif op == DECIMAL:
            bad = not self.is_decimal(start, start + size)
        elif op == USERNAME:
            bad = not self.is_username(start, start + size)
        elif op == IDENTITY_KEY:
            bad = size < KEY_SIZE or self.data[start] != KEY_TYPE
        elif op == CHARACTERS:
            # What is one character is not for the core to say; but there are never more than code points.
            if self.code_points(start, start + size) > argument:
                self.report(self.rules[slot], depth, number, element, 0, start, start + size)
            return
        if bad:
            self.report(self.rules[slot], depth, number, element, cython.cast(cython.ulonglong, size) + 1, 0, 0)

    def is_service_id(self, start: cython.Py_ssize_t, size: cython.Py_ssize_t, pni: cython.bint) -> cython.bint:
        """Tell whether bytes are a service id: 16 of an account, or one more before those of a number."""
        if size == ACI_SIZE:
            return True
        return bool(pni and size == ACI_SIZE + 1 and self.data[start] == 1)

    def is_decimal(self, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a text is digits with at most one dot among them."""
        digits: cython.Py_ssize_t = 0
        dots: cython.Py_ssize_t = 0
        while pos < end:
            if 48 <= self.data[pos] <= 57:
                digits += 1
            elif self.data[pos] == 46:
                dots += 1
            else:
                return False
            pos += 1
        return digits > 0 and dots < 2

    def is_username(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a text is a nickname, a dot, and a number of two digits or more."""
        dot: cython.Py_ssize_t = end - 1
        pos: cython.Py_ssize_t
        byte: cython.uchar
        number: cython.ulonglong = 0
        digit: cython.ulonglong
        while dot > start and self.data[dot] != 46:
            dot -= 1
        if dot <= start or dot - start > LONGEST_NICKNAME or 48 <= self.data[start] <= 57:
            return False
        for pos in range(start, dot):
            byte = self.data[pos]
            if not (48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == 95):
                return False
        if end - dot < 3 or (end - dot > 3 and self.data[dot + 1] == 48):
            return False
        for pos in range(dot + 1, end):
            byte = self.data[pos]
            if not 48 <= byte <= 57:
                return False
            digit = byte - 48
            if number > MOST or (number == MOST and digit > LAST_DIGIT):
                return False
            number = number * 10 + digit
        return bool(number > 0)

    def code_points(self, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.ulonglong:
        """Count the code points of a text."""
        count: cython.ulonglong = 0
        while pos < end:
            if self.data[pos] & 0xC0 != 0x80:
                count += 1
            pos += 1
        return count
