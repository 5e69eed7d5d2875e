"""How a reader forgives: what is skipped, what is read as something else, and a list of both.

The rules are parts 2 and 7 of the format. A value an enum does not have, as a later version may write, is read
like its UNKNOWN.
"""

from collections import Counter
from typing import Any, Final, Literal

from google.protobuf.message import Message

__all__ = ["READ_AS", "Action", "Notes", "enum_name"]

Action = Literal["skipped", "defaulted"]

# What value 0 of an enum is read as; an enum that is not here has a value 0 that is real.
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
    """What was skipped and defaulted while one backup was read; `frame` is the frame being read."""

    def __init__(self) -> None:
        self.frame = 0
        self.record = ""
        self.counts: Counter[tuple[int, str, Action, str]] = Counter()

    def set_frame(self, frame: int, record: str) -> None:
        """Say which frame is read now."""
        self.frame = frame
        self.record = record

    def skip(self, reason: str) -> None:
        """Note something that was left out."""
        self.counts[self.frame, self.record, "skipped", reason] += 1

    def default(self, reason: str) -> None:
        """Note something that was read as something else."""
        self.counts[self.frame, self.record, "defaulted", reason] += 1

    def enum(self, message: Message, field: str) -> str:
        """Name the value of an enum field as it is read; empty when it means nothing is set."""
        descriptor = message.DESCRIPTOR.fields_by_name[field].enum_type
        assert descriptor is not None  # noqa: S101  # called with enum fields only
        return self.value(descriptor, getattr(message, field), f"{message.DESCRIPTOR.name}.{field}")

    def value(self, descriptor: Any, number: int, where: str) -> str:
        """Name one value of an enum as it is read."""
        name = descriptor.full_name.partition(".backup.")[2] or descriptor.full_name
        value = descriptor.values_by_number.get(number)
        if value is not None and (number or name not in READ_AS):
            return str(value.name)
        default = READ_AS.get(name, descriptor.values_by_number[0].name)
        self.default(f"{where} {value.name if value else number} read as {default or 'not set'}")
        return str(default)


def enum_name(descriptor: Any, number: int) -> str:
    """Name the value of an enum without noting anything."""
    return Notes().value(descriptor, number, "")
