"""Writes a well-formed record as JSON text into an output buffer (a page) of fixed size.

The text is that of protobuf's JSON mapping, without spaces. When the page is full, nothing more is written and
`full` is set: the caller takes a larger page and renders the record again. The hot path allocates no memory.
"""

import struct
from array import array
from typing import Final

import cython

from holdfast.backup.wire import tables
from holdfast.backup.wire.cursor import Cursor
from holdfast.backup.wire.names import SPELLINGS, Names

if cython.compiled:
    from cython.cimports.libc.string import memcpy
else:
    from holdfast.backup.wire.cursor import six_bytes

    SHORT = 32

__all__ = ["Renderer"]

WIRE_TYPE = cython.declare(cython.uint, tables.WIRE_TYPE)
KIND = cython.declare(cython.uint, tables.KIND)
MESSAGE = cython.declare(cython.uint, tables.MESSAGE)
STRING = cython.declare(cython.uint, tables.STRING)
BYTES = cython.declare(cython.uint, tables.BYTES)
UINT64 = cython.declare(cython.uint, tables.UINT64)
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
VALUE_BASES = cython.declare(cython.const[cython.uint][::1], tables.VALUE_BASES)
VALUE_LIMITS = cython.declare(cython.const[cython.uint][::1], tables.VALUE_LIMITS)
# Followed by `SHORT` zeros, so that this many bytes can be copied from the beginning of any text.
TEXT = cython.declare(cython.const[cython.uchar][::1], tables.TEXT + bytes(32))
TEXT_AT = cython.declare(cython.const[cython.uint][::1], tables.TEXT_AT)
TRUE = cython.declare(cython.Py_ssize_t, tables.TRUE)
FALSE = cython.declare(cython.Py_ssize_t, tables.FALSE)
RAW = cython.declare(cython.Py_ssize_t, tables.RAW)

LOW_32 = cython.declare(cython.ulonglong, (1 << 32) - 1)
QUOTE = cython.declare(cython.uchar, ord('"'))
BACKSLASH = cython.declare(cython.uchar, ord("\\"))
COMMA = cython.declare(cython.uchar, ord(","))
HYPHEN = cython.declare(cython.uchar, ord("-"))
OPEN_OBJECT = cython.declare(cython.uchar, ord("{"))
CLOSE_OBJECT = cython.declare(cython.uchar, ord("}"))
OPEN_LIST = cython.declare(cython.uchar, ord("["))
CLOSE_LIST = cython.declare(cython.uchar, ord("]"))
PAD = cython.declare(cython.uchar, ord("="))

BASE64 = cython.declare(
    cython.const[cython.uchar][::1], b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
)
HEX = cython.declare(cython.const[cython.uchar][::1], b"0123456789abcdef")
PAIRS = cython.declare(cython.const[cython.uchar][::1], b"".join(b"%02d" % number for number in range(100)))
POWERS = cython.declare(cython.const[cython.ulonglong][::1], array("Q", [10**size for size in range(20)]))

# Indexed by byte: 0 if it is written unchanged, else the letter after the backslash. The "L" of 0xE2 is for U+2028
# and U+2029, line separators that are valid in JSON strings but were not in JavaScript.
ESCAPES = cython.declare(
    cython.const[cython.uchar][::1],
    bytes(
        {8: b"b", 9: b"t", 10: b"n", 12: b"f", 13: b"r", 34: b'"', 92: b"\\", 0xE2: b"L"}.get(
            byte, b"u" if byte < 32 else b"\0"
        )[0]
        for byte in range(256)
    ),
)
# Free pages, to be reused: clearing a new page takes a tenth of the time of filling it. `append` and `pop` of a
# list are atomic, so threads can share it.
SPARE_PAGES: Final[list[bytearray]] = []
MOST_SPARE_PAGES: Final = 4
SMALLEST_SPARE_PAGE: Final = 1 << 20
LARGEST_SPARE_PAGE: Final = 1 << 24

LINE_END = cython.declare(cython.uchar, ord("L"))
BY_NUMBER = cython.declare(cython.uchar, ord("u"))


def float_text(bits: int) -> bytes:
    """Format a 32-bit float with the fewest digits that preserve its value."""
    raw = struct.pack("<I", bits)
    (value,) = struct.unpack("<f", raw)
    if value != value:  # noqa: PLR0124  # only NaN differs from itself
        return b'"NaN"'
    if value in (float("inf"), float("-inf")):
        return b'"Infinity"' if value > 0 else b'"-Infinity"'
    short = [float(f"{value:.{digits}g}") for digits in (6, 7, 8, 9)]
    return repr(next(number for number in short if struct.pack("<f", number) == raw)).encode()


def take_page(room: int) -> bytearray:
    """Return a page of at least this size."""
    if room >= SMALLEST_SPARE_PAGE:
        try:
            page = SPARE_PAGES.pop()
        except IndexError:
            pass
        else:
            if len(page) >= room:
                return page
    return bytearray(room)


class Renderer(Cursor):
    """A cursor that writes JSON: `room` is the size of the page, `used` the number of bytes written."""

    def __init__(self, data: bytes | memoryview, room: cython.Py_ssize_t, names: Names) -> None:
        super().__init__(data, 0, len(data))
        self.buffer = take_page(room)
        self.page = self.buffer
        self.room = len(self.buffer)
        self.used = 0
        self.line = 0
        self.full = False
        self.names = SPELLINGS.index(names) * tables.TEXTS

    def record(
        self, root: cython.uint, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, keep: cython.bint
    ) -> cython.void:
        """Write the record between `begin` and `end`, with `keep` also its original bytes (`@raw`)."""
        self.line = self.used
        self.pos = begin
        self.end = end
        self.message(root)
        if keep and not self.full:
            self.used -= 1
            self.text(RAW, self.page[self.used - 1] == OPEN_OBJECT)
            self.pos = begin
            self.base64(end)
            self.put(CLOSE_OBJECT)

    def message(self, message: cython.uint) -> cython.void:
        """Write one message up to `end`."""
        base: cython.Py_ssize_t = BASES[message]
        limit: cython.uint = LIMITS[message]
        tag: cython.uint
        number: cython.uint
        wire_type: cython.uint
        slot: cython.Py_ssize_t
        shape: cython.uint
        amount: cython.ulonglong
        listed: cython.uint = 0  # the field whose JSON array is open
        first: cython.bint = True
        self.put(OPEN_OBJECT)
        while self.pos < self.end:
            tag = self.data[self.pos]
            if tag < 0x80:
                self.pos += 1
            else:
                tag = self.any_tag()
            number = tag >> 3
            wire_type = tag & 7
            slot = base + number if number < limit else 0
            shape = SHAPES[slot]
            if wire_type != shape & WIRE_TYPE and (wire_type != 2 or not shape & PACKABLE):
                self.skip(tag, 0)
                continue
            amount = self.read_length() if wire_type == 2 else self.read_number(shape)
            if amount == 0 and not shape & KEPT:
                continue
            if listed == number:
                self.put(COMMA)
            else:
                if listed:
                    self.put(CLOSE_LIST)
                self.text(self.names + slot, first)
                first = False
                listed = number if shape & REPEATED else 0
                if listed:
                    self.put(OPEN_LIST)
            if wire_type == 2:
                self.delimited(slot, shape, self.pos + cython.cast(cython.Py_ssize_t, amount))
            else:
                self.number(slot, shape & KIND, amount)
        if listed:
            self.put(CLOSE_LIST)
        self.put(CLOSE_OBJECT)

    def read_length(self) -> cython.ulonglong:
        """Read a length; the common case of one byte is read inline."""
        size: cython.ulonglong = self.data[self.pos]
        if size < 0x80:
            self.pos += 1
            return size
        return self.length()

    def read_number(self, shape: cython.uint) -> cython.ulonglong:
        """Read a number, truncated to the size of its kind."""
        kind: cython.uint = shape & KIND
        value: cython.ulonglong
        if shape & WIRE_TYPE == 5:
            return self.fixed32()
        value = self.data[self.pos]
        if value < 0x80:
            self.pos += 1
        else:
            value = six_bytes(self, self.pos)
            if value >> 35:
                self.pos += 6
            else:
                value = self.varint()
        if kind == BOOL:
            return 1 if value else 0
        return value if kind == UINT64 else value & LOW_32

    def delimited(self, slot: cython.Py_ssize_t, shape: cython.uint, end: cython.Py_ssize_t) -> cython.void:
        """Write a length-delimited value, up to `end`."""
        outer: cython.Py_ssize_t = self.end
        kind: cython.uint = shape & KIND
        if kind == STRING:
            self.string(end)
        elif kind == BYTES:
            self.base64(end)
        else:
            self.end = end
            if kind == MESSAGE:
                self.message(TARGETS[slot])
            else:
                self.packed(slot, shape)
            self.end = outer

    def packed(self, slot: cython.Py_ssize_t, shape: cython.uint) -> cython.void:
        """Write the numbers of a packed field up to `end`."""
        while True:
            self.number(slot, shape & KIND, self.read_number(shape))
            if self.pos >= self.end:
                return
            self.put(COMMA)

    def number(self, slot: cython.Py_ssize_t, kind: cython.uint, value: cython.ulonglong) -> cython.void:
        """Write a number in the form of its kind."""
        if kind == UINT64:
            self.digits(value, True)
        elif kind == BOOL:
            self.text(TRUE if value else FALSE, False)
        elif kind == ENUM:
            self.enum(TARGETS[slot], value)
        elif kind == FLOAT:
            self.float32(cython.cast(cython.uint, value))
        else:
            self.digits(value, False)

    def enum(self, enum: cython.Py_ssize_t, value: cython.ulonglong) -> cython.void:
        """Write the name of an enum value, or the number if it has no name."""
        text: cython.Py_ssize_t = self.names + VALUE_BASES[enum]
        if value < VALUE_LIMITS[enum]:
            text += cython.cast(cython.Py_ssize_t, value)
            if TEXT_AT[text] < TEXT_AT[text + 1]:
                self.text(text, False)
                return
        if value >> 31:
            self.put(HYPHEN)
            value = LOW_32 - value + 1
        self.digits(value, False)

    def float32(self, bits: cython.uint) -> cython.void:
        """Write a float; they are rare (the stops of a gradient), so this takes the GIL."""
        with cython.gil:
            for byte in float_text(bits):
                self.put(byte)

    def string(self, end: cython.Py_ssize_t) -> cython.void:
        """Write the text up to `end` as a JSON string."""
        pos: cython.Py_ssize_t = self.pos
        run: cython.Py_ssize_t
        self.put(QUOTE)
        while pos < end and not self.full:
            run = pos
            while pos < end and ESCAPES[self.data[pos]] == 0:
                pos += 1
            self.copy(run, pos - run)
            if pos < end:
                pos = self.escape(pos, end)
        self.put(QUOTE)
        self.pos = end

    def copy(self, at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.void:
        """Copy bytes of the record."""
        if size and self.fits(size):
            if cython.compiled:
                memcpy(cython.address(self.page[self.used]), cython.address(self.data[at]), size)
            else:
                self.page[self.used : self.used + size] = self.data[at : at + size]
            self.used += size

    def escape(self, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the character at `pos`, escaped if necessary; return the offset of the next one."""
        code: cython.uint = self.data[pos]
        letter: cython.uchar = ESCAPES[code]
        size: cython.Py_ssize_t = 1
        if letter == LINE_END:
            if end - pos < 3 or self.data[pos + 1] != 0x80 or self.data[pos + 2] & 0xFE != 0xA8:
                self.put(0xE2)
                return pos + 1
            code = 0x2028 | (self.data[pos + 2] & 1)
            letter = BY_NUMBER
            size = 3
        self.put(BACKSLASH)
        self.put(letter)
        if letter == BY_NUMBER:
            self.put(HEX[code >> 12])
            self.put(HEX[code >> 8 & 15])
            self.put(HEX[code >> 4 & 15])
            self.put(HEX[code & 15])
        return pos + size

    def base64(self, end: cython.Py_ssize_t) -> cython.void:
        """Write the bytes up to `end` as a JSON string in base64."""
        pos: cython.Py_ssize_t = self.pos
        used: cython.Py_ssize_t = self.used
        left: cython.Py_ssize_t
        bits: cython.uint
        self.pos = end
        if not self.fits((end - pos + 2) // 3 * 4 + 2):
            return
        self.page[used] = QUOTE
        used += 1
        while pos < end:
            left = end - pos
            bits = cython.cast(cython.uint, self.data[pos]) << 16
            if left > 1:
                bits |= cython.cast(cython.uint, self.data[pos + 1]) << 8
            if left > 2:
                bits |= self.data[pos + 2]
            self.page[used] = BASE64[bits >> 18]
            self.page[used + 1] = BASE64[bits >> 12 & 63]
            self.page[used + 2] = BASE64[bits >> 6 & 63] if left > 1 else PAD
            self.page[used + 3] = BASE64[bits & 63] if left > 2 else PAD
            used += 4
            pos += 3
        self.page[used] = QUOTE
        self.used = used + 1

    @cython.boundscheck(False)
    def digits(self, value: cython.ulonglong, quoted: cython.bint) -> cython.void:
        """Write a number in decimal; the bounds are checked once for all digits."""
        # Most numbers are small, or timestamps in milliseconds.
        size: cython.size_t = 13 if value >= POWERS[12] else 1
        at: cython.size_t
        pair: cython.size_t
        while size < 20 and value >= POWERS[size]:
            size += 1
        if not self.fits(size + 2):
            return
        at = self.used + size
        if quoted:
            self.page[self.used] = QUOTE
            at += 1
            self.page[at] = QUOTE
            self.used = at + 1
        else:
            self.used = at
        while value >= 100:
            pair = cython.cast(cython.size_t, value % 100) * 2
            value //= 100
            at -= 2
            self.page[at] = PAIRS[pair]
            self.page[at + 1] = PAIRS[pair + 1]
        pair = cython.cast(cython.size_t, value) * 2
        self.page[at - 1] = PAIRS[pair + 1]
        if value >= 10:
            self.page[at - 2] = PAIRS[pair]

    def text(self, index: cython.Py_ssize_t, first: cython.bint) -> cython.void:
        """Write a constant of `tables.TEXT`, without its comma if it comes first."""
        at: cython.Py_ssize_t = TEXT_AT[index] + (1 if first else 0)
        size: cython.Py_ssize_t = TEXT_AT[index + 1] - at
        if cython.compiled and size <= SHORT <= self.room - self.used:
            # Copying a constant number of bytes is not a call, and what comes after the text is overwritten.
            memcpy(cython.address(self.page[self.used]), cython.address(TEXT[at]), SHORT)
            self.used += size
        elif self.fits(size):
            if cython.compiled:
                memcpy(cython.address(self.page[self.used]), cython.address(TEXT[at]), size)
            else:
                self.page[self.used : self.used + size] = TEXT[at : at + size]
            self.used += size

    def put(self, byte: cython.uchar) -> cython.void:
        """Write one byte."""
        if self.fits(1):
            self.page[self.used] = byte
            self.used += 1

    def fits(self, size: cython.Py_ssize_t) -> cython.bint:
        """Return whether the page has room for so many bytes; if not, set `full`."""
        if size > self.room - self.used:
            self.full = True
        return not self.full

    def grow(self) -> None:
        """Take a page twice as large, and discard the line that did not fit."""
        page = bytearray(2 * self.room)
        page[: self.line] = self.page[: self.line]
        self.buffer = page
        self.page = page
        self.room *= 2
        self.used = self.line
        self.full = False

    def append(self, text: bytes) -> None:
        """Append a line that was rendered elsewhere."""
        self.line = self.used
        while not self.fits(len(text)):
            self.grow()
        for byte in text:
            self.put(byte)

    def written(self) -> bytes:
        """Return the content of the page, and release the page; the renderer must not be used afterwards."""
        text = bytes(self.page[: self.used])
        self.room = self.used = 0
        if SMALLEST_SPARE_PAGE <= len(self.buffer) <= LARGEST_SPARE_PAGE and len(SPARE_PAGES) < MOST_SPARE_PAGES:
            SPARE_PAGES.append(self.buffer)
        return text
