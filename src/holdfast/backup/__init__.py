"""Chat backups: a library of its own.

    >>> from holdfast import backup
    >>> backup.info("signal.binproto").counts["chatItem"]
    1042

A backup is a header and an ordered stream of frames; each frame holds one record. Raw bytes stay with the frame,
so what is written back is what was read, and memory does not grow with the number of messages.
"""

from holdfast.backup.completeness import Completeness, check_completeness
from holdfast.backup.container import GunzipLimits, KeyMaterial
from holdfast.backup.container.keyfile import read_keys
from holdfast.backup.errors import BackupError, DamagedBackup, KeyIncomplete, UnreadableBackup, WrongKey
from holdfast.backup.media import extract
from holdfast.backup.opening import Backup, Form, open  # noqa: A004  # backup.open() is what people look for
from holdfast.backup.redaction.copying import Redaction, redact
from holdfast.backup.repairing.mending import Repair, Wanted, plan_repair, repair, undo_repair
from holdfast.backup.rules import Finding, Rule, Severity, ValidationRun, Validator, start_validation, validate
from holdfast.backup.summary import Header, Info, info
from holdfast.backup.wire import COMPILED, Block, Frame, FrameStream, Limits

__all__ = [
    "COMPILED",
    "Backup",
    "BackupError",
    "Block",
    "Completeness",
    "DamagedBackup",
    "Finding",
    "Form",
    "Frame",
    "FrameStream",
    "GunzipLimits",
    "Header",
    "Info",
    "KeyIncomplete",
    "KeyMaterial",
    "Limits",
    "Redaction",
    "Repair",
    "Rule",
    "Severity",
    "UnreadableBackup",
    "ValidationRun",
    "Validator",
    "Wanted",
    "WrongKey",
    "check_completeness",
    "extract",
    "info",
    "open",
    "plan_repair",
    "read_keys",
    "redact",
    "repair",
    "start_validation",
    "undo_repair",
    "validate",
]
