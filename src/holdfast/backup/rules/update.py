"""Chat updates (`ChatUpdateMessage`) other than calls and group updates."""

from array import array
from typing import Final

import cython

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import field, known, of_kind, one_of_fields, refers, required
from holdfast.backup.rules.notes import FIRST_CONTENT_NOTE
from holdfast.backup.rules.repairs import DROP_RECORD, EMPTY, MOVE_UP, put
from holdfast.backup.rules.rule import CURRENT, Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.schema import backup_pb2

if not cython.compiled:
    from holdfast.backup.rules.message import can_write, kind_of_author
    from holdfast.backup.rules.notes import NOTE_CHAT

__all__ = ["RULES"]

BY_ANY_CONTACT: Final = kinds.CONTACTS | kinds.one_of(kinds.SELF)
BY_REACHABLE: Final = kinds.CONTACTS_WITH_ACI_OR_NUMBER | kinds.one_of(kinds.SELF)
BY_ACI: Final = kinds.CONTACTS_WITH_ACI | kinds.one_of(kinds.SELF)
BY_SELF: Final = kinds.one_of(kinds.SELF)
BY_RELEASE_NOTES: Final = kinds.one_of(kinds.RELEASE_NOTES)
NOT_RELEASE_NOTES: Final = kinds.ANYBODY & ~(1 << kinds.RELEASE_NOTES)
IN_DIRECT: Final = kinds.CONTACTS | kinds.one_of(kinds.SELF)
IN_CONVERSATION: Final = IN_DIRECT | kinds.one_of(kinds.GROUP)
IN_GROUP: Final = kinds.one_of(kinds.GROUP)
# The allowed authors of a simple update, and the chats in which it is allowed, by its type.
SIMPLE_PLACES: Final = {
    "JOINED_SERVICE": (BY_ANY_CONTACT, IN_DIRECT),
    "IDENTITY_UPDATE": (BY_ANY_CONTACT, IN_CONVERSATION),
    "IDENTITY_VERIFIED": (BY_REACHABLE, IN_CONVERSATION),
    "IDENTITY_DEFAULT": (BY_REACHABLE, IN_CONVERSATION),
    "CHANGE_NUMBER": (BY_REACHABLE, IN_CONVERSATION),
    "RELEASE_CHANNEL_DONATION_REQUEST": (BY_RELEASE_NOTES, BY_RELEASE_NOTES),
    "END_SESSION": (BY_ANY_CONTACT, IN_DIRECT),
    "CHAT_SESSION_REFRESH": (BY_ANY_CONTACT, IN_DIRECT),
    "BAD_DECRYPT": (BY_REACHABLE, IN_CONVERSATION),
    "PAYMENTS_ACTIVATED": (BY_ACI, IN_DIRECT),
    "PAYMENT_ACTIVATION_REQUEST": (BY_ACI, IN_DIRECT),
    "UNSUPPORTED_PROTOCOL_MESSAGE": (BY_REACHABLE, IN_CONVERSATION),
    "REPORTED_SPAM": (BY_SELF, IN_CONVERSATION),
    "BLOCKED": (BY_SELF, kinds.ANYBODY),
    "UNBLOCKED": (BY_SELF, kinds.ANYBODY),
    "MESSAGE_REQUEST_ACCEPTED": (BY_SELF, IN_CONVERSATION),
}
# The same for other updates, by their field.
OTHER_PLACES: Final = {
    "groupChange": (BY_REACHABLE, IN_GROUP),
    "expirationTimerChange": (BY_REACHABLE, IN_DIRECT),
    "profileChange": (BY_REACHABLE, IN_CONVERSATION),
    "learnedProfileChange": (BY_REACHABLE, IN_CONVERSATION),
    "threadMerge": (BY_ACI, kinds.CONTACTS_WITH_ACI),
    "sessionSwitchover": (NOT_RELEASE_NOTES, kinds.CONTACTS_WITH_ACI),
    "individualCall": (BY_REACHABLE, IN_DIRECT),
    "groupCall": (BY_REACHABLE, IN_GROUP),
    "pollTerminate": (BY_REACHABLE, NOT_RELEASE_NOTES),
    "pinMessage": (BY_REACHABLE, NOT_RELEASE_NOTES),
}
# Both by number: the type of a simple update, or the field number of another update plus this offset.
SIMPLE_TYPES: Final = 32
UPDATE_FIELDS: Final = [
    member.number for member in backup_pb2.ChatUpdateMessage.DESCRIPTOR.oneofs_by_name["update"].fields
]
PLACES: Final[dict[int, tuple[int, int]]] = {
    **{backup_pb2.SimpleChatUpdate.Type.Value(name): place for name, place in SIMPLE_PLACES.items()},
    **{SIMPLE_TYPES + field(f"ChatUpdateMessage.{name}"): place for name, place in OTHER_PLACES.items()},
}

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "update.set",
        "The update is empty or of an unknown type.",
        "Write what happened, or leave the update out.",
        "spec 2, spec 7, contract 5.10",
        Breach.SKIPPED,
        one_of_fields("ChatUpdateMessage.update"),
        importer="An importer ignores the update.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "update.author",
        "The author cannot have made this update.",
        "Name who did, or the user where nobody did.",
        "contract 5.10",
        Breach.CARE,
        fields=("ChatUpdateMessage.update", "SimpleChatUpdate.type", "ChatItem.authorId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "update.chat",
        "The update cannot be in this chat.",
        "Put it into the chat it happened in.",
        "contract 5.10",
        Breach.CARE,
        fields=("ChatItem.updateMessage", "ChatUpdateMessage.update", "SimpleChatUpdate.type", "ChatItem.chatId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "simple-update.type.known",
        "The type of the update is unknown.",
        "Write a known one, or leave the update out.",
        "spec 2, spec 7, contract 5.10",
        Breach.SKIPPED,
        known("SimpleChatUpdate.type"),
        importer="An importer skips the update.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "profile-change.names",
        "A change of name lacks the old or the new name.",
        "Write both.",
        "contract 5.10",
        Breach.CARE,
        required("ProfileChangeChatUpdate.previousName", "ProfileChangeChatUpdate.newName"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "thread-merge.e164.zero",
        "The chat that was merged has no phone number.",
        "Write the number it had.",
        "contract 5.10",
        Breach.CARE,
        required("ThreadMergeChatUpdate.previousE164"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "session-switchover.e164.zero",
        "The session that was changed has no phone number.",
        "Write the number it had.",
        "contract 5.10",
        Breach.CARE,
        required("SessionSwitchoverChatUpdate.e164"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "learned-profile.name.set",
        "The update has no phone number or username of the contact.",
        "Write the number or the username.",
        "spec 2, spec 7, contract 5.10",
        Breach.DEFAULTED,
        one_of_fields("LearnedProfileChatUpdate.previousName"),
        importer="An importer treats the name as empty.",
        repairs=(put("The name is the empty one.", username=EMPTY),),
    ),
    rule(
        "pin-message.author.known",
        "The author of the pinned message is not defined earlier.",
        "Write the author before the update.",
        "contract 5.10",
        Breach.REFERENCE,
        refers("PinMessageUpdate.authorId"),
        editions=CURRENT,
        repairs=(MOVE_UP, DROP_RECORD),
    ),
    rule(
        "pin-message.author.kind",
        "The author of the pinned message is not a person.",
        "Name the user or a contact.",
        "contract 5.10",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS | kinds.one_of(kinds.SELF), "PinMessageUpdate.authorId"),
        editions=CURRENT,
        repairs=(DROP_RECORD,),
    ),
)

if not cython.compiled:
    UPDATE = field("ChatItem.updateMessage")
    AUTHOR = field("ChatItem.authorId")
    SIMPLE = field("ChatUpdateMessage.simpleUpdate")
    SIMPLE_TYPE = field("SimpleChatUpdate.type")
    FIRST_OTHER = SIMPLE_TYPES
    FIELDS_END = max(UPDATE_FIELDS) + 1
    AUTHORS = array("I", [PLACES.get(index, (kinds.ANYBODY, 0))[0] for index in range(2 * SIMPLE_TYPES)])
    CHATS = array("I", [PLACES.get(index, (0, kinds.ANYBODY))[1] for index in range(2 * SIMPLE_TYPES)])
    # A note of an update: the type of a simple update.
    NOTE_TYPE = 0
    # Notes of a chat item: the allowed authors of the update and the allowed chats, as sets of recipient kinds.
    NOTE_AUTHORS = FIRST_CONTENT_NOTE
    NOTE_CHATS = FIRST_CONTENT_NOTE + 1
    UPDATE_AUTHOR = number_of_rule("update.author")
    UPDATE_CHAT = number_of_rule("update.chat")


def check_simple_update(context: RuleContext, depth: cython.int) -> cython.void:
    """Store the type of a simple update in a note of the update."""
    context.set_note(depth - 1, NOTE_TYPE, context.value(depth, SIMPLE_TYPE))


def check_update(context: RuleContext, depth: cython.int) -> cython.void:
    """Store the allowed authors and chats of an update in notes of the chat item."""
    index: cython.uint = 0
    number: cython.uint
    if context.has(depth, SIMPLE):
        index = cython.cast(cython.uint, context.note(depth, NOTE_TYPE))
    else:
        for number in range(SIMPLE + 1, FIELDS_END):
            if context.has(depth, number):
                index = FIRST_OTHER + number
    if index == 0 or index >= 2 * FIRST_OTHER:
        return
    context.set_note(depth - 1, NOTE_AUTHORS, AUTHORS[index])
    context.set_note(depth - 1, NOTE_CHATS, CHATS[index])


def check_update_item(context: RuleContext, depth: cython.int) -> cython.void:
    """Check the author and the chat of an update."""
    authors: cython.ulonglong
    chats: cython.ulonglong
    author: cython.uint
    chat: cython.ulonglong
    if not (context.seen[depth] >> UPDATE) & 1:
        return
    authors = context.note(depth, NOTE_AUTHORS)
    chats = context.note(depth, NOTE_CHATS)
    author = kind_of_author(context, depth)
    chat = context.note(depth, NOTE_CHAT)
    if authors and can_write(author) and not (authors >> author) & 1:
        context.report_field(UPDATE_AUTHOR, depth, AUTHOR)
    if chats and chat and not (chats >> chat) & 1:
        context.report_field(UPDATE_CHAT, depth, UPDATE)


if not cython.compiled:
    CHECKS = {
        "ChatItem": check_update_item,
        "SimpleChatUpdate": check_simple_update,
        "ChatUpdateMessage": check_update,
    }
