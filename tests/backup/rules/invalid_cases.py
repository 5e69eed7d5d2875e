"""For every rule a small change to a valid backup that breaks this rule and no other."""

from collections.abc import Callable
from typing import Any

from holdfast.backup.schema import Frame, backup_pb2
from tests.backup.rules.example_backup import (
    ADA,
    BEN,
    CID,
    CLUB,
    DAY,
    LINK,
    ME,
    NEWS,
    NOW,
    STORY,
    ExampleBackup,
    uuid,
)

__all__ = ["ALSO", "INVALID_CASES", "OPTIONS"]

Change = Callable[[ExampleBackup], Any]


def put(path: str, value: object) -> Change:
    """Set a field, named by its frame and its path, as in `ada.recipient.contact.aci`."""

    def apply(example: ExampleBackup) -> None:
        name, _, field_path = path.partition(".")
        *steps, last = field_path.split(".")
        owner: Any = example.frames[name]
        for step in steps:
            owner = owner[int(step)] if step.isdigit() else getattr(owner, step)
        setattr(owner, last, value)

    return apply


def clear(path: str) -> Change:
    """Clear a field."""

    def apply(example: ExampleBackup) -> None:
        name, _, field_path = path.partition(".")
        *steps, last = field_path.split(".")
        owner: Any = example.frames[name]
        for step in steps:
            owner = owner[int(step)] if step.isdigit() else getattr(owner, step)
        owner.ClearField(last)

    return apply


def repeat_frame(name: str, change: Callable[[Frame], Any] | None = None) -> Change:
    """Write a frame a second time at the end, changed."""

    def apply(example: ExampleBackup) -> None:
        copy = Frame.FromString(example.frames[name].SerializeToString())
        if change is not None:
            change(copy)
        example.frames[f"{name} again"] = copy

    return apply


def combine(*changes: Change) -> Change:
    """Combine several changes."""

    def apply(example: ExampleBackup) -> None:
        for change in changes:
            change(example)

    return apply


def add_contact(number: int, **fields: object) -> Change:
    """Add a contact at the end."""

    def apply(example: ExampleBackup) -> None:
        recipient = example.frame("another").recipient
        recipient.id = number
        recipient.contact.registered.SetInParent()
        for name, value in fields.items():
            setattr(recipient.contact, name, value)

    return apply


def add_unknown_field(example: ExampleBackup) -> None:
    """Add an unknown field."""
    item = example.frames["hello"].chatItem
    item.MergeFromString(b"\xf8\x06\x01")


def add_unreadable_frame(example: ExampleBackup) -> None:
    """Add a frame that cannot be parsed, which only the raw records can contain."""
    records = example.records
    example.records = lambda: [*records(), b"\x0a\xff"]  # type: ignore[method-assign]  # the example gets another record


def add_many_reactions(example: ExampleBackup) -> None:
    """Add thousands of reactions by an unknown recipient to a message."""
    for _ in range(9000):
        example.frames["hello"].chatItem.standardMessage.reactions.add(emoji="👍", authorId=999, sentTimestamp=NOW)


def set_simple_update(kind: int) -> Change:
    """Change the type of the simple update."""
    return put("joined.chatItem.updateMessage.simpleUpdate.type", kind)


MESSAGE = "hello.chatItem.standardMessage"
SENT = "sent.chatItem.standardMessage"
FILE = f"{MESSAGE}.attachments.0.pointer"
PLACE = f"{FILE}.locatorInfo"
SETTINGS = "account.account.accountSettings"
SNAPSHOT = "club.recipient.group.snapshot"
CHANGES = "group change.chatItem.updateMessage.groupChange.updates"
UPDATE = "chatItem.updateMessage"

INVALID_CASES: dict[str, Change] = {
    "frame.readable": add_unreadable_frame,
    "frame.item.set": lambda w: w.frame("empty"),
    "frame.crowded": add_many_reactions,
    "header.media-key.length": lambda w: setattr(w.header, "mediaRootBackupKey", bytes(31)),
    "account.once": repeat_frame("account"),
    "account.first": lambda w: w.first("me"),
    "account.present": combine(lambda w: w.frames.pop("account"), clear("with ada.chat.style")),
    "self.once": repeat_frame("me", lambda f: setattr(f.recipient, "id", 99)),
    "self.present": lambda w: w.frames["me"].recipient.contact.CopyFrom(
        backup_pb2.Contact(aci=uuid(90), registered=backup_pb2.Contact.Registered())
    ),
    "release-notes.once": repeat_frame("news", lambda f: setattr(f.recipient, "id", 99)),
    "date.limit": put("hello.chatItem.dateSent", 8_640_000_000_000_001),
    "date.zero": clear("hello.chatItem.dateSent"),
    "date.past": put("hello.chatItem.dateSent", 946_684_799_999),
    "date.future": put("hello.chatItem.dateSent", 4_102_444_800_001),
    "schema.field.unknown": add_unknown_field,
    "schema.value.unknown": put("link.recipient.callLink.restrictions", 99),
    "schema.field.newer": put("account.account.accountSettings.appTheme", 1),
    "schema.field.retired": put("link.recipient.callLink.epoch", b"1234"),
    "account.profile-key.length": put("account.account.profileKey", bytes(33)),
    "account.username.form": put("account.account.username", "robin"),
    "account.username-link.username": clear("account.account.username"),
    "account.username-link.entropy.length": put("account.account.usernameLink.entropy", bytes(31)),
    "account.username-link.server-id.length": put("account.account.usernameLink.serverId", b""),
    "account.username-link.color.known": clear("account.account.usernameLink.color"),
    "account.settings.present": combine(clear("account.account.accountSettings"), clear("with ada.chat.style")),
    "account.donation.id.length": put("account.account.donationSubscriberData.subscriberId", b"1"),
    "account.donation.currency": clear("account.account.donationSubscriberData.currencyCode"),
    "account.subscription.id.length": put("account.account.backupsSubscriberData.subscriberId", b"1"),
    "account.subscription.purchase": clear("account.account.backupsSubscriberData.purchaseToken"),
    "account.subscription.token": put("account.account.backupsSubscriberData.purchaseToken", ""),
    "account.navigation-bar.known": clear("account.account.platformASpecificSettings.navigationBarSize"),
    "settings.number-sharing.known": clear(f"{SETTINGS}.phoneNumberSharingMode"),
    "settings.media-quality.known": clear(f"{SETTINGS}.defaultSentMediaQuality"),
    "settings.app-theme.known": clear(f"{SETTINGS}.appTheme"),
    "settings.call-data.known": clear(f"{SETTINGS}.callsUseLessDataSetting"),
    "settings.auto-download.known": clear(f"{SETTINGS}.autoDownloadSettings.video"),
    "settings.backup-tier.known": put(f"{SETTINGS}.backupTier", 202),
    "settings.optimize-storage.tier": put(f"{SETTINGS}.backupTier", 200),
    "custom-color.id.zero": combine(clear(f"{SETTINGS}.customChatColors.0.id"), clear("with ada.chat.style")),
    "custom-color.id.unique": combine(
        put(f"{SETTINGS}.customChatColors.1.id", 1), put(f"{SETTINGS}.defaultChatStyle.customColorId", 1)
    ),
    "custom-color.set": clear(f"{SETTINGS}.customChatColors.0.solid"),
    "custom-color.opaque": put(f"{SETTINGS}.customChatColors.0.solid", 0x7F112233),
    "gradient.stops": lambda w: (
        w.frames["account"].account.accountSettings.customChatColors[1].gradient.positions.append(0.5)
    ),
    "chat-style.bubble.set": clear("with ada.chat.style.customColorId"),
    "chat-style.preset.known": put(f"{SETTINGS}.defaultChatStyle.wallpaperPreset", 0),
    "chat-style.color.known": put("with ada.chat.style.customColorId", 77),
    "chat-style.wallpaper.plain": put("with ada.chat.style.wallpaperPhoto.fileName", "x"),
    "recipient.id.zero": add_contact(0, aci=uuid(90)),
    "recipient.id.unique": repeat_frame("ada"),
    "recipient.destination.set": lambda w: setattr(w.frame("nobody").recipient, "id", 99),
    "recipient.username.unique": add_contact(99, aci=uuid(90), username="ADA.01"),
    "recipient.e164.unique": add_contact(99, e164=15555550100),
    "recipient.aci.unique": add_contact(99, aci=uuid(ADA)),
    "recipient.pni.unique": add_contact(99, pni=uuid(100 + ADA)),
    "recipient.group.unique": repeat_frame("club", lambda f: setattr(f.recipient, "id", 99)),
    "recipient.list.unique": repeat_frame("story", lambda f: setattr(f.recipient, "id", 99)),
    "recipient.call-link.unique": repeat_frame("link", lambda f: setattr(f.recipient, "id", 99)),
    "contact.aci.length": add_contact(99, aci=bytes(15)),
    "contact.pni.length": add_contact(99, pni=bytes(17)),
    "contact.identifier": add_contact(99, note="who"),
    "contact.e164.zero": add_contact(99, e164=0),
    "contact.username.form": add_contact(99, aci=uuid(90), username="1ada.01"),
    "contact.profile-key.length": add_contact(99, aci=uuid(90), profileKey=b""),
    "contact.registration.set": clear("ben.recipient.contact.notRegistered"),
    "contact.blocked-at.blocked": clear("ada.recipient.contact.blocked"),
    "contact.identity-key.form": put("ada.recipient.contact.identityKey", b"\x05" + bytes(31)),
    "contact.identity-state.key": clear("ada.recipient.contact.identityKey"),
    "contact.nickname.empty": clear("ada.recipient.contact.nickname.given"),
    "group.master-key.length": put("club.recipient.group.masterKey", bytes(31)),
    "group.snapshot.present": clear("club.recipient.group.snapshot"),
    "group.blocked-at.blocked": clear("club.recipient.group.blocked"),
    "group.attribute.set": clear(f"{SNAPSHOT}.title.title"),
    "group.attribute.kind": put(f"{SNAPSHOT}.description.title", "x"),
    "group.access.level": put(f"{SNAPSHOT}.accessControl.members", 1),
    "group.access.link": put(f"{SNAPSHOT}.accessControl.addFromInviteLink", 2),
    "group.access.known": put(f"{SNAPSHOT}.accessControl.attributes", 0),
    "group.access.label-known": clear(f"{SNAPSHOT}.accessControl.memberLabel"),
    "group.member.id": put(f"{SNAPSHOT}.members.0.userId", b"\x01" + uuid(1)),
    "group.member.role": clear(f"{SNAPSHOT}.members.0.role"),
    "group.member.label": clear(f"{SNAPSHOT}.members.0.labelString"),
    "group.pending-member.present": clear(f"{SNAPSHOT}.membersPendingProfileKey.0.member"),
    "group.pending-member.id": put(f"{SNAPSHOT}.membersPendingProfileKey.0.member.userId", bytes(17)),
    "group.pending-member.inviter": clear(f"{SNAPSHOT}.membersPendingProfileKey.0.addedByUserId"),
    "group.pending-member.inviter.other": put(f"{SNAPSHOT}.membersPendingProfileKey.0.member.userId", uuid(ADA)),
    "group.pending-member.label": put(f"{SNAPSHOT}.membersPendingProfileKey.0.member.labelString", "x"),
    "group.requesting-member.id": put(f"{SNAPSHOT}.membersPendingAdminApproval.0.userId", b""),
    "group.banned-member.id": put(f"{SNAPSHOT}.members_banned.0.userId", bytes(15)),
    "distribution-list.id.length": put("close.recipient.distributionList.distributionId", bytes(15)),
    "distribution-list.id.random": put("close.recipient.distributionList.distributionId", bytes(range(16))),
    "distribution-list.item.set": clear("close.recipient.distributionList.distributionList"),
    "distribution-list.my-story.kept": put("story.recipient.distributionList.deletionTimestamp", NOW),
    "distribution-list.member.known": lambda w: members(w, "close").append(999),
    "distribution-list.member.kind": lambda w: members(w, "close").append(BEN),
    "distribution-list.member.unique": lambda w: members(w, "close").append(ADA),
    "distribution-list.privacy-mode.known": clear("close.recipient.distributionList.distributionList.privacyMode"),
    "distribution-list.privacy-mode.my-story": put(
        "close.recipient.distributionList.distributionList.privacyMode", 3
    ),
    "distribution-list.my-story.all": put("story.recipient.distributionList.distributionList.privacyMode", 3),
    "distribution-list.my-story.except": lambda w: members(w, "story").pop(),
    "call-link.root-key.length": put("link.recipient.callLink.rootKey", bytes(15)),
    "call-link.epoch.length": put("link.recipient.callLink.epoch", bytes(5)),
    "call-link.admin-key.empty": put("link.recipient.callLink.adminKey", b""),
    "call-link.restrictions.known": clear("link.recipient.callLink.restrictions"),
    "chat.id.zero": lambda w: setattr(w.frame("no id").chat, "recipientId", CID),
    "chat.id.unique": repeat_frame("with ben"),
    "chat.recipient.known": lambda w: w.frame("new").chat.MergeFrom(backup_pb2.Chat(id=99, recipientId=999)),
    "chat.recipient.kind": lambda w: w.frame("new").chat.MergeFrom(backup_pb2.Chat(id=99, recipientId=LINK)),
    "chat.pinned-order.unique": put("in club.chat.pinnedOrder", 0),
    "chat.expiration-timer.version": clear("with ada.chat.expireTimerVersion"),
    "ad-hoc-call.recipient.known": put("call by link.adHocCall.recipientId", 999),
    "ad-hoc-call.recipient.kind": put("call by link.adHocCall.recipientId", ADA),
    "ad-hoc-call.state.known": clear("call by link.adHocCall.state"),
    "sticker-pack.id.length": put("pack.stickerPack.packId", bytes(15)),
    "sticker-pack.key.length": put("pack.stickerPack.packKey", bytes(31)),
    "sticker-pack.id.unique": repeat_frame("pack"),
    "notification-profile.name": clear("profile.notificationProfile.name"),
    "notification-profile.emoji.empty": put("profile.notificationProfile.emoji", ""),
    "notification-profile.color.opaque": put("profile.notificationProfile.color", 1),
    "notification-profile.member.known": lambda w: allowed(w).append(999),
    "notification-profile.member.kind": lambda w: allowed(w).append(ME),
    "notification-profile.member.unique": lambda w: allowed(w).append(ADA),
    "notification-profile.schedule.time": put("profile.notificationProfile.scheduleEndTime", 1760),
    "notification-profile.day.known": lambda w: days(w).append(0),
    "notification-profile.day.unique": lambda w: days(w).append(1),
    "notification-profile.id.length": put("profile.notificationProfile.id", bytes(15)),
    "chat-folder.type.known": clear("friends.chatFolder.folderType"),
    "chat-folder.id.length": put("friends.chatFolder.id", b""),
    "chat-folder.all.name": put("all chats.chatFolder.name", "All"),
    "chat-folder.all.unread": put("all chats.chatFolder.showOnlyUnread", True),
    "chat-folder.all.muted": clear("all chats.chatFolder.showMutedChats"),
    "chat-folder.all.everybody": clear("all chats.chatFolder.includeAllGroupChats"),
    "chat-folder.all.recipients": lambda w: w.frames["all chats"].chatFolder.excludedRecipientIds.append(ADA),
    "chat-folder.custom.name": clear("friends.chatFolder.name"),
    "chat-folder.recipient.known": lambda w: included(w).append(999),
    "chat-folder.recipient.kind": lambda w: included(w).append(STORY),
    "chat-folder.recipient.unique": lambda w: included(w).append(ADA),
    "chat-folder.recipients.apart": lambda w: included(w).append(CLUB),
    "chat-folder.all.once": repeat_frame("all chats"),
    "chat-folder.all.present": lambda w: w.frames.pop("all chats"),
    "chat-item.direction.set": clear("voice.chatItem.incoming"),
    "chat-item.item.set": clear("emoji.chatItem.directStoryReplyMessage"),
    "chat-item.author.known": put("voice.chatItem.authorId", 999),
    "chat-item.author.kind": put("voice.chatItem.authorId", CLUB),
    "chat-item.incoming.author": put("voice.chatItem.authorId", ME),
    "chat-item.incoming.reachable": put("poll.chatItem.authorId", CID),
    "chat-item.outgoing.author": put("sent.chatItem.authorId", ADA),
    "chat-item.direction.update": lambda w: w.frames["joined"].chatItem.incoming.MergeFrom(
        backup_pb2.ChatItem.IncomingMessageDetails(dateReceived=NOW)
    ),
    "send-status.recipient.known": put("sent.chatItem.outgoing.sendStatus.0.recipientId", 999),
    "send-status.recipient.kind": put("sent.chatItem.outgoing.sendStatus.0.recipientId", CLUB),
    "send-status.status.set": clear("sent.chatItem.outgoing.sendStatus.0.pending"),
    "chat-item.chat.known": put("voice.chatItem.chatId", 999),
    "chat-item.author.chat": put("voice.chatItem.chatId", 2),
    "chat-item.author.release-notes": put("release.chatItem.chatId", 4),
    "chat-item.chat.direct": put("emoji.chatItem.chatId", 4),
    "chat-item.expire-start.duration": put("voice.chatItem.expireStartDate", NOW),
    "chat-item.expiry.started": combine(
        put("voice.chatItem.expiresInMs", 2 * DAY), put("voice.chatItem.incoming.read", True)
    ),
    "chat-item.expiry.soon": put("voice.chatItem.expiresInMs", DAY - 1),
    "chat-item.expiry.takeout": put("voice.chatItem.expiresInMs", 2 * DAY),
    "view-once.takeout": lambda w: w.frames["once"].chatItem.viewOnceMessage.attachment.pointer.CopyFrom(
        w.frames["voice"].chatItem.standardMessage.attachments[0].pointer
    ),
    "chat-item.revisions.kind": lambda w: w.frames["voice"].chatItem.revisions.append(
        backup_pb2.ChatItem.FromString(w.frames["voice"].chatItem.SerializeToString())
    ),
    "revision.author": put("hello.chatItem.revisions.0.authorId", BEN),
    "revision.direction": combine(
        lambda w: (
            w.frames["hello"]
            .chatItem.revisions[0]
            .outgoing.MergeFrom(backup_pb2.ChatItem.OutgoingMessageDetails(dateReceived=NOW))
        ),
        put("hello.chatItem.revisions.0.authorId", ADA),
    ),
    "revision.kind": put("hello.chatItem.revisions.0.directStoryReplyMessage.emoji", "x"),
    "revision.order": lambda w: w.frames["hello"].chatItem.revisions.append(earlier(w)),
    "revision.nested": lambda w: (
        w.frames["hello"]
        .chatItem.revisions[0]
        .revisions.append(
            backup_pb2.ChatItem.FromString(w.frames["hello"].chatItem.revisions[0].SerializeToString())
        )
    ),
    "pin.expiry.set": clear("hello.chatItem.pinDetails.pinExpiresAtTimestamp"),
    "pin.expiry.later": put("hello.chatItem.pinDetails.pinExpiresAtTimestamp", NOW - 1),
    "standard-message.content": clear("release.chatItem.standardMessage.text"),
    "text.long.text": combine(
        clear(f"{SENT}.text"),
        lambda w: (
            w.frames["sent"]
            .chatItem.standardMessage.attachments.add()
            .pointer.CopyFrom(w.frames["sent"].chatItem.standardMessage.longText)
        ),
    ),
    "text.long.body": put(f"{SENT}.text.body", "x" * 2049),
    "text.body.empty": clear(f"{MESSAGE}.text.body"),
    "text.body.length": put(f"{MESSAGE}.text.body", "x" * (128 * 1024 + 1)),
    "body-range.value.set": clear(f"{MESSAGE}.text.bodyRanges.0.style"),
    "body-range.style.none": put(f"{MESSAGE}.text.bodyRanges.0.style", 0),
    "body-range.mention.length": put(f"{MESSAGE}.text.bodyRanges.1.mentionAci", bytes(15)),
    "voice-message.alone": put("voice.chatItem.standardMessage.text.body", "x"),
    "link-preview.url": clear(f"{MESSAGE}.linkPreview.0.url"),
    "quote.author.known": put(f"{SENT}.quote.authorId", 999),
    "quote.author.kind": put(f"{SENT}.quote.authorId", CID),
    "quote.type.known": clear(f"{SENT}.quote.type"),
    "quote.content": combine(clear(f"{SENT}.quote.text"), clear(f"{SENT}.quote.attachments")),
    "quote.text.length": put(f"{SENT}.quote.text.body", "x" * 2049),
    "quote.thumbnail.voice": put(f"{SENT}.quote.attachments.0.thumbnail.flag", 1),
    "reaction.emoji": clear(f"{MESSAGE}.reactions.0.emoji"),
    "reaction.author.known": put(f"{MESSAGE}.reactions.0.authorId", 999),
    "reaction.author.kind": put(f"{MESSAGE}.reactions.0.authorId", CID),
    "reaction.author.unique": put(f"{MESSAGE}.reactions.0.authorId", ADA),
    "attachment.pointer.present": clear(f"{MESSAGE}.attachments.0.pointer"),
    "attachment.client-id.length": put(f"{MESSAGE}.attachments.0.clientUuid", b""),
    "file.locator.present": clear(f"{FILE}.locatorInfo"),
    "file.incremental-mac.pair": clear(f"{FILE}.incrementalMac"),
    "file.incremental-mac.empty": put(f"{FILE}.incrementalMac", b""),
    "locator.transit.pair": clear(f"{PLACE}.transitCdnNumber"),
    "locator.transit.empty": put(f"{PLACE}.transitCdnKey", ""),
    "locator.transit.uploaded": combine(clear(f"{PLACE}.transitCdnNumber"), clear(f"{PLACE}.transitCdnKey")),
    "locator.integrity.set": clear(f"{PLACE}.plaintextHash"),
    "locator.integrity.empty": put(f"{PLACE}.plaintextHash", b""),
    "locator.digest.transit": combine(
        put(f"{PLACE}.encryptedDigest", bytes(32)),
        *(
            clear(f"{PLACE}.{name}")
            for name in (
                "transitCdnNumber",
                "transitCdnKey",
                "transitTierUploadTimestamp",
                "localKey",
                "mediaTierCdnNumber",
            )
        ),
    ),
    "locator.key.set": clear(f"{PLACE}.key"),
    "locator.local-key.hash": combine(
        put(f"{PLACE}.encryptedDigest", bytes(32)), clear(f"{PLACE}.mediaTierCdnNumber")
    ),
    "locator.media-tier.hash": combine(put(f"{PLACE}.encryptedDigest", bytes(32)), clear(f"{PLACE}.localKey")),
    "contact-card.present": clear("card.chatItem.contactMessage.contact"),
    "contact-card.name.empty": clear("card.chatItem.contactMessage.contact.name.givenName"),
    "contact-card.value.empty": clear("card.chatItem.contactMessage.contact.number.0.value"),
    "contact-card.type.known": clear("card.chatItem.contactMessage.contact.email.0.type"),
    "contact-card.address.empty": clear("card.chatItem.contactMessage.contact.address.0.street"),
    "sticker.present": clear("sticker.chatItem.stickerMessage.sticker"),
    "sticker.pack-id.length": put("sticker.chatItem.stickerMessage.sticker.packId", bytes(15)),
    "sticker.pack-key.length": put("sticker.chatItem.stickerMessage.sticker.packKey", b""),
    "sticker.data.present": clear("sticker.chatItem.stickerMessage.sticker.data"),
    "story-reply.reply.set": clear("emoji.chatItem.directStoryReplyMessage.emoji"),
    "story-reply.text.present": clear("reply.chatItem.directStoryReplyMessage.textReply.text"),
    "story-reply.emoji.empty": put("emoji.chatItem.directStoryReplyMessage.emoji", ""),
    "payment.amount.form": put("payment.chatItem.paymentNotification.amountCoin", "1e5"),
    "payment.details.set": clear("payment.chatItem.paymentNotification.transactionDetails.transaction"),
    "payment.identification.one": lambda w: coins(w).keyImages.append(b"image"),
    "gift-badge.presentation": put("badge.chatItem.giftBadge.receiptCredentialPresentation", bytes(160)),
    "gift-badge.failed.empty": put("failed badge.chatItem.giftBadge.receiptCredentialPresentation", b"x"),
    "poll.question.length": put("poll.chatItem.poll.question", "x" * 201),
    "poll.option.length": put("poll.chatItem.poll.options.0.option", "x" * 101),
    "poll.options.count": lambda w: w.frames["poll"].chatItem.poll.options.pop(),
    "poll.vote.voter.known": put("poll.chatItem.poll.options.0.votes.0.voterId", 999),
    "poll.vote.voter.kind": put("poll.chatItem.poll.options.0.votes.0.voterId", CLUB),
    "poll.vote.voter.unique": lambda w: w.frames["poll"].chatItem.poll.options[0].votes.add(voterId=ME),
    "poll.vote.single": put("poll.chatItem.poll.options.0.votes.0.voterId", ADA),
    "poll.chat": combine(put("poll.chatItem.chatId", 5), put("poll.chatItem.authorId", NEWS)),
    "admin-deleted.admin.known": put("deleted by admin.chatItem.adminDeletedMessage.adminId", 999),
    "admin-deleted.admin.kind": put("deleted by admin.chatItem.adminDeletedMessage.adminId", CLUB),
    "admin-deleted.chat": put("deleted by admin.chatItem.chatId", 1),
    "update.set": clear(f"joined.{UPDATE}.simpleUpdate"),
    "update.author": set_simple_update(backup_pb2.SimpleChatUpdate.BLOCKED),
    "update.chat": put("joined.chatItem.chatId", 4),
    "simple-update.type.known": set_simple_update(0),
    "profile-change.names": clear(f"renamed.{UPDATE}.profileChange.newName"),
    "thread-merge.e164.zero": clear(f"merged.{UPDATE}.threadMerge.previousE164"),
    "session-switchover.e164.zero": clear(f"switched.{UPDATE}.sessionSwitchover.e164"),
    "learned-profile.name.set": clear(f"learned.{UPDATE}.learnedProfileChange.username"),
    "poll-terminate.question.length": clear(f"poll ended.{UPDATE}.pollTerminate.question"),
    "pin-message.author.known": put(f"pinned.{UPDATE}.pinMessage.authorId", 999),
    "pin-message.author.kind": put(f"pinned.{UPDATE}.pinMessage.authorId", CLUB),
    "individual-call.type.known": clear(f"call.{UPDATE}.individualCall.type"),
    "individual-call.direction.known": clear(f"call.{UPDATE}.individualCall.direction"),
    "individual-call.state.known": clear(f"call.{UPDATE}.individualCall.state"),
    "group-call.state.known": clear(f"group call.{UPDATE}.groupCall.state"),
    "group-call.caller.known": put(f"group call.{UPDATE}.groupCall.ringerRecipientId", 999),
    "group-call.caller.kind": put(f"group call.{UPDATE}.groupCall.ringerRecipientId", BEN),
    "group-change.updates.present": clear(CHANGES),
    "group-update.set": clear(f"{CHANGES}.0.genericGroupUpdate"),
    "group-update.id.length": put(f"{CHANGES}.1.groupMemberLeftUpdate.aci", bytes(15)),
    "group-update.invitee.id": put(f"{CHANGES}.2.selfInvitedOtherUserToGroupUpdate.inviteeServiceId", bytes(17)),
    "group-update.count.zero": clear(f"{CHANGES}.3.groupUnknownInviteeUpdate.inviteeCount"),
    "group-update.revoked.present": clear(f"{CHANGES}.4.groupInvitationRevokedUpdate.invitees"),
    "group-update.access.level": put(f"{CHANGES}.5.groupMembershipAccessLevelChangeUpdate.accessLevel", 4),
    "group-update.inviter.invitation": clear(f"{CHANGES}.6.groupMemberAddedUpdate.hadOpenInvitation"),
}

# How a rule is asked for, where it is not the usual way.
OPTIONS: dict[str, dict[str, str]] = {
    "schema.field.newer": {"edition": "spec"},
    "call-link.epoch.length": {"edition": "spec"},
    "chat-item.expiry.takeout": {"purpose": "takeout"},
    "view-once.takeout": {"purpose": "takeout"},
    **{
        name: {"profile": "import"}
        for name in (
            "account.username-link.color.known",
            "chat-style.wallpaper.plain",
            "distribution-list.id.random",
            "call-link.restrictions.known",
            "group.access.known",
            "group.access.label-known",
            "body-range.style.none",
        )
    },
}
# What else a break cannot but break.
ALSO: dict[str, set[str]] = {
    "frame.crowded": {"reaction.author.known"},
    "self.present": {"chat-item.author.chat", "chat-item.outgoing.author"},
    "revision.direction": {"chat-item.outgoing.author"},
}


def members(example: ExampleBackup, name: str) -> Any:
    """Return the members of the story list."""
    return example.frames[name].recipient.distributionList.distributionList.memberRecipientIds


def allowed(example: ExampleBackup) -> Any:
    """Return the allowed members of the notification profile."""
    return example.frames["profile"].notificationProfile.allowedMembers


def days(example: ExampleBackup) -> Any:
    """Return the days of the schedule."""
    return example.frames["profile"].notificationProfile.scheduleDaysEnabled


def included(example: ExampleBackup) -> Any:
    """Return the recipients that are included in the chat folder."""
    return example.frames["friends"].chatFolder.includedRecipientIds


def coins(example: ExampleBackup) -> Any:
    """Return the coin identification of a payment."""
    return example.frames["payment"].chatItem.paymentNotification.transactionDetails.transaction.coinIdentification


def earlier(example: ExampleBackup) -> backup_pb2.ChatItem:
    """Copy the first of a message's revisions, sent a second before it."""
    copy = backup_pb2.ChatItem.FromString(example.frames["hello"].chatItem.revisions[0].SerializeToString())
    copy.dateSent -= 1000
    return copy
