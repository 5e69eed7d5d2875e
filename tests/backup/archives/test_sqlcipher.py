"""Connections to encrypted archives behave like those of the standard library."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.backup.archives.passphrases import derive_key, make_key
from tests.backup.archives.histories import PASSPHRASE

sqlcipher = pytest.importorskip("holdfast.backup.archives.sqlcipher", exc_type=ImportError)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Connect to a new database with rows."""
    opened = sqlcipher.connect(tmp_path / "a.db", make_key(PASSPHRASE), mode="rwc", timeout=0.1)
    opened.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
    opened.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(10)])
    yield opened
    opened.close()


def test_rows_are_read_in_every_way(connection: sqlite3.Connection) -> None:
    """Rows can be fetched one by one, in groups, all at once and in a loop that is interrupted."""
    rows = connection.execute("SELECT n FROM numbers ORDER BY n")
    assert rows.fetchone() == (0,)
    assert rows.fetchmany(2) == [(1,), (2,)]
    assert next(rows) == (3,)
    for row in rows:
        assert row == (4,)
        break
    assert list(rows) == [(n,) for n in range(5, 10)]
    assert rows.fetchall() == []
    assert rows.fetchone() is None
    with pytest.raises(StopIteration):
        next(rows)


def test_errors_are_those_of_the_standard_library(connection: sqlite3.Connection) -> None:
    """Every method raises the exceptions of `sqlite3` with their codes, as only these are caught elsewhere."""
    with pytest.raises(sqlite3.OperationalError, match="no such table") as unknown:
        connection.execute("SELECT * FROM missing")
    assert unknown.value.sqlite_errorcode == sqlite3.SQLITE_ERROR
    with pytest.raises(sqlite3.IntegrityError) as error:
        connection.executemany("INSERT INTO numbers VALUES (?)", [(1,)])
    assert error.value.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CONSTRAINT
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT ?", ())
    failing = "SELECT CASE WHEN n > 3 THEN json(n || '}') END FROM numbers ORDER BY n"
    for read in (list, lambda rows: rows.fetchall(), lambda rows: rows.fetchmany(9), read_one_by_one, fetch_next):
        with pytest.raises(sqlite3.OperationalError, match="malformed JSON"):
            read(connection.execute(failing))


def test_a_cursor_returns_itself(connection: sqlite3.Connection) -> None:
    """Statements can be chained because `execute` returns the cursor, and another thread may run them."""
    cursor = connection.cursor()
    assert cursor.execute("SELECT 1") is cursor
    assert cursor.executemany("INSERT INTO numbers VALUES (?)", [(11,), (12,)]) is cursor
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(lambda: connection.execute("SELECT max(n) FROM numbers").fetchall())
        assert found.result() == [(12,)]
    assert connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000) == 1000


def read_one_by_one(rows: sqlite3.Cursor) -> None:
    """Fetch row after row."""
    while rows.fetchone() is not None:
        pass


def fetch_next(rows: sqlite3.Cursor) -> None:
    """Fetch all rows with `next`."""
    while next(rows, None) is not None:
        pass


def test_another_writer_and_a_missing_file_are_told_by_their_codes(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    """The error codes are SQLITE_BUSY and SQLITE_CANTOPEN; the former decides about `ArchiveBusy`."""
    connection.execute("BEGIN IMMEDIATE")
    salt = (tmp_path / "a.db").read_bytes()[:16]
    other = sqlcipher.connect(tmp_path / "a.db", derive_key(PASSPHRASE, salt), mode="rw", timeout=0.1)
    with pytest.raises(sqlite3.OperationalError, match="locked") as busy:
        other.execute("BEGIN IMMEDIATE")
    assert busy.value.sqlite_errorcode == sqlite3.SQLITE_BUSY
    other.close()
    with pytest.raises(sqlite3.OperationalError) as missing:
        sqlcipher.connect(tmp_path / "none.db", make_key(PASSPHRASE), mode="ro", timeout=0.1)
    assert missing.value.sqlite_errorcode == sqlite3.SQLITE_CANTOPEN


def test_nothing_is_put_aside_in_files(connection: sqlite3.Connection) -> None:
    """The setting `temp_store` keeps sorting and temporary tables in memory."""
    assert str(connection.execute("PRAGMA temp_store").fetchone()[0]) == "2"


def test_damage_is_said_by_an_exception_and_nowhere_else(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A damaged page raises an exception, and SQLCipher writes nothing to standard error."""
    key = make_key(PASSPHRASE)
    path = tmp_path / "d.db"
    first = sqlcipher.connect(path, key, mode="rwc", timeout=1)
    first.execute("CREATE TABLE t (a)")
    first.close()
    content = bytearray(path.read_bytes())
    content[4096 + 50] ^= 1
    path.write_bytes(content)
    second = sqlcipher.connect(path, key, mode="rw", timeout=1)
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        second.execute("SELECT * FROM t").fetchall()
    second.close()
    assert capfd.readouterr() == ("", "")
