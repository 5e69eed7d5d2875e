"""The exit codes of `holdfast`, which are stable."""

from enum import IntEnum

from holdfast.backup.errors import (
    BackupError,
    DifferentAccounts,
    ExportRefused,
    ExtraMissing,
    KeyIncomplete,
    KeyRefused,
    NotInArchive,
    QueryRefused,
    TargetRefused,
    UnknownChat,
    WrongKey,
)
from holdfast.cli.api_client import MalformedResponse
from holdfast.errors import HoldfastError
from holdfast.hosting.errors import DatabaseError, SnapshotDamaged
from holdfast.settings import SettingError

__all__ = ["ExitCode", "exit_for"]


class ExitCode(IntEnum):
    """The exit codes, each with its meaning."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> "ExitCode":
        """Give each member its number and its sentence."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    FINE = 0, "fine"
    NO = 1, "the command worked and the answer is no, or what was asked for cannot be done (a file is in the way)"
    USAGE = 2, "wrong usage: an unknown command or option, a wrong setting, a key that is missing or cannot be one"
    UNREADABLE = 3, "the input cannot be read, or is damaged; a server's answer is malformed or breaks off"
    WRONG_KEY = 4, "the key does not fit the file"
    BUG = 70, "a mistake in Holdfast itself; please report it"
    INTERRUPTED = 130, "stopped with Ctrl-C"


def exit_for(error: HoldfastError) -> ExitCode:
    """Choose the exit status for an error."""
    if isinstance(error, SettingError | KeyRefused | KeyIncomplete | UnknownChat | QueryRefused):
        return ExitCode.USAGE
    if isinstance(error, DifferentAccounts | NotInArchive | ExportRefused | ExtraMissing | TargetRefused):
        return ExitCode.NO
    if isinstance(error, WrongKey):
        return ExitCode.WRONG_KEY
    if isinstance(error, BackupError | DatabaseError | MalformedResponse | SnapshotDamaged):
        return ExitCode.UNREADABLE
    return ExitCode.NO
