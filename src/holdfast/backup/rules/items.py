"""Rules about a message as a whole: who says it, where, in which direction, until when, and its revisions."""

from array import array

import cython

from holdfast.backup.rules import bodies
from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.bodies import Bodies
from holdfast.backup.rules.checks import MESSAGE_BY_NAME, field
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.schema import backup_pb2

if not cython.compiled:
    from holdfast.backup.wire.layout import NOTES, WIDTH

__all__ = ["REVISIONS", "Items"]

CHAT_ITEM = cython.declare(cython.uint, MESSAGE_BY_NAME["ChatItem"])
CHAT_ID = cython.declare(cython.uint, field("ChatItem.chatId"))
AUTHOR = cython.declare(cython.uint, field("ChatItem.authorId"))
EXPIRE_START = cython.declare(cython.uint, field("ChatItem.expireStartDate"))
EXPIRES_IN = cython.declare(cython.uint, field("ChatItem.expiresInMs"))
REVISIONS = field("ChatItem.revisions")
_REVISIONS = cython.declare(cython.uint, REVISIONS)
INCOMING = cython.declare(cython.uint, field("ChatItem.incoming"))
OUTGOING = cython.declare(cython.uint, field("ChatItem.outgoing"))
DIRECTIONLESS = cython.declare(cython.uint, field("ChatItem.directionless"))
STANDARD = cython.declare(cython.uint, field("ChatItem.standardMessage"))
UPDATE = cython.declare(cython.uint, field("ChatItem.updateMessage"))
PAYMENT = cython.declare(cython.uint, field("ChatItem.paymentNotification"))
VIEW_ONCE = cython.declare(cython.uint, field("ChatItem.viewOnceMessage"))
STORY_REPLY = cython.declare(cython.uint, field("ChatItem.directStoryReplyMessage"))
POLL = cython.declare(cython.uint, field("ChatItem.poll"))
ADMIN_DELETED = cython.declare(cython.uint, field("ChatItem.adminDeletedMessage"))
# Counted as a kind of message of its own.
VOICE_MESSAGE = cython.declare(cython.ulonglong, 63)

BODIES = cython.declare(
    cython.ulonglong,
    sum(1 << member.number for member in backup_pb2.ChatItem.DESCRIPTOR.oneofs_by_name["item"].fields),
)
EXPIRY = cython.declare(
    cython.ulonglong, 1 << field("ChatItem.expireStartDate") | 1 << field("ChatItem.expiresInMs")
)

SELF = cython.declare(cython.uint, kinds.SELF)
RELEASE_NOTES = cython.declare(cython.uint, kinds.RELEASE_NOTES)
GROUP = cython.declare(cython.uint, kinds.GROUP)
CONTACT = cython.declare(cython.uint, kinds.CONTACT)
ONLY_PNI = cython.declare(cython.uint, kinds.CONTACT + kinds.PNI)
HAS_ACI = cython.declare(cython.uint, kinds.CONTACT + kinds.ACI)

INCOMING_SELF = cython.declare(cython.uint, number_of_rule("chat-item.incoming.author"))
INCOMING_PNI = cython.declare(cython.uint, number_of_rule("chat-item.incoming.reachable"))
OUTGOING_OTHER = cython.declare(cython.uint, number_of_rule("chat-item.outgoing.author"))
DIRECTION_KIND = cython.declare(cython.uint, number_of_rule("chat-item.direction.update"))
CHAT_KNOWN = cython.declare(cython.uint, number_of_rule("chat-item.chat.known"))
AUTHOR_CHAT = cython.declare(cython.uint, number_of_rule("chat-item.author.chat"))
RELEASE_CHAT = cython.declare(cython.uint, number_of_rule("chat-item.author.release-notes"))
DIRECT_CHAT = cython.declare(cython.uint, number_of_rule("chat-item.chat.direct"))
POLL_CHAT = cython.declare(cython.uint, number_of_rule("poll.chat"))
ADMIN_DELETED_CHAT = cython.declare(cython.uint, number_of_rule("admin-deleted.chat"))
EXPIRE_START_ALONE = cython.declare(cython.uint, number_of_rule("chat-item.expire-start.duration"))
EXPIRY_STARTED = cython.declare(cython.uint, number_of_rule("chat-item.expiry.started"))
EXPIRY_SOON = cython.declare(cython.uint, number_of_rule("chat-item.expiry.soon"))
EXPIRY_TAKEOUT = cython.declare(cython.uint, number_of_rule("chat-item.expiry.takeout"))
VIEW_ONCE_TAKEOUT = cython.declare(cython.uint, number_of_rule("view-once.takeout"))
REVISIONS_KIND = cython.declare(cython.uint, number_of_rule("chat-item.revisions.kind"))
REVISION_AUTHOR = cython.declare(cython.uint, number_of_rule("revision.author"))
REVISION_DIRECTION = cython.declare(cython.uint, number_of_rule("revision.direction"))
REVISION_KIND = cython.declare(cython.uint, number_of_rule("revision.kind"))
REVISION_NESTED = cython.declare(cython.uint, number_of_rule("revision.nested"))
REVISION_ORDER = cython.declare(cython.uint, number_of_rule("revision.order"))
UPDATE_AUTHOR = cython.declare(cython.uint, number_of_rule("update.author"))
UPDATE_CHAT = cython.declare(cython.uint, number_of_rule("update.chat"))
INVITER_OPEN = cython.declare(cython.uint, number_of_rule("group-update.inviter.invitation"))

DATE_SENT = cython.declare(cython.uint, field("ChatItem.dateSent"))
READ = cython.declare(cython.uint, field("ChatItem.IncomingMessageDetails.read"))
SENT = cython.declare(
    cython.ulonglong,
    sum(1 << field(f"SendStatus.{name}") for name in ("sent", "delivered", "read", "viewed", "skipped")),
)
VIEW_ONCE_ATTACHMENT = cython.declare(cython.uint, field("ViewOnceMessage.attachment"))
SIMPLE = cython.declare(cython.uint, field("ChatUpdateMessage.simpleUpdate"))
SIMPLE_TYPE = cython.declare(cython.uint, field("SimpleChatUpdate.type"))
HAD_INVITATION = cython.declare(cython.uint, field("GroupMemberAddedUpdate.hadOpenInvitation"))
INVITER = cython.declare(cython.uint, field("GroupMemberAddedUpdate.inviterAci"))

TRANSFER = cython.declare(cython.int, 0)
REMOTE = cython.declare(cython.int, 1)
TAKEOUT = cython.declare(cython.int, 2)
DAY = cython.declare(cython.ulonglong, 24 * 60 * 60 * 1000)

# Notes of an update: the type of a simple one. Of an outgoing message: whether it waits for somebody.
NOTE_SIMPLE = cython.declare(cython.int, 0)
NOTE_WAITING = cython.declare(cython.int, 0)
# Notes of a message: its direction and kind once it is read; whether its countdown must have begun; who may have
# made an update and where, as sets; whether it was spoken, or is to be viewed once and is still there; and when
# the latest of its earlier revisions so far was sent.
NOTE_REVISED = cython.declare(cython.int, 1)
NOTE_DIRECTION = cython.declare(cython.int, 2)
NOTE_KIND = cython.declare(cython.int, 3)
NOTE_STARTED = cython.declare(cython.int, 4)
NOTE_AUTHORS = cython.declare(cython.int, 5)
NOTE_CHATS = cython.declare(cython.int, 6)
NOTE_MARK = cython.declare(cython.int, bodies.NOTE_MARK)

BY_ANY_CONTACT = kinds.CONTACTS | kinds.one_of(kinds.SELF)
BY_REACHABLE = kinds.CONTACTS_WITH_ACI_OR_NUMBER | kinds.one_of(kinds.SELF)
BY_ACI = kinds.CONTACTS_WITH_ACI | kinds.one_of(kinds.SELF)
BY_SELF = kinds.one_of(kinds.SELF)
BY_RELEASE = kinds.one_of(kinds.RELEASE_NOTES)
NOT_RELEASE = kinds.ANYBODY & ~(1 << kinds.RELEASE_NOTES)
IN_DIRECT = kinds.CONTACTS | kinds.one_of(kinds.SELF)
IN_ANY_TALK = IN_DIRECT | kinds.one_of(kinds.GROUP)
IN_GROUP = kinds.one_of(kinds.GROUP)

# Who may make an update, and in which chat it may stand: by the type of a simple update, and by 32 and the number
# of any other.
OTHERS = 32
UPDATES = {
    **dict.fromkeys((1, 7, 8), (BY_ANY_CONTACT, IN_DIRECT)),
    2: (BY_ANY_CONTACT, IN_ANY_TALK),
    **dict.fromkeys((3, 4, 5, 9, 12), (BY_REACHABLE, IN_ANY_TALK)),
    **dict.fromkeys((10, 11), (BY_ACI, IN_DIRECT)),
    **dict.fromkeys((13, 16), (BY_SELF, IN_ANY_TALK)),
    **dict.fromkeys((14, 15), (BY_SELF, kinds.ANYBODY)),
    6: (BY_RELEASE, BY_RELEASE),
    OTHERS + field("ChatUpdateMessage.groupChange"): (BY_REACHABLE, IN_GROUP),
    OTHERS + field("ChatUpdateMessage.expirationTimerChange"): (BY_REACHABLE, IN_DIRECT),
    OTHERS + field("ChatUpdateMessage.profileChange"): (BY_REACHABLE, IN_ANY_TALK),
    OTHERS + field("ChatUpdateMessage.learnedProfileChange"): (BY_REACHABLE, IN_ANY_TALK),
    OTHERS + field("ChatUpdateMessage.threadMerge"): (BY_ACI, kinds.CONTACTS_WITH_ACI),
    OTHERS + field("ChatUpdateMessage.sessionSwitchover"): (NOT_RELEASE, kinds.CONTACTS_WITH_ACI),
    OTHERS + field("ChatUpdateMessage.individualCall"): (BY_REACHABLE, IN_DIRECT),
    OTHERS + field("ChatUpdateMessage.groupCall"): (BY_REACHABLE, IN_GROUP),
    OTHERS + field("ChatUpdateMessage.pollTerminate"): (BY_REACHABLE, NOT_RELEASE),
    OTHERS + field("ChatUpdateMessage.pinMessage"): (BY_REACHABLE, NOT_RELEASE),
}
AUTHORS = cython.declare(
    cython.const[cython.uint][::1],
    array("I", [UPDATES.get(index, (kinds.ANYBODY, 0))[0] for index in range(2 * OTHERS)]),
)
CHATS = cython.declare(
    cython.const[cython.uint][::1],
    array("I", [UPDATES.get(index, (0, kinds.ANYBODY))[1] for index in range(2 * OTHERS)]),
)
_OTHERS = cython.declare(cython.uint, OTHERS)


class Items(Bodies):
    """A ground on which messages are checked as a whole."""

    def send_status(self, depth: cython.int) -> cython.void:
        """Tell the message whether it still waits to be sent to somebody."""
        if not self.seen[depth] & SENT:
            self.notes[(depth - 1) * NOTES + NOTE_WAITING] = 1

    def outgoing(self, depth: cython.int) -> cython.void:
        """Tell the message whether it was sent to everybody."""
        if self.notes[depth * NOTES + NOTE_WAITING] == 0:
            self.notes[(depth - 1) * NOTES + NOTE_STARTED] = 1

    def incoming(self, depth: cython.int) -> cython.void:
        """Tell the message whether it was read."""
        if (self.filled[depth] >> READ) & 1:
            self.notes[(depth - 1) * NOTES + NOTE_STARTED] = 1

    def view_once(self, depth: cython.int) -> cython.void:
        """Tell the message whether what is to be viewed once is still there."""
        if self.has(depth, VIEW_ONCE_ATTACHMENT):
            self.set_note(depth - 1, NOTE_MARK, 1)

    def simple_update(self, depth: cython.int) -> cython.void:
        """Tell the update of which type it is."""
        self.set_note(depth - 1, NOTE_SIMPLE, self.value(depth, SIMPLE_TYPE))

    def update(self, depth: cython.int) -> cython.void:
        """Tell the message who may have made this update, and where."""
        index: cython.uint = 0
        number: cython.uint
        if self.has(depth, SIMPLE):
            index = cython.cast(cython.uint, self.note(depth, NOTE_SIMPLE))
        else:
            for number in range(2, 12):
                if self.has(depth, number):
                    index = _OTHERS + number
        if index == 0 or index >= 2 * _OTHERS:
            return
        self.set_note(depth - 1, NOTE_AUTHORS, AUTHORS[index])
        self.set_note(depth - 1, NOTE_CHATS, CHATS[index])

    def member_added(self, depth: cython.int) -> cython.void:
        """Check that somebody invited a member only if there was an invitation."""
        if self.has(depth, INVITER) and not self.holds(depth, HAD_INVITATION):
            self.report_field(INVITER_OPEN, depth, INVITER)

    def item(self, depth: cython.int) -> cython.void:
        """Check a message, all of it but its revisions."""
        direction: cython.uint = 0
        kind: cython.ulonglong = 0
        number: cython.uint
        author: cython.uint = 0
        notes: cython.Py_ssize_t = depth * NOTES
        authors: cython.ulonglong = self.notes[notes + NOTE_AUTHORS]
        writes: cython.bint
        seen: cython.ulonglong = self.seen[depth]
        if (self.filled[depth] >> AUTHOR) & 1:
            author = cython.cast(cython.uint, self.sizes[depth * WIDTH + AUTHOR])
        # An author who can write nothing at all has been reported as such.
        writes = author >= CONTACT or author in (SELF, RELEASE_NOTES)
        if (seen >> STANDARD) & 1:
            kind = STANDARD
        elif seen & BODIES:
            for number in range(STANDARD, ADMIN_DELETED + 1):
                if ((seen & BODIES) >> number) & 1:
                    kind = number
        if (seen >> INCOMING) & 1:
            direction = INCOMING
        elif (seen >> OUTGOING) & 1:
            direction = OUTGOING
        elif (seen >> DIRECTIONLESS) & 1:
            direction = DIRECTIONLESS
        if direction == INCOMING:
            if author == SELF:
                self.report_field(INCOMING_SELF, depth, AUTHOR)
            elif author == ONLY_PNI:
                self.report_field(INCOMING_PNI, depth, AUTHOR)
        elif direction == OUTGOING and (author >= CONTACT or author == RELEASE_NOTES):
            self.report_field(OUTGOING_OTHER, depth, AUTHOR)
        if direction and kind and (direction == DIRECTIONLESS) != (kind == UPDATE):
            self.report_field(DIRECTION_KIND, depth, direction)
        if kind == UPDATE and authors and writes and not (authors >> author) & 1:
            self.report_field(UPDATE_AUTHOR, depth, AUTHOR)
        if kind == VIEW_ONCE and self.purpose == TAKEOUT and self.notes[notes + NOTE_MARK]:
            self.report_field(VIEW_ONCE_TAKEOUT, depth, VIEW_ONCE)
        if kind == STANDARD and self.notes[notes + NOTE_MARK]:
            kind = VOICE_MESSAGE
        if (seen >> _REVISIONS) & 1 and kind and kind not in (STANDARD, STORY_REPLY):
            self.report_field(REVISIONS_KIND, depth, _REVISIONS)
        self.notes[notes + NOTE_DIRECTION] = direction
        self.notes[notes + NOTE_KIND] = kind
        if seen & EXPIRY:
            self.expiry(depth, direction)
        if depth > 1 and self.messages[depth - 1] == CHAT_ITEM:
            self.revision(depth, direction, kind)
        else:
            self.place_of(depth, author, kind)

    def expiry(self, depth: cython.int, direction: cython.uint) -> cython.void:
        """Check when a message disappears: never too soon for what the backup is for."""
        duration: cython.ulonglong = self.value(depth, EXPIRES_IN)
        begun: cython.ulonglong = self.value(depth, EXPIRE_START)
        least: cython.ulonglong = self.made_at
        if not self.has(depth, EXPIRES_IN):
            if self.has(depth, EXPIRE_START):
                self.report_field(EXPIRE_START_ALONE, depth, EXPIRE_START)
            return
        if not self.has(depth, EXPIRE_START) and self.note(depth, NOTE_STARTED) and direction != DIRECTIONLESS:
            self.report_field(EXPIRY_STARTED, depth, EXPIRES_IN)
        elif self.purpose == TAKEOUT:
            self.report_field(EXPIRY_TAKEOUT, depth, EXPIRES_IN)
        elif not self.has(depth, EXPIRE_START):
            if self.purpose == REMOTE and duration < DAY:
                self.report_field(EXPIRY_SOON, depth, EXPIRES_IN)
        else:
            if self.purpose == REMOTE:
                least += DAY
            # Neither sum may run over: what is left of the limit is compared instead.
            if begun < least and duration < least - begun:
                self.report_field(EXPIRY_SOON, depth, EXPIRES_IN)

    def revision(self, depth: cython.int, direction: cython.uint, kind: cython.ulonglong) -> cython.void:
        """Check an earlier revision against the message that replaced it, which was read before."""
        later: cython.int = depth - 1
        later_direction: cython.ulonglong = self.note(later, NOTE_DIRECTION)
        later_kind: cython.ulonglong = self.note(later, NOTE_KIND)
        sent: cython.ulonglong = self.value(depth, DATE_SENT)
        if self.value(depth, AUTHOR) != self.value(later, AUTHOR):
            self.report_field(REVISION_AUTHOR, depth, AUTHOR)
        if direction and later_direction and direction != later_direction:
            self.report_field(REVISION_DIRECTION, depth, direction)
        if kind and later_kind and kind != later_kind:
            self.report_field(REVISION_KIND, depth, 0)
        if self.value(depth, _REVISIONS):
            self.report_field(REVISION_NESTED, depth, _REVISIONS)
        if sent < self.note(later, NOTE_REVISED):
            self.report_field(REVISION_ORDER, depth, DATE_SENT)
        else:
            self.set_note(later, NOTE_REVISED, sent)

    def place_of(self, depth: cython.int, author: cython.uint, kind: cython.ulonglong) -> cython.void:
        """Check that a message stands in a chat where it can."""
        row: cython.Py_ssize_t = depth * WIDTH
        key: cython.ulonglong = self.values[row + CHAT_ID] if (self.seen[depth] >> CHAT_ID) & 1 else 0
        at: cython.Py_ssize_t = self.chats.find(key, self.frame)
        chat: cython.uint
        allowed: cython.ulonglong = self.notes[depth * NOTES + NOTE_CHATS]
        if at < 0:
            self.report_field(CHAT_KNOWN, depth, CHAT_ID)
            return
        chat = cython.cast(cython.uint, self.chats.marks[at] & 0xFF)
        if chat == 0:
            return
        if author >= CONTACT:
            if chat in (SELF, RELEASE_NOTES) or (
                chat >= CONTACT and self.chats.others[at] != self.values[row + AUTHOR]
            ):
                self.report_field(AUTHOR_CHAT, depth, CHAT_ID)
        elif author == RELEASE_NOTES and chat != RELEASE_NOTES:
            self.report_field(RELEASE_CHAT, depth, CHAT_ID)
        if kind in (STORY_REPLY, PAYMENT):
            if chat < HAS_ACI:
                self.report_field(DIRECT_CHAT, depth, cython.cast(cython.uint, kind))
        elif kind == POLL:
            if chat == RELEASE_NOTES:
                self.report_field(POLL_CHAT, depth, POLL)
        elif kind == ADMIN_DELETED:
            if chat != GROUP:
                self.report_field(ADMIN_DELETED_CHAT, depth, ADMIN_DELETED)
        elif kind == UPDATE and allowed and not (allowed >> chat) & 1:
            self.report_field(UPDATE_CHAT, depth, UPDATE)
