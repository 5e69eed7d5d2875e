"""Connections to encrypted archives: SQLCipher behind the interface of the standard library's `sqlite3`.

Needs the extra `encryption`; `archive_file` imports it when an archive is encrypted. The package `sqlcipher3` is
the module of the standard library built with another SQLite, with exceptions of its own: they are raised here as
those of `sqlite3`, which the rest of the package catches.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

from sqlcipher3 import dbapi2

from holdfast.backup.archives.passphrases import ArchiveKey

__all__ = ["EncryptedConnection", "connect"]

ERRORS: Final = (
    "IntegrityError",
    "ProgrammingError",
    "OperationalError",
    "NotSupportedError",
    "InternalError",
    "DataError",
    "DatabaseError",
    "InterfaceError",
)


def as_standard(error: dbapi2.Error) -> sqlite3.Error:
    """Return the exception of `sqlite3` that has the name of one of SQLCipher's module, with its error code."""
    name = type(error).__name__
    standard_error: sqlite3.Error = (
        getattr(sqlite3, name)(*error.args) if name in ERRORS else sqlite3.Error(*error.args)
    )
    standard_error.sqlite_errorcode = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    standard_error.sqlite_errorname = getattr(error, "sqlite_errorname", "SQLITE_ERROR")
    return standard_error


class EncryptedCursor(dbapi2.Cursor):
    """A cursor that raises the exceptions of `sqlite3`."""

    def execute(self, *arguments: Any) -> Self:  # type: ignore[override]  # handed on as they are
        """Execute a statement."""
        try:
            super().execute(*arguments)
        except dbapi2.Error as error:
            raise as_standard(error) from None
        return self

    def executemany(self, *arguments: Any) -> Self:  # type: ignore[override]  # handed on as they are
        """Execute a statement once for each row of parameters."""
        try:
            super().executemany(*arguments)
        except dbapi2.Error as error:
            raise as_standard(error) from None
        return self

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        try:
            return super().fetchone()
        except dbapi2.Error as error:
            raise as_standard(error) from None

    def fetchmany(self, size: int | None = 1) -> list[Any]:
        """Return the next rows."""
        try:
            return super().fetchmany(size)
        except dbapi2.Error as error:
            raise as_standard(error) from None

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        try:
            return super().fetchall()
        except dbapi2.Error as error:
            raise as_standard(error) from None

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except dbapi2.Error as error:
            raise as_standard(error) from None

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]  # a generator costs less than a call for each row
        try:
            # No row equals None, so that this ends with the last one.
            yield from iter(super().__next__, None)
        except dbapi2.Error as error:
            raise as_standard(error) from None


class EncryptedConnection(dbapi2.Connection):
    """A connection that raises the exceptions of `sqlite3`; also its own methods make cursors by `cursor()`."""

    def cursor(self, factory: Any = EncryptedCursor) -> Any:
        """Return a cursor."""
        return super().cursor(factory)

    def setlimit(self, category: int, limit: int, /) -> int:  # noqa: ARG002  # the module has no limits to set
        """Return the limit as if it had been set before.

        The limits protect from an archive that somebody else has prepared. Every page of an encrypted one is
        authenticated: whoever can prepare one knows its passphrase.
        """
        return limit


def connect(place: Path, key: ArchiveKey | None, *, mode: str, timeout: float) -> sqlite3.Connection:
    """Connect to an encrypted archive, or to a database without encryption where there is no key.

    The key is not verified before something is read. Nothing that SQLite sorts or puts aside is written to a disk.
    """
    try:
        connection = dbapi2.connect(
            f"{place.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=timeout,
            check_same_thread=False,
            factory=EncryptedConnection,
        )
        if key is not None:
            # Not by PRAGMA: the text of a statement may end up where statements are logged.
            connection.set_key(key.literal())
    except dbapi2.Error as error:
        raise as_standard(error) from None
    # It would write to the standard error that a page is damaged; an exception says so.
    connection.execute("PRAGMA cipher_log_level = NONE").fetchall()
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection
