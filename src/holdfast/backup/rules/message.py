"""Messages (`ChatItem`) of any kind: author, chat, direction, delivery, expiry, revisions, pins."""

from typing import Final

import cython

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import MESSAGE_BY_NAME, field, of_kind, one_of_fields, refers
from holdfast.backup.rules.repairs import DROP_ELEMENT, DROP_RECORD, EMPTY, MOVE_UP, clear, discard, put
from holdfast.backup.rules.rule import CURRENT, PURPOSE_NUMBERS, Breach, Purpose, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.schema import backup_pb2

if not cython.compiled:
    from holdfast.backup.rules.notes import NOTE_CHAT, NOTE_VOICE
    from holdfast.backup.wire.layout import NOTES, WIDTH

__all__ = ["RULES"]

# A remote backup leaves out messages that disappear within this many milliseconds: a day.
SHORTEST_LIFE: Final = 24 * 60 * 60 * 1000

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "chat-item.direction.set",
        "The message is neither incoming, outgoing nor without direction.",
        "Write which it is.",
        "spec 2, spec 7, contract 5.8",
        Breach.SKIPPED,
        one_of_fields("ChatItem.directionalDetails"),
        importer="An importer skips the message.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.item.set",
        "The message has no content, or content of an unknown type.",
        "Write what was said, or leave the message out.",
        "spec 2, spec 7, contract 5.8",
        Breach.SKIPPED,
        one_of_fields("ChatItem.item"),
        importer="An importer skips the message.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.author.known",
        "The author of the message is not defined earlier.",
        "Write the author before the message.",
        "spec 1 rule 2, contract 5.8",
        Breach.REFERENCE,
        refers("ChatItem.authorId"),
        repairs=(MOVE_UP, DROP_RECORD),
    ),
    rule(
        "chat-item.author.kind",
        "The author of the message is neither a person nor the release notes.",
        "Name who wrote it.",
        "contract 5.8",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS | kinds.one_of(kinds.SELF, kinds.RELEASE_NOTES), "ChatItem.authorId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.incoming.author",
        "The message is incoming, but the user wrote it.",
        "Write that it is outgoing.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.incoming", "ChatItem.authorId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.incoming.reachable",
        "The message came from somebody with neither an account id nor a phone number.",
        "Write one of them into the contact.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.incoming", "ChatItem.authorId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.outgoing.author",
        "The message is outgoing, but somebody else wrote it.",
        "Write that it is incoming.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.outgoing", "ChatItem.authorId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.direction.update",
        "An update has a direction, or something else has none.",
        "Write updates without direction, and everything else with one.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.directionalDetails", "ChatItem.item"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "send-status.recipient.known",
        "The recipient of the message is not defined earlier.",
        "Write the recipient before the message.",
        "spec 1 rule 2, contract 5.8",
        Breach.REFERENCE,
        refers("SendStatus.recipientId"),
        repairs=(MOVE_UP, DROP_ELEMENT),
    ),
    rule(
        "send-status.recipient.kind",
        "The recipient of the message is not a person.",
        "Name the people it was sent to.",
        "contract 5.8",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS | kinds.one_of(kinds.SELF), "SendStatus.recipientId"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "send-status.status.set",
        "The message has no send status.",
        "Write that it is pending.",
        "spec 2, spec 7, contract 5.8",
        Breach.DEFAULTED,
        one_of_fields("SendStatus.deliveryStatus"),
        importer="An importer treats it as pending.",
        repairs=(put("The message waits to be sent.", pending=EMPTY),),
    ),
    rule(
        "chat-item.chat.known",
        "The chat of the message is not defined earlier.",
        "Write the chat before its messages.",
        "spec 1 rule 2, contract 5.8",
        Breach.REFERENCE,
        fields=("ChatItem.chatId",),
        repairs=(MOVE_UP, DROP_RECORD),
    ),
    rule(
        "chat-item.author.chat",
        "The author cannot have written in this chat.",
        "Put the message into the chat with its author, or into a group.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.authorId", "ChatItem.chatId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.author.release-notes",
        "Release notes are in another chat.",
        "Put them into their own chat.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.authorId", "ChatItem.chatId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.chat.direct",
        "A reply to a story, or a payment, is in a chat that is not with one person who has an account id.",
        "Put it into the chat with that person.",
        "contract 5.9",
        Breach.CARE,
        fields=("ChatItem.chatId", "ChatItem.directStoryReplyMessage", "ChatItem.paymentNotification"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.expire-start.duration",
        "A countdown has begun, but it does not say for how long.",
        "Write how long, or leave the beginning out.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.expireStartDate", "ChatItem.expiresInMs"),
        repairs=(clear("The start of a countdown that there is not is left out."),),
    ),
    rule(
        "chat-item.expiry.started",
        "The countdown must have begun, since the message was read or sent, but it does not say when.",
        "Write when it began.",
        "contract 5.8",
        Breach.CARE,
        fields=(
            "ChatItem.expiresInMs",
            "ChatItem.expireStartDate",
            "ChatItem.IncomingMessageDetails.read",
            "SendStatus.deliveryStatus",
        ),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.expiry.soon",
        "The message disappears too soon to be part of this backup.",
        "Leave out messages that disappear within a day, in a transfer those that are gone already.",
        "contract 5.8, contract 7.2",
        Breach.CARE,
        fields=("ChatItem.expiresInMs", "ChatItem.expireStartDate", "BackupInfo.backupTimeMs"),
        importer="An importer drops the message, or shows it until it disappears.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.expiry.takeout",
        "A disappearing message is in a plaintext export.",
        "Leave it out.",
        "contract 5.8, contract 7.2",
        Breach.CARE,
        fields=("ChatItem.expiresInMs",),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat-item.revisions.kind",
        "A message that cannot be edited has earlier revisions.",
        "Leave the revisions out.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.revisions", "ChatItem.item"),
        repairs=(discard("The earlier revisions are left out."),),
    ),
    rule(
        "revision.author",
        "An earlier revision was written by somebody else.",
        "Name the same author as that of the message.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.revisions", "ChatItem.authorId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "revision.direction",
        "An earlier revision has another direction.",
        "Write the same direction as that of the message.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.revisions", "ChatItem.directionalDetails"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "revision.kind",
        "An earlier revision is a message of another kind.",
        "Write only revisions of the same kind.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.revisions", "ChatItem.item"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "revision.nested",
        "An earlier revision has revisions of its own.",
        "Put all revisions side by side, the oldest first.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.revisions",),
        repairs=(discard("The revisions of a revision are left out."),),
    ),
    rule(
        "revision.order",
        "An earlier revision was sent before the previous one.",
        "Write the revisions in the order they were sent, the oldest first.",
        "spec 2",
        Breach.TIME,
        fields=("ChatItem.revisions", "ChatItem.dateSent"),
        importer="An importer shows the revisions in the given order.",
    ),
    rule(
        "pin.expiry.set",
        "The message is pinned, but it does not say until when.",
        "Write when it ends, or that it never does.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.PinDetails.pinExpiresAtTimestamp", "ChatItem.PinDetails.pinNeverExpires"),
        editions=CURRENT,
        repairs=(discard("The message is no longer pinned.", up="pinDetails"),),
    ),
    rule(
        "pin.expiry.later",
        "The message is pinned until before it was pinned.",
        "Write a later end.",
        "contract 5.8",
        Breach.CARE,
        fields=("ChatItem.PinDetails.pinExpiresAtTimestamp", "ChatItem.PinDetails.pinnedAtTimestamp"),
        editions=CURRENT,
        repairs=(discard("The message is no longer pinned.", up="pinDetails"),),
    ),
    rule(
        "admin-deleted.admin.known",
        "The admin who deleted the message is not defined earlier.",
        "Write the admin before the message.",
        "contract 5.9",
        Breach.REFERENCE,
        refers("AdminDeletedMessage.adminId"),
        editions=CURRENT,
        repairs=(MOVE_UP, DROP_RECORD),
    ),
    rule(
        "admin-deleted.admin.kind",
        "The admin who deleted the message is not a person.",
        "Name the user or a contact.",
        "contract 5.9",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS | kinds.one_of(kinds.SELF), "AdminDeletedMessage.adminId"),
        editions=CURRENT,
        repairs=(DROP_RECORD,),
    ),
    rule(
        "admin-deleted.chat",
        "An admin deleted a message in a chat that is no group.",
        "Put it into the group it was written in.",
        "contract 5.9",
        Breach.CARE,
        fields=("ChatItem.adminDeletedMessage", "ChatItem.chatId"),
        editions=CURRENT,
        repairs=(DROP_RECORD,),
    ),
)

if not cython.compiled:
    CHAT_ITEM = MESSAGE_BY_NAME["ChatItem"]
    CHAT_ID = field("ChatItem.chatId")
    AUTHOR = field("ChatItem.authorId")
    EXPIRE_START = field("ChatItem.expireStartDate")
    EXPIRES_IN = field("ChatItem.expiresInMs")
    REVISIONS = field("ChatItem.revisions")
    INCOMING = field("ChatItem.incoming")
    OUTGOING = field("ChatItem.outgoing")
    DIRECTIONLESS = field("ChatItem.directionless")
    STANDARD = field("ChatItem.standardMessage")
    UPDATE = field("ChatItem.updateMessage")
    PAYMENT = field("ChatItem.paymentNotification")
    STORY_REPLY = field("ChatItem.directStoryReplyMessage")
    ADMIN_DELETED = field("ChatItem.adminDeletedMessage")
    # A pseudo field number: voice messages count as a kind of message.
    VOICE_MESSAGE = 63

    BODIES = sum(1 << member.number for member in backup_pb2.ChatItem.DESCRIPTOR.oneofs_by_name["item"].fields)
    EXPIRY = 1 << field("ChatItem.expireStartDate") | 1 << field("ChatItem.expiresInMs")

    SELF = kinds.SELF
    RELEASE_NOTES = kinds.RELEASE_NOTES
    GROUP = kinds.GROUP
    CONTACT = kinds.CONTACT
    ONLY_PNI = kinds.CONTACT + kinds.PNI
    HAS_ACI = kinds.CONTACT + kinds.ACI

    INCOMING_AUTHOR = number_of_rule("chat-item.incoming.author")
    INCOMING_REACHABLE = number_of_rule("chat-item.incoming.reachable")
    OUTGOING_AUTHOR = number_of_rule("chat-item.outgoing.author")
    DIRECTION_UPDATE = number_of_rule("chat-item.direction.update")
    CHAT_KNOWN = number_of_rule("chat-item.chat.known")
    AUTHOR_CHAT = number_of_rule("chat-item.author.chat")
    AUTHOR_RELEASE_NOTES = number_of_rule("chat-item.author.release-notes")
    DIRECT_CHAT = number_of_rule("chat-item.chat.direct")
    ADMIN_DELETED_CHAT = number_of_rule("admin-deleted.chat")
    EXPIRE_START_DURATION = number_of_rule("chat-item.expire-start.duration")
    EXPIRY_STARTED = number_of_rule("chat-item.expiry.started")
    EXPIRY_SOON = number_of_rule("chat-item.expiry.soon")
    EXPIRY_TAKEOUT = number_of_rule("chat-item.expiry.takeout")
    REVISIONS_KIND = number_of_rule("chat-item.revisions.kind")
    REVISION_AUTHOR = number_of_rule("revision.author")
    REVISION_DIRECTION = number_of_rule("revision.direction")
    REVISION_KIND = number_of_rule("revision.kind")
    REVISION_NESTED = number_of_rule("revision.nested")
    REVISION_ORDER = number_of_rule("revision.order")

    DATE_SENT = field("ChatItem.dateSent")
    READ = field("ChatItem.IncomingMessageDetails.read")
    SENT = sum(1 << field(f"SendStatus.{name}") for name in ("sent", "delivered", "read", "viewed", "skipped"))

    PINNED_AT = field("ChatItem.PinDetails.pinnedAtTimestamp")
    PIN_EXPIRES = field("ChatItem.PinDetails.pinExpiresAtTimestamp")
    PIN_NEVER = field("ChatItem.PinDetails.pinNeverExpires")
    PIN_EXPIRY_SET = number_of_rule("pin.expiry.set")
    PIN_EXPIRY_LATER = number_of_rule("pin.expiry.later")
    REMOTE = PURPOSE_NUMBERS[Purpose.REMOTE]
    TAKEOUT = PURPOSE_NUMBERS[Purpose.TAKEOUT]
    DAY = SHORTEST_LIFE

    # A note of the details of an outgoing message: whether sending to a recipient is pending.
    NOTE_WAITING = 0
    # Notes of a message that only this family uses: when the latest of its revisions so far was sent; its
    # direction and kind; and whether its expiration timer must have started.
    NOTE_REVISED = 1
    NOTE_DIRECTION = 2
    NOTE_KIND = 3
    NOTE_STARTED = 4


def check_send_status(context: RuleContext, depth: cython.int) -> cython.void:
    """Store in a note of the message whether sending to a recipient is pending."""
    if not context.seen[depth] & SENT:
        context.notes[(depth - 1) * NOTES + NOTE_WAITING] = 1


def check_outgoing(context: RuleContext, depth: cython.int) -> cython.void:
    """Store in a note of the message whether it was sent to all recipients."""
    if context.notes[depth * NOTES + NOTE_WAITING] == 0:
        context.notes[(depth - 1) * NOTES + NOTE_STARTED] = 1


def check_incoming(context: RuleContext, depth: cython.int) -> cython.void:
    """Store in a note of the message whether it was read."""
    if (context.filled[depth] >> READ) & 1:
        context.notes[(depth - 1) * NOTES + NOTE_STARTED] = 1


def kind_of_author(context: RuleContext, depth: cython.int) -> cython.uint:
    """Return the recipient kind of the author of a chat item, 0 if the author is unknown."""
    if (context.filled[depth] >> AUTHOR) & 1:
        return cython.cast(cython.uint, context.sizes[depth * WIDTH + AUTHOR])
    return 0


def can_write(kind: cython.uint) -> cython.bint:
    """Return whether a recipient of a kind can be an author; other checks report one that cannot."""
    return kind >= CONTACT or kind in (SELF, RELEASE_NOTES)


def check_item(context: RuleContext, depth: cython.int) -> cython.void:
    """Check a message, except its revisions and its content."""
    direction: cython.uint = 0
    kind: cython.ulonglong = 0
    number: cython.uint
    author: cython.uint = kind_of_author(context, depth)
    notes: cython.Py_ssize_t = depth * NOTES
    seen: cython.ulonglong = context.seen[depth]
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
            context.report_field(INCOMING_AUTHOR, depth, AUTHOR)
        elif author == ONLY_PNI:
            context.report_field(INCOMING_REACHABLE, depth, AUTHOR)
    elif direction == OUTGOING and (author >= CONTACT or author == RELEASE_NOTES):
        context.report_field(OUTGOING_AUTHOR, depth, AUTHOR)
    if direction and kind and (direction == DIRECTIONLESS) != (kind == UPDATE):
        context.report_field(DIRECTION_UPDATE, depth, direction)
    if kind == STANDARD and context.notes[notes + NOTE_VOICE]:
        kind = VOICE_MESSAGE
    if (seen >> REVISIONS) & 1 and kind and kind not in (STANDARD, STORY_REPLY):
        context.report_field(REVISIONS_KIND, depth, REVISIONS)
    context.notes[notes + NOTE_DIRECTION] = direction
    context.notes[notes + NOTE_KIND] = kind
    if seen & EXPIRY:
        check_expiry(context, depth, direction)
    if depth > 1 and context.messages[depth - 1] == CHAT_ITEM:
        check_revision(context, depth, direction, kind)
    else:
        check_place(context, depth, author, kind)


def check_expiry(context: RuleContext, depth: cython.int, direction: cython.uint) -> cython.void:
    """Check the expiration timer of a message: a remote backup excludes messages that expire soon."""
    duration: cython.ulonglong = context.value(depth, EXPIRES_IN)
    begun: cython.ulonglong = context.value(depth, EXPIRE_START)
    least: cython.ulonglong = context.made_at
    if not context.has(depth, EXPIRES_IN):
        if context.has(depth, EXPIRE_START):
            context.report_field(EXPIRE_START_DURATION, depth, EXPIRE_START)
        return
    if not context.has(depth, EXPIRE_START) and context.note(depth, NOTE_STARTED) and direction != DIRECTIONLESS:
        context.report_field(EXPIRY_STARTED, depth, EXPIRES_IN)
    elif context.purpose == TAKEOUT:
        context.report_field(EXPIRY_TAKEOUT, depth, EXPIRES_IN)
    elif not context.has(depth, EXPIRE_START):
        if context.purpose == REMOTE and duration < DAY:
            context.report_field(EXPIRY_SOON, depth, EXPIRES_IN)
    else:
        if context.purpose == REMOTE:
            least += DAY
        # Compared by subtraction: a sum could overflow.
        if begun < least and duration < least - begun:
            context.report_field(EXPIRY_SOON, depth, EXPIRES_IN)


def check_revision(
    context: RuleContext, depth: cython.int, direction: cython.uint, kind: cython.ulonglong
) -> cython.void:
    """Check an earlier revision against the message that replaced it, which has been read already."""
    later: cython.int = depth - 1
    later_direction: cython.ulonglong = context.note(later, NOTE_DIRECTION)
    later_kind: cython.ulonglong = context.note(later, NOTE_KIND)
    sent: cython.ulonglong = context.value(depth, DATE_SENT)
    if context.value(depth, AUTHOR) != context.value(later, AUTHOR):
        context.report_field(REVISION_AUTHOR, depth, AUTHOR)
    if direction and later_direction and direction != later_direction:
        context.report_field(REVISION_DIRECTION, depth, direction)
    if kind and later_kind and kind != later_kind:
        context.report_field(REVISION_KIND, depth, 0)
    if context.value(depth, REVISIONS):
        context.report_field(REVISION_NESTED, depth, REVISIONS)
    if sent < context.note(later, NOTE_REVISED):
        context.report_field(REVISION_ORDER, depth, DATE_SENT)
    else:
        context.set_note(later, NOTE_REVISED, sent)


def check_place(
    context: RuleContext, depth: cython.int, author: cython.uint, kind: cython.ulonglong
) -> cython.void:
    """Check that a message of its kind is allowed in its chat."""
    row: cython.Py_ssize_t = depth * WIDTH
    key: cython.ulonglong = context.values[row + CHAT_ID] if (context.seen[depth] >> CHAT_ID) & 1 else 0
    at: cython.Py_ssize_t = context.chats.find(key, context.frame)
    chat: cython.uint
    if at < 0:
        context.report_field(CHAT_KNOWN, depth, CHAT_ID)
        return
    chat = cython.cast(cython.uint, context.chats.marks[at] & 0xFF)
    context.notes[depth * NOTES + NOTE_CHAT] = chat
    if chat == 0:
        return
    if author >= CONTACT:
        if chat in (SELF, RELEASE_NOTES) or (
            chat >= CONTACT and context.chats.others[at] != context.values[row + AUTHOR]
        ):
            context.report_field(AUTHOR_CHAT, depth, CHAT_ID)
    elif author == RELEASE_NOTES and chat != RELEASE_NOTES:
        context.report_field(AUTHOR_RELEASE_NOTES, depth, CHAT_ID)
    if kind in (STORY_REPLY, PAYMENT):
        if chat < HAS_ACI:
            context.report_field(DIRECT_CHAT, depth, cython.cast(cython.uint, kind))
    elif kind == ADMIN_DELETED and chat != GROUP:
        context.report_field(ADMIN_DELETED_CHAT, depth, ADMIN_DELETED)


def check_pin(context: RuleContext, depth: cython.int) -> cython.void:
    """Check until when a message is pinned."""
    if not context.has(depth, PIN_EXPIRES) and context.value(depth, PIN_NEVER) == 0:
        context.report_field(PIN_EXPIRY_SET, depth, 0)
    elif context.has(depth, PIN_EXPIRES) and context.value(depth, PIN_EXPIRES) < context.value(depth, PINNED_AT):
        context.report_field(PIN_EXPIRY_LATER, depth, PIN_EXPIRES)


if not cython.compiled:
    CHECKS = {
        "SendStatus": check_send_status,
        "ChatItem.OutgoingMessageDetails": check_outgoing,
        "ChatItem.IncomingMessageDetails": check_incoming,
        "ChatItem": check_item,
        "ChatItem.PinDetails": check_pin,
    }
