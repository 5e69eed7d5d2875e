"""Tolerant reading: defaults of unknown values."""

from holdfast.backup.archives.tolerance import READ_AS, enum_name
from holdfast.backup.wire import tables
from tests.backup.archives.test_sentences import enums


def test_an_enum_that_has_an_unknown_says_what_it_is_read_as() -> None:
    """Every value 0 called UNKNOWN or NONE has its default, but for the two that are real values."""
    real = {"SendStatus.Failed.FailureReason", "CallLink.Restrictions.NONE", "MessageAttachment.Flag"}
    for enum in tables.ENUMS:
        zero, short = enum.values_by_number[0].name, enum.full_name.partition(".backup.")[2]
        if zero.startswith("UNKNOWN") or zero == "NONE":
            assert short in READ_AS or short in real, short


# Typed from parts 2 and 7 of the specification and part 1.1 of the contract, not from the code.
DEFAULTS = {
    "AccountData.PhoneNumberSharingMode": "NOBODY",
    "AccountData.UsernameLink.Color": "BLUE",
    "AccountData.SentMediaQuality": "STANDARD",
    "AccountData.AutoDownloadSettings.AutoDownloadOption": "NEVER",
    "AccountData.AppTheme": "SYSTEM",
    "AccountData.CallsUseLessDataSetting": "NEVER",
    "AccountData.PlatformASpecificSettings.NavigationBarSize": "NORMAL",
    "Group.Member.Role": "DEFAULT",
    "Group.AccessControl.AccessRequired": "UNSATISFIABLE",
    "CallLink.Restrictions": "ADMIN_APPROVAL",
    "DistributionList.PrivacyMode": "ONLY_WITH",
    "AdHocCall.State": "GENERIC",
    "Quote.Type": "NORMAL",
    "ContactAttachment.Phone.Type": "HOME",
    "ContactAttachment.Email.Type": "HOME",
    "ContactAttachment.PostalAddress.Type": "HOME",
    "IndividualCall.Type": "AUDIO_CALL",
    "IndividualCall.Direction": "INCOMING",
    "IndividualCall.State": "ACCEPTED",
    "GroupCall.State": "GENERIC",
    "GroupV2AccessLevel": "UNSATISFIABLE",
    "NotificationProfile.DayOfWeek": "MONDAY",
    "ChatFolder.FolderType": "CUSTOM",
    "ChatStyle.WallpaperPreset": "",
    "ChatStyle.BubbleColorPreset": "",
    "SimpleChatUpdate.Type": "",
    "BodyRange.Style": "",
}


# Those whose value 0 is a real one.
REAL = {
    "AvatarColor": "A100",
    "Contact.IdentityState": "DEFAULT",
    "Contact.Visibility": "VISIBLE",
    "Group.StorySendMode": "DEFAULT",
    "GiftBadge.State": "UNOPENED",
    "MessageAttachment.Flag": "NONE",
    "SendStatus.Failed.FailureReason": "UNKNOWN",
}


def test_every_default_is_read_as_the_format_says() -> None:
    """Value 0, and any number the enum does not have; a value 0 that is real stays."""
    all_enums = enums()
    assert set(DEFAULTS) <= set(all_enums)
    for name, expected in DEFAULTS.items():
        assert (name, enum_name(all_enums[name], 0)) == (name, expected)
        assert (name, enum_name(all_enums[name], 99)) == (name, expected)
    for name, expected in REAL.items():
        assert (name, enum_name(all_enums[name], 0)) == (name, expected)
