"""Checks the frames of a buffer without building message objects; the compiled loops release the GIL."""

import cython

from holdfast.backup.rules.record_checks import TANGLED
from holdfast.backup.rules.rule_context import ReferenceTables, RuleContext
from holdfast.backup.wire import tables

if not cython.compiled:
    from holdfast.backup.rules.record_checks import check_item_frame, check_record
    from holdfast.backup.wire.frames import enter_item
    from holdfast.backup.wire.layout import PAGE

__all__ = ["TANGLED", "Checker"]

FRAME = cython.declare(cython.uint, tables.FRAME)


class Checker:
    """Checks frames; each thread has its own."""

    def __init__(self) -> None:
        self.context = RuleContext()

    def bind(self, references: ReferenceTables) -> None:
        """Use these tables for the frames that are checked next."""
        self.context.bind(references)

    def reset(self, data: bytes | memoryview, base: int, frame: int) -> None:
        """Start a buffer, which is at offset `base` of the stream and begins with this frame."""
        self.context.reset(data, base, frame)

    def met_additions(self) -> bool:
        """Return whether a field or value was found that the specification's edition does not have."""
        return bool(self.context.newer)

    def take_findings(self) -> bytes:
        """Return the findings, and clear their buffer."""
        return self.context.take_findings()

    def record(self, raw: bytes | memoryview, root: cython.uint, offset: int, frame: int) -> tuple[int, int]:
        """Check a single record; return its fault (0: none) and the offset of the fault."""
        context: RuleContext = self.context
        context.reset(raw, offset, frame)
        with cython.nogil:
            check_record(context, root)
        return context.fault, context.pos

    def run(self, cap: cython.Py_ssize_t, odd: list[tuple[int, int, int, int, int]]) -> bool:
        """Check the frames that consist of a single message, and skip the others; releases the GIL.

        Return False at the end of the buffer, and True if the findings must be taken first. Frames with a fault
        are appended to `odd`: index, offset, start and end of the body, and the fault.
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
        """Check the next frame that is not a single message; None at the end of the buffer.

        Return its index, offset, start and end of the body, and its fault. A frame with a fault has no findings.
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


def enter_other(context: RuleContext, cap: cython.Py_ssize_t) -> cython.bint:
    """Enter the next frame that is not a single message; return False if there is none."""
    start: cython.Py_ssize_t
    while context.enter(cap):
        start = context.pos
        if not enter_item(context):
            context.pos = start
            return True
        context.pos = context.end
        context.frame += 1
    return False
