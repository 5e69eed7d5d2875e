"""Converts JSON Lines to frames without building objects: the fast path of `fromjson`.

A line is encoded here if it has the form that protobuf's JSON mapping writes. All others are left to `fromjson`,
which is lenient and raises the errors: unknown and duplicate keys, negative numbers and exponents, floats, "@raw",
invalid JSON. Both encode a line to the same bytes.

A frame is never longer than its line, so the output buffer has a fixed size and nothing is allocated per line.
"""

from typing import NamedTuple

import cython

from holdfast.backup.wire import name_table, tables
from holdfast.backup.wire.cursor import Cursor
from holdfast.backup.wire.layout import MAX_DEPTH
from holdfast.redacted_repr import redacted

if cython.compiled:
    from cython.cimports.libc.string import memcmp, memcpy, memmove

__all__ = ["EncodedLines", "LineEncoder"]

WIRE_TYPE = cython.declare(cython.uint, tables.WIRE_TYPE)
KIND = cython.declare(cython.uint, tables.KIND)
MESSAGE = cython.declare(cython.uint, tables.MESSAGE)
STRING = cython.declare(cython.uint, tables.STRING)
BYTES = cython.declare(cython.uint, tables.BYTES)
UINT64 = cython.declare(cython.uint, tables.UINT64)
BOOL = cython.declare(cython.uint, tables.BOOL)
ENUM = cython.declare(cython.uint, tables.ENUM)
FIXED32 = cython.declare(cython.uint, tables.FIXED32)
FLOAT = cython.declare(cython.uint, tables.FLOAT)
REPEATED = cython.declare(cython.uint, tables.REPEATED)
PACKABLE = cython.declare(cython.uint, tables.PACKABLE)
KEPT = cython.declare(cython.uint, tables.KEPT)

BASES = cython.declare(cython.const[cython.uint][::1], tables.BASES)
TAGS = cython.declare(cython.const[cython.uint][::1], name_table.TAGS)
SHAPES = cython.declare(cython.const[cython.uint][::1], tables.SHAPES)
TARGETS = cython.declare(cython.const[cython.uint][::1], tables.TARGETS)
CLASHES = cython.declare(cython.const[cython.ulonglong][::1], tables.CLASHES)
TEXT = cython.declare(cython.const[cython.uchar][::1], tables.TEXT)
TEXT_AT = cython.declare(cython.const[cython.uint][::1], tables.TEXT_AT)
TRUE = cython.declare(cython.Py_ssize_t, tables.TRUE)
FALSE = cython.declare(cython.Py_ssize_t, tables.FALSE)
NULL = cython.declare(cython.Py_ssize_t, tables.NULL)
NAMES = cython.declare(cython.const[cython.uint][::1], name_table.NAME_TABLE)
LAST_ENTRY = cython.declare(cython.uint, name_table.ENTRIES - 1)
FACTOR = cython.declare(cython.uint, name_table.FACTOR)
FIRST_ENUM = cython.declare(cython.uint, len(tables.MESSAGES))
DEEPEST = cython.declare(cython.int, MAX_DEPTH)

LOW_32 = cython.declare(cython.uint, (1 << 32) - 1)
LARGEST_UINT = cython.declare(cython.ulonglong, (1 << 32) - 1)
LARGEST_ENUM = cython.declare(cython.ulonglong, (1 << 31) - 1)
# Any number of so many digits fits into 64 bits.
SAFE_DIGITS = cython.declare(cython.Py_ssize_t, 19)

NEWLINE = cython.declare(cython.uchar, ord("\n"))
QUOTE = cython.declare(cython.uchar, ord('"'))
BACKSLASH = cython.declare(cython.uchar, ord("\\"))
COMMA = cython.declare(cython.uchar, ord(","))
COLON = cython.declare(cython.uchar, ord(":"))
ZERO = cython.declare(cython.uchar, ord("0"))
NINE = cython.declare(cython.uchar, ord("9"))
PAD = cython.declare(cython.uchar, ord("="))
BY_NUMBER = cython.declare(cython.uchar, ord("u"))
LETTER_N = cython.declare(cython.uchar, ord("n"))
OPEN_OBJECT = cython.declare(cython.uchar, ord("{"))
CLOSE_OBJECT = cython.declare(cython.uchar, ord("}"))
OPEN_LIST = cython.declare(cython.uchar, ord("["))
CLOSE_LIST = cython.declare(cython.uchar, ord("]"))

# Indexed by byte: whether it is white space inside a line; whether it ends a run of a string that is copied
# unchanged; its meaning after a backslash, or 0; its value as a digit of base 16, and of base 64 in either
# alphabet, or WRONG.
WRONG = cython.declare(cython.uint, 255)
SPACES = cython.declare(cython.const[cython.uchar][::1], bytes(byte in b" \t\r" for byte in range(256)))
STOPS = cython.declare(cython.const[cython.uchar][::1], bytes(byte < 32 or byte in b'"\\' for byte in range(256)))
ESCAPED = cython.declare(
    cython.const[cython.uchar][::1],
    bytes(dict(zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True)).get(byte, 0) for byte in range(256)),
)
HEX = cython.declare(
    cython.const[cython.uchar][::1],
    bytes(int(chr(byte), 16) if byte in b"0123456789abcdefABCDEF" else 255 for byte in range(256)),
)
DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
BASE64 = cython.declare(
    cython.const[cython.uchar][::1],
    bytes(DIGITS.find({45: 43, 95: 47}.get(byte, byte)) & 255 for byte in range(256)),
)


@redacted
class EncodedLines(NamedTuple):
    """The frames of some lines, each with its length prefix.

    `frames` and `lines` are their numbers; blank lines count as lines. `rest` is the offset of the first line that
    was not encoded, or the end of the buffer.
    """

    data: bytes
    frames: int
    lines: int
    rest: int


class LineEncoder(Cursor):
    """A cursor over complete lines that writes their frames.

    `room` is the size of the output buffer, `used` the number of bytes written. `unfit` is set by a line that is
    left to `fromjson`, `blank` by a blank line.
    """

    def __init__(self, data: bytes, cap: cython.Py_ssize_t) -> None:
        super().__init__(data, 0, len(data))
        self.room = 64 + len(data)
        self.page = bytearray(self.room)
        self.used = 0
        self.cap = cap
        self.unfit = False
        self.blank = False

    def encode(self, start: cython.Py_ssize_t) -> EncodedLines:
        """Encode lines from `start` up to the first that is left to `fromjson`; releases the GIL."""
        frames: cython.Py_ssize_t = 0
        lines: cython.Py_ssize_t = 0
        begin: cython.Py_ssize_t = start
        mark: cython.Py_ssize_t = 0
        self.pos = start
        self.used = 0
        self.unfit = False
        with cython.nogil:
            while self.pos < self.whole:
                begin = self.pos
                mark = self.used
                self.line()
                if self.unfit:
                    break
                lines += 1
                if not self.blank:
                    frames += 1
        if self.unfit:
            return EncodedLines(bytes(self.page[:mark]), frames, lines, begin)
        return EncodedLines(bytes(self.page[: self.used]), frames, lines, self.whole)

    def line(self) -> cython.void:
        """Encode one line with a length prefix, and move to the next line; a blank line is skipped."""
        begin: cython.Py_ssize_t = self.pos
        mark: cython.Py_ssize_t = self.used
        self.space()
        self.blank = self.pos == self.end or self.data[self.pos] == NEWLINE
        if not self.blank:
            self.put(0)
            self.message(0, 0)
            self.space()
            self.close(mark)
        if (self.pos < self.end and not self.take(NEWLINE)) or self.pos - begin > self.cap:
            self.unfit = True

    def message(self, message: cython.uint, depth: cython.int) -> cython.void:
        """Encode an object as a message, with the fields in the order of the keys."""
        base: cython.uint = BASES[message]
        slot: cython.uint
        number: cython.uint
        met: cython.ulonglong = 0
        taken: cython.ulonglong = 0
        one: cython.ulonglong = 1
        if depth > DEEPEST or not self.take(OPEN_OBJECT):
            self.unfit = True
            return
        self.space()
        if self.take(CLOSE_OBJECT):
            return
        while not self.unfit:
            slot = self.name(message)
            if self.unfit:
                return
            number = slot - base
            self.space()
            # Duplicate keys are an error, also if the value is null.
            if met >> number & 1 or not self.take(COLON):
                self.unfit = True
                return
            met |= one << number
            self.space()
            if self.pos < self.end and self.data[self.pos] == LETTER_N:
                if not self.literal(NULL):
                    self.unfit = True
            elif taken & CLASHES[slot]:
                self.unfit = True
            else:
                taken |= one << number
                self.value(slot, SHAPES[slot], depth)
            self.space()
            if self.take(CLOSE_OBJECT):
                return
            if not self.take(COMMA):
                self.unfit = True
            self.space()

    def value(self, slot: cython.Py_ssize_t, shape: cython.uint, depth: cython.int) -> cython.void:
        """Encode the value of a field."""
        at: cython.Py_ssize_t
        if shape & PACKABLE:
            self.packed(slot, shape)
        elif shape & REPEATED:
            self.array(slot, shape, depth)
        elif shape & KIND == MESSAGE:
            at = self.open(TAGS[slot])
            self.message(TARGETS[slot], depth + 1)
            self.close(at)
        else:
            self.single(slot, shape)

    def array(self, slot: cython.Py_ssize_t, shape: cython.uint, depth: cython.int) -> cython.void:
        """Encode an array of messages, strings or bytes."""
        if not self.take(OPEN_LIST):
            self.unfit = True
            return
        self.space()
        if self.take(CLOSE_LIST):
            return
        while not self.unfit:
            self.value(slot, shape & ~REPEATED, depth)
            self.space()
            if self.take(CLOSE_LIST):
                return
            if not self.take(COMMA):
                self.unfit = True
            self.space()

    def packed(self, slot: cython.Py_ssize_t, shape: cython.uint) -> cython.void:
        """Encode an array of numbers as a packed field; an empty array is not written."""
        mark: cython.Py_ssize_t = self.used
        at: cython.Py_ssize_t
        if not self.take(OPEN_LIST):
            self.unfit = True
            return
        self.space()
        at = self.open(TAGS[slot])
        if self.take(CLOSE_LIST):
            self.used = mark
            return
        while not self.unfit:
            self.bare(shape, self.number(slot, shape & KIND))
            self.space()
            if self.take(CLOSE_LIST):
                self.close(at)
                return
            if not self.take(COMMA):
                self.unfit = True
            self.space()

    def single(self, slot: cython.Py_ssize_t, shape: cython.uint) -> cython.void:
        """Encode a scalar; a default value only if the field has presence."""
        kind: cython.uint = shape & KIND
        value: cython.ulonglong
        if kind == STRING:
            self.string(TAGS[slot], shape)
        elif kind == BYTES:
            self.base64(TAGS[slot], shape)
        else:
            value = self.number(slot, kind)
            if value or shape & KEPT:
                self.varint_out(TAGS[slot])
                self.bare(shape, value)

    def number(self, slot: cython.Py_ssize_t, kind: cython.uint) -> cython.ulonglong:
        """Read a number, a boolean or an enum value."""
        value: cython.ulonglong
        if kind == BOOL:
            if self.literal(TRUE):
                return 1
            if not self.literal(FALSE):
                self.unfit = True
            return 0
        if kind == FLOAT:
            self.unfit = True
            return 0
        if kind == ENUM and self.pos < self.end and self.data[self.pos] == QUOTE:
            return self.name(FIRST_ENUM + TARGETS[slot])
        value = self.integer()
        if value > (LARGEST_ENUM if kind == ENUM else LARGEST_UINT) and kind != UINT64:
            self.unfit = True
        return value

    def integer(self) -> cython.ulonglong:
        """Read a non-negative integer, written as a number or as a string."""
        quoted: cython.bint = self.take(QUOTE)
        begin: cython.Py_ssize_t = self.pos
        pos: cython.Py_ssize_t = begin
        value: cython.ulonglong = 0
        while pos < self.end and ZERO <= self.data[pos] <= NINE and pos - begin < SAFE_DIGITS:
            value = value * 10 + (self.data[pos] - ZERO)
            pos += 1
        self.pos = pos
        # JSON has no leading zeros; a digit or a decimal point after the 0 is rejected by what is read next.
        if (
            pos == begin
            or (quoted and not self.take(QUOTE))
            or (not quoted and pos - begin > 1 and self.data[begin] == ZERO)
        ):
            self.unfit = True
        return value

    def name(self, owner: cython.uint) -> cython.uint:
        """Read a quoted name, and return its meaning for the owner (see `name_table`)."""
        begin: cython.Py_ssize_t = self.pos + 1
        pos: cython.Py_ssize_t = begin
        found: cython.uint
        entry: cython.Py_ssize_t
        size: cython.Py_ssize_t
        if not self.take(QUOTE):
            self.unfit = True
            return 0
        while pos < self.end and self.data[pos] != QUOTE:
            pos += 1
        size = pos - begin
        if pos == self.end or size == 0:
            self.unfit = True
            return 0
        self.pos = pos + 1
        # As in `name_table.hash_name`.
        found = owner * FACTOR + cython.cast(cython.uint, size)
        found = found * FACTOR + self.data[begin]
        found = found * FACTOR + self.data[begin + size // 2]
        found = (found * FACTOR + self.data[pos - 1]) & LOW_32
        found = (found ^ found >> 12) & LAST_ENTRY
        while True:
            entry = 4 * cython.cast(cython.Py_ssize_t, found)
            if NAMES[entry + 3] == 0:
                self.unfit = True
                return 0
            if (
                NAMES[entry] == owner
                and cython.cast(cython.Py_ssize_t, NAMES[entry + 3]) == size
                and self.same(begin, NAMES[entry + 2], size)
            ):
                return NAMES[entry + 1]
            found = (found + 1) & LAST_ENTRY

    def same(self, begin: cython.Py_ssize_t, at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.bint:
        """Return whether the constant at `at` equals the bytes at `begin`."""
        if size > self.end - begin:
            return False
        if cython.compiled:
            found: cython.bint = memcmp(cython.address(self.data[begin]), cython.address(TEXT[at]), size) == 0
            return found
        return bytes(self.data[begin : begin + size]) == bytes(TEXT[at : at + size])

    def literal(self, text: cython.Py_ssize_t) -> cython.bint:
        """Skip a constant, if it is next; return whether it was."""
        size: cython.Py_ssize_t = TEXT_AT[text + 1] - TEXT_AT[text]
        if not self.same(self.pos, TEXT_AT[text], size):
            return False
        self.pos += size
        return True

    def string(self, tag: cython.uint, shape: cython.uint) -> cython.void:
        """Encode a string as a text field."""
        begin: cython.Py_ssize_t = self.pos + 1
        pos: cython.Py_ssize_t = begin
        at: cython.Py_ssize_t
        bits: cython.uchar = 0
        escaped: cython.bint = False
        if not self.take(QUOTE):
            self.unfit = True
            return
        while True:
            while pos < self.end and STOPS[self.data[pos]] == 0:
                bits |= self.data[pos]
                pos += 1
            if pos >= self.end or self.data[pos] < 32:
                self.unfit = True
                return
            if self.data[pos] == QUOTE:
                break
            escaped = True
            pos += 2
        if bits & 0x80:
            self.pos = begin
            self.utf8(pos)
            if self.fault:
                self.fault = 0
                self.unfit = True
                return
        if escaped:
            at = self.open(tag)
            self.unescape(begin, pos)
            self.close(at)
        elif pos > begin or shape & KEPT:
            self.varint_out(tag)
            self.varint_out(pos - begin)
            self.copy(begin, pos - begin)
        self.pos = pos + 1

    def unescape(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.void:
        """Write the characters of a string with escape sequences, none of which is cut off."""
        pos: cython.Py_ssize_t = begin
        run: cython.Py_ssize_t
        code: cython.uint
        low: cython.uint
        while pos < end and not self.unfit:
            run = pos
            while pos < end and self.data[pos] != BACKSLASH:
                pos += 1
            self.copy(run, pos - run)
            if pos >= end:
                return
            pos += 1
            if self.data[pos] != BY_NUMBER:
                if ESCAPED[self.data[pos]] == 0:
                    self.unfit = True
                self.put(ESCAPED[self.data[pos]])
                pos += 1
                continue
            code = self.hexadecimal(pos + 1, end)
            pos += 5
            if code & 0xFC00 == 0xD800:
                if end - pos < 6 or self.data[pos] != BACKSLASH or self.data[pos + 1] != BY_NUMBER:
                    self.unfit = True
                    return
                low = self.hexadecimal(pos + 2, end)
                pos += 6
                if low & 0xFC00 != 0xDC00:
                    self.unfit = True
                code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF))
            elif code & 0xFC00 == 0xDC00:
                self.unfit = True
            self.character(code)

    def hexadecimal(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.uint:
        """Read four hexadecimal digits."""
        value: cython.uint = 0
        place: cython.Py_ssize_t
        if end - at < 4:
            self.unfit = True
            return 0
        for place in range(at, at + 4):
            if HEX[self.data[place]] == WRONG:
                self.unfit = True
                return 0
            value = value << 4 | HEX[self.data[place]]
        return value

    def character(self, code: cython.uint) -> cython.void:
        """Write a character in UTF-8."""
        if code < 0x80:
            self.put(code)
            return
        if code < 0x800:
            self.put(0xC0 | code >> 6)
        else:
            if code < 0x10000:
                self.put(0xE0 | code >> 12)
            else:
                self.put(0xF0 | code >> 18)
                self.put(0x80 | (code >> 12 & 63))
            self.put(0x80 | (code >> 6 & 63))
        self.put(0x80 | (code & 63))

    def base64(self, tag: cython.uint, shape: cython.uint) -> cython.void:
        """Encode a base64 string as a bytes field; surplus bits are ignored."""
        begin: cython.Py_ssize_t = self.pos + 1
        pos: cython.Py_ssize_t = begin
        digits: cython.Py_ssize_t
        size: cython.Py_ssize_t
        bits: cython.uint = 0
        held: cython.int = 0
        if not self.take(QUOTE):
            self.unfit = True
            return
        while pos < self.end and BASE64[self.data[pos]] != WRONG:
            pos += 1
        digits = pos - begin
        self.pos = pos
        if self.take(PAD):
            self.take(PAD)
        if digits & 3 == 1 or not self.take(QUOTE):
            self.unfit = True
            return
        size = digits * 3 // 4
        if size == 0 and not shape & KEPT:
            return
        self.varint_out(tag)
        self.varint_out(size)
        if not self.fits(size):
            return
        for pos in range(begin, begin + digits):
            bits = (bits << 6 | BASE64[self.data[pos]]) & 0xFFFFFF
            held += 6
            if held >= 8:
                held -= 8
                self.page[self.used] = bits >> held & 0xFF
                self.used += 1

    def space(self) -> cython.void:
        """Skip white space."""
        while self.pos < self.end and SPACES[self.data[self.pos]]:
            self.pos += 1

    def take(self, byte: cython.uchar) -> cython.bint:
        """Skip a byte, if it is next; return whether it was."""
        if self.pos < self.end and self.data[self.pos] == byte:
            self.pos += 1
            return True
        return False

    def bare(self, shape: cython.uint, value: cython.ulonglong) -> cython.void:
        """Write a number without a tag."""
        if shape & KIND == FIXED32:
            self.put(value & 0xFF)
            self.put(value >> 8 & 0xFF)
            self.put(value >> 16 & 0xFF)
            self.put(value >> 24 & 0xFF)
        else:
            self.varint_out(value)

    def varint_out(self, value: cython.ulonglong) -> cython.void:
        """Write a varint."""
        used: cython.Py_ssize_t = self.used
        if not self.fits(10):
            return
        while value > 0x7F:
            self.page[used] = cython.cast(cython.uchar, value & 0x7F | 0x80)
            value >>= 7
            used += 1
        self.page[used] = cython.cast(cython.uchar, value)
        self.used = used + 1

    def copy(self, at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.void:
        """Copy bytes of the line."""
        if size and self.fits(size):
            if cython.compiled:
                memcpy(cython.address(self.page[self.used]), cython.address(self.data[at]), size)
            else:
                self.page[self.used : self.used + size] = self.data[at : at + size]
            self.used += size

    def put(self, byte: cython.uchar) -> cython.void:
        """Write one byte."""
        if self.fits(1):
            self.page[self.used] = byte
            self.used += 1

    def open(self, tag: cython.uint) -> cython.Py_ssize_t:
        """Write a tag and reserve one byte for the length; return the offset of that byte."""
        self.varint_out(tag)
        self.put(0)
        return self.used - 1

    def close(self, at: cython.Py_ssize_t) -> cython.void:
        """Write the length of the content after `at`, which is moved if the length needs more than one byte."""
        size: cython.Py_ssize_t = self.used - at - 1
        more: cython.Py_ssize_t = 0
        left: cython.Py_ssize_t = size >> 7
        if self.unfit:
            return
        while left:
            more += 1
            left >>= 7
        if more:
            if not self.fits(more):
                return
            if cython.compiled:
                memmove(cython.address(self.page[at + 1 + more]), cython.address(self.page[at + 1]), size)
            else:
                self.page[at + 1 + more : at + 1 + more + size] = self.page[at + 1 : at + 1 + size]
        self.used = at
        self.varint_out(size)
        self.used = at + 1 + more + size

    def fits(self, size: cython.Py_ssize_t) -> cython.bint:
        """Return whether the output buffer has room for so many bytes; if not, leave the line to `fromjson`."""
        if size > self.room - self.used:
            self.unfit = True
        return not self.unfit
