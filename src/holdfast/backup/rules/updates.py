"""Rules of updates in chats: calls, names, timers, and what happened in groups."""

from typing import Final

from holdfast.backup.rules.rule import CURRENT, Breach, Rule, rule
from holdfast.backup.wire import kinds, tables
from holdfast.backup.wire.checks import (
    among,
    characters,
    known,
    length,
    of_kind,
    one_of_fields,
    refers,
    required,
    service_id,
)
from holdfast.backup.wire.collect import name_of

__all__ = ["RULES"]

FORMAT, REFERENCE, DEFAULTED, SKIPPED, CARE = (
    Breach.FORMAT,
    Breach.REFERENCE,
    Breach.DEFAULTED,
    Breach.SKIPPED,
    Breach.CARE,
)
ANY, MEMBER, ADMINISTRATOR = 1, 2, 3
QUESTION = 100
CALLERS = ("GroupCall.ringerRecipientId", "GroupCall.startedCallRecipientId")


def ids_in_group_updates() -> tuple[str, ...]:
    """List the fields of group updates that hold an account id or a phone number id, by their names."""
    update = next(message for message in tables.MESSAGES if message.name == "Update")
    inside = [field.message_type for field in update.fields if field.message_type is not None]
    inside += [
        field.message_type for message in inside for field in message.fields if field.message_type is not None
    ]
    return tuple(
        name_of(field)
        for message in inside
        for field in message.fields
        if field.name.endswith(("Aci", "Pni")) or field.name == "aci"
    )


GROUP_IDS: Final = ids_in_group_updates()
ACCESS: Final = (
    "GroupMembershipAccessLevelChangeUpdate.accessLevel",
    "GroupAttributesAccessLevelChangeUpdate.accessLevel",
    "GroupMemberLabelAccessLevelChangeUpdate.accessLevel",
)
COUNTS: Final = (
    "GroupUnknownInviteeUpdate.inviteeCount",
    "GroupV2MigrationInvitedMembersUpdate.invitedMembersCount",
    "GroupV2MigrationDroppedMembersUpdate.droppedMembersCount",
    "GroupSequenceOfRequestsAndCancelsUpdate.count",
)

SIMPLE: Final[tuple[Rule, ...]] = (
    rule(
        "update.set",
        "The update says nothing, or something of a kind that is not known here.",
        "Write what happened, or leave the update out.",
        "spec 2, spec 7, contract 5.10",
        SKIPPED,
        one_of_fields("ChatUpdateMessage.update"),
        importer="An importer ignores the update.",
    ),
    rule(
        "update.author",
        "The author cannot have made this update.",
        "Name who did, or the user where nobody did.",
        "contract 5.10",
        CARE,
        fields=("ChatUpdateMessage.update", "SimpleChatUpdate.type", "ChatItem.authorId"),
    ),
    rule(
        "update.chat",
        "The update cannot stand in this chat.",
        "Put it into the chat it happened in.",
        "contract 5.10",
        CARE,
        fields=("ChatItem.updateMessage", "ChatUpdateMessage.update", "SimpleChatUpdate.type", "ChatItem.chatId"),
    ),
    rule(
        "simple-update.type.known",
        "The type of the update is not known.",
        "Write one that has a name, or leave the update out.",
        "spec 2, spec 7, contract 5.10",
        SKIPPED,
        known("SimpleChatUpdate.type"),
        importer="An importer passes over the update.",
    ),
    rule(
        "profile-change.names",
        "A change of name lacks the old or the new name.",
        "Write both.",
        "contract 5.10",
        CARE,
        required("ProfileChangeChatUpdate.previousName", "ProfileChangeChatUpdate.newName"),
    ),
    rule(
        "thread-merge.e164.zero",
        "The chat that was merged has no phone number.",
        "Write the number it had.",
        "contract 5.10",
        CARE,
        required("ThreadMergeChatUpdate.previousE164"),
    ),
    rule(
        "session-switchover.e164.zero",
        "The session that was changed has no phone number.",
        "Write the number it had.",
        "contract 5.10",
        CARE,
        required("SessionSwitchoverChatUpdate.e164"),
    ),
    rule(
        "learned-profile.name.set",
        "It does not say by which name the contact was known.",
        "Write the number or the user name.",
        "spec 2, spec 7, contract 5.10",
        DEFAULTED,
        one_of_fields("LearnedProfileChatUpdate.previousName"),
        importer="An importer takes the name for empty.",
    ),
    rule(
        "poll-terminate.question.length",
        "The question of the poll that ended has no character, or too many.",
        "Write the question, of 1 to 100 characters, today up to 200.",
        "spec 8, contract 5.10",
        FORMAT,
        characters(QUESTION, "PollTerminateUpdate.question"),
    ),
    rule(
        "pin-message.author.known",
        "The author of the pinned message has not appeared.",
        "Write the author before the update.",
        "contract 5.10",
        REFERENCE,
        refers("PinMessageUpdate.authorId"),
        editions=CURRENT,
    ),
    rule(
        "pin-message.author.kind",
        "The author of the pinned message is not a person.",
        "Name the user or a contact.",
        "contract 5.10",
        REFERENCE,
        of_kind(kinds.CONTACTS | kinds.one_of(kinds.SELF), "PinMessageUpdate.authorId"),
        editions=CURRENT,
    ),
    rule(
        "individual-call.type.known",
        "It is not known whether the call had a picture.",
        "Write audio or video.",
        "spec 2, contract 5.10",
        DEFAULTED,
        known("IndividualCall.type"),
        importer="An importer takes it for an audio call.",
    ),
    rule(
        "individual-call.direction.known",
        "It is not known who called.",
        "Write incoming or outgoing.",
        "spec 2, contract 5.10",
        DEFAULTED,
        known("IndividualCall.direction"),
        importer="An importer takes it for incoming.",
    ),
    rule(
        "individual-call.state.known",
        "It is not known what became of the call.",
        "Write whether it was taken.",
        "spec 3, contract 5.10",
        DEFAULTED,
        known("IndividualCall.state"),
        importer="An importer takes it for accepted.",
    ),
    rule(
        "group-call.state.known",
        "It is not known what became of the group's call.",
        "Write its state.",
        "spec 3, contract 5.10",
        DEFAULTED,
        known("GroupCall.state"),
        importer="An importer takes it for a call without ringing.",
    ),
    rule(
        "group-call.caller.known",
        "Somebody who called has not appeared.",
        "Write the caller before the update, or leave it out.",
        "spec 1 rule 2, contract 5.10",
        REFERENCE,
        refers(*CALLERS),
    ),
    rule(
        "group-call.caller.kind",
        "One that called is neither the user nor a contact with an account id.",
        "Name who called, or leave it out.",
        "contract 5.10",
        REFERENCE,
        of_kind(kinds.CONTACTS_WITH_ACI | kinds.one_of(kinds.SELF), *CALLERS),
    ),
)

GROUP: Final[tuple[Rule, ...]] = (
    rule(
        "group-change.updates.present",
        "The change of a group holds no update.",
        "Write what changed, or leave the message out.",
        "spec 2, spec 8, contract 5.10",
        FORMAT,
        required("GroupChangeChatUpdate.updates"),
    ),
    rule(
        "group-update.set",
        "The update of a group says nothing, or something of a kind that is not known here.",
        "Write what changed, or that something did.",
        "spec 2, spec 7, contract 5.10",
        DEFAULTED,
        one_of_fields("GroupChangeChatUpdate.Update.update"),
        importer="An importer says that the group was changed.",
    ),
    rule(
        "group-update.id.length",
        "The id of somebody in the update does not have 16 bytes.",
        "Write the 16 bytes of the UUID; leave out an optional one that is not known.",
        "contract 1.5, contract 5.10",
        FORMAT,
        length(16, *GROUP_IDS),
    ),
    rule(
        "group-update.invitee.id",
        "The id of who was invited is not a service id.",
        "Write 16 bytes of an account id, or a 1 and those of a phone number id.",
        "contract 1.5, contract 5.10",
        FORMAT,
        service_id("SelfInvitedOtherUserToGroupUpdate.inviteeServiceId", pni=True),
    ),
    rule(
        "group-update.count.zero",
        "The number of people, or of requests, is 0.",
        "Write how many there were, or leave the update out.",
        "contract 5.10",
        CARE,
        required(*COUNTS),
    ),
    rule(
        "group-update.revoked.present",
        "Invitations were revoked, but it does not say whose.",
        "Write whose, with empty entries where that is not known.",
        "contract 5.10",
        CARE,
        required("GroupInvitationRevokedUpdate.invitees"),
    ),
    rule(
        "group-update.access.level",
        "The new level of access is not known, or cannot be chosen.",
        "Write anybody, members or administrators.",
        "spec 2, contract 5.10",
        DEFAULTED,
        among({ANY, MEMBER, ADMINISTRATOR}, *ACCESS),
        importer="An importer takes it for nobody.",
    ),
    rule(
        "group-update.inviter.invitation",
        "Somebody invited the new member, although there was no invitation.",
        "Leave the inviter out, or write that there was one.",
        "spec 2, contract 5.10",
        CARE,
        fields=("GroupMemberAddedUpdate.inviterAci", "GroupMemberAddedUpdate.hadOpenInvitation"),
    ),
)

RULES: Final[tuple[Rule, ...]] = (*SIMPLE, *GROUP)
