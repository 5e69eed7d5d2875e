"""Checks the frames of a buffer one after the other, without building objects and without the interpreter."""

import cython

from holdfast.backup.rules.checks import field
from holdfast.backup.rules.record_checks import TANGLED
from holdfast.backup.rules.rule_context import ReferenceTables, RuleContext
from holdfast.backup.wire import tables

if not cython.compiled:
    from holdfast.backup.rules.record_checks import check_item_frame, check_record
    from holdfast.backup.wire.layout import PAGE

__all__ = ["TANGLED", "Checker"]

# The tag of a message in a frame.
ITEM_TAG = cython.declare(cython.uint, field("Frame.chatItem") << 3 | 2)
FRAME = cython.declare(cython.uint, tables.FRAME)


class Checker:
    """Checks frames; each thread has its own."""

    def __init__(self) -> None:
        self.context = RuleContext()

    def bind(self, references: ReferenceTables) -> None:
        """Check what is read from now on against these tables."""
        self.context.bind(references)

    def reset(self, data: bytes | memoryview, base: int, frame: int) -> None:
        """Go to the beginning of a buffer, which is at `base` of the stream and begins with this frame."""
        self.context.reset(data, base, frame)

    def met_additions(self) -> bool:
        """Return whether the buffer holds anything that was added to the format."""
        return bool(self.context.newer)

    def take_findings(self) -> bytes:
        """Return what was reported, and empty the buffer of findings."""
        return self.context.take_findings()

    def record(self, raw: bytes | memoryview, root: cython.uint, offset: int, frame: int) -> tuple[int, int]:
        """Check one record on its own, and return its fault and where that is."""
        context: RuleContext = self.context
        context.reset(raw, offset, frame)
        with cython.nogil:
            check_record(context, root)
        return context.fault, context.pos

    def run(self, cap: cython.Py_ssize_t, odd: list[tuple[int, int, int, int, int]]) -> bool:
        """Go on checking those frames that are a message and nothing else; other threads run meanwhile.

        Return False at the end of the buffer, and True when the findings should be taken first. To `odd` are added
        the frames that could not be read to their end: index, begin, begin and end of the body, and the fault.
        """
        context: RuleContext = self.context
        going: cython.bint = True
        start: cython.Py_ssize_t = 0
        stop: cython.Py_ssize_t = 0
        while going:
            with cython.nogil:
                while context.used < PAGE // 2:
                    going = context.enter(cap)
                    if not going:
                        break
                    start = context.pos
                    stop = context.end
                    if enter_item(context):
                        check_item_frame(context)
                        if context.fault:
                            break
                    context.pos = stop
                    context.frame += 1
            if context.fault:
                odd.append((context.frame, context.begin, start, stop, context.fault))
                context.fault = 0
                context.pos = stop
                context.frame += 1
            elif going:
                return True
        return False

    def next_other(self, cap: cython.Py_ssize_t) -> tuple[int, int, int, int, int] | None:
        """Go on to the next of the other frames, and check it; None at the end of the buffer.

        Return its index, begin, begin and end of the body, and its fault. One with a fault leaves no findings.
        """
        context: RuleContext = self.context
        newer: cython.bint = context.newer
        start: cython.Py_ssize_t = 0
        stop: cython.Py_ssize_t = 0
        fault: cython.int
        going: cython.bint
        with cython.nogil:
            going = enter_other(context, cap)
            if going:
                start = context.pos
                stop = context.end
                check_record(context, FRAME)
        if not going:
            return None
        fault = context.fault
        if fault:
            context.fault = 0
            context.newer = newer
        context.pos = stop
        context.frame += 1
        return context.frame - 1, context.begin, start, stop, fault


def enter_item(context: RuleContext) -> cython.bint:
    """Step into the message of a frame that is a message and nothing else; tell whether it is."""
    pos: cython.size_t = context.pos
    end: cython.size_t = context.end
    size: cython.size_t
    if end - pos < 2 or context.data[pos] != ITEM_TAG:
        return False
    size = context.data[pos + 1]
    if size < 0x80:
        pos += 2
    elif end - pos > 2 and context.data[pos + 2] < 0x80:
        size = (size & 0x7F) | cython.cast(cython.size_t, context.data[pos + 2]) << 7
        pos += 3
    else:
        context.pos = pos + 1
        size = context.length()
        if context.fault:
            context.fault = 0
            return False
        pos = context.pos
    context.pos = pos
    return pos + size == end


def enter_other(context: RuleContext, cap: cython.Py_ssize_t) -> cython.bint:
    """Step over messages to the next frame that is something else, and into it; False where there is none."""
    start: cython.Py_ssize_t
    while context.enter(cap):
        start = context.pos
        if not enter_item(context):
            context.pos = start
            return True
        context.pos = context.end
        context.frame += 1
    return False
