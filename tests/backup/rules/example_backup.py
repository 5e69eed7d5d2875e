"""A small valid backup with a record for every rule."""

from collections.abc import Iterable

from google.protobuf.message import Message

from holdfast.backup.rules import Finding, Validator
from holdfast.backup.rules.checks import ADDITIONS
from holdfast.backup.schema import BackupInfo, Frame, backup_pb2
from holdfast.backup.wire.collect import name_of

__all__ = [
    "ADA",
    "BEN",
    "CID",
    "CLUB",
    "DAY",
    "LINK",
    "ME",
    "NEWS",
    "NOW",
    "STORY",
    "ExampleBackup",
    "broken_backup",
    "findings",
    "made_up_receipt",
    "uuid",
    "valid_backup",
]

NOW = 1_750_000_000_000
DAY = 24 * 60 * 60 * 1000
ME, ADA, BEN, CID, CLUB, STORY, CLOSE, LINK, NEWS = range(1, 10)
KEY16, KEY32 = bytes(range(16)), bytes(range(32))


def uuid(number: int) -> bytes:
    """Make up a random-looking UUID."""
    return bytes([number, *range(1, 6), 0x47, 7, 0x88, *range(9, 16)])


def made_up_receipt() -> bytes:
    """Return a receipt of identity points with an empty proof."""
    return bytes(1 + 5 * 32) + (128).to_bytes(8, "little") + bytes(128) + bytes(8 + 8 + 16)


class ExampleBackup:
    """The frames of a backup by name, to be changed before they are checked."""

    def __init__(self) -> None:
        self.header = BackupInfo(version=1, backupTimeMs=NOW, mediaRootBackupKey=KEY32)
        self.frames: dict[str, Frame] = {}
        self.add_account()
        self.add_people()
        self.add_chats()
        self.add_messages()
        self.add_bodies()
        self.add_updates()

    def frame(self, name: str) -> Frame:
        """Begin a frame."""
        self.frames[name] = Frame()
        return self.frames[name]

    def records(self) -> list[bytes]:
        """Serialize its records."""
        return [
            self.header.SerializeToString(),
            *(frame.SerializeToString() for frame in self.frames.values()),
        ]

    def number(self, name: str) -> int:
        """Return the number of a frame."""
        return 1 + list(self.frames).index(name)

    def first(self, *names: str) -> None:
        """Put some frames before all others."""
        self.frames = {name: self.frames[name] for name in (*names, *self.frames)}

    def without_additions(self) -> None:
        """Remove the frames and fields that are newer than the specification."""
        for name in ("deleted by admin", "pinned"):
            del self.frames[name]
        for frame in self.frames.values():
            strip_newer_fields(frame)

    def without_expiring_messages(self) -> None:
        """Take out what disappears, which an export for people must not hold."""
        for name in ("hello", "sent"):
            item = self.frames[name].chatItem
            for message in (item, *item.revisions):
                message.ClearField("expiresInMs")
                message.ClearField("expireStartDate")
        self.frames["once"].chatItem.viewOnceMessage.ClearField("attachment")

    def add_account(self) -> None:
        """Add the account."""
        account = self.frame("account").account
        account.profileKey = KEY32
        account.username = "robin_1.05"
        account.usernameLink.entropy = KEY32
        account.usernameLink.serverId = KEY16
        account.usernameLink.color = account.UsernameLink.BLUE
        account.donationSubscriberData.subscriberId = KEY32
        account.donationSubscriberData.currencyCode = "EUR"
        account.backupsSubscriberData.subscriberId = KEY32
        account.backupsSubscriberData.purchaseToken = "token"
        account.platformASpecificSettings.navigationBarSize = account.PlatformASpecificSettings.NORMAL
        settings = account.accountSettings
        settings.phoneNumberSharingMode = account.NOBODY
        settings.defaultSentMediaQuality = account.HIGH
        settings.appTheme = account.DARK
        settings.callsUseLessDataSetting = account.MOBILE_DATA_ONLY
        for kind in ("images", "audio", "video", "documents"):
            setattr(settings.autoDownloadSettings, kind, account.AutoDownloadSettings.WIFI)
        settings.backupTier = 201
        settings.optimizeOnDeviceStorage = True
        settings.customChatColors.add(id=1, solid=0xFF112233)
        gradient = settings.customChatColors.add(id=2).gradient
        gradient.angle = 90
        gradient.colors.extend([0xFF112233, 0xFF445566])
        gradient.positions.extend([0.0, 1.0])
        settings.defaultChatStyle.customColorId = 2
        settings.defaultChatStyle.wallpaperPreset = backup_pb2.ChatStyle.SOLID_BLUSH

    def add_people(self) -> None:
        """Add everybody."""
        self.frame("me").recipient.id = ME
        self.frames["me"].recipient.self.SetInParent()
        self.frame("news").recipient.id = NEWS
        self.frames["news"].recipient.releaseNotes.SetInParent()
        ada = self.frame("ada").recipient
        ada.id = ADA
        ada.contact.aci = uuid(ADA)
        ada.contact.pni = uuid(100 + ADA)
        ada.contact.e164 = 15555550100
        ada.contact.username = "ada.01"
        ada.contact.profileKey = KEY32
        ada.contact.identityKey = b"\x05" + KEY32
        ada.contact.identityState = backup_pb2.Contact.VERIFIED
        ada.contact.nickname.given = "Ada"
        ada.contact.blocked = True
        ada.contact.blockedAtTimestamp = NOW - DAY
        ada.contact.registered.SetInParent()
        ben = self.frame("ben").recipient
        ben.id = BEN
        ben.contact.e164 = 15555550101
        ben.contact.notRegistered.unregisteredTimestamp = NOW - DAY
        cid = self.frame("cid").recipient
        cid.id = CID
        cid.contact.pni = uuid(100 + CID)
        cid.contact.registered.SetInParent()
        self.add_group()
        story = self.frame("story").recipient
        story.id = STORY
        story.distributionList.distributionId = bytes(16)
        story.distributionList.distributionList.privacyMode = backup_pb2.DistributionList.ALL_EXCEPT
        story.distributionList.distributionList.memberRecipientIds.append(ADA)
        close = self.frame("close").recipient
        close.id = CLOSE
        close.distributionList.distributionId = uuid(CLOSE)
        close.distributionList.distributionList.privacyMode = backup_pb2.DistributionList.ONLY_WITH
        close.distributionList.distributionList.memberRecipientIds.extend([ADA, CID])
        link = self.frame("link").recipient
        link.id = LINK
        link.callLink.rootKey = KEY16
        link.callLink.adminKey = KEY16
        link.callLink.restrictions = backup_pb2.CallLink.NONE
        link.callLink.expirationMs = NOW

    def add_group(self) -> None:
        """Add a group."""
        club = self.frame("club").recipient
        club.id = CLUB
        club.group.masterKey = KEY32
        club.group.blocked = True
        club.group.blockedAtTimestamp = NOW - DAY
        snapshot = club.group.snapshot
        snapshot.title.title = "Club"
        snapshot.description.descriptionText = "A club"
        snapshot.disappearingMessagesTimer.disappearingMessagesDuration = 60
        snapshot.accessControl.attributes = backup_pb2.Group.AccessControl.MEMBER
        snapshot.accessControl.members = backup_pb2.Group.AccessControl.ADMINISTRATOR
        snapshot.accessControl.addFromInviteLink = backup_pb2.Group.AccessControl.ANY
        snapshot.accessControl.memberLabel = backup_pb2.Group.AccessControl.MEMBER
        role = backup_pb2.Group.Member.DEFAULT
        snapshot.members.add(userId=uuid(ADA), role=role, labelEmoji="🎈", labelString="Treasurer")
        invited = snapshot.membersPendingProfileKey.add(addedByUserId=uuid(ADA), timestamp=NOW)
        invited.member.userId = b"\x01" + uuid(100 + CID)
        invited.member.role = role
        snapshot.membersPendingAdminApproval.add(userId=uuid(50), timestamp=NOW)
        snapshot.members_banned.add(userId=b"\x01" + uuid(51), timestamp=NOW)

    def add_chats(self) -> None:
        """Add chats, and what surrounds them."""
        chats = {"with ada": ADA, "with ben": BEN, "notes": ME, "in club": CLUB, "releases": NEWS}
        for number, (name, recipient) in enumerate(chats.items(), 1):
            chat = self.frame(name).chat
            chat.id = number
            chat.recipientId = recipient
        chat = self.frames["with ada"].chat
        chat.pinnedOrder = 0
        chat.expirationTimerMs = 60_000
        chat.expireTimerVersion = 1
        chat.muteUntilMs = (1 << 63) - 1
        chat.style.customColorId = 1
        chat.style.wallpaperPhoto.CopyFrom(sample_picture())
        self.frames["in club"].chat.pinnedOrder = 1
        call = self.frame("call by link").adHocCall
        call.callId, call.recipientId, call.callTimestamp = 1, LINK, NOW
        call.state = call.GENERIC
        pack = self.frame("pack").stickerPack
        pack.packId, pack.packKey = KEY16, KEY32
        profile = self.frame("profile").notificationProfile
        profile.name, profile.emoji, profile.color, profile.createdAtMs = "Work", "💼", 0xFF112233, NOW
        profile.allowedMembers.extend([ADA, CLUB])
        profile.scheduleStartTime, profile.scheduleEndTime = 900, 1759
        profile.scheduleDaysEnabled.extend([profile.MONDAY, profile.TUESDAY])
        profile.id = KEY16
        all_chats = self.frame("all chats").chatFolder
        all_chats.folderType = all_chats.ALL
        all_chats.showMutedChats = all_chats.includeAllIndividualChats = all_chats.includeAllGroupChats = True
        all_chats.id = uuid(60)
        friends = self.frame("friends").chatFolder
        friends.folderType = friends.CUSTOM
        friends.name = "Friends"
        friends.includedRecipientIds.extend([ADA, ME])
        friends.excludedRecipientIds.append(CLUB)
        friends.id = uuid(61)

    def item(self, name: str, chat: int, author: int) -> backup_pb2.ChatItem:
        """Begin a message."""
        item = self.frame(name).chatItem
        item.chatId, item.authorId, item.dateSent = chat, author, NOW
        return item

    def said(self, name: str, chat: int = 1, author: int = ADA) -> backup_pb2.ChatItem:
        """Begin an incoming message."""
        item = self.item(name, chat, author)
        item.incoming.dateReceived = NOW
        return item

    def add_messages(self) -> None:
        """Add ordinary messages."""
        hello = self.said("hello")
        hello.standardMessage.text.body = "Hello"
        hello.standardMessage.text.bodyRanges.add(start=0, length=5, style=backup_pb2.BodyRange.BOLD)
        hello.standardMessage.text.bodyRanges.add(start=0, length=1, mentionAci=uuid(ADA))
        hello.standardMessage.reactions.add(emoji="👍", authorId=ME, sentTimestamp=NOW)
        hello.standardMessage.reactions.add(emoji="👍", authorId=ADA, sentTimestamp=NOW)
        hello.standardMessage.linkPreview.add(url="https://example.org", date=NOW)
        hello.standardMessage.attachments.add(clientUuid=uuid(70)).pointer.CopyFrom(sample_picture())
        hello.expiresInMs, hello.expireStartDate = 2 * DAY, NOW
        hello.pinDetails.pinnedAtTimestamp = NOW
        hello.pinDetails.pinExpiresAtTimestamp = NOW + DAY
        older = backup_pb2.ChatItem.FromString(hello.SerializeToString())
        older.ClearField("pinDetails")
        hello.revisions.append(older)
        sent = self.item("sent", 1, ME)
        sent.outgoing.dateReceived = NOW
        status = sent.outgoing.sendStatus.add(recipientId=ADA, timestamp=NOW)
        status.pending.SetInParent()
        sent.expiresInMs = 2 * DAY
        sent.standardMessage.text.body = "A long story"
        sent.standardMessage.longText.CopyFrom(sample_picture())
        quote = sent.standardMessage.quote
        quote.authorId, quote.targetSentTimestamp, quote.type = ADA, NOW, quote.NORMAL
        quote.text.body = "Hello"
        quote.attachments.add().thumbnail.pointer.CopyFrom(sample_picture())
        voice = self.said("voice").standardMessage.attachments.add()
        voice.flag = voice.VOICE_MESSAGE
        voice.pointer.CopyFrom(sample_picture())
        release_note = self.said("release", 5, NEWS)
        release_note.standardMessage.text.body = "News"

    def add_bodies(self) -> None:
        """Add messages of every other kind."""
        card = self.said("card").contactMessage.contact
        card.name.givenName = "Ben"
        card.number.add(value="1", type=card.Phone.HOME)
        card.email.add(value="b", type=card.Email.HOME)
        card.address.add(street="s", type=card.PostalAddress.HOME)
        sticker = self.said("sticker").stickerMessage.sticker
        sticker.packId, sticker.packKey = KEY16, KEY32
        sticker.data.CopyFrom(sample_picture())
        self.said("once").viewOnceMessage.attachment.pointer.CopyFrom(sample_picture())
        reply = self.said("reply").directStoryReplyMessage.textReply
        reply.text.body = "Nice"
        reply.longText.CopyFrom(sample_picture())
        self.said("emoji").directStoryReplyMessage.emoji = "🎉"
        payment = self.said("payment").paymentNotification
        payment.amountCoin, payment.feeCoin = "1.5", ".01"
        transaction = payment.transactionDetails.transaction
        transaction.timestamp = transaction.blockTimestamp = NOW
        transaction.coinIdentification.publicKey.append(b"key")
        self.said("badge").giftBadge.receiptCredentialPresentation = made_up_receipt()
        failed = self.said("failed badge").giftBadge
        failed.state = failed.FAILED
        poll = self.said("poll", 4).poll
        poll.question = "Where?"
        for text in ("Here", "There"):
            poll.options.add(option=text)
        poll.options[0].votes.add(voterId=ME, voteCount=1)
        poll.options[1].votes.add(voterId=ADA, voteCount=1)
        self.said("deleted by admin", 4).adminDeletedMessage.adminId = ADA

    def update(self, name: str, chat: int = 1, author: int = ADA) -> backup_pb2.ChatUpdateMessage:
        """Begin an update."""
        item = self.item(name, chat, author)
        item.directionless.SetInParent()
        return item.updateMessage

    def add_updates(self) -> None:
        """Add updates."""
        self.update("joined").simpleUpdate.type = backup_pb2.SimpleChatUpdate.JOINED_SERVICE
        profile = self.update("renamed").profileChange
        profile.previousName, profile.newName = "A", "B"
        self.update("merged").threadMerge.previousE164 = 1
        self.update("switched").sessionSwitchover.e164 = 1
        self.update("learned").learnedProfileChange.username = "ada.01"
        ended = self.update("poll ended", 4).pollTerminate
        ended.targetSentTimestamp, ended.question = NOW, "Where?"
        pin = self.update("pinned", 4).pinMessage
        pin.targetSentTimestamp, pin.authorId = NOW, ADA
        call = self.update("call").individualCall
        call.type, call.direction, call.state = call.AUDIO_CALL, call.INCOMING, call.ACCEPTED
        call.startedCallTimestamp = NOW
        group = self.update("group call", 4).groupCall
        group.state, group.startedCallTimestamp, group.endedCallTimestamp = group.JOINED, NOW, NOW
        group.ringerRecipientId, group.startedCallRecipientId = ME, ADA
        updates = self.update("group change", 4).groupChange.updates
        updates.add().genericGroupUpdate.updaterAci = uuid(ADA)
        updates.add().groupMemberLeftUpdate.aci = uuid(ADA)
        updates.add().selfInvitedOtherUserToGroupUpdate.inviteeServiceId = b"\x01" + uuid(CID)
        updates.add().groupUnknownInviteeUpdate.inviteeCount = 2
        updates.add().groupInvitationRevokedUpdate.invitees.add()
        updates.add().groupMembershipAccessLevelChangeUpdate.accessLevel = backup_pb2.GroupV2AccessLevel.MEMBER
        added = updates.add().groupMemberAddedUpdate
        added.newMemberAci, added.hadOpenInvitation, added.inviterAci = uuid(ADA), True, uuid(ADA)


def strip_newer_fields(message: Message) -> None:
    """Clear the fields of a message that are newer than the specification."""
    for field, value in message.ListFields():
        if name_of(field) in ADDITIONS:
            message.ClearField(field.name)
        elif field.message_type is not None:
            for inner in value if field.is_repeated else [value]:
                strip_newer_fields(inner)


def sample_picture() -> backup_pb2.FilePointer:
    """Make up a file."""
    pointer = backup_pb2.FilePointer(contentType="image/png", incrementalMac=KEY32, incrementalMacChunkSize=4)
    locator = pointer.locatorInfo
    locator.key = KEY32
    locator.size = 1
    locator.plaintextHash = KEY32
    locator.transitCdnKey, locator.transitCdnNumber, locator.transitTierUploadTimestamp = "cdn", 3, NOW
    locator.mediaTierCdnNumber = 3
    locator.localKey = KEY32 + KEY32
    return pointer


def findings(records: Iterable[bytes], **options: object) -> list[Finding]:
    """Validate a stream frame by frame."""
    header, *frames = records
    validator = Validator(header, **options)  # type: ignore[arg-type]  # the names are right
    all_findings = [finding for raw in frames for finding in validator.check(raw)]
    return all_findings + validator.finish()


def valid_backup(options: dict[str, str]) -> ExampleBackup:
    """Make a backup that is valid under the options of a validation: its edition and purpose."""
    example = ExampleBackup()
    if options.get("edition") == "spec":
        example.without_additions()
    if options.get("purpose") == "takeout":
        example.without_expiring_messages()
    return example


def broken_backup() -> list[bytes]:
    """Return a backup with a few faults: some can be repaired, one must be dropped."""
    example = ExampleBackup()
    example.frames["ada"].recipient.contact.ClearField("registered")
    example.frames["all chats"].chatFolder.showMutedChats = False
    example.frames["hello"].chatItem.standardMessage.reactions[0].authorId = 99
    return example.records()
