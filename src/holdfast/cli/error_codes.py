"""The mapping from errors to exit codes."""

from holdfast.backup.errors import (
    BackupError,
    DifferentAccounts,
    ExportRefused,
    ExtraMissing,
    KeyIncomplete,
    KeyRefused,
    NotInArchive,
    PassphraseMissing,
    PassphraseRefused,
    QueryRefused,
    TargetRefused,
    UnknownChat,
    WrongKey,
    WrongPassphrase,
)
from holdfast.cli.api_client import MalformedResponse
from holdfast.cli.exit_codes import ExitCode
from holdfast.errors import HoldfastError
from holdfast.hosting.errors import DatabaseError, SnapshotDamaged
from holdfast.settings import SettingError

__all__ = ["exit_for"]


def exit_for(error: HoldfastError) -> ExitCode:
    """Return the exit status for an error."""
    if isinstance(error, SettingError | KeyRefused | KeyIncomplete | UnknownChat | QueryRefused):
        return ExitCode.USAGE
    if isinstance(error, PassphraseMissing | PassphraseRefused):
        return ExitCode.USAGE
    if isinstance(error, DifferentAccounts | NotInArchive | ExportRefused | ExtraMissing | TargetRefused):
        return ExitCode.NO
    if isinstance(error, WrongKey | WrongPassphrase):
        return ExitCode.WRONG_KEY
    if isinstance(error, BackupError | DatabaseError | MalformedResponse | SnapshotDamaged):
        return ExitCode.UNREADABLE
    return ExitCode.NO
