"""The header of a sample, and its account record."""

from holdfast.backup.schema.backup_pb2 import AccountData, BackupInfo
from holdfast_demo.sample.media import Library
from holdfast_demo.sample.people import SamplePerson
from holdfast_demo.sample.seeded_random import SeededRandom
from holdfast_demo.sample.styles import custom_colours, fill_style

__all__ = ["account", "header"]


def header(rng: SeededRandom, backup_time: int) -> BackupInfo:
    """Return the header of the backup."""
    return BackupInfo(
        version=1,
        backupTimeMs=backup_time,
        mediaRootBackupKey=rng.randbytes(32),
        currentAppVersion="Holdfast sample 1",
        firstAppVersion="Holdfast sample 1",
        debugInfo=b"made up",
    )


def account(me: SamplePerson, library: Library, rng: SeededRandom, now: int, *, current: bool) -> AccountData:
    """Return the account record."""
    record = AccountData(
        profileKey=rng.randbytes(32),
        username=me.username,
        givenName=me.given,
        familyName=me.family,
        avatarUrlPath=f"profiles/{rng.getrandbits(64):016x}",
        svrPin="4071",
        bioText="Hiking, choir, tea. Replies slowly <and> in eleven languages.",
        bioEmoji="🥾",
    )
    link = record.usernameLink
    link.entropy = rng.randbytes(32)
    link.serverId = rng.uuid()
    link.color = rng.pick(AccountData.UsernameLink.Color.values()[1:])
    record.donationSubscriberData.subscriberId = rng.randbytes(32)
    record.donationSubscriberData.currencyCode = rng.pick(("EUR", "USD", "JPY"))
    record.donationSubscriberData.manuallyCancelled = True
    record.backupsSubscriberData.subscriberId = rng.randbytes(32)
    if rng.one_in(2):
        record.backupsSubscriberData.purchaseToken = f"sample-{rng.getrandbits(64):016x}"
    else:
        record.backupsSubscriberData.originalTransactionId = rng.getrandbits(48)
    settings(record.accountSettings, rng)
    fill_style(record.accountSettings.defaultChatStyle, rng.below(100), library, rng, now)
    record.platformASpecificSettings.useSystemEmoji = True
    record.platformASpecificSettings.screenshotSecurity = True
    if current:
        later_settings(record, rng)
    return record


def settings(chosen: AccountData.AccountSettings, rng: SeededRandom) -> None:
    """Fill in the settings, with every switch turned on."""
    option = AccountData.AutoDownloadSettings
    chosen.readReceipts = True
    chosen.sealedSenderIndicators = True
    chosen.typingIndicators = True
    chosen.linkPreviews = True
    chosen.notDiscoverableByPhoneNumber = True
    chosen.preferContactAvatars = True
    chosen.universalExpireTimerSeconds = rng.pick((86_400, 604_800, 2_419_200))
    chosen.preferredReactionEmoji.extend(("❤️", "👍", "👎", "😂", "😮", "😢"))
    chosen.displayBadgesOnProfile = True
    chosen.keepMutedChatsArchived = True
    chosen.hasSetMyStoriesPrivacy = True
    chosen.hasViewedOnboardingStory = True
    chosen.storiesDisabled = True
    chosen.storyViewReceiptsEnabled = True
    chosen.hasSeenGroupStoryEducationSheet = True
    chosen.hasCompletedUsernameOnboarding = True
    chosen.phoneNumberSharingMode = rng.pick(AccountData.PhoneNumberSharingMode.values()[1:])
    chosen.customChatColors.extend(custom_colours())
    chosen.optimizeOnDeviceStorage = True
    # 201 is the paid tier; the free one (200) has no media optimization.
    chosen.backupTier = 201
    chosen.defaultSentMediaQuality = rng.pick(AccountData.SentMediaQuality.values()[1:])
    chosen.autoDownloadSettings.images = option.WIFI_AND_CELLULAR
    chosen.autoDownloadSettings.audio = option.WIFI_AND_CELLULAR
    chosen.autoDownloadSettings.video = option.WIFI
    chosen.autoDownloadSettings.documents = option.NEVER
    chosen.screenLockTimeoutMinutes = 15
    chosen.pinReminders = True


def later_settings(record: AccountData, rng: SeededRandom) -> None:
    """Fill in the settings that were added after the specification."""
    chosen = record.accountSettings
    chosen.appTheme = rng.pick(AccountData.AppTheme.values()[1:])
    chosen.callsUseLessDataSetting = rng.pick(AccountData.CallsUseLessDataSetting.values()[1:])
    chosen.allowSealedSenderFromAnyone = True
    chosen.allowAutomaticKeyVerification = True
    chosen.hasSeenAdminDeleteEducationDialog = True
    sizes = AccountData.PlatformASpecificSettings.NavigationBarSize
    record.platformASpecificSettings.navigationBarSize = rng.pick(sizes.values()[1:])
    record.iosSpecificSettings.isSystemCallLogEnabled = True
