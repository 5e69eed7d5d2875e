"""Copies messages with their ids replaced, and extracts what identifies each message.

Ids are valid within one file. To compare or merge two files, both are first given the same ids; everything else in
a record, unknown fields included, is copied unchanged.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import cython

from holdfast.backup.errors import DamagedRecord
from holdfast.backup.wire import collect, cursor, faults, tables
from holdfast.backup.wire.cursor import Cursor

__all__ = ["Numbered", "Plan", "renumber", "renumber_items"]

CUT = cython.declare(cython.int, faults.CUT)
TOO_DEEP = cython.declare(cython.int, faults.TOO_DEEP)
MAX_DEPTH = cython.declare(cython.int, cursor.MAX_DEPTH)
WIRE_TYPE = cython.declare(cython.uint, tables.WIRE_TYPE)
KIND = cython.declare(cython.uint, tables.KIND)
MESSAGE = cython.declare(cython.uint, tables.MESSAGE)
PACKABLE = cython.declare(cython.uint, tables.PACKABLE)
BASES = cython.declare(cython.const[cython.uint][::1], tables.BASES)
LIMITS = cython.declare(cython.const[cython.uint][::1], tables.LIMITS)
SHAPES = cython.declare(cython.const[cython.uint][::1], tables.SHAPES)
TARGETS = cython.declare(cython.const[cython.uint][::1], tables.TARGETS)

# The role of a slot in a plan: which kind of id it holds, or which timestamp is extracted.
PERSON = cython.declare(cython.uchar, 1)
CHAT = cython.declare(cython.uchar, 2)
COLOR = cython.declare(cython.uchar, 3)
AUTHOR = cython.declare(cython.uchar, 4)
SENT = cython.declare(cython.uchar, 5)
RECEIVED = cython.declare(cython.uchar, 6)
# The tag of `Frame.chatItem`, and the highest tag of a record.
ITEM = cython.declare(cython.uchar, 4 << 3 | 2)
LAST = cython.declare(cython.uchar, 8 << 3 | 2)

# A message: the index of its frame in the block, chat and author (new ids), when it was sent, when its first
# version was sent, when it was received (0: unknown), and the frame with the new ids. A plain tuple: there are
# millions.
Numbered: TypeAlias = tuple[int, int, int, int, int, int, bytes]


class Plan:
    """The fields that hold ids of recipients, of chats and of colours, each written as `Message.field`."""

    def __init__(self, people: Iterable[str], chats: Iterable[str], colors: Iterable[str]) -> None:
        kinds = bytearray(tables.SLOTS)
        for kind, names in ((1, people), (2, chats), (3, colors)):
            for name in names:
                kinds[collect.slot_of(name)] = kind
        for name, kind in (
            ("ChatItem.authorId", 4),
            ("ChatItem.dateSent", 5),
            ("ChatItem.IncomingMessageDetails.dateReceived", 6),
            ("ChatItem.OutgoingMessageDetails.dateReceived", 6),
        ):
            kinds[collect.slot_of(name)] = kind
        self.kinds = bytes(kinds)
        self.leads = bytes(collect.leading(kinds))


class Renumberer(Cursor):
    """A cursor that copies records and replaces ids."""

    def __init__(
        self,
        data: bytes,
        plan: Plan,
        people: Mapping[int, int],
        chats: Mapping[int, int],
        colors: Mapping[int, int],
    ) -> None:
        super().__init__(data, 0, len(data))
        self.source = data
        self.kinds = plan.kinds
        self.leads = plan.leads
        self.people = people
        self.chats = chats
        self.colors = colors
        self.out = bytearray()
        self.copied = 0
        self.chat = 0
        self.author = 0
        self.sent = 0
        self.origin = 0
        self.received = 0

    def restart(self, at: cython.Py_ssize_t) -> cython.void:
        """Start a new copy at an offset."""
        self.out = bytearray()
        self.copied = at
        self.chat = 0
        self.author = 0
        self.sent = 0
        self.origin = 0
        self.received = 0

    def flush(self, upto: cython.Py_ssize_t) -> cython.void:
        """Copy the unchanged bytes up to an offset."""
        if upto > self.copied:
            self.out += self.source[self.copied : upto]
        self.copied = upto

    def put(self, number: cython.ulonglong) -> cython.void:
        """Write a varint."""
        while number > 0x7F:
            self.out.append(cython.cast(cython.int, number & 0x7F | 0x80))
            number >>= 7
        self.out.append(cython.cast(cython.int, number))

    def put_length(self, begin: cython.Py_ssize_t) -> cython.void:
        """Insert the length of the bytes written since `begin` before them."""
        size: cython.Py_ssize_t = len(self.out) - begin
        tail: bytes
        if size < 0x80:
            self.out.insert(begin, size)
        else:
            tail = bytes(self.out[begin:])
            del self.out[begin:]
            self.put(size)
            self.out += tail

    def replace(self, kind: cython.uchar, depth: cython.int, value: cython.ulonglong) -> cython.void:
        """Write the id that replaces an id."""
        new: cython.ulonglong
        if kind == CHAT:
            # A revision gets the chat of its message; its own value is ignored.
            new = self.chat if depth > 1 and self.chat else self.chats[value]
            if depth == 1:
                self.chat = new
        elif kind == COLOR:
            new = self.colors[value]
        else:
            new = self.people[value]
            if kind == AUTHOR and depth == 1:
                self.author = new
        self.put(new)

    def note(self, kind: cython.uchar, depth: cython.int, value: cython.ulonglong) -> cython.void:
        """Store a timestamp of the message; the earliest of its revisions is when the first version was sent."""
        if kind == RECEIVED:
            if depth == 2:
                self.received = value
            return
        if depth == 1:
            self.sent = value
        if depth <= 2 and value and (self.origin == 0 or value < self.origin):
            self.origin = value

    def message(self, message: cython.uint, depth: cython.int) -> cython.void:  # noqa: PLR0915  # one loop, no calls
        """Copy one message up to `end`."""
        base: cython.Py_ssize_t = BASES[message]
        limit: cython.uint = LIMITS[message]
        outer: cython.Py_ssize_t = self.end
        tag: cython.uint
        shape: cython.uint
        kind: cython.uchar
        slot: cython.Py_ssize_t
        size: cython.Py_ssize_t
        at: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        value: cython.ulonglong
        if depth > MAX_DEPTH:
            self.fault = TOO_DEEP
            return
        while self.pos < outer:
            tag = self.tag()
            if self.fault:
                return
            slot = base + (tag >> 3) if tag >> 3 < limit else 0
            shape = SHAPES[slot]
            kind = self.kinds[slot]
            at = self.pos
            if tag & 7 != shape & WIRE_TYPE and (tag & 7 != 2 or not shape & PACKABLE):
                self.skip(tag, depth)
            elif tag & 7 == 2:
                size = self.length()
                if self.fault:
                    return
                if shape & PACKABLE and kind:
                    self.flush(at)
                    self.end = self.pos + size
                    begin = len(self.out)
                    while self.pos < self.end and not self.fault:
                        value = self.varint()
                        if not self.fault:
                            self.replace(kind, depth, value)
                    self.copied = self.end
                    self.put_length(begin)
                    self.pos = self.end
                elif shape & KIND == MESSAGE and self.leads[TARGETS[slot]]:
                    self.flush(at)
                    self.copied = self.pos
                    begin = len(self.out)
                    size = self.pos + size
                    self.end = size
                    self.message(TARGETS[slot], depth + 1)
                    if self.fault:
                        return
                    self.flush(size)
                    self.put_length(begin)
                    self.pos = size
                else:
                    self.pos += size
                self.end = outer
            elif kind and tag & 7 == 0:
                value = self.varint()
                if self.fault:
                    return
                if kind >= SENT:
                    self.note(kind, depth, value)
                else:
                    self.flush(at)
                    self.replace(kind, depth, value)
                    self.copied = self.pos
            else:
                self.skip(tag, depth)
            if self.fault:
                return


def renumber(
    raw: bytes, plan: Plan, people: Mapping[int, int], chats: Mapping[int, int], colors: Mapping[int, int]
) -> bytes:
    """Copy one frame with its ids replaced; a missing id raises the exception of the mapping."""
    copier: Renumberer = Renumberer(raw, plan, people, chats, colors)
    copier.message(0, 0)
    if copier.fault:
        raise DamagedRecord(f"the record {faults.FAULTS[copier.fault]}", offset=copier.pos)
    copier.flush(len(raw))
    return bytes(copier.out)


def renumber_items(
    data: bytes, cap: cython.Py_ssize_t, plan: Plan, people: Mapping[int, int], chats: Mapping[int, int]
) -> tuple[list[Numbered], list[int], int, int, int]:
    """Copy all messages of a block with their ids replaced.

    Return the messages; the indexes of frames that hold anything but exactly one record, which are left out; the
    number of complete frames; the fault found (0: none) and its offset.
    """
    copier: Renumberer = Renumberer(data, plan, people, chats, {})
    found: list[Numbered] = []
    odd: list[int] = []
    frames: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    size: cython.Py_ssize_t
    first: cython.uchar
    while copier.enter(cap):
        start, stop = copier.pos, copier.end
        first = data[start] if start < stop else 0
        if first & 7 != 2 or first > LAST:
            odd.append(frames)
        else:
            copier.pos = start + 1
            size = copier.length()
            if copier.fault:
                break
            if copier.pos + size != stop:
                odd.append(frames)
            elif first == ITEM:
                copier.pos = start
                copier.restart(start)
                copier.message(0, 0)
                if copier.fault:
                    break
                copier.flush(stop)
                found.append(
                    (
                        frames,
                        copier.chat,
                        copier.author,
                        copier.sent,
                        copier.origin,
                        copier.received,
                        bytes(copier.out),
                    )
                )
        copier.pos = copier.end = stop
        frames += 1
    return found, odd, frames, copier.fault, copier.pos
