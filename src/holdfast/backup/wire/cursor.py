"""A place in a buffer of hostile bytes, and the few steps by which the core moves it.

The core is Cython in pure-Python mode: plain Python that is compiled where a C compiler is found, and runs as it
is where not. The C types stand beside each module in its `.pxd`; that is what lets modules share a class, at the
price of a call through a pointer for each step. What must hold in all of the core:

- every read is behind `pos < end`, and bounds checks stay on in the compiled code as a second line (`ascii` holds
  them itself, once for a whole text);
- nothing is allocated by a length that the input claims, and nesting is bounded;
- what counts as well-formed is what `protobuf` accepts, to the byte;
- integer literals stay below 2**31: Cython turns larger ones into Python objects, which would need the GIL;
- plain Python has no overflow, so what C would cut off is masked.
"""

import cython

from holdfast.backup.wire import faults

__all__ = ["MAX_DEPTH", "Cursor"]

CUT = cython.declare(cython.int, faults.CUT)
LONG_VARINT = cython.declare(cython.int, faults.LONG_VARINT)
TOO_LONG = cython.declare(cython.int, faults.TOO_LONG)
BAD_TAG = cython.declare(cython.int, faults.BAD_TAG)
BAD_WIRE_TYPE = cython.declare(cython.int, faults.BAD_WIRE_TYPE)
BAD_GROUP = cython.declare(cython.int, faults.BAD_GROUP)
TOO_DEEP = cython.declare(cython.int, faults.TOO_DEEP)
BAD_TEXT = cython.declare(cython.int, faults.BAD_TEXT)

# protobuf follows messages and groups, counted together, this many levels below the record.
MAX_DEPTH = 100
_MAX_DEPTH = cython.declare(cython.int, MAX_DEPTH)


class Cursor:
    """A place in a buffer, and what was found wrong there.

    `end` is where what is being read ends: a message, a record or the whole buffer. `padded` is set, and never
    unset here, by a number that takes more bytes than it needs.
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
        """Read a number of up to 64 bits; bits beyond the 64th are dropped, as protobuf does."""
        pos: cython.size_t = self.pos
        end: cython.size_t = self.end
        value: cython.ulonglong = 0
        shift: cython.int = 0
        byte: cython.uchar
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
        """Read the tag of a field whose number must be above 0."""
        tag: cython.uint = self.any_tag()
        if tag < 8 and not self.fault:
            self.fault = BAD_TAG
        return tag

    def length(self) -> cython.Py_ssize_t:
        """Read the length of a field that must lie inside the message: 31 bits in at most five bytes."""
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
        """Read a number of four bytes."""
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
        """Read a tag; where the value has a length, `end` becomes its end."""
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
        """Step over the value of the field whose tag was just read, `depth` levels below the record."""
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
        """Step over an unknown group up to the end that carries its number; in here, 0 is a field number too."""
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
        """Step over a value of fixed size."""
        if size > self.end - self.pos:
            self.fault = CUT
        else:
            self.pos += size

    @cython.boundscheck(False)
    def ascii(self, end: cython.Py_ssize_t) -> cython.bint:
        """Tell whether all bytes up to `end` are ASCII, which most texts are.

        The bounds are held once for all bytes, so that the compiler can look at several in one step.
        """
        pos: cython.Py_ssize_t
        found: cython.uchar = 0
        if self.pos < 0 or end > len(self.data):
            return False
        for pos in range(self.pos, end):
            found |= self.data[pos]
        return found < 0x80

    def utf8(self, end: cython.Py_ssize_t) -> cython.void:
        """Walk text up to `end`: no stray, missing or overlong bytes, no surrogates, nothing over U+10FFFF."""
        pos: cython.Py_ssize_t = self.pos
        lead: cython.uchar
        second: cython.uchar
        more: cython.Py_ssize_t
        if self.ascii(end):
            self.pos = end
            return
        while pos < end:
            lead = self.data[pos]
            if lead < 0x80:
                pos += 1
                continue
            more = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
            if lead < 0xC2 or lead > 0xF4 or more >= end - pos:
                self.fault = BAD_TEXT
                break
            second = self.data[pos + 1]
            # Most letters that are not ASCII take two bytes, and nothing else can be wrong with those.
            if more == 1 and second & 0xC0 == 0x80:
                pos += 2
                continue
            if (
                second & 0xC0 != 0x80
                or (lead == 0xE0 and second < 0xA0)
                or (lead == 0xED and second > 0x9F)
                or (lead == 0xF0 and second < 0x90)
                or (lead == 0xF4 and second > 0x8F)
                or (more > 1 and self.data[pos + 2] & 0xC0 != 0x80)
                or (more > 2 and self.data[pos + 3] & 0xC0 != 0x80)
            ):
                self.fault = BAD_TEXT
                break
            pos += 1 + more
        self.pos = pos

    def enter(self, cap: cython.Py_ssize_t) -> cython.bint:
        """Step into the next record: past its length, with `end` at its end and `begin` where its length began.

        Return False where there is none: at the end of the buffer, at a record of which the buffer holds a part
        only (`needed` is how long the buffer must be, 0 when the length is cut off too), and at one longer than
        `cap`.
        """
        size: cython.ulonglong
        self.begin = self.pos
        self.end = self.whole
        self.needed = 0
        if self.pos >= self.end:
            return False
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
