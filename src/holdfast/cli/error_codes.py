"""The mapping from errors to exit codes and messages."""

from holdfast.backup.errors import (
    BackupError,
    DamagedBackup,
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
from holdfast.hosting.errors import DatabaseError, InvalidField, InvalidValue, SnapshotDamaged
from holdfast.settings import SettingError

__all__ = ["exit_for", "message_of"]


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


def message_of(error: HoldfastError) -> str:
    """Return the message of an error; the names of API fields are written as words."""
    if isinstance(error, DamagedBackup) and "--drop" not in str(error):
        return f"{error}; `holdfast backup repair --drop` writes a backup of what can still be read"
    if not isinstance(error, InvalidField | InvalidValue):
        return str(error)
    from holdfast.web.error_messages import message_for  # noqa: PLC0415  # only errors of `holdfast admin` need it

    return message_for(error)
