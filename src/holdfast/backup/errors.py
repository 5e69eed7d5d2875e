"""The exceptions of the backup library.

BackupError
├── UnreadableBackup          the file cannot be opened, or is not a backup of a supported form
│   ├── FolderIncomplete      a local backup folder lacks a required file
│   └── UnsupportedFormat     the file is known to be something else
├── DamagedBackup             the backup is malformed at a known offset
│   └── DamagedContainer      its encryption, compression or metadata are damaged
├── DamagedRecord             a single record is malformed
├── UnfitJson                 a JSON object is not a valid record
├── OversizedBackup           the backup exceeds the limits on its size
├── UnwritableBackup          the target cannot be written
│   └── TargetRefused         the target exists already, or is the backup it is made from
├── OrderBroken               a frame to be written breaks the ordering rules
├── LogRefused                the change log of a repair is invalid, or of another backup
├── DifferentAccounts         backups of different accounts cannot be merged
├── UnknownChat               no chat, or more than one, has the given name
├── WrongKey                  the key does not fit the file
├── KeyRefused                the given key is invalid or weak
├── KeyIncomplete             the file needs further keys
├── ExportRefused             the folder of an export contains other files, or is being written to
├── ExtraMissing              a required package is not installed
├── ArchiveError              an archive cannot be read or written
│   ├── NotAnArchive          the file is not an archive
│   ├── ArchiveTooNew         it was written by a newer version
│   ├── ArchiveBusy           another process is writing to it
│   ├── PassphraseMissing     it is encrypted, and no passphrase was given
│   ├── PassphraseRefused     the passphrase is not suitable for a new encrypted archive
│   ├── WrongPassphrase       the passphrase does not fit it
│   ├── NotInArchive          a chat, person or message is not in the archive
│   └── QueryRefused          a search query cannot be run
└── AttachmentError           an attachment cannot be read or written
    ├── AttachmentMissing     its file does not exist
    ├── AttachmentTruncated   its file is truncated
    ├── AttachmentDamaged     its file was modified
    ├── AttachmentTooShort    its file is authentic, but its content is shorter than the backup says
    └── AttachmentMismatch    its file is authentic, but its hash is not that in the backup
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
    """The file cannot be opened, or is not a backup of a supported form."""


@public
class FolderIncomplete(UnreadableBackup):
    """A local backup folder lacks a required file; `part` says which."""

    def __init__(self, problem: str, *, part: Part) -> None:
        super().__init__(problem)
        self.part = part


@public
class UnsupportedFormat(UnreadableBackup):
    """The file has another known type; the message names it and says what to do."""


@public
class DamagedBackup(BackupError):
    """The backup is malformed.

    In the plain stream, `frame` is the index of the record (0 is the header), and `offset` the offset of the
    record or its length prefix. Elsewhere `frame` is None, and `offset` counts in the stream that `stream` names,
    in bytes or in the unit `unit`. `rest` has the bytes of a truncated record.
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
    """The encryption, the compression or the metadata are damaged; `part` says which."""

    def __init__(self, problem: str, *, part: Part, offset: int, stream: str = "file") -> None:
        super().__init__(problem, offset=offset, stream=stream)
        self.part = part


class DamagedRecord(BackupError):
    """A single record is malformed; `offset` counts from its first byte."""

    def __init__(self, problem: str, *, offset: int) -> None:
        super().__init__(f"{problem} (byte {offset} of the record)")
        self.problem = problem
        self.offset = offset


class UnfitJson(BackupError):
    """A JSON object is not a valid record.

    `path` is the path of the value, as in `chatItem.revisions[0].dateSent`, empty for the object itself. The
    message never contains the value, which may be private.
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
    """The backup exceeds the limits on its size, as no real backup does."""


@public
class UnwritableBackup(BackupError):
    """The target cannot be written: no such folder, no room, no permission."""


@public
class TargetRefused(UnwritableBackup):
    """The target exists already and may not be replaced, or is the backup it would be made from."""


@public
class OrderBroken(BackupError):
    """A frame to be written breaks the ordering rules; `rule` is the rule, `frame` the index of the frame."""

    def __init__(self, rule: str, problem: str, frame: int) -> None:
        super().__init__(f"{problem} (frame {frame}, rule {rule})")
        self.rule = rule
        self.frame = frame


@public
class LogRefused(BackupError):
    """The change log of a repair is invalid, or belongs to another backup."""


@public
class DifferentAccounts(BackupError):
    """The backups belong to different accounts, and cannot be merged."""


@public
class UnknownChat(BackupError):
    """No chat, or more than one, has the given name."""


@public
class WrongKey(BackupError):
    """The key does not fit the file."""


@public
class KeyRefused(BackupError):
    """The given key is invalid or weak; the message says why without containing it."""


@public
class KeyIncomplete(BackupError):
    """The file needs further keys; `missing` lists their descriptions."""

    def __init__(self, problem: str, *, missing: tuple[str, ...]) -> None:
        super().__init__(problem)
        self.missing = missing


@public
class ExportRefused(BackupError):
    """The folder of an export contains other files, or another process is writing to it."""


@public
class ExtraMissing(BackupError):
    """A required package is not installed; the message names the extra that installs it."""


@public
class ArchiveError(BackupError):
    """An archive cannot be read or written: its file is missing or damaged, or the disk fails."""


@public
class NotAnArchive(ArchiveError):
    """The file is not an archive."""


@public
class ArchiveTooNew(ArchiveError):
    """The archive was written by a newer version of Holdfast."""


@public
class ArchiveBusy(ArchiveError):
    """Another process is writing to the archive."""


@public
class PassphraseMissing(ArchiveError):
    """The archive is encrypted, and no passphrase was given."""


@public
class PassphraseRefused(ArchiveError):
    """The passphrase is too short or too long for a new encrypted archive."""


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
    """An attachment cannot be read or written; the rest of the backup is not affected."""


@public
class AttachmentMissing(AttachmentError):
    """The file of the attachment is not in the content store."""


@public
class AttachmentTruncated(AttachmentError):
    """The file of the attachment is truncated."""


@public
class AttachmentDamaged(AttachmentError):
    """The file of the attachment was modified, or belongs to another key."""


@public
class AttachmentTooShort(AttachmentError):
    """The file of the attachment is authentic, but its content is shorter than the backup says."""


@public
class AttachmentMismatch(AttachmentError):
    """The file of the attachment is authentic, but the hash of its content is not that in the backup."""
