"""What can go wrong with a chat backup.

BackupError
├── UnreadableBackup          the file cannot be opened, or is not a backup in any form we know
│   ├── FolderIncomplete      a local backup folder lacks a file without which it cannot be opened
│   └── UnsupportedFormat     the file is known to be something else
├── DamagedBackup             it is a backup, but its bytes break the format at a known place
│   └── DamagedContainer      what is around the stream is damaged: encryption, compression, metadata
├── DamagedRecord             the bytes of one record, on its own, break the format
├── UnfitJson                 a JSON object does not describe a record of the format
├── OversizedBackup           it opens to more than is allowed
├── UnwritableBackup          the target cannot be written
│   └── TargetRefused         the target exists already, or is the backup it is made from
├── OrderBroken               a frame was written against the ordering rules
├── LogRefused                the change log of a repair is none, or not of this backup
├── DifferentAccounts         backups of two accounts cannot be made one
├── UnknownChat               no chat, or more than one, goes by the name that was given
├── WrongKey                  the key does not fit the file
├── KeyRefused                what was given as a key cannot be one
├── KeyIncomplete             this file needs more than the keys that were given
├── ExportRefused             the folder of an export holds something else, or is being written to
├── ExtraMissing              this needs a package that is not installed
├── ArchiveError              an archive cannot be read or written
│   ├── NotAnArchive          the file is something else
│   ├── ArchiveTooNew         a later version has written it
│   ├── ArchiveBusy           somebody else is writing to it
│   ├── PassphraseMissing     it is encrypted, and no passphrase was given
│   ├── PassphraseRefused     what was given cannot be the passphrase of a new encrypted archive
│   ├── WrongPassphrase       the passphrase does not fit it
│   ├── NotInArchive          a chat, person or message is not in the archive
│   └── QueryRefused          a search query cannot be run
└── AttachmentError           an attachment cannot be read or written
    ├── AttachmentMissing     its file is not there
    ├── AttachmentTruncated   its file is cut short
    ├── AttachmentDamaged     its file was changed since it was written
    ├── AttachmentTooShort    its file is whole, but holds less than the backup says
    └── AttachmentMismatch    its file is whole, but is not the one the backup means
"""

from typing import Final

from holdfast.backup.parts import Part
from holdfast.backup.public import public
from holdfast.errors import HoldfastError

__all__ = [
    "ArchiveBusy",
    "ArchiveError",
    "ArchiveTooNew",
    "AttachmentDamaged",
    "AttachmentError",
    "AttachmentMismatch",
    "AttachmentMissing",
    "AttachmentTooShort",
    "AttachmentTruncated",
    "BackupError",
    "DamagedBackup",
    "DamagedContainer",
    "DamagedRecord",
    "DifferentAccounts",
    "ExportRefused",
    "ExtraMissing",
    "FolderIncomplete",
    "KeyIncomplete",
    "KeyRefused",
    "LogRefused",
    "NotAnArchive",
    "NotInArchive",
    "OrderBroken",
    "OversizedBackup",
    "PassphraseMissing",
    "PassphraseRefused",
    "QueryRefused",
    "TargetRefused",
    "UnfitJson",
    "UnknownChat",
    "UnreadableBackup",
    "UnsupportedFormat",
    "UnwritableBackup",
    "WrongKey",
    "WrongPassphrase",
]


LONGEST_PATH: Final = 120


@public
class BackupError(HoldfastError):
    """A chat backup cannot be read or written."""


@public
class UnreadableBackup(BackupError):
    """The file cannot be opened, or it is not a backup in any form we know."""


@public
class FolderIncomplete(UnreadableBackup):
    """A local backup folder lacks a file without which it cannot be opened; `part` says which."""

    def __init__(self, problem: str, *, part: Part) -> None:
        super().__init__(problem)
        self.part = part


@public
class UnsupportedFormat(UnreadableBackup):
    """The file is known to be something else than a chat backup; the message says what, and what to do."""


@public
class DamagedBackup(BackupError):
    """The bytes break the format.

    Inside the plain stream `frame` counts from 0, which is the header, and `offset` is the byte of that stream
    where the record or its length begins. Damage outside of it has no frame; `offset` then counts in what
    `stream` names: bytes, or what else `unit` says. `rest` is what there is of a record that is cut off.
    """

    def __init__(
        self,
        problem: str,
        *,
        offset: int,
        frame: int | None = None,
        stream: str = "file",
        unit: str = "byte",
        rest: bytes = b"",
    ) -> None:
        place = f"{unit} {offset} of the {stream}" if frame is None else f"frame {frame}, byte {offset}"
        super().__init__(f"{problem} ({place})")
        self.problem = problem
        self.frame = frame
        self.offset = offset
        self.stream = stream if frame is None else "plain stream"
        self.unit = unit
        self.rest = rest


@public
class DamagedContainer(DamagedBackup):
    """What is around the stream is damaged; `part` says what."""

    def __init__(self, problem: str, *, part: Part, offset: int, stream: str = "file") -> None:
        super().__init__(problem, offset=offset, stream=stream)
        self.part = part


class DamagedRecord(BackupError):
    """The bytes of one record break the format; `offset` counts from its first byte."""

    def __init__(self, problem: str, *, offset: int) -> None:
        super().__init__(f"{problem} (byte {offset} of the record)")
        self.problem = problem
        self.offset = offset


class UnfitJson(BackupError):
    """A JSON object does not describe a record of the format.

    `path` leads to the place, as in `chatItem.revisions[0].dateSent`, and is empty for the object itself. What
    stands there is never part of the message: it may be what somebody wrote.
    """

    def __init__(self, problem: str, *, path: str) -> None:
        # Keys are names of the format, or anything that stands in their place.
        place = (
            path if len(path) <= LONGEST_PATH else f"{path[: LONGEST_PATH // 2]}...{path[-LONGEST_PATH // 2 :]}"
        )
        place = "".join(sign if sign.isprintable() else "?" for sign in place)
        super().__init__(f"{place or 'the object'} {problem}")
        self.problem = problem
        self.path = path


@public
class OversizedBackup(BackupError):
    """The file opens to more than is allowed, which honest backups do not."""


@public
class UnwritableBackup(BackupError):
    """The target cannot be written: no such folder, no room, no permission."""


@public
class TargetRefused(UnwritableBackup):
    """The target exists already and may not be replaced, or is the backup it would be made from."""


@public
class OrderBroken(BackupError):
    """A frame was written against the ordering rules; `rule` names the rule, `frame` the frame."""

    def __init__(self, rule: str, problem: str, frame: int) -> None:
        super().__init__(f"{problem} (frame {frame}, rule {rule})")
        self.rule = rule
        self.frame = frame


@public
class LogRefused(BackupError):
    """The change log of a repair cannot be read, or does not belong to the backup it was given with."""


@public
class DifferentAccounts(BackupError):
    """The backups belong to two accounts, and cannot be made one."""


@public
class UnknownChat(BackupError):
    """No chat goes by the name that was given, or more than one does."""


@public
class WrongKey(BackupError):
    """The key does not fit the file."""


@public
class KeyRefused(BackupError):
    """What was given as a key cannot be one; the message says why without repeating it."""


@public
class KeyIncomplete(BackupError):
    """This file needs more than the keys that were given; `missing` lists what, in words."""

    def __init__(self, problem: str, *, missing: tuple[str, ...]) -> None:
        super().__init__(problem)
        self.missing = missing


@public
class ExportRefused(BackupError):
    """The folder of an export holds something else, or somebody is writing to it."""


@public
class ExtraMissing(BackupError):
    """A package that this needs is not installed; the message names the extra that has it."""


@public
class ArchiveError(BackupError):
    """An archive cannot be read or written: its file is missing or damaged, or the disk fails."""


@public
class NotAnArchive(ArchiveError):
    """The file is something else than an archive."""


@public
class ArchiveTooNew(ArchiveError):
    """A later version of Holdfast has written the archive."""


@public
class ArchiveBusy(ArchiveError):
    """Somebody else is writing to the archive."""


@public
class PassphraseMissing(ArchiveError):
    """The archive is encrypted, and no passphrase was given."""


@public
class PassphraseRefused(ArchiveError):
    """What was given cannot be the passphrase of a new encrypted archive: it is too short or too long."""


@public
class WrongPassphrase(ArchiveError):
    """The passphrase does not fit the archive."""


@public
class NotInArchive(ArchiveError):
    """A chat, person or message is not in the archive."""


@public
class QueryRefused(ArchiveError):
    """A search query cannot be run; the message says what to write instead."""


@public
class AttachmentError(BackupError):
    """An attachment cannot be read or written; the rest of the backup is not touched by that."""


@public
class AttachmentMissing(AttachmentError):
    """The attachment's file is not in the content store."""


@public
class AttachmentTruncated(AttachmentError):
    """The attachment's file is cut short."""


@public
class AttachmentDamaged(AttachmentError):
    """The attachment's file was changed since it was written, or belongs to another key."""


@public
class AttachmentTooShort(AttachmentError):
    """The attachment's file is whole, but holds fewer bytes than the backup says."""


@public
class AttachmentMismatch(AttachmentError):
    """The attachment's file is whole, but its content is not the one the backup means."""
