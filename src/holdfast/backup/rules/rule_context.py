"""The rule context: what the checks of a frame share while it is read.

A message is checked when it has been read to its end. Until then its numbers, and the places of its texts and
bytes, are kept by field number, a row of registers for each level of nesting. A few further numbers of a row, its
notes, are for what a message wants to know of those inside it.

A finding is a row of numbers in a buffer: how many there are, the rule, the frame and where it begins, one number
that explains, the span of the value, and the path to the field, each step a slot and, in a list, which element.
"""

from array import array
from dataclasses import dataclass

import cython

from holdfast.backup.rules.id_table import IdTable
from holdfast.backup.wire import layout, tables
from holdfast.backup.wire.cursor import Cursor

if not cython.compiled:
    from holdfast.backup.wire.layout import HEAD, LEVELS, NOTES, REGISTERS, WIDTH

__all__ = ["ReferenceTables", "RuleContext"]

BASES = cython.declare(cython.const[cython.uint][::1], tables.BASES)


@dataclass(frozen=True, slots=True)
class ReferenceTables:
    """What frames are checked against.

    `muted` says which warnings about dates need not be repeated, by slot, and `error_mask` which rules are errors,
    by number. `purpose` is one of `PURPOSE_NUMBERS`; `made_at` is when the backup says it was made. With
    `spec_only` the additions to the format are unknown.
    """

    recipients: IdTable
    chats: IdTable
    colors: IdTable
    muted: bytes
    error_mask: bytes
    purpose: int = 0
    made_at: int = 0
    spec_only: bool = False


class RuleContext(Cursor):
    """A cursor with the values it has read, what they are checked against, and a buffer for findings."""

    def __init__(self) -> None:
        super().__init__(b"", 0, 0)
        if not cython.compiled:
            # Compiled, these are arrays of C, which bounds checks do not cover. They are indexed by how deep a
            # message lies, which is bounded, and by numbers of fields that the schema has, which fit.
            self.values = array("Q", bytes(8 * REGISTERS))
            self.starts = array("q", bytes(8 * REGISTERS))
            self.sizes = array("q", bytes(8 * REGISTERS))
            self.notes = array("Q", bytes(8 * LEVELS * NOTES))
            self.seen = array("Q", bytes(8 * LEVELS))
            self.filled = array("Q", bytes(8 * LEVELS))
            self.messages = array("I", bytes(4 * LEVELS))
            self.steps = array("q", bytes(8 * LEVELS))
            self.elements = array("q", bytes(8 * LEVELS))
            self.serials = array("Q", bytes(8 * LEVELS))
        self.listed_in = array("Q", bytes(8))
        self.reacted_in = array("Q", bytes(8))
        self.serial = 0
        self.findings = array("Q", bytes(8 * layout.PAGE))
        self.used = 0
        self.dropped = 0
        self.dropped_error = False
        self.frame = 0
        self.base = 0
        self.newer = False
        self.bind(ReferenceTables(IdTable(), IdTable(), IdTable(), bytes(tables.SLOTS), bytes(layout.MOST_RULES)))

    def bind(self, references: ReferenceTables) -> None:
        """Check what is read from now on against these tables."""
        self.recipients = references.recipients
        self.chats = references.chats
        self.colors = references.colors
        self.muted = references.muted
        self.error_mask = references.error_mask
        self.purpose = references.purpose
        self.made_at = references.made_at
        self.spec_only = references.spec_only
        room = self.recipients.room()
        if room != len(self.listed_in):
            self.listed_in = array("Q", bytes(8 * room))
            self.reacted_in = array("Q", bytes(8 * room))

    def reset(self, data: bytes | memoryview, base: int, frame: int) -> None:
        """Go to the beginning of a buffer, which is at `base` of the stream and begins with this frame."""
        self.data = data
        self.pos = 0
        self.begin = 0
        self.end = len(data)
        self.whole = len(data)
        self.fault = 0
        self.base = base
        self.frame = frame
        self.used = 0
        self.dropped = 0
        self.newer = False

    def take_findings(self) -> bytes:
        """Return what was reported, and empty the buffer."""
        used, self.used = self.used, 0
        return bytes(memoryview(self.findings)[:used]) if used else b""

    def report(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
        self,
        rule: cython.uint,
        depth: cython.int,
        number: cython.uint,
        element: cython.Py_ssize_t,
        extra: cython.ulonglong,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.void:
        """Write a finding about a field of the message at `depth`, or with number 0 about that message.

        `element` is which of a list, or -1. What no longer fits into the buffer is counted.
        """
        at: cython.Py_ssize_t = self.used
        size: cython.Py_ssize_t = HEAD + depth + (1 if number else 0)
        level: cython.int
        if rule == 0:
            return
        # Room is left for one that says that there are more.
        if at + size > len(self.findings) - HEAD:
            self.dropped += 1
            if self.error_mask[rule]:
                self.dropped_error = True
            return
        self.write_head(rule, size, extra, start, end)
        at += HEAD
        for level in range(depth):
            self.findings[at] = cython.cast(cython.ulonglong, self.steps[level]) << 32 | cython.cast(
                cython.ulonglong, self.elements[level] + 1
            )
            at += 1
        if number:
            self.findings[at] = cython.cast(cython.ulonglong, self.slot(depth, number)) << 32 | cython.cast(
                cython.ulonglong, element + 1
            )
            at += 1
        self.used = at

    def write_head(
        self,
        rule: cython.uint,
        size: cython.Py_ssize_t,
        extra: cython.ulonglong,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.void:
        """Write what a finding begins with."""
        at: cython.Py_ssize_t = self.used
        self.findings[at] = cython.cast(cython.ulonglong, size)
        self.findings[at + 1] = rule
        self.findings[at + 2] = self.frame
        self.findings[at + 3] = self.base + cython.cast(cython.ulonglong, self.begin)
        self.findings[at + 4] = extra
        self.findings[at + 5] = cython.cast(cython.ulonglong, start)
        self.findings[at + 6] = cython.cast(cython.ulonglong, end)

    def report_field(self, rule: cython.uint, depth: cython.int, number: cython.uint) -> cython.void:
        """Write a finding about a field that is not a list, or about the whole message."""
        self.report(rule, depth, number, -1, 0, 0, 0)

    def has(self, depth: cython.int, number: cython.uint) -> cython.bint:
        """Return whether a field is there."""
        return (self.seen[depth] >> number) & 1 != 0

    def holds(self, depth: cython.int, number: cython.uint) -> cython.bint:
        """Return whether a field is there and, where its default need not be written, has another value."""
        return (self.filled[depth] >> number) & 1 != 0

    def value(self, depth: cython.int, number: cython.uint) -> cython.ulonglong:
        """Return a number, 0 where it is not there; of a list, how many elements it has."""
        if not (self.seen[depth] >> number) & 1:
            return 0
        return self.values[depth * WIDTH + number]

    def size(self, depth: cython.int, number: cython.uint) -> cython.Py_ssize_t:
        """Return the length of a text or bytes, 0 where they are not there."""
        if not (self.seen[depth] >> number) & 1:
            return 0
        return self.sizes[depth * WIDTH + number]

    def start(self, depth: cython.int, number: cython.uint) -> cython.Py_ssize_t:
        """Return where a text or bytes begin."""
        return self.starts[depth * WIDTH + number] if (self.seen[depth] >> number) & 1 else 0

    def note(self, depth: cython.int, index: cython.int) -> cython.ulonglong:
        """Read a note of the message at `depth`."""
        return self.notes[depth * NOTES + index]

    def set_note(self, depth: cython.int, index: cython.int, value: cython.ulonglong) -> cython.void:
        """Write a note of the message at `depth`."""
        self.notes[depth * NOTES + index] = value

    def slot(self, depth: cython.int, number: cython.uint) -> cython.Py_ssize_t:
        """Find the slot of a field of the message at `depth`."""
        return BASES[self.messages[depth]] + number
