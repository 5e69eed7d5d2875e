"""Translation of driver and operating system errors."""

import errno
import os
import sqlite3
from pathlib import Path

import psycopg
import pygit2
import pytest
import sqlalchemy.exc
from psycopg import errors as psycopg_errors

from holdfast.hosting.errors import (
    AlreadyExists,
    DatabaseUnavailable,
    GitFailed,
    GoneMeanwhile,
    HostingError,
    NoSuchFolder,
    Refused,
    RepositoryTaken,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)
from holdfast.hosting.store.faults import is_outage, translate


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        *[(number, StorageFull) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)],
        *[(number, StorageReadOnly) for number in (errno.EROFS, errno.EACCES, errno.EPERM)],
        *[(number, StorageUnavailable) for number in (errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE)],
    ],
)
def test_an_error_of_the_disk(number: int, kind: type[HostingError]) -> None:
    """An error of the disk is recognized by its errno, or by its message in the output of git and libgit2."""
    text = f"fatal: write error: {os.strerror(number)}"
    for error in (OSError(number, "x"), GitFailed("gc", "failed", text), pygit2.GitError(text)):
        assert type(translate(error)) is kind
        assert is_outage(error)


@pytest.mark.parametrize("error", [FileNotFoundError(2, "x"), BrokenPipeError(32, "x"), ValueError(), KeyError()])
def test_errors_that_may_be_bugs_are_not_translated(error: Exception) -> None:
    """A missing file, a broken pipe and errors of Python are no outages, as they may be bugs."""
    assert translate(error) is None
    assert not is_outage(error)


def sqlite_error(code: int) -> sqlite3.Error:
    """Make an error as the driver does."""
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, StorageFull),
        (sqlite3.SQLITE_READONLY, StorageReadOnly),
        (sqlite3.SQLITE_READONLY_DBMOVED, StorageReadOnly),
        (sqlite3.SQLITE_BUSY, DatabaseUnavailable),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, DatabaseUnavailable),
        (sqlite3.SQLITE_LOCKED, DatabaseUnavailable),
        (sqlite3.SQLITE_IOERR_FSYNC, DatabaseUnavailable),
        (sqlite3.SQLITE_IOERR_WRITE, DatabaseUnavailable),
        (sqlite3.SQLITE_CANTOPEN, DatabaseUnavailable),
        (sqlite3.SQLITE_CORRUPT, DatabaseUnavailable),
        (sqlite3.SQLITE_NOTADB, DatabaseUnavailable),
        (sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY, GoneMeanwhile),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, AlreadyExists),
        (sqlite3.SQLITE_CONSTRAINT_CHECK, type(None)),
        (sqlite3.SQLITE_ERROR, type(None)),
    ],
)
def test_a_result_code_of_sqlite(code: int, kind: type) -> None:
    """A result code of SQLite is translated from the error of the driver and from that of SQLAlchemy."""
    error = sqlite_error(code)
    assert type(translate(error)) is kind
    assert type(translate(sqlalchemy.exc.OperationalError("SELECT", {}, error))) is kind


def test_real_errors_of_sqlite_carry_their_codes(tmp_path: Path) -> None:
    """A full, a read-only, a locked and a closed database of SQLite raise errors that are translated."""
    path = tmp_path / "a.sqlite3"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("CREATE TABLE t (x)")
    connection.execute("PRAGMA max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError) as full:
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    connection.execute("PRAGMA query_only = ON")
    with pytest.raises(sqlite3.OperationalError) as read_only:
        connection.execute("INSERT INTO t VALUES (1)")
    connection.execute("PRAGMA query_only = OFF")
    connection.execute("BEGIN IMMEDIATE")
    other = sqlite3.connect(path, isolation_level=None, timeout=0)
    with pytest.raises(sqlite3.OperationalError) as busy:
        other.execute("BEGIN IMMEDIATE")
    kinds = [type(translate(item.value)) for item in (full, read_only, busy)]
    assert kinds == [StorageFull, StorageReadOnly, DatabaseUnavailable]
    other.close()
    connection.close()
    with pytest.raises(sqlite3.ProgrammingError) as closed:
        connection.execute("SELECT 1")
    assert type(translate(closed.value)) is DatabaseUnavailable


def all_of_psycopg() -> list[type[psycopg.Error]]:
    """List all error classes of psycopg that have an SQLSTATE."""
    results = [value for value in vars(psycopg_errors).values() if isinstance(value, type)]
    return [kind for kind in results if issubclass(kind, psycopg.Error) and kind.sqlstate is not None]


def test_every_operational_error_of_psycopg_is_an_outage() -> None:
    """Every OperationalError of psycopg is an outage, and every DataError is a refused value."""
    kinds = all_of_psycopg()
    assert len(kinds) > 200
    for kind in kinds:
        hosting_error = translate(sqlalchemy.exc.DBAPIError("SELECT", {}, kind("x")))
        if issubclass(kind, psycopg.OperationalError):
            assert is_outage(kind("x")), kind
        elif issubclass(kind, psycopg.DataError):
            assert isinstance(hosting_error, Refused), kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (psycopg.OperationalError("server closed the connection unexpectedly"), DatabaseUnavailable),
        (psycopg.InterfaceError("the connection is closed"), DatabaseUnavailable),
        (psycopg.DataError("PostgreSQL text fields cannot contain NUL"), Refused),
        (psycopg_errors.DiskFull("x"), StorageFull),
        (psycopg_errors.ReadOnlySqlTransaction("x"), StorageReadOnly),
        (psycopg_errors.TooManyConnections("x"), DatabaseUnavailable),
        (psycopg_errors.AdminShutdown("x"), DatabaseUnavailable),
        (psycopg_errors.LockNotAvailable("x"), DatabaseUnavailable),
        (psycopg_errors.ForeignKeyViolation("x"), GoneMeanwhile),
        (psycopg_errors.UniqueViolation("x"), AlreadyExists),
        (psycopg_errors.UndefinedTable("x"), type(None)),
        (psycopg.ProgrammingError("x"), type(None)),
    ],
)
def test_an_error_of_postgresql(error: psycopg.Error, kind: type) -> None:
    """An error of PostgreSQL is translated by its SQLSTATE; one without has lost the connection."""
    assert type(translate(sqlalchemy.exc.DBAPIError("SELECT", {}, error))) is kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (sqlalchemy.exc.TimeoutError("x"), DatabaseUnavailable),
        (sqlalchemy.exc.DisconnectionError("x"), DatabaseUnavailable),
        (sqlalchemy.exc.PendingRollbackError("x"), DatabaseUnavailable),
        (sqlalchemy.exc.ResourceClosedError("x"), DatabaseUnavailable),
        (sqlalchemy.exc.NoResultFound("x"), GoneMeanwhile),
        (sqlalchemy.exc.ArgumentError("x"), type(None)),
        (sqlalchemy.exc.CompileError("x"), type(None)),
        (sqlalchemy.exc.InvalidRequestError("x"), type(None)),
    ],
)
def test_an_error_of_sqlalchemy(error: Exception, kind: type) -> None:
    """Errors of the pool are outages, a missing row is GoneMeanwhile, and other errors are not translated."""
    assert type(translate(error)) is kind


def test_the_cause_of_an_error_is_found() -> None:
    """An error is translated by a cause at any depth, and a cycle of causes ends."""
    outer = NoSuchFolder("x")
    outer.__cause__ = RuntimeError()
    outer.__cause__.__cause__ = OSError(errno.ENOSPC, "x")
    assert type(translate(outer)) is StorageFull
    first, second = RuntimeError(), RuntimeError()
    first.__cause__, second.__cause__ = second, first
    assert translate(first) is None


def test_an_error_of_the_host_keeps_its_type_and_message() -> None:
    """A violated constraint does not replace the error that names what is taken; an outage does."""
    taken = RepositoryTaken("The repository with the same name already exists.")
    taken.__cause__ = sqlite_error(sqlite3.SQLITE_CONSTRAINT_UNIQUE)
    assert translate(taken) is taken
    taken.__cause__ = psycopg_errors.UniqueViolation("x")
    assert translate(taken) is taken
    taken.__cause__ = sqlite_error(sqlite3.SQLITE_FULL)
    assert type(translate(taken)) is StorageFull
