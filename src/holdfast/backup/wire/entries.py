"""Turns chat items into rows for an archive: one tuple each, with a fingerprint of what it says.

The ids of people and chats mean something inside one file only, so both rows and fingerprints speak of the ids
that they were given in the archive. Two records that say the same have the same fingerprint, whatever the ids in
their files were, in whatever order their fields stand, and in whatever order receipts, reactions and votes are
listed.

What most messages are made of is read here: text, times, receipts and reactions. A row is `rich` when there is
more to it, which is then read from the message object; it is `odd` when only protobuf can say what its fields add
up to.
"""

from array import array
from typing import Any, Final, TypeAlias

import cython

from holdfast.backup.wire import collect, cursor, faults, tables
from holdfast.backup.wire.cursor import Cursor

__all__ = [
    "DIRECTIONS",
    "KINDS",
    "PEOPLE",
    "STATUSES",
    "UNORDERED",
    "Item",
    "Row",
    "fingerprint_of",
    "message_id",
    "read_items",
]

# The fields that hold the id of a recipient.
PEOPLE: Final = (
    "ChatItem.authorId",
    "SendStatus.recipientId",
    "Reaction.authorId",
    "Quote.authorId",
    "Poll.PollOption.PollVote.voterId",
    "AdminDeletedMessage.adminId",
    "PinMessageUpdate.authorId",
    "GroupCall.ringerRecipientId",
    "GroupCall.startedCallRecipientId",
)
# The lists whose order means nothing.
UNORDERED: Final = (
    "ChatItem.OutgoingMessageDetails.sendStatus",
    "StandardMessage.reactions",
    "ContactMessage.reactions",
    "StickerMessage.reactions",
    "ViewOnceMessage.reactions",
    "DirectStoryReplyMessage.reactions",
    "Poll.reactions",
    "Poll.PollOption.votes",
    "Text.bodyRanges",
    "GroupInvitationRevokedUpdate.invitees",
)

_marks = array("I", [0] * tables.SLOTS)
for _name in PEOPLE:
    _marks[collect.slot_of(_name)] = 1
for _name in UNORDERED:
    _marks[collect.slot_of(_name)] = 2
_marks[collect.slot_of("ChatItem.chatId")] = 4

MARKS = cython.declare(cython.const[cython.uint][::1], _marks)
IS_PERSON = cython.declare(cython.uint, 1)
IS_UNORDERED = cython.declare(cython.uint, 2)
IS_CHAT = cython.declare(cython.uint, 4)

CUT = cython.declare(cython.int, faults.CUT)
BAD_TEXT = cython.declare(cython.int, faults.BAD_TEXT)
TOO_DEEP = cython.declare(cython.int, faults.TOO_DEEP)
MAX_DEPTH = cython.declare(cython.int, cursor.MAX_DEPTH)
WIRE_TYPE = cython.declare(cython.uint, tables.WIRE_TYPE)
KIND = cython.declare(cython.uint, tables.KIND)
MESSAGE = cython.declare(cython.uint, tables.MESSAGE)
REPEATED = cython.declare(cython.uint, tables.REPEATED)
PACKABLE = cython.declare(cython.uint, tables.PACKABLE)
KEPT = cython.declare(cython.uint, tables.KEPT)
BASES = cython.declare(cython.const[cython.uint][::1], tables.BASES)
LIMITS = cython.declare(cython.const[cython.uint][::1], tables.LIMITS)
SHAPES = cython.declare(cython.const[cython.uint][::1], tables.SHAPES)
TARGETS = cython.declare(cython.const[cython.uint][::1], tables.TARGETS)
CHAT_ITEM = cython.declare(cython.uint, tables.TARGETS[collect.slot_of("Frame.chatItem")])

# Odd numbers without a pattern, by which bits are spread; plain Python cuts off what C does not keep.
SPREAD = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
TWIST = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
PRIME = cython.declare(cython.ulonglong, 0x100000001B3)
START = cython.declare(cython.ulonglong, 0xCBF29CE484222325)
ALL = cython.declare(cython.ulonglong, (1 << 64) - 1)
# Times that no calendar has are kept inside what SQLite can hold.
LATEST = cython.declare(cython.ulonglong, (1 << 63) - 1)
LATEST_SECOND = cython.declare(cython.ulonglong, (1 << 32) - 1)

# By the number of a field: the names the archive has for directions, kinds and what became of a message.
DIRECTIONS: Final = ("", *[""] * 7, "incoming", "outgoing", "none")
KINDS: Final = (
    *[""] * 11,
    "message",
    "contact",
    "sticker",
    "deleted",
    "update",
    "payment",
    "gift_badge",
    "view_once",
    "story_reply",
    "poll",
    "",
    "deleted_by_admin",
)
STATUSES: Final = ("pending", "", "", "pending", "sent", "delivered", "read", "viewed", "skipped", "failed")
REASONS: Final = ("UNKNOWN", "NETWORK", "IDENTITY_KEY_MISMATCH")
_DIRECTIONS = cython.declare(tuple, DIRECTIONS)
_KINDS = cython.declare(tuple, KINDS)
_STATUSES = cython.declare(tuple, STATUSES)
_REASONS = cython.declare(tuple, REASONS)

Row: TypeAlias = tuple[Any, ...]
# Start and end of the record; whether it is rich, whether it is odd, whether a receipt says nothing, whether it
# names somebody who is not in the file; the rows of receipts and of reactions; the row of the message itself, as
# far as it is known here.
Item: TypeAlias = tuple[Any, ...]


def spread(value: cython.ulonglong) -> cython.ulonglong:
    """Spread the bits of a number."""
    value = ((value ^ (value >> 30)) * TWIST) & ALL
    value = (value ^ (value >> 27)) * SPREAD & ALL
    return value ^ (value >> 31)


class ItemReader(Cursor):
    """A cursor that makes rows of chat items."""

    def __init__(
        self,
        data: bytes,
        people: dict[int, int],
        chats: dict[int, int],
    ) -> None:
        super().__init__(data, 0, len(data))
        self.raw = data
        self.people = people
        self.chats = chats
        self.rows: list[Item] = []
        self.text: str | None = None
        self.statuses: list[Row] | None = None
        self.reactions: list[Row] | None = None
        self.others: list[tuple[int, int, int]] = []

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

    def bytes_digest(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.ulonglong:
        """Make a number of bytes."""
        value: cython.ulonglong = START
        at: cython.Py_ssize_t
        for at in range(start, end):
            value = ((value ^ self.data[at]) * PRIME) & ALL
        return spread(value ^ cython.cast(cython.ulonglong, end - start))

    def digest(self, message: cython.uint, depth: cython.int) -> cython.ulonglong:
        """Make a number of what a message up to `end` says; lists keep their order unless it means nothing."""
        total: cython.ulonglong = 0
        value: cython.ulonglong
        place: cython.ulonglong = 0
        base: cython.Py_ssize_t = BASES[message]
        limit: cython.uint = LIMITS[message]
        outer: cython.Py_ssize_t = self.end
        start: cython.Py_ssize_t
        tag: cython.uint
        shape: cython.uint
        slot: cython.Py_ssize_t
        mark: cython.uint
        if depth > MAX_DEPTH:
            self.fault = TOO_DEEP
            return 0
        while self.pos < outer:
            start = self.pos
            tag = self.step()
            if self.fault:
                return 0
            slot = base + (tag >> 3) if tag >> 3 < limit else 0
            shape = SHAPES[slot]
            mark = MARKS[slot]
            if tag & 7 == 2:
                if shape & WIRE_TYPE == 2 and shape & KIND == MESSAGE:
                    value = self.digest(TARGETS[slot], depth + 1) | 1
                else:
                    value = self.bytes_digest(self.pos, self.end) | 1
                    if self.pos == self.end and not shape & KEPT:
                        value = 0
                self.pos = self.end
                self.end = outer
            elif tag & 7 == 0 and shape & WIRE_TYPE == 0:
                value = self.varint()
                if mark & IS_PERSON:
                    # Another file gives the same person another number.
                    value = self.people.get(value, value)
                if shape & KEPT or value:
                    value = spread(value + 1)
                if mark & IS_CHAT:
                    value = 0
            else:
                self.skip(tag, depth)
                value = self.bytes_digest(start, self.pos) | 1
            if self.fault:
                return 0
            if value:
                if slot == 0 or (shape & REPEATED and not mark & IS_UNORDERED):
                    place += 1
                    value = (value + place * PRIME) & ALL
                slot = slot or cython.cast(cython.Py_ssize_t, tag + 100000)
                total = (total + spread(value ^ spread(cython.cast(cython.ulonglong, slot)))) & ALL
        return spread(total + 1 & ALL)

    def item(self) -> cython.void:  # noqa: PLR0915  # one branch for each field of the record
        """Read one chat item up to `end`."""
        outer: cython.Py_ssize_t = self.end
        tag: cython.uint
        number: cython.uint
        directions: cython.int = 0
        kinds: cython.int = 0
        revisions: cython.int = 0
        self.chat = self.author = self.sent = self.received = self.server_sent = self.slot = 0
        self.expire_start = self.expires_in = self.first_sent = 0
        self.has_server_sent = self.has_expire_start = self.has_expires_in = False
        self.read = self.sealed = self.sms = self.rich = self.odd = self.link = self.unsure = self.stranger = False
        self.direction = self.kind = 0
        self.text = None
        self.statuses = None
        self.reactions = None
        while self.pos < outer:
            tag = self.step()
            if self.fault:
                return
            number = tag >> 3
            if tag == (1 << 3):
                self.chat = self.varint()
            elif tag == (2 << 3):
                self.author = self.varint()
            elif tag == (3 << 3):
                self.sent = self.varint()
            elif tag == (4 << 3):
                self.expire_start = self.varint()
                self.has_expire_start = True
            elif tag == (5 << 3):
                self.expires_in = self.varint()
                self.has_expires_in = True
            elif tag == (7 << 3):
                self.sms = self.varint() != 0
            elif tag & 7 == 2 and 6 <= number <= 22 and number != 7:
                if number == 6:
                    revisions += 1
                    if revisions == 1:
                        self.first_sent = self.sent_of()
                    self.rich = True
                elif number <= 10:
                    directions += 1
                    self.direction = number
                    if number == 8:
                        self.incoming()
                    elif number == 9:
                        self.outgoing()
                elif number == 21:
                    self.rich = True
                else:
                    kinds += 1
                    self.kind = number
                    if number == 11:
                        self.standard()
                    elif number == 15:
                        self.rich = True
                        self.update()
                    elif number != 14:
                        self.rich = True
                if self.fault:
                    return
                self.pos = self.end
                self.end = outer
            elif tag & 7 == 2:
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 1)
            if self.fault:
                return
        if directions > 1 or kinds > 1:
            self.odd = True
        if not revisions:
            self.first_sent = self.sent

    def sent_of(self) -> cython.ulonglong:
        """Read when a revision up to `end` was sent."""
        outer: cython.Py_ssize_t = self.end
        start: cython.Py_ssize_t = self.pos
        sent: cython.ulonglong = 0
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if tag == (3 << 3):
                sent = self.varint()
            elif tag & 7 == 2:
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 2)
        self.pos = start
        self.end = outer
        return sent

    def incoming(self) -> cython.void:
        """Read the details of what was received."""
        outer: cython.Py_ssize_t = self.end
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if tag == (1 << 3):
                self.received = self.varint()
            elif tag == (2 << 3):
                self.server_sent = self.varint()
                self.has_server_sent = True
            elif tag == (3 << 3):
                self.read = self.varint() != 0
            elif tag == (4 << 3):
                self.sealed = self.varint() != 0
            elif tag & 7 == 2:
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 2)

    def outgoing(self) -> cython.void:
        """Read the details of what was sent."""
        outer: cython.Py_ssize_t = self.end
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if tag == (2 << 3):
                self.received = self.varint()
            elif tag & 7 == 2:
                if tag >> 3 == 1 and not self.fault:
                    self.status()
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 2)

    def person(self, local: cython.ulonglong) -> object:
        """Lead from an id of the file to one of the archive, 0 for somebody who is not there."""
        found: object = self.people.get(local)
        if found is None:
            self.stranger = True
            return 0
        return found

    def status_rows(self, number: object) -> list[Row] | None:
        """Write the receipts as rows, in an order that does not depend on the file."""
        if self.statuses is None:
            return None
        if len(self.statuses) > 1:
            self.statuses.sort()
        rows: list[Row] = []
        what: cython.Py_ssize_t
        for who, when, kind, sealed, reason in self.statuses:
            what = kind
            rows.append(
                (
                    number,
                    len(rows),
                    who,
                    _STATUSES[what],
                    when,
                    sealed if 4 <= what <= 7 else None,
                    (_REASONS[reason] if reason < 3 else _REASONS[0]) if what == 9 else None,
                )
            )
        return rows

    def reaction_rows(self, number: object) -> list[Row] | None:
        """Write the reactions as rows, the oldest first."""
        if self.reactions is None:
            return None
        if len(self.reactions) > 1:
            self.reactions.sort()
        rows: list[Row] = []
        for order, when, who, emoji in self.reactions:
            rows.append((number, len(rows), who, emoji, when, order))
        return rows

    def status(self) -> cython.void:
        """Read what became of a message on its way to one recipient."""
        outer: cython.Py_ssize_t = self.end
        inner: cython.Py_ssize_t
        who: cython.ulonglong = 0
        when: cython.ulonglong = 0
        what: cython.uint = 0
        sealed: cython.bint = False
        reason: cython.ulonglong = 0
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if tag == (1 << 3):
                who = self.varint()
            elif tag == (2 << 3):
                when = self.varint()
            elif tag & 7 == 2:
                if 3 <= tag >> 3 <= 9:
                    if what:
                        self.odd = True
                    what = tag >> 3
                    inner = self.end
                    while self.pos < inner and not self.fault:
                        tag = self.step()
                        if tag == (1 << 3):
                            reason = self.varint()
                            sealed = reason != 0
                        elif tag & 7 == 2:
                            self.pos = self.end
                            self.end = inner
                        else:
                            self.skip(tag, 4)
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 3)
        if self.statuses is None:
            self.statuses = []
        if what == 0:
            self.unsure = True
        self.statuses.append((self.person(who), min(when, LATEST), what, sealed, reason))

    def standard(self) -> cython.void:
        """Read an ordinary message: its text and its reactions."""
        outer: cython.Py_ssize_t = self.end
        texts: cython.int = 0
        tag: cython.uint
        while self.pos < outer:
            tag = self.step()
            if self.fault:
                return
            if tag & 7 == 2:
                if tag >> 3 == 2:
                    texts += 1
                    if texts > 1:
                        self.odd = True
                    self.body()
                elif tag >> 3 == 6:
                    self.reaction()
                else:
                    self.rich = True
                if self.fault:
                    return
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 2)
                if self.fault:
                    return

    def body(self) -> cython.void:
        """Read a text; one with styles or mentions is rich."""
        outer: cython.Py_ssize_t = self.end
        tag: cython.uint
        self.text = ""
        while self.pos < outer:
            tag = self.step()
            if self.fault:
                return
            if tag & 7 == 2:
                if tag >> 3 == 1:
                    try:
                        self.text = self.raw[self.pos : self.end].decode("utf-8")
                    except UnicodeDecodeError:
                        self.fault = BAD_TEXT
                        return
                    self.link = self.has_link(self.pos, self.end)
                else:
                    self.rich = True
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 3)
                if self.fault:
                    return

    def has_link(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Find http:// or https://."""
        at: cython.Py_ssize_t
        for at in range(start + 4, end - 2):
            if (
                self.data[at] == 0x3A
                and self.data[at + 1] == 0x2F
                and self.data[at + 2] == 0x2F
                and self.data[at - 1] | 0x20 in (0x70, 0x73)
                and self.data[at - 2] | 0x20 in (0x70, 0x74)
                and self.data[at - 3] | 0x20 == 0x74
                and self.data[at - 4] | 0x20 in (0x68, 0x74)
            ):
                return True
        return False

    def reaction(self) -> cython.void:
        """Read a reaction."""
        outer: cython.Py_ssize_t = self.end
        emoji: object = ""
        who: cython.ulonglong = 0
        when: cython.ulonglong = 0
        order: cython.ulonglong = 0
        tag: cython.uint
        while self.pos < outer:
            tag = self.step()
            if self.fault:
                return
            if tag == (2 << 3):
                who = self.varint()
            elif tag == (3 << 3):
                when = self.varint()
            elif tag == (4 << 3):
                order = self.varint()
            elif tag & 7 == 2:
                if tag >> 3 == 1:
                    try:
                        emoji = self.raw[self.pos : self.end].decode("utf-8")
                    except UnicodeDecodeError:
                        self.fault = BAD_TEXT
                        return
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 3)
            if self.fault:
                return
        if self.reactions is None:
            self.reactions = []
        self.reactions.append((min(order, LATEST), min(when, LATEST), self.person(who), emoji))

    def update(self) -> cython.void:
        """Tell updates of different kinds at one time apart: by the kind, and the type of a simple one."""
        outer: cython.Py_ssize_t = self.end
        inner: cython.Py_ssize_t
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if tag & 7 == 2:
                self.slot = tag >> 3
                if self.slot == 1:
                    inner = self.end
                    while self.pos < inner and not self.fault:
                        tag = self.step()
                        if tag == (1 << 3):
                            self.slot = 1 | (self.varint() & 0xFFFF) << 8
                        elif tag & 7 == 2:
                            self.pos = self.end
                            self.end = inner
                        else:
                            self.skip(tag, 3)
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 2)


def message_id(
    chat: cython.ulonglong,
    author: cython.ulonglong,
    first_sent: cython.ulonglong,
    slot: cython.ulonglong,
    rank: cython.ulonglong,
) -> int:
    """Make the id of a message from what identifies it: the second it was sent in, and 20 bits of the rest.

    Ids therefore grow with time, fit into 52 bits and are the same in every archive. What finds its place taken
    goes to one beyond all seconds, with `rank` counting the tries in its upper half.
    """
    value: cython.ulonglong
    second: cython.ulonglong = first_sent // 1000
    value = spread(chat + 1)
    value = spread((value ^ author) + SPREAD & ALL)
    value = spread((value ^ first_sent) + SPREAD & ALL)
    value = spread((value ^ slot ^ rank << 32) + SPREAD & ALL)
    number: int = (min(second, LATEST_SECOND) << 20) + (value >> 44)
    if rank >> 16:
        number = (1 << 52) + (value >> 12)
    return number


def fingerprint_of(raw: bytes, people: dict[int, int], root: cython.uint = CHAT_ITEM) -> int:
    """Make the fingerprint of one record, which `read_items` makes of all: 63 bits."""
    reader: ItemReader = ItemReader(raw, people, {})
    mark: int = reader.digest(root, 1) >> 1
    return mark


def read_items(  # noqa: PLR0917  # a cdef class could not take them by name as fast
    data: bytes,
    cap: cython.Py_ssize_t,
    people: dict[int, int],
    chats: dict[int, int],
    latest: cython.ulonglong,
    place: cython.Py_ssize_t,
    newest: cython.ulonglong,
) -> tuple[list[Item], list[tuple[int, int, int]], int, int, int, int, int]:
    """Make a row of every chat item in a block.

    `people` and `chats` lead from the ids of the file to those of the archive; one that is not there becomes 0.
    `latest` and `place` say where the item before stands: every item stands after it, and where it can at the time
    it arrived, but never after `newest`.

    Return the rows; the places of all other frames (how many items stand before it, start, end); how many frames
    were whole, the fault found (0: none) and where; `latest` and `place` of the last item. A chat item that is not
    alone in its frame is among the others.
    """
    reader: ItemReader = ItemReader(data, people, chats)
    frames: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    body: cython.Py_ssize_t
    tag: cython.uint
    moment: cython.ulonglong
    fingerprint: cython.ulonglong
    chat: cython.ulonglong
    author: cython.ulonglong
    incoming: cython.bint
    number: object
    while reader.enter(cap):
        frames += 1
        start = reader.pos
        end = reader.end
        tag = 0
        if start < end:
            tag = reader.step()
            if reader.fault:
                break
        if tag != (4 << 3 | 2) or reader.end != end:
            reader.others.append((len(reader.rows), start, end))
            reader.pos = end
            continue
        body = reader.pos
        fingerprint = reader.digest(CHAT_ITEM, 1) >> 1
        if reader.fault:
            break
        reader.pos = body
        reader.end = end
        reader.item()
        if reader.fault:
            break
        chat = chats.get(reader.chat, 0)
        author = people.get(reader.author, 0)
        number = message_id(chat, author, reader.first_sent, reader.slot, 0)
        moment = min(reader.received or reader.sent, newest)
        if moment > latest or place < 0:
            latest = max(moment, latest)
            place = 0
        else:
            place += 1
        incoming = reader.direction == 8
        reader.rows.append(
            (
                body,
                end,
                reader.rich,
                reader.odd,
                reader.unsure,
                reader.stranger,
                reader.status_rows(number),
                reader.reaction_rows(number),
                (
                    number,
                    chat,
                    author,
                    min(reader.sent, LATEST),
                    min(reader.first_sent, LATEST),
                    min(reader.received, LATEST) if reader.direction != 10 else None,
                    min(reader.server_sent, LATEST) if reader.has_server_sent else None,
                    latest,
                    place,
                    _DIRECTIONS[reader.direction],
                    _KINDS[reader.kind],
                    reader.text,
                    None,
                    None,
                    0,
                    reader.link,
                    reader.read if incoming else None,
                    reader.sealed if incoming else None,
                    reader.sms,
                    min(reader.expire_start, LATEST) if reader.has_expire_start else None,
                    min(reader.expires_in, LATEST) if reader.has_expires_in else None,
                    None,
                    None,
                    reader.slot,
                    0,
                    fingerprint,
                ),
            )
        )
        reader.pos = end
    return (
        reader.rows,
        reader.others,
        frames - (1 if reader.fault else 0),
        reader.fault,
        reader.pos,
        latest,
        place,
    )
