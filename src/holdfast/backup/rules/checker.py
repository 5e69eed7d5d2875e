"""Holds frames to the rules one after the other, without building objects and without the interpreter."""

import cython

from holdfast.backup.rules.checks import field
from holdfast.backup.rules.record_checks import TANGLED, Fields

if not cython.compiled:
    from holdfast.backup.wire.layout import PAGE

__all__ = ["TANGLED", "Checker"]

# The tag of a message in a frame.
ITEM_TAG = cython.declare(cython.uint, field("Frame.chatItem") << 3 | 2)


class Checker(Fields):
    """Checks frames one after the other; one for each thread."""

    def record(self, raw: bytes | memoryview, root: cython.uint, offset: int, frame: int) -> tuple[int, int]:
        """Check one record on its own; return its fault and where it is, and leave findings on the page."""
        self.reset(raw, offset, frame)
        with cython.nogil:
            self.body(root)
        return self.fault, self.pos

    def run(self, cap: cython.Py_ssize_t, odd: list[tuple[int, int, int, int, int]]) -> bool:
        """Go on checking those frames that are a message and nothing else; other threads run meanwhile.

        Return False at the end of the buffer, and True when the page should be taken first. To `odd` are added the
        frames that could not be read to their end: index, begin, begin and end of the body, and the fault.
        """
        going: cython.bint = True
        start: cython.Py_ssize_t = 0
        stop: cython.Py_ssize_t = 0
        while going:
            with cython.nogil:
                while self.used < PAGE // 2:
                    going = self.enter(cap)
                    if not going:
                        break
                    start = self.pos
                    stop = self.end
                    if self.into_item():
                        self.item_body()
                        if self.fault:
                            break
                    self.pos = stop
                    self.frame += 1
            if self.fault:
                odd.append((self.frame, self.begin, start, stop, self.fault))
                self.fault = 0
                self.pos = stop
                self.frame += 1
            elif going:
                return True
        return False

    def into_item(self) -> cython.bint:
        """Step into the message of a frame that is a message and nothing else; tell whether it is."""
        pos: cython.size_t = self.pos
        end: cython.size_t = self.end
        size: cython.size_t
        if end - pos < 2 or self.data[pos] != ITEM_TAG:
            return False
        size = self.data[pos + 1]
        if size < 0x80:
            pos += 2
        elif end - pos > 2 and self.data[pos + 2] < 0x80:
            size = (size & 0x7F) | cython.cast(cython.size_t, self.data[pos + 2]) << 7
            pos += 3
        else:
            self.pos = pos + 1
            size = self.length()
            if self.fault:
                self.fault = 0
                return False
            pos = self.pos
        self.pos = pos
        return pos + size == end

    def next_other(self, cap: cython.Py_ssize_t) -> cython.bint:
        """Step over messages to the next frame that is something else, and into it; False where there is none."""
        start: cython.Py_ssize_t
        while self.enter(cap):
            start = self.pos
            if not self.into_item():
                self.pos = start
                return True
            self.pos = self.end
            self.frame += 1
        return False

    def others(self, cap: cython.Py_ssize_t) -> tuple[list[tuple[int, int, int, int]], int]:
        """List the other frames: index, begin, begin and end of the body; and the index after all."""
        found: list[tuple[int, int, int, int]] = []
        going: cython.bint = True
        while going:
            with cython.nogil:
                going = self.next_other(cap)
            if going:
                found.append((self.frame, self.begin, self.pos, self.end))
                self.pos = self.end
                self.frame += 1
        return found, self.frame
