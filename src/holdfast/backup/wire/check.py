"""Reads frames and holds every field of them to the rules, without building objects and without the interpreter.

What counts as well-formed is what the walk accepts. A message in which a field stands twice, or beside another of
its oneof, is given back: protobuf says what that adds up to, and what it says is checked instead.
"""

from array import array

import cython

from holdfast.backup.wire import checks, cursor, faults, ground, items, tables
from holdfast.backup.wire.checks import MESSAGE_BY_NAME, NEWER, SLOT_BY_NAME, field
from holdfast.backup.wire.items import Items
from holdfast.backup.wire.numbers import number_of_rule

__all__ = ["TANGLED", "Checker"]

# A fault of no record: the frame must be written anew before it can be checked.
TANGLED = 100
_TANGLED = cython.declare(cython.int, TANGLED)
CUT = cython.declare(cython.int, faults.CUT)
BAD_TAG = cython.declare(cython.int, faults.BAD_TAG)
BAD_LIST = cython.declare(cython.int, faults.BAD_LIST)
TOO_DEEP = cython.declare(cython.int, faults.TOO_DEEP)
MAX_DEPTH = cython.declare(cython.int, cursor.MAX_DEPTH)

WIRE_TYPE = cython.declare(cython.uint, tables.WIRE_TYPE)
KIND = cython.declare(cython.uint, tables.KIND)
MESSAGE = cython.declare(cython.uint, tables.MESSAGE)
STRING = cython.declare(cython.uint, tables.STRING)
UINT32 = cython.declare(cython.uint, tables.UINT32)
BOOL = cython.declare(cython.uint, tables.BOOL)
ENUM = cython.declare(cython.uint, tables.ENUM)
REPEATED = cython.declare(cython.uint, tables.REPEATED)
PACKABLE = cython.declare(cython.uint, tables.PACKABLE)
KEPT = cython.declare(cython.uint, tables.KEPT)
CHECKED = cython.declare(cython.uint, checks.CHECKED)
AGED = cython.declare(cython.uint, checks.AGED)
BASES = cython.declare(cython.const[cython.uint][::1], tables.BASES)
LIMITS = cython.declare(cython.const[cython.uint][::1], tables.LIMITS)
TARGETS = cython.declare(cython.const[cython.uint][::1], tables.TARGETS)
CLASHES = cython.declare(cython.const[cython.ulonglong][::1], tables.CLASHES)
VALUE_BASES = cython.declare(cython.const[cython.uint][::1], tables.VALUE_BASES)
VALUE_LIMITS = cython.declare(cython.const[cython.uint][::1], tables.VALUE_LIMITS)
TEXT_AT = cython.declare(cython.const[cython.uint][::1], tables.TEXT_AT)

ONE = cython.declare(cython.ulonglong, 1)
LOW_32 = cython.declare(cython.ulonglong, (1 << 32) - 1)
WIDTH = cython.declare(cython.Py_ssize_t, ground.WIDTH)
NOTES = cython.declare(cython.Py_ssize_t, ground.NOTES)
CHAT_ITEM = cython.declare(cython.uint, MESSAGE_BY_NAME["ChatItem"])
POSITIONS = cython.declare(cython.Py_ssize_t, SLOT_BY_NAME["ChatStyle.Gradient.positions"])
REVISIONS = cython.declare(cython.uint, items.REVISIONS)
# The tag of a message in a frame.
ITEM_TAG = cython.declare(cython.uint, field("Frame.chatItem") << 3 | 2)
ITEM_SLOT = cython.declare(cython.Py_ssize_t, SLOT_BY_NAME["Frame.chatItem"])
HALF = cython.declare(cython.Py_ssize_t, ground.PAGE // 2)

UNKNOWN_FIELD = cython.declare(cython.uint, number_of_rule("schema.field.unknown"))
UNKNOWN_VALUE = cython.declare(cython.uint, number_of_rule("schema.value.unknown"))
NEWER_FIELD = cython.declare(cython.uint, number_of_rule("schema.field.newer"))
RETIRED_FIELD = cython.declare(cython.uint, number_of_rule("schema.field.retired"))
DATE_ZERO = cython.declare(cython.uint, number_of_rule("date.zero"))
_NEWER = cython.declare(cython.uint, NEWER)

# The messages that have rules of their own, the most frequent first.
RULED = (
    "ChatItem",
    "SendStatus",
    "StandardMessage",
    "Text",
    "ChatItem.IncomingMessageDetails",
    "ChatItem.OutgoingMessageDetails",
    "Reaction",
    "MessageAttachment",
    "FilePointer",
    "FilePointer.LocatorInfo",
    "Quote",
    "BodyRange",
    "ChatUpdateMessage",
    "SimpleChatUpdate",
    "Poll",
    "Poll.PollOption.PollVote",
    "ViewOnceMessage",
    "DirectStoryReplyMessage.TextReply",
    "ContactAttachment.Name",
    "ContactAttachment.PostalAddress",
    "PaymentNotification.TransactionDetails.CoinTxoIdentification",
    "GiftBadge",
    "ChatItem.PinDetails",
    "GroupMemberAddedUpdate",
    "Contact",
    "Contact.Name",
    "Group",
    "Group.GroupAttributeBlob",
    "Group.Member",
    "Group.MemberPendingProfileKey",
    "DistributionListItem",
    "DistributionList",
    "Chat",
    "ChatStyle",
    "ChatStyle.Gradient",
    "ChatFolder",
    "AccountData",
    "AccountData.AccountSettings",
    "CallLink",
)
HOOKS = cython.declare(
    cython.const[cython.uint][::1],
    array(
        "I",
        [
            1 + RULED.index(name) if name in RULED else 0
            for name in sorted(MESSAGE_BY_NAME, key=lambda name: MESSAGE_BY_NAME[name])
        ],
    ),
)
# How many notes a message reads, which are set to 0 before; in the rows of others old ones may stand.
FEW = 3
READ = {
    "ChatItem": ground.NOTES,
    **dict.fromkeys(
        (
            "ChatItem.OutgoingMessageDetails",
            "StandardMessage",
            "Quote",
            "DirectStoryReplyMessage.TextReply",
            "ChatUpdateMessage",
            "Poll",
            "DistributionListItem",
            "Group.MemberPendingProfileKey",
            "ChatStyle.Gradient",
            "NotificationProfile",
        ),
        FEW,
    ),
}
NOTED = cython.declare(
    cython.const[cython.uchar][::1],
    bytes(READ.get(name, 0) for name in sorted(MESSAGE_BY_NAME, key=lambda name: MESSAGE_BY_NAME[name])),
)


class Checker(Items):
    """Checks frames one after the other; one for each thread."""

    def body(self, root: cython.uint) -> cython.void:
        """Check one record up to `end`; one with a fault leaves no findings."""
        used: cython.Py_ssize_t = self.used
        self.lost = 0
        self.grave = False
        self.message(root, 0)
        if self.fault:
            self.used = used
        elif self.lost:
            self.crowded()

    def only_body(self) -> cython.void:
        """Check a frame that is a message and nothing else, without reading the frame around it."""
        used: cython.Py_ssize_t = self.used
        self.lost = 0
        self.grave = False
        self.messages[0] = 0
        self.steps[0] = ITEM_SLOT
        self.elements[0] = -1
        self.pos += 1
        self.quick_length()
        self.message(CHAT_ITEM, 1)
        if self.fault:
            self.used = used
        elif self.lost:
            self.crowded()

    def message(self, message: cython.uint, depth: cython.int) -> cython.void:
        """Check one message up to `end`, `depth` levels below the record."""
        begin: cython.Py_ssize_t = self.pos
        level: cython.Py_ssize_t
        if depth > MAX_DEPTH:
            self.fault = TOO_DEEP
            return
        self.messages[depth] = message
        self.round += 1
        self.rounds[depth] = self.round
        for level in range(depth * NOTES, depth * NOTES + NOTED[message]):
            self.notes[level] = 0
        self.fields(message, depth, False)
        if self.fault:
            return
        self.complete(message, depth)
        if message == CHAT_ITEM and (self.seen[depth] >> REVISIONS) & 1:
            # Earlier revisions are compared with what replaced them, so they come last, wherever they stand.
            self.pos = begin
            self.fields(message, depth, True)

    def fields(self, message: cython.uint, depth: cython.int, again: cython.bint) -> cython.void:
        """Read the fields of a message up to `end`; with `again` only its revisions, which the first time wait."""
        base: cython.Py_ssize_t = BASES[message]
        limit: cython.uint = LIMITS[message]
        row: cython.Py_ssize_t = depth * WIDTH
        seen: cython.ulonglong = 0
        filled: cython.ulonglong = 0
        tag: cython.uint
        number: cython.uint
        slot: cython.Py_ssize_t
        shape: cython.uint
        more: cython.bint
        while self.pos < self.end:
            # Most tags take one byte, which is read without a call into another module and cannot be wrong.
            tag = self.data[self.pos]
            if 8 <= tag < 0x80:
                self.pos += 1
            else:
                tag = self.other_tag(limit)
                if self.fault:
                    return
            number = tag >> 3
            slot = base + number if number < limit else 0
            shape = self.shapes[slot]
            if tag & 7 != shape & WIRE_TYPE and (tag & 7 != 2 or not shape & PACKABLE):
                if not again:
                    self.report(UNKNOWN_FIELD, depth, 0, -1, number, 0, 0)
                self.skip(tag, depth)
            elif (again and number != REVISIONS) or (shape & AGED and self.passed_over(slot, depth, number)):
                self.skip(tag, depth)
            else:
                if shape & REPEATED:
                    if not (seen >> number) & 1:
                        self.values[row + number] = 0
                elif seen & CLASHES[slot]:
                    self.fault = _TANGLED
                    return
                seen |= ONE << number
                if tag & 7 == 2:
                    more = self.delimited(slot, shape, depth, number, again)
                else:
                    more = self.single(slot, shape, depth, number)
                if more:
                    filled |= ONE << number
            if self.fault:
                return
        if not again:
            self.seen[depth] = seen
            self.filled[depth] = filled

    def passed_over(self, slot: cython.Py_ssize_t, depth: cython.int, number: cython.uint) -> cython.bint:
        """Remark upon a field that was added to the format or taken out; tell whether it counts as unknown."""
        if self.ages[slot] != _NEWER:
            self.report(RETIRED_FIELD, depth, number, -1, 0, 0, 0)
            return False
        self.newer = True
        if self.old:
            self.report(NEWER_FIELD, depth, number, -1, 0, 0, 0)
        return self.old

    def delimited(
        self,
        slot: cython.Py_ssize_t,
        shape: cython.uint,
        depth: cython.int,
        number: cython.uint,
        again: cython.bint,
    ) -> cython.bint:
        """Read a field that has a length; tell whether it says more than if it were not there."""
        outer: cython.Py_ssize_t = self.end
        place: cython.Py_ssize_t = depth * WIDTH + number
        kind: cython.uint = shape & KIND
        start: cython.Py_ssize_t
        size: cython.Py_ssize_t = self.quick_length()
        if self.fault:
            return False
        start = self.pos
        if kind == MESSAGE:
            self.steps[depth] = slot
            self.elements[depth] = -1
            if shape & REPEATED:
                self.elements[depth] = cython.cast(cython.Py_ssize_t, self.values[place])
                self.values[place] += 1
                if not again and number == REVISIONS and self.messages[depth] == CHAT_ITEM:
                    self.pos += size
                    return True
            self.end = start + size
            self.message(TARGETS[slot], depth + 1)
            self.end = outer
            return True
        if shape & PACKABLE:
            self.end = start + size
            self.packed(slot, shape, depth, number, size)
            self.end = outer
            return self.values[place] != 0
        if kind == STRING:
            self.utf8(start + size)
            if self.fault:
                return False
        if shape & REPEATED:
            self.values[place] += 1
        self.starts[place] = start
        self.sizes[place] = size
        self.pos = start + size
        if size == 0 and not shape & KEPT:
            return False
        if shape & CHECKED:
            self.check_span(slot, depth, number, -1, start, size)
        return True

    def single(
        self, slot: cython.Py_ssize_t, shape: cython.uint, depth: cython.int, number: cython.uint
    ) -> cython.bint:
        """Read one number; tell whether it says more than if it were not there."""
        element: cython.Py_ssize_t = -1
        value: cython.ulonglong
        row: cython.Py_ssize_t = depth * WIDTH + number
        value = self.fixed32() if shape & WIRE_TYPE == 5 else self.quick_varint()
        if self.fault:
            return False
        if shape & KIND == ENUM:
            value = self.named(slot, shape, depth, number, value)
        elif shape & KIND == UINT32:
            value &= LOW_32
        elif shape & KIND == BOOL:
            value = value != 0
        if shape & REPEATED:
            element = cython.cast(cython.Py_ssize_t, self.values[row])
            self.values[row] += 1
            if element < 2 and slot == POSITIONS:
                self.set_note(depth, cython.cast(cython.int, element), value)
        else:
            self.values[row] = value
        if value == 0 and not shape & KEPT:
            return False
        if shape & CHECKED:
            self.check_number(slot, depth, number, element, value)
        return True

    def packed(
        self,
        slot: cython.Py_ssize_t,
        shape: cython.uint,
        depth: cython.int,
        number: cython.uint,
        size: cython.Py_ssize_t,
    ) -> cython.void:
        """Read a packed list of numbers up to `end`."""
        if shape & WIRE_TYPE == 5 and size & 3:
            self.fault = BAD_LIST
        while self.pos < self.end and not self.fault:
            self.single(slot, shape, depth, number)

    def named(
        self,
        slot: cython.Py_ssize_t,
        shape: cython.uint,
        depth: cython.int,
        number: cython.uint,
        value: cython.ulonglong,
    ) -> cython.ulonglong:
        """Return the number of an enum's value; one that has no name is reported and read as 0."""
        low: cython.uint = cython.cast(cython.uint, value & LOW_32)
        enum: cython.Py_ssize_t = TARGETS[slot]
        text: cython.Py_ssize_t = VALUE_BASES[enum]
        element: cython.Py_ssize_t = -1
        if low < VALUE_LIMITS[enum] and TEXT_AT[text + low] != TEXT_AT[text + low + 1]:
            return low
        if shape & REPEATED:
            element = cython.cast(cython.Py_ssize_t, self.values[depth * WIDTH + number])
        self.report(UNKNOWN_VALUE, depth, number, element, low, 0, 0)
        return 0

    def complete(self, message: cython.uint, depth: cython.int) -> cython.void:
        """Look for what a message lacks, then at its fields together."""
        lacking: cython.ulonglong = self.wanted[message] & ~self.filled[depth]
        seen: cython.ulonglong = self.seen[depth]
        place: cython.Py_ssize_t = 2 * message
        slot: cython.Py_ssize_t = BASES[message]
        number: cython.uint = 0
        while lacking:
            if lacking & 1:
                if self.missing[slot]:
                    self.wrong(self.missing[slot], depth, number)
                elif not self.quiet[slot] & 1:
                    self.wrong(DATE_ZERO, depth, number)
            lacking >>= 1
            number += 1
            slot += 1
        if self.oneofs[place]:
            if not seen & self.oneofs[place]:
                self.wrong(self.oneof_rules[place], depth, 0)
            if self.oneofs[place + 1] and not seen & self.oneofs[place + 1]:
                self.wrong(self.oneof_rules[place + 1], depth, 0)
        if HOOKS[message]:
            self.together(HOOKS[message], depth)

    def together(self, hook: cython.uint, depth: cython.int) -> cython.void:  # noqa: PLR0915
        """Check the fields of a message together, in the order of `RULED`."""
        if hook == 1:
            self.item(depth)
        elif hook == 2:
            self.send_status(depth)
        elif hook == 3:
            self.standard(depth)
        elif hook == 4:
            self.text(depth)
        elif hook == 5:
            self.incoming(depth)
        elif hook == 6:
            self.outgoing(depth)
        elif hook == 7:
            self.reaction(depth)
        elif hook == 8:
            self.attachment(depth)
        elif hook == 9:
            self.file(depth)
        elif hook == 10:
            self.locator(depth)
        elif hook == 11:
            self.quote(depth)
        elif hook == 12:
            self.body_range(depth)
        elif hook == 13:
            self.update(depth)
        elif hook == 14:
            self.simple_update(depth)
        elif hook == 15:
            self.poll(depth)
        elif hook == 16:
            self.vote(depth)
        elif hook == 17:
            self.view_once(depth)
        elif hook == 18:
            self.text_reply(depth)
        elif hook == 19:
            self.card_name(depth)
        elif hook == 20:
            self.address(depth)
        elif hook == 21:
            self.coins(depth)
        elif hook == 22:
            self.gift(depth)
        elif hook == 23:
            self.pin(depth)
        elif hook == 24:
            self.member_added(depth)
        else:
            self.together_in_records(hook, depth)

    def together_in_records(self, hook: cython.uint, depth: cython.int) -> cython.void:
        """Do the same for records other than messages."""
        if hook == 25:
            self.contact(depth)
        elif hook == 26:
            self.nickname(depth)
        elif hook == 27:
            self.group(depth)
        elif hook == 28:
            self.attribute(depth)
        elif hook == 29:
            self.member(depth)
        elif hook == 30:
            self.invited(depth)
        elif hook == 31:
            self.list_item(depth)
        elif hook == 32:
            self.distribution_list(depth)
        elif hook == 33:
            self.chat(depth)
        elif hook == 34:
            self.style(depth)
        elif hook == 35:
            self.gradient(depth)
        elif hook == 36:
            self.folder(depth)
        elif hook == 37:
            self.account(depth)
        elif hook == 38:
            self.settings(depth)
        else:
            self.call_link(depth)

    def other_tag(self, limit: cython.uint) -> cython.uint:
        """Read a tag that takes more bytes, or is wrong: only a message without fields may have the number 0."""
        tag: cython.uint = self.any_tag()
        if tag < 8 and limit > 1 and not self.fault:
            self.fault = BAD_TAG
        return tag

    def quick_varint(self) -> cython.ulonglong:
        """Read a number; most take one byte, which is read here without a call into another module."""
        if self.pos < self.end and self.data[self.pos] < 0x80:
            self.pos += 1
            return self.data[self.pos - 1]
        return self.varint()

    def quick_length(self) -> cython.Py_ssize_t:
        """Read the length of a field, in the same way."""
        size: cython.Py_ssize_t
        if self.pos < self.end and self.data[self.pos] < 0x80:
            size = self.data[self.pos]
            self.pos += 1
            if size > self.end - self.pos:
                self.fault = CUT
            return size
        return self.length()

    def record(self, raw: bytes | memoryview, root: cython.uint, offset: int, frame: int) -> tuple[int, int]:
        """Check one record on its own; return its fault and where it is, and leave findings on the page."""
        self.aim(raw, offset, frame)
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
                while self.used < HALF:
                    going = self.enter(cap)
                    if not going:
                        break
                    start = self.pos
                    stop = self.end
                    if self.only_item():
                        self.only_body()
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

    def only_item(self) -> cython.bint:
        """Tell whether a frame, entered but not read, is a message and nothing else."""
        at: cython.Py_ssize_t = self.pos
        size: cython.Py_ssize_t
        if at >= self.end or self.data[at] != ITEM_TAG:
            return False
        self.pos = at + 1
        size = self.quick_length()
        if self.fault:
            self.fault = 0
            size = -1
        size += self.pos
        self.pos = at
        return size == self.end

    def others(self, cap: cython.Py_ssize_t) -> tuple[list[tuple[int, int, int, int]], int]:
        """List the other frames: index, begin, begin and end of the body; and the index after all."""
        found: list[tuple[int, int, int, int]] = []
        while self.enter(cap):
            if not self.only_item():
                found.append((self.frame, self.begin, self.pos, self.end))
            self.pos = self.end
            self.frame += 1
        return found, self.frame
