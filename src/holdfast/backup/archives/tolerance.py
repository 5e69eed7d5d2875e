"""Tolerant reading: records what was skipped and what was replaced by a default.

The rules are parts 2 and 7 of the format. An unknown enum value, as a later version may write, is read like
UNKNOWN.
"""

from collections import Counter
from typing import Any, Final, Literal

from google.protobuf.message import Message

__all__ = ["READ_AS", "Action", "Notes", "enum_name"]

Action = Literal["skipped", "defaulted"]

# The defaults for value 0 of enums; for an enum that is not listed, 0 is a real value.
READ_AS: Final = {
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


class Notes:
    """Counts of what was skipped and defaulted while reading one backup; `frame` is the current frame."""

    def __init__(self) -> None:
        self.frame = 0
        self.record = ""
        self.counts: Counter[tuple[int, str, Action, str]] = Counter()

    def set_frame(self, frame: int, record: str) -> None:
        """Set the current frame."""
        self.frame = frame
        self.record = record

    def skip(self, reason: str) -> None:
        """Record something that was skipped."""
        self.counts[self.frame, self.record, "skipped", reason] += 1

    def default(self, reason: str) -> None:
        """Record a default that was used."""
        self.counts[self.frame, self.record, "defaulted", reason] += 1

    def enum(self, message: Message, field: str) -> str:
        """Return the name of an enum field's value, after defaults; empty if it means not set."""
        descriptor = message.DESCRIPTOR.fields_by_name[field].enum_type
        assert descriptor is not None  # noqa: S101  # called with enum fields only
        return self.value(descriptor, getattr(message, field), f"{message.DESCRIPTOR.name}.{field}")

    def value(self, descriptor: Any, number: int, where: str) -> str:
        """Return the name of an enum value, after defaults."""
        name = descriptor.full_name.partition(".backup.")[2] or descriptor.full_name
        value = descriptor.values_by_number.get(number)
        if value is not None and (number or name not in READ_AS):
            return str(value.name)
        default = READ_AS.get(name, descriptor.values_by_number[0].name)
        self.default(f"{where} {value.name if value else number} read as {default or 'not set'}")
        return str(default)


def enum_name(descriptor: Any, number: int) -> str:
    """Return the name of an enum value, after defaults, without recording anything."""
    return Notes().value(descriptor, number, "")
