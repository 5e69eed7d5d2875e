"""Chat backups: a library of its own.

    >>> import holdfast.backup as hb
    >>> hb.info("chats.binproto").counts["chatItem"]
    200

A backup is a header and an ordered stream of frames; each frame contains one record. Frames keep their original
bytes, so a copy is identical to what was read, and memory does not grow with the number of messages.

The names listed here are the public API; the modules are not, and may change. Each name is imported when it is
first used, so that importing the library takes a few milliseconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from holdfast.backup.archives.archive_file import Archive, archive
    from holdfast.backup.archives.encryption import (
        EncryptionChange,
        change_passphrase,
        decrypt_archive,
        encrypt_archive,
    )
    from holdfast.backup.archives.imports import ImportResult
    from holdfast.backup.archives.model import Chat, Message, Person
    from holdfast.backup.archives.query import Filters
    from holdfast.backup.archives.removal import RemovalResult
    from holdfast.backup.archives.search import Hit, Hits
    from holdfast.backup.archives.statistics import Statistics
    from holdfast.backup.backup_reader import Backup, open  # noqa: A004  # backup.open() is what people look for
    from holdfast.backup.compare.crop import CropResult, crop
    from holdfast.backup.compare.diff import ChatDifference, Difference, MessageChange, diff
    from holdfast.backup.compare.field_changes import FieldChange, RecordChange
    from holdfast.backup.compare.merge import MergeResult, merge
    from holdfast.backup.compare.selection import Window
    from holdfast.backup.compare.union import Conflict
    from holdfast.backup.completeness import Completeness, check_completeness
    from holdfast.backup.container.gunzip import GunzipLimits
    from holdfast.backup.container.keyfile import read_keys
    from holdfast.backup.container.material import KeyMaterial
    from holdfast.backup.conversion import Conversion, OutputFormat, convert, write
    from holdfast.backup.datasets.build import DatasetBuild, build_dataset, dataset_batches
    from holdfast.backup.datasets.queries import (
        DatasetFault,
        DatasetHit,
        DatasetStatistics,
        dataset_connection,
        dataset_statistics,
        search_dataset,
        validate_dataset,
    )
    from holdfast.backup.errors import (
        ArchiveBusy,
        ArchiveError,
        ArchiveTooNew,
        AttachmentDamaged,
        AttachmentError,
        AttachmentMismatch,
        AttachmentMissing,
        AttachmentTooShort,
        AttachmentTruncated,
        BackupError,
        DamagedBackup,
        DamagedContainer,
        DifferentAccounts,
        ExportRefused,
        ExtraMissing,
        FolderIncomplete,
        KeyIncomplete,
        KeyRefused,
        LogRefused,
        NotAnArchive,
        NotInArchive,
        OrderBroken,
        OversizedBackup,
        PassphraseMissing,
        PassphraseRefused,
        QueryRefused,
        TargetRefused,
        UnknownChat,
        UnreadableBackup,
        UnsupportedFormat,
        UnwritableBackup,
        WrongKey,
        WrongPassphrase,
    )
    from holdfast.backup.exports.choice import ChatSelection
    from holdfast.backup.exports.dataset import Dataset, dataset
    from holdfast.backup.exports.dispatcher import export
    from holdfast.backup.exports.folder import ExportSummary
    from holdfast.backup.folder_import import Kept, keep
    from holdfast.backup.folder_state import KeptSnapshot
    from holdfast.backup.form_detection import Form
    from holdfast.backup.media import ExtractedAttachment, MediaCheck, extract
    from holdfast.backup.redaction.redacted_copy import Redaction, redact
    from holdfast.backup.repairs.execution import Repair, RepairOptions, plan_repair, repair, undo_repair
    from holdfast.backup.rules.finding import Finding
    from holdfast.backup.rules.rule import Edition, Profile, Purpose, Rule, Severity
    from holdfast.backup.rules.validation import Validation, validate
    from holdfast.backup.rules.validator import Validator
    from holdfast.backup.summary import ChatCount, Header, Info, info
    from holdfast.backup.wire.frames import COMPILED
    from holdfast.backup.wire.stream import Block, Frame, FrameStream, StreamLimits
    from holdfast.backup.writer import BackupWriter

__all__ = [
    "COMPILED",
    "Archive",
    "ArchiveBusy",
    "ArchiveError",
    "ArchiveTooNew",
    "AttachmentDamaged",
    "AttachmentError",
    "AttachmentMismatch",
    "AttachmentMissing",
    "AttachmentTooShort",
    "AttachmentTruncated",
    "Backup",
    "BackupError",
    "BackupWriter",
    "Block",
    "Chat",
    "ChatCount",
    "ChatDifference",
    "ChatSelection",
    "Completeness",
    "Conflict",
    "Conversion",
    "CropResult",
    "DamagedBackup",
    "DamagedContainer",
    "Dataset",
    "DatasetBuild",
    "DatasetFault",
    "DatasetHit",
    "DatasetStatistics",
    "Difference",
    "DifferentAccounts",
    "Edition",
    "EncryptionChange",
    "ExportRefused",
    "ExportSummary",
    "ExtraMissing",
    "ExtractedAttachment",
    "FieldChange",
    "Filters",
    "Finding",
    "FolderIncomplete",
    "Form",
    "Frame",
    "FrameStream",
    "GunzipLimits",
    "Header",
    "Hit",
    "Hits",
    "ImportResult",
    "Info",
    "Kept",
    "KeptSnapshot",
    "KeyIncomplete",
    "KeyMaterial",
    "KeyRefused",
    "LogRefused",
    "MediaCheck",
    "MergeResult",
    "Message",
    "MessageChange",
    "NotAnArchive",
    "NotInArchive",
    "OrderBroken",
    "OutputFormat",
    "OversizedBackup",
    "PassphraseMissing",
    "PassphraseRefused",
    "Person",
    "Profile",
    "Purpose",
    "QueryRefused",
    "RecordChange",
    "Redaction",
    "RemovalResult",
    "Repair",
    "RepairOptions",
    "Rule",
    "Severity",
    "Statistics",
    "StreamLimits",
    "TargetRefused",
    "UnknownChat",
    "UnreadableBackup",
    "UnsupportedFormat",
    "UnwritableBackup",
    "Validation",
    "Validator",
    "Window",
    "WrongKey",
    "WrongPassphrase",
    "archive",
    "build_dataset",
    "change_passphrase",
    "check_completeness",
    "convert",
    "crop",
    "dataset",
    "dataset_batches",
    "dataset_connection",
    "dataset_statistics",
    "decrypt_archive",
    "diff",
    "encrypt_archive",
    "export",
    "extract",
    "info",
    "keep",
    "merge",
    "open",
    "plan_repair",
    "read_keys",
    "redact",
    "repair",
    "search_dataset",
    "undo_repair",
    "validate",
    "validate_dataset",
    "write",
]

# The module that defines each name, below this package.
_MODULES: Final = {
    "ImportResult": "archives.imports",
    "Chat": "archives.model",
    "Message": "archives.model",
    "Person": "archives.model",
    "Archive": "archives.archive_file",
    "archive": "archives.archive_file",
    "EncryptionChange": "archives.encryption",
    "change_passphrase": "archives.encryption",
    "decrypt_archive": "archives.encryption",
    "encrypt_archive": "archives.encryption",
    "Filters": "archives.query",
    "RemovalResult": "archives.removal",
    "Hit": "archives.search",
    "Hits": "archives.search",
    "Statistics": "archives.statistics",
    "Window": "compare.selection",
    "CropResult": "compare.crop",
    "crop": "compare.crop",
    "ChatDifference": "compare.diff",
    "Difference": "compare.diff",
    "MessageChange": "compare.diff",
    "diff": "compare.diff",
    "FieldChange": "compare.field_changes",
    "RecordChange": "compare.field_changes",
    "MergeResult": "compare.merge",
    "merge": "compare.merge",
    "Conflict": "compare.union",
    "Completeness": "completeness",
    "check_completeness": "completeness",
    "GunzipLimits": "container.gunzip",
    "read_keys": "container.keyfile",
    "KeyMaterial": "container.material",
    "Conversion": "conversion",
    "OutputFormat": "conversion",
    "convert": "conversion",
    "write": "conversion",
    "DatasetBuild": "datasets.build",
    "build_dataset": "datasets.build",
    "dataset_batches": "datasets.build",
    "DatasetFault": "datasets.queries",
    "DatasetHit": "datasets.queries",
    "DatasetStatistics": "datasets.queries",
    "dataset_connection": "datasets.queries",
    "dataset_statistics": "datasets.queries",
    "search_dataset": "datasets.queries",
    "validate_dataset": "datasets.queries",
    "ArchiveBusy": "errors",
    "ArchiveError": "errors",
    "ArchiveTooNew": "errors",
    "AttachmentDamaged": "errors",
    "AttachmentError": "errors",
    "AttachmentMismatch": "errors",
    "AttachmentMissing": "errors",
    "AttachmentTooShort": "errors",
    "AttachmentTruncated": "errors",
    "BackupError": "errors",
    "DamagedBackup": "errors",
    "DamagedContainer": "errors",
    "DifferentAccounts": "errors",
    "ExportRefused": "errors",
    "ExtraMissing": "errors",
    "FolderIncomplete": "errors",
    "KeyIncomplete": "errors",
    "KeyRefused": "errors",
    "LogRefused": "errors",
    "NotAnArchive": "errors",
    "NotInArchive": "errors",
    "OrderBroken": "errors",
    "OversizedBackup": "errors",
    "PassphraseMissing": "errors",
    "PassphraseRefused": "errors",
    "QueryRefused": "errors",
    "TargetRefused": "errors",
    "UnknownChat": "errors",
    "UnreadableBackup": "errors",
    "UnsupportedFormat": "errors",
    "UnwritableBackup": "errors",
    "WrongKey": "errors",
    "WrongPassphrase": "errors",
    "ChatSelection": "exports.choice",
    "Dataset": "exports.dataset",
    "dataset": "exports.dataset",
    "export": "exports.dispatcher",
    "ExportSummary": "exports.folder",
    "Kept": "folder_import",
    "keep": "folder_import",
    "KeptSnapshot": "folder_state",
    "ExtractedAttachment": "media",
    "MediaCheck": "media",
    "extract": "media",
    "Backup": "backup_reader",
    "Form": "form_detection",
    "open": "backup_reader",
    "Redaction": "redaction.redacted_copy",
    "redact": "redaction.redacted_copy",
    "Repair": "repairs.execution",
    "RepairOptions": "repairs.execution",
    "plan_repair": "repairs.execution",
    "repair": "repairs.execution",
    "undo_repair": "repairs.execution",
    "Finding": "rules.finding",
    "Edition": "rules.rule",
    "Profile": "rules.rule",
    "Purpose": "rules.rule",
    "Rule": "rules.rule",
    "Severity": "rules.rule",
    "Validation": "rules.validation",
    "validate": "rules.validation",
    "Validator": "rules.validator",
    "ChatCount": "summary",
    "Header": "summary",
    "Info": "summary",
    "info": "summary",
    "COMPILED": "wire.frames",
    "Block": "wire.stream",
    "Frame": "wire.stream",
    "FrameStream": "wire.stream",
    "StreamLimits": "wire.stream",
    "BackupWriter": "writer",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names only, also those that are not imported yet."""
    return sorted(__all__)
