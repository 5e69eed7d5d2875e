"""Splits a buffer of length-prefixed records and walks the top level of each, in compiled code.

This file is Cython in pure-Python mode: annotated Python that also runs uncompiled. What must hold here:

- every read is behind `pos < end`, and bounds checks stay on in the compiled code as a second line;
- nothing is allocated by a length that the input claims;
- what counts as well-formed is what `protobuf` accepts: field number 0, a tag over 32 bits, a length over 31 bits,
  an unmatched group end and wire types 6 and 7 are refused, unknown fields and groups are skipped;
- integer literals stay below 2**31: Cython turns larger ones into Python objects, which would need the GIL.
"""

import cython

__all__ = ["COMPILED", "FAULTS", "kind_of", "split", "tally"]

COMPILED: bool = cython.compiled

# What is wrong with the bytes at `Cursor.pos`; 0 means nothing is.
CUT = cython.declare(cython.int, 1)
LONG_VARINT = cython.declare(cython.int, 2)
TOO_LONG = cython.declare(cython.int, 3)
BAD_TAG = cython.declare(cython.int, 4)
BAD_WIRE_TYPE = cython.declare(cython.int, 5)
BAD_GROUP = cython.declare(cython.int, 6)
TOO_DEEP = cython.declare(cython.int, 7)

FAULTS = {
    1: "ends in the middle of a field",
    2: "holds a number that does not end within ten bytes",
    3: "claims to be longer than is allowed",
    4: "holds a field with an impossible number",
    5: "holds a field of a wire type that does not exist",
    6: "holds a group that is closed wrongly",
    7: "is nested too deep",
}

# protobuf gives up at 100 levels; groups are the only nesting this walk follows.
MAX_GROUPS = cython.declare(cython.int, 100)


@cython.final
@cython.cclass
class Cursor:
    """A place in a buffer, and what was found wrong there."""

    # mypy cannot read a memory view's type; in compiled code it is a C array with a known length.
    data: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    pos: cython.Py_ssize_t
    end: cython.Py_ssize_t
    fault: cython.int

    def __init__(self, data: bytes | memoryview, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> None:
        if not 0 <= pos <= end <= len(data):
            raise IndexError("a cursor must lie inside its buffer")
        self.data = data
        self.pos = pos
        self.end = end
        self.fault = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def varint(self) -> cython.ulonglong:
        """Read a number of up to 64 bits; bits beyond the 64th are dropped, as protobuf does."""
        value: cython.ulonglong = 0
        shift: cython.int = 0
        byte: cython.uchar
        while self.pos < self.end:
            byte = self.data[self.pos]
            self.pos += 1
            if shift == 63:
                if byte >= 0x80:
                    self.fault = LONG_VARINT
                    return 0
                return value | (cython.cast(cython.ulonglong, byte & 1) << 63)
            value |= cython.cast(cython.ulonglong, byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        self.fault = CUT
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def tag(self) -> cython.uint:
        """Read a field's tag: 32 bits in at most five bytes, with a field number above 0."""
        start: cython.Py_ssize_t = self.pos
        value: cython.ulonglong = self.varint()
        if self.fault:
            return 0
        if self.pos - start > 5 or value >> 32 or value >> 3 == 0:
            self.fault = BAD_TAG
            return 0
        return cython.cast(cython.uint, value)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def length(self) -> cython.Py_ssize_t:
        """Read the length of a length-delimited field that must lie inside the record."""
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

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def skip(self, tag: cython.uint) -> cython.void:
        """Step over the value of the field whose tag was just read; a group is skipped whole."""
        wire_type: cython.uint = tag & 7
        if wire_type == 0:
            self.varint()
        elif wire_type == 1:
            self.advance(8)
        elif wire_type == 2:
            # In two steps: `+=` would read `pos` before `length` moves it.
            size: cython.Py_ssize_t = self.length()
            self.pos += size
        elif wire_type == 5:
            self.advance(4)
        elif wire_type == 3:
            self.skip_group(tag >> 3, 1)
        elif wire_type == 4:
            self.fault = BAD_GROUP
        else:
            self.fault = BAD_WIRE_TYPE

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def skip_group(self, number: cython.uint, depth: cython.int) -> cython.void:
        """Step over an unknown group up to the end that carries its number."""
        tag: cython.uint
        if depth > MAX_GROUPS:
            self.fault = TOO_DEEP
            return
        while True:
            if self.pos >= self.end:
                self.fault = CUT
                return
            tag = self.tag()
            if self.fault:
                return
            if tag & 7 == 4:
                if tag >> 3 != number:
                    self.fault = BAD_GROUP
                return
            if tag & 7 == 3:
                self.skip_group(tag >> 3, depth + 1)
            else:
                self.skip(tag)
            if self.fault:
                return

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def advance(self, size: cython.Py_ssize_t) -> cython.void:
        """Step over a value of fixed size."""
        if size > self.end - self.pos:
            self.fault = CUT
        else:
            self.pos += size

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def kind(self, end: cython.Py_ssize_t) -> cython.uint:
        """Walk one frame up to `end`; return the number of the record it holds, 0 when it holds none.

        The records are the members of one oneof, numbered 1 to 8: the last one set wins.
        """
        outer: cython.Py_ssize_t = self.end
        found: cython.uint = 0
        tag: cython.uint
        self.end = end
        while self.pos < end:
            tag = self.tag()
            if self.fault:
                break
            self.skip(tag)
            if self.fault:
                break
            if tag & 7 == 2 and tag >> 3 <= 8:
                found = tag >> 3
        self.end = outer
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def record(self, cap: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read a record's length prefix: a varint of up to ten bytes whose value may not exceed `cap`."""
        value: cython.ulonglong = self.varint()
        if self.fault:
            return 0
        if value >> 32 or cython.cast(cython.Py_ssize_t, value) > cap:
            self.fault = TOO_LONG
            return 0
        return cython.cast(cython.Py_ssize_t, value)


def kind_of(raw: bytes | memoryview) -> tuple[int, int, int]:
    """Walk one frame; return the number of its record, the fault found (0: none) and where."""
    cursor: Cursor = Cursor(raw, 0, len(raw))
    kind: cython.uint = cursor.kind(cursor.end)
    return kind, cursor.fault, cursor.pos


def split(
    data: bytes | memoryview, start: cython.Py_ssize_t, cap: cython.Py_ssize_t
) -> tuple[list[tuple[int, int]], int, int, int]:
    """Find the whole records of a buffer.

    Return the span of each record's body, where the first record that is not whole begins, how many bytes the
    buffer would need to hold it (0: its length is cut off too), and the fault found there (0: none).
    """
    cursor: Cursor = Cursor(data, start, len(data))
    spans: list[tuple[int, int]] = []
    begin: cython.Py_ssize_t = start
    size: cython.Py_ssize_t
    while cursor.pos < cursor.end:
        begin = cursor.pos
        size = cursor.record(cap)
        if cursor.fault:
            return spans, begin, 0, 0 if cursor.fault == CUT else cursor.fault
        if size > cursor.end - cursor.pos:
            return spans, begin, cursor.pos + size, 0
        spans.append((cursor.pos, cursor.pos + size))
        cursor.pos += size
    return spans, cursor.pos, 0, 0


def tally(
    data: bytes | memoryview,
    start: cython.Py_ssize_t,
    cap: cython.Py_ssize_t,
    counts: cython.ulonglong[::1],  # type: ignore[valid-type, type-arg]  # an array of nine 64-bit counts
) -> tuple[int, int, int, int, int]:
    """Count the whole frames of a buffer by the record they hold, `counts[0]` being those that hold none.

    Return how many frames there were, where the first record that is not whole begins, how many bytes the buffer
    would need to hold it (0: its length is cut off too), the fault found (0: none) and where it is.
    """
    cursor: Cursor = Cursor(data, start, len(data))
    begin: cython.Py_ssize_t = start
    size: cython.Py_ssize_t
    frames: cython.Py_ssize_t = 0
    needed: cython.Py_ssize_t = 0
    with cython.nogil:
        while cursor.pos < cursor.end:
            begin = cursor.pos
            size = cursor.record(cap)
            if cursor.fault:
                if cursor.fault == CUT:
                    cursor.fault = 0
                break
            if size > cursor.end - cursor.pos:
                needed = cursor.pos + size
                break
            counts[cursor.kind(cursor.pos + size)] += 1
            if cursor.fault:
                break
            frames += 1
            begin = cursor.pos
    return frames, begin, needed, cursor.fault, cursor.pos
