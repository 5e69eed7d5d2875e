"""Converts chat items to rows of an archive: one tuple each, with a fingerprint of the content.

Recipient and chat ids are local to one backup, so rows and fingerprints contain the ids of the archive. Records
with the same content have the same fingerprint, regardless of the ids in the backup, of the order of fields, and
of the order of receipts, reactions and votes.

This module reads what most messages consist of: text, times, receipts and reactions. An item is `rich` if it has
more, which is then read from the protobuf message; it is `odd` if only protobuf can interpret it (a repeated oneof
or submessage).
"""

from array import array
from typing import Any, Final, TypeAlias

import cython

from holdfast.backup.wire import collect, cursor, faults, tables
from holdfast.backup.wire.cursor import Cursor

__all__ = [
    "DELIVERIES",
    "DIRECTIONS",
    "KINDS",
    "PEOPLE",
    "STATUSES",
    "UNORDERED",
    "Item",
    "Row",
    "any_odd",
    "fingerprint_of",
    "message_id",
    "pack_receipts",
    "read_items",
]

# Fields with a recipient id.
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
# Repeated fields whose order is irrelevant.
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

# Multipliers for bit mixing; plain Python masks what C truncates.
SPREAD = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
TWIST = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
PRIME = cython.declare(cython.ulonglong, 0x100000001B3)
START = cython.declare(cython.ulonglong, 0xCBF29CE484222325)
ALL = cython.declare(cython.ulonglong, (1 << 64) - 1)
# Times are clamped to what SQLite can store.
LATEST = cython.declare(cython.ulonglong, (1 << 63) - 1)
LATEST_SECOND = cython.declare(cython.ulonglong, (1 << 32) - 1)
BEYOND = cython.declare(cython.ulonglong, 1 << 52)

# By protobuf field number: the archive's names of directions, kinds and delivery statuses.
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

# Delivery progress in ascending order; a failure outweighs what other recipients got.
DELIVERIES: Final = ("", "skipped", "pending", "sent", "delivered", "read", "viewed", "failed")

# The bit field `look` of a row: the direction in the lowest four bits, the kind in the next five, these flags, and
# the furthest delivery in the next three.
HAS_TEXT, HAS_LINK, HAS_MEDIA, IS_READ, IS_SEALED, IS_SMS = (1 << bit for bit in range(9, 15))
DELIVERY: Final = 15
DELIVERY_SHIFT = cython.declare(cython.uint, DELIVERY)
PROGRESS = cython.declare(
    cython.const[cython.uint][::1], array("I", [DELIVERIES.index(status or "pending") for status in STATUSES])
)
_HAS_TEXT = cython.declare(cython.uint, HAS_TEXT)
_HAS_LINK = cython.declare(cython.uint, HAS_LINK)
_IS_READ = cython.declare(cython.uint, IS_READ)
_IS_SEALED = cython.declare(cython.uint, IS_SEALED)
_IS_SMS = cython.declare(cython.uint, IS_SMS)
# The bit field of a receipt: the status in the lowest four bits, this flag, then the reason of a failure.
SEALED = cython.declare(cython.uint, 16)

STICKER = cython.declare(cython.uint, 13)

# Flags of an item: there is more to it; only protobuf can read it; a receipt has no status; it refers to a
# recipient that is not in the backup; it has no chat, author, direction or content; it has parts.
RICH, ODD, UNSURE, STRANGER, LOST, PARTS = (1 << bit for bit in range(6))
IS_RICH = cython.declare(cython.uint, RICH)
IS_ODD = cython.declare(cython.uint, ODD)
IS_UNSURE = cython.declare(cython.uint, UNSURE)
HAS_STRANGER = cython.declare(cython.uint, STRANGER)
IS_LOST = cython.declare(cython.uint, LOST)
HAS_PARTS = cython.declare(cython.uint, PARTS)

Row: TypeAlias = tuple[Any, ...]
# Kind (the number of its field in an ordinary message, or 13 for a sticker), start and end.
Part: TypeAlias = tuple[int, int, int]
# Start and end of the record, flags (RICH and the others), the rows of receipts and of reactions, the positions of
# its parts, and the row of the message itself as far as it is known here. Rows have neither None nor bool, which
# the driver binds ten times slower than numbers and text: -1 and "" are used instead.
Item: TypeAlias = tuple[Any, ...]


def spread(value: cython.ulonglong) -> cython.ulonglong:
    """Mix the bits of a number."""
    value = ((value ^ (value >> 30)) * TWIST) & ALL
    value = (value ^ (value >> 27)) * SPREAD & ALL
    return value ^ (value >> 31)


class ItemReader(Cursor):
    """A cursor that reads chat items; receipts only with `with_receipts`."""

    def __init__(
        self,
        data: bytes,
        people: dict[int, int],
        chats: dict[int, int],
        aliases: dict[int, int],
        chat_aliases: dict[int, int],
    ) -> None:
        super().__init__(data, 0, len(data))
        self.raw = data
        self.people = people
        self.chats = chats
        self.aliases = aliases
        self.chat_aliases = chat_aliases
        self.with_receipts = True
        self.rows: list[Item] = []
        self.statuses: list[Row] | None = None
        self.reactions: list[Row] | None = None
        self.parts: list[Part] | None = None
        self.revisions: list[tuple[int, int]] | None = None
        self.others: list[tuple[int, int, int]] = []

    def bytes_digest(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.ulonglong:
        """Hash bytes."""
        value: cython.ulonglong = START
        at: cython.Py_ssize_t
        for at in range(start, end):
            value = ((value ^ self.data[at]) * PRIME) & ALL
        return spread(value ^ cython.cast(cython.ulonglong, end - start))

    def digest(self, message: cython.uint, depth: cython.int) -> cython.ulonglong:  # noqa: PLR0915  # one loop
        """Hash a message up to `end`; repeated fields keep their order unless it is irrelevant."""
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
                    # Another backup has another id for the same person.
                    if self.aliases and value in self.aliases:
                        value = self.aliases[value]
                    else:
                        value = self.people.get(value, value)
                if mark & IS_CHAT:
                    value = self.chat_aliases.get(value, 0)
                    if value:
                        value = spread(value + 1)
                elif shape & KEPT or value:
                    value = spread(value + 1)
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
        self.chat = self.author = self.sent = self.received = self.server_sent = self.slot = 0
        self.expire_start = self.expires_in = self.first_sent = 0
        self.delivery = 0
        self.has_server_sent = self.has_expire_start = self.has_expires_in = False
        self.read = self.sealed = self.sms = self.rich = self.odd = self.link = self.unsure = self.stranger = False
        self.direction = self.kind = 0
        self.has_text = False
        self.text_start = self.text_end = 0
        self.statuses = None
        self.reactions = None
        self.parts = None
        self.revisions = None
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
                    if self.revisions is None:
                        self.revisions = []
                        self.first_sent = self.sent_of()
                    self.revisions.append((self.pos, self.end))
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
                    elif number == 13:
                        self.sticker()
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
        if self.revisions is None:
            self.first_sent = self.sent

    def sent_of(self) -> cython.ulonglong:
        """Return when the revision up to `end` was sent."""
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
        """Read the details of an incoming message."""
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
        """Read the details of an outgoing message."""
        outer: cython.Py_ssize_t = self.end
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if tag == (2 << 3):
                self.received = self.varint()
            elif tag & 7 == 2:
                if tag >> 3 == 1 and self.with_receipts and not self.fault:
                    self.status()
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 2)

    def person(self, local: cython.ulonglong) -> object:
        """Map a recipient id of the backup to an id of the archive, 0 if it is missing."""
        person_id: object = self.people.get(local)
        if person_id is None:
            self.stranger = True
            return 0
        return person_id

    def receipts(self) -> list[Row] | None:
        """Return the receipts in a canonical order: recipient, time, status bits."""
        if self.statuses is not None and len(self.statuses) > 1:
            self.statuses.sort()
        return self.statuses

    def reaction_rows(self, number: object) -> list[Row] | None:
        """Return the rows of the reactions, the oldest first."""
        if self.reactions is None:
            return None
        if len(self.reactions) > 1:
            self.reactions.sort()
        rows: list[Row] = []
        for order, when, author, emoji in self.reactions:
            rows.append((number, len(rows), author, emoji, when, order))
        return rows

    def status(self) -> cython.void:
        """Read the delivery status of one recipient."""
        outer: cython.Py_ssize_t = self.end
        inner: cython.Py_ssize_t
        recipient: cython.ulonglong = 0
        when: cython.ulonglong = 0
        status: cython.uint = 0
        sealed: cython.bint = False
        reason: cython.ulonglong = 0
        tag: cython.uint
        while self.pos < outer and not self.fault:
            tag = self.step()
            if tag == (1 << 3):
                recipient = self.varint()
            elif tag == (2 << 3):
                when = self.varint()
            elif tag & 7 == 2:
                if 3 <= tag >> 3 <= 9:
                    if status:
                        self.odd = True
                    status = tag >> 3
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
        if status == 0:
            self.unsure = True
        self.delivery = max(self.delivery, PROGRESS[cython.cast(cython.Py_ssize_t, status)])
        if status == 9 and reason < 3:
            status |= cython.cast(cython.uint, reason) << 5
        elif 4 <= status <= 7 and sealed:
            status |= SEALED
        self.statuses.append((self.person(recipient), min(when, LATEST), status))

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
                elif tag >> 3 <= 5:
                    self.part(tag >> 3)
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

    def sticker(self) -> cython.void:
        """Read a sticker: its position and its reactions."""
        outer: cython.Py_ssize_t = self.end
        tag: cython.uint
        while self.pos < outer:
            tag = self.step()
            if self.fault:
                return
            if tag & 7 == 2:
                if tag >> 3 == 1:
                    self.part(STICKER)
                elif tag >> 3 == 2:
                    self.reaction()
                if self.fault:
                    return
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 2)
                if self.fault:
                    return
        if self.parts is None:
            self.rich = True

    def body(self) -> cython.void:
        """Read a text; its styles and mentions are parts."""
        outer: cython.Py_ssize_t = self.end
        tag: cython.uint
        self.text_start = self.text_end = 0
        self.has_text = True
        while self.pos < outer:
            tag = self.step()
            if self.fault:
                return
            if tag & 7 == 2:
                if tag >> 3 == 1:
                    self.text_start = self.pos
                    self.text_end = self.end
                    self.utf8(self.end)
                    if self.fault:
                        return
                    self.link = self.has_link(self.text_start, self.end)
                elif tag >> 3 == 2:
                    self.part(2)
                else:
                    self.rich = True
                self.pos = self.end
                self.end = outer
            else:
                self.skip(tag, 3)
                if self.fault:
                    return

    def text(self) -> str:
        """Return the text that was read."""
        return self.raw[self.text_start : self.text_end].decode("utf-8")

    def part(self, kind: cython.uint) -> cython.void:
        """Store the position of a quote, a body range, an attachment, a link preview or a sticker."""
        if self.parts is None:
            self.parts = []
        self.parts.append((kind, self.pos, self.end))

    def has_link(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Return whether a text contains http:// or https://."""
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

    def look(self) -> cython.uint:
        """Return the bit field of what has no column of its own."""
        flags: cython.uint = self.direction | self.kind << 4
        if self.has_text:
            flags |= _HAS_TEXT
        if self.link:
            flags |= _HAS_LINK
        if self.direction == 8 and self.read:
            flags |= _IS_READ
        if self.direction == 8 and self.sealed:
            flags |= _IS_SEALED
        if self.sms:
            flags |= _IS_SMS
        return flags | self.delivery << DELIVERY_SHIFT

    def reaction(self) -> cython.void:
        """Read a reaction."""
        outer: cython.Py_ssize_t = self.end
        emoji: object = ""
        author: cython.ulonglong = 0
        when: cython.ulonglong = 0
        order: cython.ulonglong = 0
        tag: cython.uint
        while self.pos < outer:
            tag = self.step()
            if self.fault:
                return
            if tag == (2 << 3):
                author = self.varint()
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
        self.reactions.append((min(order, LATEST), min(when, LATEST), self.person(author), emoji))

    def update(self) -> cython.void:
        """Compute the slot, which distinguishes updates at one time: the kind, and the type of a simple one."""
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


def place_of(  # noqa: PLR0917  # a C function: no keywords, and no struct to fill
    chat: cython.ulonglong,
    author: cython.ulonglong,
    first_sent: cython.ulonglong,
    slot: cython.ulonglong,
    rank: cython.ulonglong,
    attempt: cython.ulonglong,
) -> cython.ulonglong:
    """Compute the id of a message, see `message_id`."""
    value: cython.ulonglong
    second: cython.ulonglong = min(first_sent // 1000, LATEST_SECOND)
    value = spread(chat + 1)
    value = spread((value ^ author) + SPREAD & ALL)
    value = spread((value ^ first_sent) + SPREAD & ALL)
    value = spread((value ^ slot ^ rank << 32) + SPREAD & ALL)
    if attempt:
        return BEYOND + (spread(value + attempt & ALL) >> 12)
    return (second << 20) + (value >> 44)


def message_id(  # noqa: PLR0917  # what identifies a message, in this order everywhere
    chat: cython.ulonglong,
    author: cython.ulonglong,
    first_sent: cython.ulonglong,
    slot: cython.ulonglong,
    rank: cython.ulonglong,
    attempt: cython.ulonglong = 0,
) -> int:
    """Compute the id of a message from its identity: the second it was sent in, and 20 hash bits of the rest.

    Ids therefore increase with time, fit into 53 bits and are the same in every archive. On a collision `attempt`
    is increased, which gives ids above those of all seconds.
    """
    number: int = place_of(chat, author, first_sent, slot, rank, attempt)
    return number


def any_odd(items: list[Item]) -> bool:
    """Return whether one of the items can be read by protobuf only."""
    item: Item
    flags: cython.uint
    for item in items:
        flags = item[2]
        if flags & IS_ODD:
            return True
    return False


def pack_receipts(statuses: list[Row], sent: cython.ulonglong) -> bytearray:
    """Encode receipts compactly, see `receipts`; empty for none."""
    packed: bytearray = bytearray()
    number: cython.ulonglong
    when: cython.ulonglong
    for recipient, at, flags in statuses:
        number = recipient
        while number > 0x7F:
            packed.append((number & 0x7F) | 0x80)
            number >>= 7
        packed.append(number)
        packed.append(flags)
        when = at
        number = (when - sent) << 1 if when >= sent else ((sent - when) << 1) - 1
        while number > 0x7F:
            packed.append((number & 0x7F) | 0x80)
            number >>= 7
        packed.append(number)
    return packed


def fingerprint_of(raw: bytes, people: dict[int, int], root: cython.uint = CHAT_ITEM) -> int:
    """Return the 63-bit fingerprint of one record, as `read_items` computes it."""
    reader: ItemReader = ItemReader(raw, people, {}, {}, {})
    fingerprint: int = reader.digest(root, 1) >> 1
    return fingerprint


def read_items(  # noqa: PLR0915, PLR0917  # a cdef class could not take them by name as fast
    data: bytes,
    cap: cython.Py_ssize_t,
    people: dict[int, int],
    chats: dict[int, int],
    latest: cython.ulonglong,
    place: cython.Py_ssize_t,
    newest: cython.ulonglong,
    aliases: dict[int, int],
    chat_aliases: dict[int, int],
) -> tuple[list[Item], list[tuple[int, int, int]], int, int, int, int, int]:
    """Convert every chat item of a block to a row.

    `people` and `chats` map ids of the backup to ids of the archive; a missing one becomes 0. `latest` and `place`
    are the position of the item before: every item is ordered after it, by its time of arrival if possible, but
    never after `newest`. `aliases` and `chat_aliases` have the weak aliases of the backup: fingerprints use these
    instead, so that they do not change when an alias is assigned to another person.

    Return the rows; the positions of all other frames (number of items before it, start, end); how many frames
    were complete, the fault (0: none) and its offset; `latest` and `place` of the last item. A chat item that is
    not alone in its frame is among the others.
    """
    reader: ItemReader = ItemReader(data, people, chats, aliases, chat_aliases)
    frames: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    body: cython.Py_ssize_t
    tag: cython.uint
    moment: cython.ulonglong
    fingerprint: cython.ulonglong
    chat: cython.ulonglong
    author: cython.ulonglong
    flags: cython.uint
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
        number = place_of(chat, author, reader.first_sent, reader.slot, 0, 0)
        moment = min(reader.received or reader.sent, newest)
        if moment > latest or place < 0:
            latest = max(moment, latest)
            place = 0
        else:
            place += 1
        flags = 0
        if reader.rich or reader.revisions is not None:
            flags |= IS_RICH
        if reader.odd:
            flags |= IS_ODD
        if reader.unsure:
            flags |= IS_UNSURE
        if reader.stranger:
            flags |= HAS_STRANGER
        if reader.parts is not None:
            flags |= HAS_PARTS
        if not (chat and author and reader.direction and reader.kind):
            flags |= IS_LOST
        reader.rows.append(
            (
                body,
                end,
                flags,
                reader.receipts(),
                reader.reaction_rows(number),
                reader.parts,
                (
                    number,
                    chat,
                    author,
                    min(reader.sent, LATEST),
                    min(reader.first_sent, LATEST),
                    min(reader.received, LATEST) if reader.direction != 10 else -1,
                    min(reader.server_sent, LATEST) if reader.has_server_sent else -1,
                    latest,
                    place,
                    reader.look(),
                    reader.text(),
                    "",
                    min(reader.expire_start, LATEST) if reader.has_expire_start else -1,
                    min(reader.expires_in, LATEST) if reader.has_expires_in else -1,
                    -1,
                    -1,
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
