"""Chat updates (`ChatUpdateMessage`) other than calls and changes of groups."""

from typing import Final

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import known, of_kind, one_of_fields, refers, required
from holdfast.backup.rules.repairs import DROP_RECORD, EMPTY, MOVE_UP, put
from holdfast.backup.rules.rule import CURRENT, Breach, Rule, rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "update.set",
        "The update says nothing, or something of a kind that is not known here.",
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
        "The update cannot stand in this chat.",
        "Put it into the chat it happened in.",
        "contract 5.10",
        Breach.CARE,
        fields=("ChatItem.updateMessage", "ChatUpdateMessage.update", "SimpleChatUpdate.type", "ChatItem.chatId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "simple-update.type.known",
        "The type of the update is not known.",
        "Write one that has a name, or leave the update out.",
        "spec 2, spec 7, contract 5.10",
        Breach.SKIPPED,
        known("SimpleChatUpdate.type"),
        importer="An importer passes over the update.",
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
        "It does not say by which name the contact was known.",
        "Write the number or the user name.",
        "spec 2, spec 7, contract 5.10",
        Breach.DEFAULTED,
        one_of_fields("LearnedProfileChatUpdate.previousName"),
        importer="An importer takes the name for empty.",
        repairs=(put("The name is the empty one.", username=EMPTY),),
    ),
    rule(
        "pin-message.author.known",
        "The author of the pinned message has not appeared.",
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
