"""The fields of the schema that no rule checks, with reasons.

A new field of the schema needs a rule or an entry here. Fields that contain a message are not listed: without a
rule they may be missing, and the fields of the message are listed themselves. Unknown fields and unknown enum
values are reported everywhere.
"""

from collections.abc import Mapping
from typing import Final

__all__ = ["REASONS", "UNCHECKED"]

ACCOUNT: Final = "AccountData"
SETTINGS: Final = "AccountData.AccountSettings"
SNAPSHOT: Final = "Group.GroupSnapshot"
TRANSACTION: Final = "PaymentNotification.TransactionDetails.Transaction"


def of(message: str, *fields: str) -> tuple[str, ...]:
    """Return the full names of fields of a message."""
    return tuple(f"{message}.{field}" for field in fields)


REASONS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "Which program wrote the backup is for people to read; nothing is decided by it.",
        of("BackupInfo", "version", "currentAppVersion", "firstAppVersion", "debugInfo"),
    ),
    (
        "Any text is a name, a note or a description, also none.",
        (
            *of(ACCOUNT, "givenName", "familyName", "bioText"),
            *of("Contact", "profileGivenName", "profileFamilyName", "note"),
            *of("Contact", "systemGivenName", "systemFamilyName", "systemNickname"),
            *("CallLink.name", "DistributionList.name", "PaymentNotification.note"),
            *of("LinkPreview", "title", "description"),
            *("ContactAttachment.organization", "ContactAttachment.Phone.label", "ContactAttachment.Email.label"),
            *("ContactAttachment.PostalAddress.label", "GroupNameUpdate.newGroupName"),
            *("GroupDescriptionUpdate.newDescription", "LearnedProfileChatUpdate.username"),
        ),
    ),
    (
        "Which signs are an emoji changes every year, and none says that there is none.",
        (f"{ACCOUNT}.bioEmoji", f"{SETTINGS}.preferredReactionEmoji", "Sticker.emoji"),
    ),
    (
        "Where a picture lies on a server is for the server to say.",
        (f"{ACCOUNT}.avatarUrlPath", f"{SNAPSHOT}.avatarUrl"),
    ),
    (
        "Only its user can tell whether the PIN is the right one.",
        (f"{ACCOUNT}.svrPin",),
    ),
    (
        "Both values of a choice are in order, whatever else was chosen.",
        (
            f"{ACCOUNT}.SubscriberData.manuallyCancelled",
            *of(SETTINGS, "readReceipts", "sealedSenderIndicators", "typingIndicators", "linkPreviews"),
            *of(SETTINGS, "notDiscoverableByPhoneNumber", "preferContactAvatars", "displayBadgesOnProfile"),
            *of(SETTINGS, "keepMutedChatsArchived", "hasSetMyStoriesPrivacy", "hasViewedOnboardingStory"),
            *of(SETTINGS, "storiesDisabled", "storyViewReceiptsEnabled", "hasSeenGroupStoryEducationSheet"),
            *of(SETTINGS, "hasCompletedUsernameOnboarding", "pinReminders", "allowSealedSenderFromAnyone"),
            *of(SETTINGS, "allowAutomaticKeyVerification", "hasSeenAdminDeleteEducationDialog"),
            *of(f"{ACCOUNT}.PlatformASpecificSettings", "useSystemEmoji", "screenshotSecurity"),
            f"{ACCOUNT}.IOSSpecificSettings.isSystemCallLogEnabled",
            *of("Contact", "profileSharing", "hideStory"),
            *of("Group", "whitelisted", "hideStory"),
            *of(SNAPSHOT, "announcements_only", "terminated"),
            "DistributionList.allowReplies",
            *of("Chat", "archived", "markedUnread", "dontNotifyForMentionsIfMuted"),
            "ChatStyle.dimWallpaperInDarkMode",
            *of("NotificationProfile", "allowAllCalls", "allowAllMentions", "scheduleEnabled"),
        ),
    ),
    (
        "Whether somebody is blocked; only today there is a date that must agree with it.",
        ("Contact.blocked", "Group.blocked"),
    ),
    (
        "Both values say what happened, and nothing else in the backup could say otherwise.",
        (
            *("ChatItem.sms", "ChatItem.IncomingMessageDetails.sealedSender"),
            *(f"SendStatus.{status}.sealedSender" for status in ("Sent", "Delivered", "Read", "Viewed")),
            *("MessageAttachment.wasDownloaded", "Poll.hasEnded", "IndividualCall.read", "GroupCall.read"),
            *("GroupAvatarUpdate.wasRemoved", "GroupAnnouncementOnlyChangeUpdate.isAnnouncementOnly"),
            *("GroupAdminStatusUpdate.wasAdminStatusGranted", "GroupJoinRequestApprovalUpdate.wasApproved"),
            "GroupInviteLinkEnabledUpdate.linkRequiresAdminApproval",
            "GroupInviteLinkAdminApprovalUpdate.linkRequiresAdminApproval",
        ),
    ),
    (
        "Its value 0 is one of its values, and a number without a name is noted and read as that.",
        (
            *of("Contact", "visibility", "avatarColor"),
            *of("Group", "storySendMode", "avatarColor"),
            *("Self.avatarColor", "SendStatus.Failed.reason", f"{TRANSACTION}.status"),
            "PaymentNotification.TransactionDetails.FailedTransaction.reason",
        ),
    ),
    (
        "A duration has no limit, and 0 turns it off.",
        (
            *of(SETTINGS, "universalExpireTimerSeconds", "screenLockTimeoutMinutes"),
            *("ExpirationTimerChatUpdate.expiresInMs", "GroupExpirationTimerUpdate.expiresInMs"),
        ),
    ),
    (
        "A version or a place in an order: any number is one, and two may be the same.",
        (f"{SNAPSHOT}.version", "Group.Member.joinedAtVersion", "Reaction.sortOrder"),
    ),
    (
        "A number or bytes of somebody else's making, whose form the format does not say.",
        (
            f"{ACCOUNT}.IAPSubscriberData.originalTransactionId",
            *("Contact.keyTransparencyData", f"{SNAPSHOT}.inviteLinkPassword"),
            *of(TRANSACTION, "blockIndex", "transaction", "receipt"),
            *("AdHocCall.callId", "IndividualCall.callId", "GroupCall.callId", "Sticker.stickerId"),
        ),
    ),
    (
        "It is shown as it was, and may be missing or 0 where it was not known.",
        (
            *of("FilePointer", "contentType", "blurHash"),
            *of("Quote.QuotedAttachment", "contentType", "fileName"),
            *("ChatStyle.Gradient.angle", "LearnedProfileChatUpdate.e164", "Poll.PollOption.PollVote.voteCount"),
        ),
    ),
    (
        "A range may lie outside of its text: importers cut it.",
        of("BodyRange", "start", "length"),
    ),
)
UNCHECKED: Final[Mapping[str, str]] = {field: why for why, fields in REASONS for field in fields}
