"""A read position in a buffer of untrusted bytes, and the primitive reads of the protobuf wire format.

The compiled modules are Cython in pure-Python mode: plain Python that is compiled if a C compiler is found, and
runs unchanged otherwise. The C types of each module are in the `.pxd` file beside it. Modules share a class that
way, at the cost of a virtual call for each method. Invariants of all compiled modules:

- every read is guarded by `pos < end`; bounds checks stay on in the compiled code as a second line of defence
  (`word` checks once for eight bytes);
- no allocation has a size that the input claims, and nesting is bounded;
- well-formed is exactly what `protobuf` accepts;
- integer literals are below 2**31: Cython turns larger ones into Python objects, which would need the GIL;
- Python integers do not overflow, so values that C would truncate are masked.

Hot loops read eight bytes as one integer: most text is ASCII, and most varints longer than one byte are
timestamps of six bytes.
"""

import cython

from holdfast.backup.wire import faults
from holdfast.backup.wire.layout import MAX_DEPTH
from holdfast.backup.wire.utf8 import STEPS as _STEPS
from holdfast.backup.wire.utf8 import WHOLE as _WHOLE

__all__ = ["MAX_DEPTH", "Cursor"]

CUT = cython.declare(cython.int, faults.CUT)
LONG_VARINT = cython.declare(cython.int, faults.LONG_VARINT)
TOO_LONG = cython.declare(cython.int, faults.TOO_LONG)
BAD_TAG = cython.declare(cython.int, faults.BAD_TAG)
BAD_WIRE_TYPE = cython.declare(cython.int, faults.BAD_WIRE_TYPE)
BAD_GROUP = cython.declare(cython.int, faults.BAD_GROUP)
TOO_DEEP = cython.declare(cython.int, faults.TOO_DEEP)
BAD_TEXT = cython.declare(cython.int, faults.BAD_TEXT)

_MAX_DEPTH = cython.declare(cython.int, MAX_DEPTH)

# Masks for eight bytes at once: the high bit of each byte, and the other seven bits; then, to join the groups of
# seven bits of a varint pairwise into 14, 28 and 56 bits, which bits stay and which are shifted down.
HIGH = cython.declare(cython.ulonglong, 0x8080808080808080)
SEVENS = cython.declare(cython.ulonglong, 0x7F7F7F7F7F7F7F7F)
STAY_7 = cython.declare(cython.ulonglong, 0x007F007F007F007F)
MOVE_7 = cython.declare(cython.ulonglong, 0x3F803F803F803F80)
STAY_14 = cython.declare(cython.ulonglong, 0x00003FFF00003FFF)
MOVE_14 = cython.declare(cython.ulonglong, 0x0FFFC0000FFFC000)
STAY_28 = cython.declare(cython.ulonglong, 0x000000000FFFFFFF)
MOVE_28 = cython.declare(cython.ulonglong, 0x00FFFFFFF0000000)
STEPS = cython.declare(cython.const[cython.ulonglong][::1], _STEPS)
WHOLE = cython.declare(cython.ulonglong, _WHOLE)
# Multiplied by a number with the lowest bit of one byte set, this has the index of that byte in its highest byte.
PLACES = cython.declare(cython.ulonglong, 0x0001020304050607)


class Cursor:
    """A read position in a buffer, and the fault found there.

    `end` is the end of the message, the record or the buffer that is being read. `padded` is set by a varint that
    is longer than necessary; it is never reset here.
    """

    def __init__(self, data: bytes | memoryview, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> None:
        if not 0 <= pos <= end <= len(data):
            raise IndexError("a cursor must lie inside its buffer")
        self.data = data
        self.pos = pos
        self.end = end
        self.whole = end
        self.begin = pos
        self.needed = 0
        self.fault = 0
        self.padded = False

    def varint(self) -> cython.ulonglong:
        """Read a varint of up to 64 bits; bits beyond the 64th are dropped, as protobuf does."""
        pos: cython.size_t = self.pos
        end: cython.size_t = self.end
        value: cython.ulonglong = 0
        shift: cython.int = 0
        byte: cython.uchar
        last: cython.ulonglong
        if pos < end and self.data[pos] < 0x80:
            self.pos = pos + 1
            return self.data[pos]
        # Bytes after the end may be read here: a varint that extends past the end is read again below.
        if pos < end and pos + 8 <= cython.cast(cython.size_t, len(self.data)):
            value = word(self, pos)
            last = ~value & HIGH
            # The first byte without the high bit ends the varint.
            last &= ~last + 1
            shift = cython.cast(cython.int, ((last >> 7) * PLACES >> 56) & 7)
            if last and cython.cast(cython.size_t, shift) < end - pos:
                value &= (last - 1) & SEVENS
                value = (value & STAY_7) | (value >> 1 & MOVE_7)
                value = (value & STAY_14) | (value >> 2 & MOVE_14)
                value = (value & STAY_28) | (value >> 4 & MOVE_28)
                if not value >> 7 * shift:
                    self.padded = True
                self.pos = pos + shift + 1
                return value
            value = 0
            shift = 0
        while pos < end:
            byte = self.data[pos]
            pos += 1
            if byte < 0x80:
                self.pos = pos
                if byte == 0 and shift:
                    self.padded = True
                elif shift == 63 and byte > 1:
                    self.padded = True
                    byte &= 1
                return value | (cython.cast(cython.ulonglong, byte) << shift)
            if shift == 63:
                self.fault = LONG_VARINT
                break
            value |= cython.cast(cython.ulonglong, byte & 0x7F) << shift
            shift += 7
        else:
            self.fault = CUT
        self.pos = pos
        return 0

    def any_tag(self) -> cython.uint:
        """Read a field's tag: 32 bits in at most five bytes."""
        start: cython.Py_ssize_t = self.pos
        value: cython.ulonglong = self.varint()
        if self.fault:
            return 0
        if self.pos - start > 5 or value >> 32:
            self.fault = BAD_TAG
            return 0
        return cython.cast(cython.uint, value)

    def tag(self) -> cython.uint:
        """Read a field's tag; the field number 0 is a fault."""
        tag: cython.uint = self.any_tag()
        if tag < 8 and not self.fault:
            self.fault = BAD_TAG
        return tag

    def length(self) -> cython.Py_ssize_t:
        """Read the length of a field: 31 bits in at most five bytes. The field must end inside the message."""
        start: cython.Py_ssize_t = self.pos
        value: cython.ulonglong = self.varint()
        if self.fault:
            return 0
        if self.pos - start > 5 or value >> 31:
            self.fault = TOO_LONG
            return 0
        if cython.cast(cython.Py_ssize_t, value) > self.end - self.pos:
            self.fault = CUT
            return 0
        return cython.cast(cython.Py_ssize_t, value)

    def fixed32(self) -> cython.uint:
        """Read a 32-bit little-endian number."""
        at: cython.Py_ssize_t = self.pos
        self.advance(4)
        if self.fault:
            return 0
        return (
            cython.cast(cython.uint, self.data[at])
            | cython.cast(cython.uint, self.data[at + 1]) << 8
            | cython.cast(cython.uint, self.data[at + 2]) << 16
            | cython.cast(cython.uint, self.data[at + 3]) << 24
        )

    def step(self) -> cython.uint:
        """Read a tag; for a length-delimited field also its length, and set `end` to the end of the value."""
        size: cython.Py_ssize_t
        tag: cython.uint = self.data[self.pos]
        if 8 <= tag < 0x80:
            self.pos += 1
        else:
            tag = self.any_tag()
        if tag & 7 == 2 and not self.fault:
            if self.pos < self.end and self.data[self.pos] < 0x80:
                size = self.data[self.pos]
                self.pos += 1
                if size > self.end - self.pos:
                    self.fault = CUT
                    size = 0
            else:
                size = self.length()
            self.end = self.pos + size
        return tag

    def skip(self, tag: cython.uint, depth: cython.int) -> cython.void:
        """Skip the value of the field whose tag was just read, at nesting level `depth`."""
        wire_type: cython.uint = tag & 7
        size: cython.Py_ssize_t
        if wire_type == 0:
            self.varint()
        elif wire_type == 1:
            self.advance(8)
        elif wire_type == 2:
            size = self.length()
            self.pos += size
        elif wire_type == 5:
            self.advance(4)
        elif wire_type == 3:
            self.skip_group(tag >> 3, depth + 1)
        elif wire_type == 4:
            self.fault = BAD_GROUP
        else:
            self.fault = BAD_WIRE_TYPE

    def skip_group(self, number: cython.uint, depth: cython.int) -> cython.void:
        """Skip an unknown group up to its end tag; inside a group, protobuf accepts the field number 0."""
        tag: cython.uint
        if depth > _MAX_DEPTH:
            self.fault = TOO_DEEP
            return
        while self.pos < self.end:
            tag = self.any_tag()
            if self.fault:
                return
            if tag & 7 == 4:
                if tag >> 3 != number:
                    self.fault = BAD_GROUP
                return
            self.skip(tag, depth)
            if self.fault:
                return
        self.fault = CUT

    def advance(self, size: cython.Py_ssize_t) -> cython.void:
        """Skip a value of fixed size."""
        if size > self.end - self.pos:
            self.fault = CUT
        else:
            self.pos += size

    @cython.boundscheck(False)
    def utf8(self, end: cython.Py_ssize_t) -> cython.void:
        """Validate UTF-8 up to `end`: no overlong forms, no surrogates, nothing above U+10FFFF.

        The bounds are checked once for all bytes.
        """
        pos: cython.Py_ssize_t = self.pos
        state: cython.ulonglong = WHOLE
        eight: cython.ulonglong
        if pos < 0 or end > len(self.data):
            self.fault = CUT
            return
        while pos < end:
            # The last word is padded with zeros: they are ASCII, and invalid inside a truncated character.
            eight = word(self, pos) if end - pos >= 8 else last_word(self, pos, end)
            pos += 8
            if eight & HIGH or state & 63 != WHOLE:
                for _ in range(8):
                    state = STEPS[eight & 0xFF] >> (state & 63)
                    eight >>= 8
        if state & 63 == WHOLE:
            self.pos = end
        else:
            self.fault = BAD_TEXT
            self.find_invalid_text(end)

    def find_invalid_text(self, end: cython.Py_ssize_t) -> cython.void:
        """Move to the first invalid character of a text."""
        state: cython.ulonglong = WHOLE
        pos: cython.Py_ssize_t = self.pos
        while pos < end and state & 63:
            state = STEPS[self.data[pos]] >> (state & 63)
            pos += 1
            if state & 63 == WHOLE:
                self.pos = pos

    def enter(self, cap: cython.Py_ssize_t) -> cython.bint:
        """Enter the next record: set `begin` to its length prefix, `pos` to its body and `end` to its end.

        Return False at the end of the buffer, at an incomplete record (`needed` is the buffer size that would hold
        it, 0 if the length prefix is incomplete too), and at a record longer than `cap`.
        """
        pos: cython.size_t = self.pos
        whole: cython.size_t = self.whole
        size: cython.ulonglong
        self.begin = pos
        self.end = whole
        self.needed = 0
        if pos >= whole:
            return False
        # Most lengths are one or two bytes.
        size = self.data[pos]
        if size < 0x80:
            self.pos = pos + 1
        elif pos + 1 < whole and 0 < self.data[pos + 1] < 0x80:
            size = (size & 0x7F) | cython.cast(cython.ulonglong, self.data[pos + 1]) << 7
            self.pos = pos + 2
        else:
            size = self.varint()
            if self.fault:
                if self.fault == CUT:
                    self.fault = 0
                return False
        if size > cython.cast(cython.ulonglong, cap):
            self.fault = TOO_LONG
            return False
        if cython.cast(cython.Py_ssize_t, size) > self.end - self.pos:
            self.needed = self.pos + cython.cast(cython.Py_ssize_t, size)
            return False
        self.end = self.pos + cython.cast(cython.Py_ssize_t, size)
        return True


@cython.boundscheck(False)
def last_word(cursor: Cursor, at: cython.size_t, end: cython.size_t) -> cython.ulonglong:
    """Read up to seven bytes, up to `end`, as a little-endian integer."""
    value: cython.ulonglong = 0
    if at + 8 <= cython.cast(cython.size_t, len(cursor.data)):
        return word(cursor, at) & ((cython.cast(cython.ulonglong, 1) << 8 * (end - at)) - 1)
    while end > at:
        end -= 1
        value = value << 8 | cursor.data[end]
    return value


if not cython.compiled:
    # The compiled versions of these two are inline functions in `cursor.pxd`.

    def word(cursor: Cursor, at: int) -> int:
        """Read eight bytes as a little-endian integer; 0 if there are fewer."""
        return int.from_bytes(cursor.data[at : at + 8], "little") if at + 8 <= len(cursor.data) else 0

    def six_bytes(cursor: Cursor, at: int) -> int:
        """Read a varint of six bytes, the size of current timestamps; 0 if the varint has another size."""
        value = word(cursor, at)
        if value & 0x808080808080 != 0x8080808080:
            return 0
        return sum((value >> 8 * place & 0x7F) << 7 * place for place in range(6))
