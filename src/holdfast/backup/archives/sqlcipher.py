"""Connections to encrypted archives: SQLCipher behind the interface of the standard library's `sqlite3`.

Needs the extra `encryption`; `archive_file` imports it for encrypted archives. The package `sqlcipher3` is the
module of the standard library built with SQLCipher, with exceptions of its own: they are converted here to those
of `sqlite3`, which the rest of the package catches.
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
    """Return the exception of `sqlite3` with the same name and error code."""
    name = type(error).__name__
    standard_error: sqlite3.Error = (
        getattr(sqlite3, name)(*error.args) if name in ERRORS else sqlite3.Error(*error.args)
    )
    standard_error.sqlite_errorcode = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    standard_error.sqlite_errorname = getattr(error, "sqlite_errorname", "SQLITE_ERROR")
    return standard_error


class EncryptedCursor(dbapi2.Cursor):
    """A cursor that raises the exceptions of `sqlite3`."""

    def execute(self, *arguments: Any) -> Self:  # type: ignore[override]  # passed through
        """Execute a statement."""
        try:
            super().execute(*arguments)
        except dbapi2.Error as error:
            raise as_standard(error) from None
        return self

    def executemany(self, *arguments: Any) -> Self:  # type: ignore[override]  # passed through
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
        """Return all remaining rows."""
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
            # No row equals None, so that this ends after the last one.
            yield from iter(super().__next__, None)
        except dbapi2.Error as error:
            raise as_standard(error) from None


class EncryptedConnection(dbapi2.Connection):
    """A connection that raises the exceptions of `sqlite3`; its own methods create cursors by `cursor()`."""

    def cursor(self, factory: Any = EncryptedCursor) -> Any:
        """Return a cursor."""
        return super().cursor(factory)

    def setlimit(self, category: int, limit: int, /) -> int:  # noqa: ARG002  # the module has no limits to set
        """Return the limit as if it had been set before.

        The limits protect from prepared archives. Every page of an encrypted one is authenticated: whoever can
        prepare one knows its passphrase.
        """
        return limit


def connect(path: Path, key: ArchiveKey | None, *, mode: str, timeout: float) -> sqlite3.Connection:
    """Connect to an encrypted archive, or to an unencrypted database if there is no key.

    The key is verified by the first read, not here. SQLite's temporary data stays in memory.
    """
    try:
        connection = dbapi2.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=timeout,
            check_same_thread=False,
            factory=EncryptedConnection,
        )
        if key is not None:
            # Not by PRAGMA: the text of a statement may be logged.
            connection.set_key(key.literal())
    except dbapi2.Error as error:
        raise as_standard(error) from None
    # It would report damaged pages on standard error; an exception does so.
    connection.execute("PRAGMA cipher_log_level = NONE").fetchall()
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection
