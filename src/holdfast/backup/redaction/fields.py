"""The table of how each field of the schema is redacted.

It has every text and bytes field, and every number that is content. Booleans, enums and messages are structure and
are kept. A test fails if a field is missing here.
"""

import random
from collections.abc import Callable, Mapping
from typing import Final

from holdfast.backup.redaction.badges import replace_proof
from holdfast.backup.redaction.identities import Identities
from holdfast.backup.redaction.texts import Texts
from holdfast.backup.redaction.unknown import clear_field
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import slot_of

__all__ = ["KEPT_NUMBERS", "REPLACED", "TREATMENTS", "Replace", "replacements"]

# Takes the bytes of a value and returns the same number of bytes.
Replace = Callable[[bytes], bytes]

# Fields by the name of their treatment.
TREATMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "words": (
        *("AccountData.givenName", "AccountData.familyName", "AccountData.svrPin", "AccountData.bioText"),
        *("Contact.profileGivenName", "Contact.profileFamilyName", "Contact.note", "Contact.Name.given"),
        *("Contact.Name.family", "Contact.systemGivenName", "Contact.systemFamilyName", "Contact.systemNickname"),
        *(
            "Group.GroupAttributeBlob.title",
            "Group.GroupAttributeBlob.descriptionText",
            "Group.Member.labelString",
        ),
        *("CallLink.name", "DistributionList.name", "NotificationProfile.name", "ChatFolder.name", "Text.body"),
        *("LinkPreview.title", "LinkPreview.description", "PaymentNotification.note", "FilePointer.caption"),
        *("FilePointer.fileName", "Quote.QuotedAttachment.fileName"),
        *("ProfileChangeChatUpdate.previousName", "ProfileChangeChatUpdate.newName"),
        *("GroupNameUpdate.newGroupName", "GroupDescriptionUpdate.newDescription"),
        *("ContactAttachment.organization", "ContactAttachment.Phone.label", "ContactAttachment.Email.label"),
        *(
            f"ContactAttachment.Name.{part}"
            for part in ("givenName", "familyName", "prefix", "suffix", "middleName", "nickname")
        ),
        *(
            f"ContactAttachment.PostalAddress.{part}"
            for part in ("label", "street", "pobox", "neighborhood", "city", "region", "postcode", "country")
        ),
    ),
    "counted": ("Poll.question", "Poll.PollOption.option", "PollTerminateUpdate.question"),
    "emoji": (
        *("AccountData.bioEmoji", "AccountData.AccountSettings.preferredReactionEmoji", "Group.Member.labelEmoji"),
        *("NotificationProfile.emoji", "Reaction.emoji", "Sticker.emoji", "DirectStoryReplyMessage.emoji"),
    ),
    "token": (
        *("AccountData.IAPSubscriberData.purchaseToken", "FilePointer.LocatorInfo.transitCdnKey"),
        "ContactAttachment.Email.value",
    ),
    "url": ("LinkPreview.url", "AccountData.avatarUrlPath", "Group.GroupSnapshot.avatarUrl"),
    "numeral": ("ContactAttachment.Phone.value", "PaymentNotification.amountCoin", "PaymentNotification.feeCoin"),
    "content type": ("FilePointer.contentType", "Quote.QuotedAttachment.contentType"),
    "version": ("BackupInfo.currentAppVersion", "BackupInfo.firstAppVersion"),
    "currency": ("AccountData.SubscriberData.currencyCode",),
    "blur": ("FilePointer.blurHash",),
    "username": ("AccountData.username", "Contact.username", "LearnedProfileChatUpdate.username"),
    "telephone": (
        *("Contact.e164", "LearnedProfileChatUpdate.e164", "ThreadMergeChatUpdate.previousE164"),
        "SessionSwitchoverChatUpdate.e164",
    ),
    "number": (
        *("AdHocCall.callId", "IndividualCall.callId", "GroupCall.callId"),
        "AccountData.IAPSubscriberData.originalTransactionId",
        "PaymentNotification.TransactionDetails.Transaction.blockIndex",
    ),
    "service id": (
        *("Contact.aci", "Contact.pni", "BodyRange.mentionAci", "Group.Member.userId"),
        *("Group.MemberPendingProfileKey.addedByUserId", "Group.MemberPendingAdminApproval.userId"),
        *("Group.MemberBanned.userId", "SelfInvitedOtherUserToGroupUpdate.inviteeServiceId"),
        *(
            f"{update}.updaterAci"
            for update in (
                *("GenericGroupUpdate", "GroupCreationUpdate", "GroupNameUpdate", "GroupAvatarUpdate"),
                *("GroupDescriptionUpdate", "GroupMembershipAccessLevelChangeUpdate", "GroupAdminStatusUpdate"),
                *("GroupAttributesAccessLevelChangeUpdate", "GroupAnnouncementOnlyChangeUpdate"),
                *("GroupMemberAddedUpdate", "GroupInvitationRevokedUpdate", "GroupJoinRequestApprovalUpdate"),
                *("GroupInviteLinkResetUpdate", "GroupInviteLinkEnabledUpdate", "GroupExpirationTimerUpdate"),
                *("GroupInviteLinkAdminApprovalUpdate", "GroupInviteLinkDisabledUpdate"),
                *("GroupMemberLabelAccessLevelChangeUpdate", "GroupTerminateChangeUpdate"),
            )
        ),
        *(
            f"{update}.inviterAci"
            for update in (
                *("SelfInvitedToGroupUpdate", "GroupUnknownInviteeUpdate", "GroupInvitationAcceptedUpdate"),
                *(
                    "GroupInvitationDeclinedUpdate",
                    "GroupMemberAddedUpdate",
                    "GroupInvitationRevokedUpdate.Invitee",
                ),
            )
        ),
        *("GroupAdminStatusUpdate.memberAci", "GroupMemberLeftUpdate.aci", "GroupMemberRemovedUpdate.removerAci"),
        *("GroupMemberRemovedUpdate.removedAci", "GroupInvitationAcceptedUpdate.newMemberAci"),
        *("GroupInvitationDeclinedUpdate.inviteeAci", "GroupMemberJoinedUpdate.newMemberAci"),
        *("GroupMemberAddedUpdate.newMemberAci", "GroupSelfInvitationRevokedUpdate.revokerAci"),
        *("GroupInvitationRevokedUpdate.Invitee.inviteeAci", "GroupInvitationRevokedUpdate.Invitee.inviteePni"),
        *("GroupJoinRequestUpdate.requestorAci", "GroupJoinRequestApprovalUpdate.requestorAci"),
        *("GroupJoinRequestCanceledUpdate.requestorAci", "GroupMemberJoinedByLinkUpdate.newMemberAci"),
        "GroupSequenceOfRequestsAndCancelsUpdate.requestorAci",
    ),
    "uuid": ("DistributionListItem.distributionId", "NotificationProfile.id", "ChatFolder.id"),
    "another uuid": ("AccountData.UsernameLink.serverId", "MessageAttachment.clientUuid"),
    "key": (
        *("Group.masterKey", "CallLink.rootKey", "StickerPack.packId", "StickerPack.packKey"),
        *("Sticker.packId", "Sticker.packKey"),
    ),
    "public key": ("Contact.identityKey",),
    "proof": ("GiftBadge.receiptCredentialPresentation",),
    "noise": (
        *("BackupInfo.mediaRootBackupKey", "BackupInfo.debugInfo", "AccountData.profileKey"),
        *("AccountData.UsernameLink.entropy", "AccountData.SubscriberData.subscriberId"),
        *("AccountData.IAPSubscriberData.subscriberId", "Contact.profileKey", "Contact.keyTransparencyData"),
        *("CallLink.adminKey", "CallLink.epoch", "Group.GroupSnapshot.inviteLinkPassword"),
        *("Group.GroupAttributeBlob.avatar", "FilePointer.incrementalMac", "FilePointer.LocatorInfo.key"),
        *("FilePointer.LocatorInfo.localKey", "FilePointer.LocatorInfo.plaintextHash"),
        "FilePointer.LocatorInfo.encryptedDigest",
        "PaymentNotification.TransactionDetails.Transaction.transaction",
        "PaymentNotification.TransactionDetails.Transaction.receipt",
        "PaymentNotification.TransactionDetails.CoinTxoIdentification.publicKey",
        "PaymentNotification.TransactionDetails.CoinTxoIdentification.keyImages",
    ),
}

# Numbers that are kept: ids within the file, times and durations, sizes and counts, colors and positions.
KEPT_NUMBERS: Final = frozenset(
    [
        *("BackupInfo.version", "BackupInfo.backupTimeMs", "Recipient.id", "Chat.id", "Chat.recipientId"),
        *("Chat.pinnedOrder", "Chat.expirationTimerMs", "Chat.muteUntilMs", "Chat.expireTimerVersion"),
        *("ChatItem.chatId", "ChatItem.authorId", "ChatItem.dateSent", "ChatItem.expireStartDate"),
        *("ChatItem.expiresInMs", "ChatItem.IncomingMessageDetails.dateReceived"),
        *("ChatItem.IncomingMessageDetails.dateServerSent", "ChatItem.OutgoingMessageDetails.dateReceived"),
        *("ChatItem.PinDetails.pinnedAtTimestamp", "ChatItem.PinDetails.pinExpiresAtTimestamp"),
        *("AdHocCall.recipientId", "AdHocCall.callTimestamp", "NotificationProfile.createdAtMs"),
        *("NotificationProfile.allowedMembers", "NotificationProfile.scheduleStartTime"),
        *("NotificationProfile.scheduleEndTime", "NotificationProfile.color", "ChatFolder.includedRecipientIds"),
        *("ChatFolder.excludedRecipientIds", "AccountData.AccountSettings.backupTier"),
        *("AccountData.AccountSettings.universalExpireTimerSeconds", "Contact.blockedAtTimestamp"),
        *("AccountData.AccountSettings.screenLockTimeoutMinutes", "Contact.NotRegistered.unregisteredTimestamp"),
        *("Group.blockedAtTimestamp", "Group.GroupSnapshot.version", "Group.Member.joinedAtVersion"),
        *("Group.GroupAttributeBlob.disappearingMessagesDuration", "Group.MemberPendingProfileKey.timestamp"),
        *("Group.MemberPendingAdminApproval.timestamp", "Group.MemberBanned.timestamp"),
        *(
            "DistributionListItem.deletionTimestamp",
            "DistributionList.memberRecipientIds",
            "CallLink.expirationMs",
        ),
        *("ChatStyle.customColorId", "ChatStyle.CustomChatColor.id", "ChatStyle.CustomChatColor.solid"),
        *("ChatStyle.Gradient.angle", "ChatStyle.Gradient.colors", "ChatStyle.Gradient.positions"),
        *("AdminDeletedMessage.adminId", "SendStatus.recipientId", "SendStatus.timestamp"),
        *("Quote.targetSentTimestamp", "Quote.authorId", "LinkPreview.date", "Reaction.authorId"),
        *("Reaction.sentTimestamp", "Reaction.sortOrder", "BodyRange.start", "BodyRange.length"),
        *("Sticker.stickerId", "Poll.PollOption.PollVote.voterId", "Poll.PollOption.PollVote.voteCount"),
        *("FilePointer.incrementalMacChunkSize", "FilePointer.width", "FilePointer.height"),
        *("FilePointer.LocatorInfo.size", "FilePointer.LocatorInfo.transitCdnNumber"),
        *("FilePointer.LocatorInfo.mediaTierCdnNumber", "FilePointer.LocatorInfo.transitTierUploadTimestamp"),
        *("ExpirationTimerChatUpdate.expiresInMs", "GroupExpirationTimerUpdate.expiresInMs"),
        *("IndividualCall.startedCallTimestamp", "GroupCall.ringerRecipientId"),
        *("GroupCall.startedCallRecipientId", "GroupCall.startedCallTimestamp", "GroupCall.endedCallTimestamp"),
        *("PollTerminateUpdate.targetSentTimestamp", "PinMessageUpdate.targetSentTimestamp"),
        *("PinMessageUpdate.authorId", "PaymentNotification.TransactionDetails.Transaction.timestamp"),
        "PaymentNotification.TransactionDetails.Transaction.blockTimestamp",
        *("GroupUnknownInviteeUpdate.inviteeCount", "GroupV2MigrationInvitedMembersUpdate.invitedMembersCount"),
        "GroupV2MigrationDroppedMembersUpdate.droppedMembersCount",
        "GroupSequenceOfRequestsAndCancelsUpdate.count",
    ]
)

SLOTS: Final = {name: [slot_of(field) for field in fields] for name, fields in TREATMENTS.items()}
REPLACED: Final = bytes(any(slot in slots for slots in SLOTS.values()) for slot in range(tables.SLOTS))


def replacements(rng: random.Random) -> list[Replace | None]:
    """Return the replacement function of each field by slot; slot 0 is for unknown fields."""
    texts, identities = Texts(rng), Identities(rng)
    replacers: dict[str, Replace] = {
        "words": texts.words,
        "counted": texts.counted,
        "emoji": texts.emoji,
        "token": texts.token,
        "url": texts.url,
        "numeral": texts.numeral,
        "content type": texts.content_type,
        "version": texts.version,
        "currency": texts.currency,
        "blur": texts.blur,
        "username": identities.username,
        "telephone": identities.telephone,
        "number": identities.number,
        "service id": identities.service_id,
        "uuid": identities.uuid,
        "another uuid": identities.another_uuid,
        "key": identities.key,
        # The first byte is the key type.
        "public key": lambda value: value[:1] + rng.randbytes(max(len(value) - 1, 0)),
        "proof": lambda value: replace_proof(value, rng),
        "noise": lambda value: rng.randbytes(len(value)),
    }
    by_slot: list[Replace | None] = [None] * tables.SLOTS
    by_slot[0] = clear_field
    for name, slots in SLOTS.items():
        for slot in slots:
            by_slot[slot] = replacers[name]
    return by_slot
