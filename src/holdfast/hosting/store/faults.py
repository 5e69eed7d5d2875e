"""Translates errors of the database drivers and the operating system into errors of the host.

Code that uses the database or the disk does not catch such errors. The entry points (API, git over HTTP, web
pages, commands, scheduled tasks) call `translate`. An error it does not know is a bug.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from typing import Final

import pygit2
from sqlalchemy.exc import (
    DBAPIError,
    DisconnectionError,
    NoResultFound,
    PendingRollbackError,
    ResourceClosedError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from holdfast.hosting.errors import (
    AlreadyExists,
    DatabaseError,
    DatabaseUnavailable,
    GitFailed,
    GoneMeanwhile,
    HostingError,
    Refused,
    StorageError,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)

__all__ = ["DRIVER_ERRORS", "is_outage", "translate"]

# Errors of the database and the disk, for code that has to continue after them.
DRIVER_ERRORS: Final = (SQLAlchemyError, sqlite3.Error, DatabaseError, StorageError, OSError)

FULL: Final = "the server has no disk space left"
READ_ONLY: Final = "the server cannot write to its disk"
UNREADABLE: Final = "the server cannot use its disk"
UNANSWERED: Final = "the database does not answer; try again in a moment"
BUSY: Final = "the database is busy; try again in a moment"
DAMAGED: Final = "the database is damaged; `holdfast admin doctor` says more"
NO_MEMORY: Final = "the server has no memory left; try again in a moment"
NO_FOLDER: Final = "the server cannot find its data folder"
# Messages that are safe for clients; others name the database or the folder.
STORAGE_MESSAGES: Final = frozenset({UNREADABLE, NO_MEMORY, NO_FOLDER})
DATABASE_MESSAGES: Final = frozenset({UNANSWERED, BUSY, DAMAGED})
GONE: Final = "the resource was deleted in the meantime"
SAME: Final = "it was created concurrently"
OUT_OF_RANGE: Final = "a value is out of range"

OS_FAULTS: Final[dict[int, tuple[type[StorageError], str]]] = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), (StorageFull, FULL)),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), (StorageReadOnly, READ_ONLY)),
    **dict.fromkeys(
        (
            errno.EIO,
            errno.ESTALE,
            errno.ENODEV,
            errno.ENXIO,
            errno.ENOTCONN,
            errno.ETIMEDOUT,
            errno.EHOSTDOWN,
            errno.EMFILE,
            errno.ENFILE,
            errno.ENOMEM,
            errno.EAGAIN,
            errno.EUCLEAN,
        ),
        (StorageUnavailable, UNREADABLE),
    ),
}
# By the primary result code, the low byte of an extended result code.
SQLITE_FAULTS: Final[dict[int, tuple[type[HostingError], str]]] = {
    sqlite3.SQLITE_FULL: (StorageFull, FULL),
    sqlite3.SQLITE_READONLY: (StorageReadOnly, READ_ONLY),
    sqlite3.SQLITE_PERM: (StorageReadOnly, READ_ONLY),
    sqlite3.SQLITE_AUTH: (StorageReadOnly, READ_ONLY),
    sqlite3.SQLITE_BUSY: (DatabaseUnavailable, BUSY),
    sqlite3.SQLITE_LOCKED: (DatabaseUnavailable, BUSY),
    sqlite3.SQLITE_PROTOCOL: (DatabaseUnavailable, BUSY),
    sqlite3.SQLITE_SCHEMA: (DatabaseUnavailable, BUSY),
    sqlite3.SQLITE_INTERRUPT: (DatabaseUnavailable, BUSY),
    sqlite3.SQLITE_ABORT: (DatabaseUnavailable, BUSY),
    sqlite3.SQLITE_NOMEM: (DatabaseUnavailable, BUSY),
    sqlite3.SQLITE_IOERR: (DatabaseUnavailable, UNANSWERED),
    sqlite3.SQLITE_CANTOPEN: (DatabaseUnavailable, UNANSWERED),
    sqlite3.SQLITE_NOLFS: (StorageFull, FULL),
    sqlite3.SQLITE_CORRUPT: (DatabaseUnavailable, DAMAGED),
    sqlite3.SQLITE_NOTADB: (DatabaseUnavailable, DAMAGED),
}
SQLITE_CONSTRAINTS: Final[dict[int, tuple[type[HostingError], str]]] = {
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: (GoneMeanwhile, GONE),
    sqlite3.SQLITE_CONSTRAINT_UNIQUE: (AlreadyExists, SAME),
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: (AlreadyExists, SAME),
}
# By SQLSTATE or its class, the longest match; `Appendix A. PostgreSQL Error Codes`.
SQLSTATE_FAULTS: Final[dict[str, tuple[type[HostingError], str]]] = {
    "08": (DatabaseUnavailable, UNANSWERED),
    "22": (Refused, OUT_OF_RANGE),
    "23503": (GoneMeanwhile, GONE),
    "23505": (AlreadyExists, SAME),
    "23P01": (AlreadyExists, SAME),
    "25006": (StorageReadOnly, READ_ONLY),
    "25P02": (DatabaseUnavailable, BUSY),
    "25P03": (DatabaseUnavailable, BUSY),
    "28": (DatabaseUnavailable, UNANSWERED),
    "3D000": (DatabaseUnavailable, UNANSWERED),
    "40": (DatabaseUnavailable, BUSY),
    "53": (DatabaseUnavailable, BUSY),
    "53100": (StorageFull, FULL),
    "55": (DatabaseUnavailable, BUSY),
    "57": (DatabaseUnavailable, UNANSWERED),
    "58": (DatabaseUnavailable, UNANSWERED),
    "58P01": (DatabaseUnavailable, DAMAGED),
    "XX001": (DatabaseUnavailable, DAMAGED),
    "XX002": (DatabaseUnavailable, DAMAGED),
}


def translate(error: BaseException) -> HostingError | None:
    """Return the host's error for an exception or one of its causes; None if it has another origin.

    An error of the host names what is taken or gone, a violated constraint does not: only an outage replaces it.
    """
    for link in causes(error):
        hosting_error = translate_one(link)
        if hosting_error is not None:
            is_fault = isinstance(hosting_error, DatabaseError | StorageError)
            return hosting_error if is_fault or not isinstance(error, HostingError) else error
    return None


def is_outage(error: BaseException) -> bool:
    """Return whether an error means that the database or the disk is unavailable at the moment."""
    return isinstance(translate(error), DatabaseError | StorageError)


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and the chain of its causes."""
    link: BaseException | None = error
    for _ in range(20):
        if link is None:
            return
        yield link
        link = link.__cause__


def translate_one(error: BaseException) -> HostingError | None:
    """Translate an error without looking at its causes."""
    if isinstance(error, DatabaseError | StorageError):
        return error
    if isinstance(error, DBAPIError):
        return None if error.orig is None else driver_fault(error.orig)
    if isinstance(error, PoolTimeout):
        return DatabaseUnavailable(BUSY)
    if isinstance(error, DisconnectionError | ResourceClosedError | PendingRollbackError):
        return DatabaseUnavailable(UNANSWERED)
    if isinstance(error, NoResultFound):
        return GoneMeanwhile(GONE)
    if isinstance(error, GitFailed):
        return fault_in_message(error.stderr)
    if isinstance(error, pygit2.GitError):
        return fault_in_message(str(error))
    if isinstance(error, OSError):
        # Except errors of a connection, which are not the server's disk.
        fault = None if isinstance(error, ConnectionError) else OS_FAULTS.get(error.errno or 0)
        return None if fault is None else fault[0](fault[1])
    if isinstance(error, MemoryError):
        return StorageUnavailable(NO_MEMORY)
    return driver_fault(error)


def driver_fault(error: BaseException) -> HostingError | None:
    """Translate an error of sqlite3, or of psycopg, which is detected by name as it is optional."""
    if isinstance(error, sqlite3.Error):
        return sqlite_fault(error)
    if type(error).__module__.partition(".")[0] != "psycopg":
        return None
    names = {kind.__name__ for kind in type(error).__mro__}
    state: str = getattr(error, "sqlstate", None) or ""
    fault = SQLSTATE_FAULTS.get(state) or SQLSTATE_FAULTS.get(state[:2])
    if fault is not None:
        return fault[0](fault[1])
    if "DataError" in names:
        return Refused(OUT_OF_RANGE)
    # Without a code: the connection was lost, or could not be opened.
    return DatabaseUnavailable(UNANSWERED) if names & {"OperationalError", "InterfaceError"} else None


def sqlite_fault(error: sqlite3.Error) -> HostingError | None:
    """Translate an error of sqlite3 by its result code."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Raised by the driver itself: the connection was closed, as during shutdown.
        closed = isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error)
        return DatabaseUnavailable(UNANSWERED) if closed else None
    fault = SQLITE_CONSTRAINTS.get(code) or SQLITE_FAULTS.get(code & 0xFF)
    return None if fault is None else fault[0](fault[1])


def fault_in_message(text: str) -> HostingError | None:
    """Find the message of an operating system error in the output of git or libgit2."""
    for number, (kind, message) in OS_FAULTS.items():
        if os.strerror(number) in text:
            return kind(message)
    return None
