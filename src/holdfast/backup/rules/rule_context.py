"""The rule context: the state that the checks of a frame share while it is read.

A message is checked when its end is reached. Until then its numbers, and the offsets of its texts and bytes, are
in registers by field number, one row for each nesting level. Each row also has a few notes: numbers that the
checks of nested messages store for the enclosing message.

A finding is a sequence of numbers in a buffer: its size, the rule, the frame and its offset, a number with
details, the range of the value, and the path of the field: for each step the slot and, in a list, the index of the
element.
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
    """The tables and settings that frames are checked against.

    `muted` has, by slot, which warnings about dates are not repeated, and `error_mask`, by number, which rules are
    errors. `purpose` is one of `PURPOSE_NUMBERS`; `made_at` is the creation time in the header. With `spec_only`,
    later additions to the format are unknown fields.
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
    """A cursor with registers for the values it has read, the reference tables, and a buffer of findings."""

    def __init__(self) -> None:
        super().__init__(b"", 0, 0)
        if not cython.compiled:
            # In the compiled version these are C arrays without bounds checks. They are indexed by the nesting
            # level, which is bounded, and by field numbers of the schema, which fit.
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
        """Use these tables for the frames that are checked next."""
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
        """Start a buffer, which is at offset `base` of the stream and begins with this frame."""
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
        """Return the findings, and clear their buffer."""
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
        """Report a finding about a field of the message at `depth`, or with number 0 about that message.

        `element` is the index in a list, or -1. Findings that no longer fit into the buffer are counted.
        """
        at: cython.Py_ssize_t = self.used
        size: cython.Py_ssize_t = HEAD + depth + (1 if number else 0)
        level: cython.int
        if rule == 0:
            return
        # Room is left for a finding that reports the number of dropped ones.
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
        """Write the first numbers of a finding."""
        at: cython.Py_ssize_t = self.used
        self.findings[at] = cython.cast(cython.ulonglong, size)
        self.findings[at + 1] = rule
        self.findings[at + 2] = self.frame
        self.findings[at + 3] = self.base + cython.cast(cython.ulonglong, self.begin)
        self.findings[at + 4] = extra
        self.findings[at + 5] = cython.cast(cython.ulonglong, start)
        self.findings[at + 6] = cython.cast(cython.ulonglong, end)

    def report_field(self, rule: cython.uint, depth: cython.int, number: cython.uint) -> cython.void:
        """Report a finding about a field that is not repeated, or about the whole message."""
        self.report(rule, depth, number, -1, 0, 0, 0)

    def has(self, depth: cython.int, number: cython.uint) -> cython.bint:
        """Return whether a field is on the wire."""
        return (self.seen[depth] >> number) & 1 != 0

    def holds(self, depth: cython.int, number: cython.uint) -> cython.bint:
        """Return whether a field is set; without presence, to another value than its default."""
        return (self.filled[depth] >> number) & 1 != 0

    def value(self, depth: cython.int, number: cython.uint) -> cython.ulonglong:
        """Return a number, 0 if the field is missing; for a repeated field, the number of elements."""
        if not (self.seen[depth] >> number) & 1:
            return 0
        return self.values[depth * WIDTH + number]

    def size(self, depth: cython.int, number: cython.uint) -> cython.Py_ssize_t:
        """Return the length of a text or bytes, 0 if the field is missing."""
        if not (self.seen[depth] >> number) & 1:
            return 0
        return self.sizes[depth * WIDTH + number]

    def start(self, depth: cython.int, number: cython.uint) -> cython.Py_ssize_t:
        """Return the offset of a text or bytes, 0 if the field is missing."""
        return self.starts[depth * WIDTH + number] if (self.seen[depth] >> number) & 1 else 0

    def content(self, data: bytes, depth: cython.int, number: cython.uint) -> bytes:
        """Return a text or bytes from `data`, the buffer that is checked; empty if the field is missing."""
        start: cython.Py_ssize_t = self.start(depth, number)
        return data[start : start + self.size(depth, number)]

    def note(self, depth: cython.int, index: cython.int) -> cython.ulonglong:
        """Read a note of the message at `depth`."""
        return self.notes[depth * NOTES + index]

    def set_note(self, depth: cython.int, index: cython.int, value: cython.ulonglong) -> cython.void:
        """Write a note of the message at `depth`."""
        self.notes[depth * NOTES + index] = value

    def slot(self, depth: cython.int, number: cython.uint) -> cython.Py_ssize_t:
        """Return the slot of a field of the message at `depth`."""
        return BASES[self.messages[depth]] + number
