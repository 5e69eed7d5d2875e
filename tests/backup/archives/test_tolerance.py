"""Tolerant reading: defaults of unknown values."""

from collections.abc import Iterator
from typing import Any

from holdfast.backup.archives.tolerance import READ_AS, enum_name
from holdfast.backup.schema import backup_pb2 as pb
from holdfast.backup.wire import tables


def enums_of_the_format() -> dict[str, Any]:
    """Find every enum of the format by its name."""

    def inside(messages: Any) -> Iterator[Any]:
        for message in messages:
            yield from message.enum_types
            yield from inside(message.nested_types)

    described = pb.DESCRIPTOR
    types = [*described.enum_types_by_name.values(), *inside(described.message_types_by_name.values())]
    return {enum.full_name.partition(".backup.")[2]: enum for enum in types}


def test_an_enum_that_has_an_unknown_says_what_it_is_read_as() -> None:
    """Every enum whose value 0 is UNKNOWN or NONE has a default, unless that is a real value."""
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
    """Value 0 and a number that the enum lacks are read as the default; a real value 0 stays."""
    all_enums = enums_of_the_format()
    assert set(DEFAULTS) <= set(all_enums)
    for name, expected in DEFAULTS.items():
        assert (name, enum_name(all_enums[name], 0)) == (name, expected)
        assert (name, enum_name(all_enums[name], 99)) == (name, expected)
    for name, expected in REAL.items():
        assert (name, enum_name(all_enums[name], 0)) == (name, expected)
