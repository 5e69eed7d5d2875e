"""Encrypted archives on disk, with a key that only one browser has."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.errors import ArchiveError
from holdfast.secret import Secret
from holdfast.web.chats import encryption
from holdfast.web.chats.encryption import key_for, open_sealed, seal

SECRET = Secret("of one browser")
WORDS = "words that nobody else may read"


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Seal a database of several pieces."""
    path = tmp_path_factory.mktemp("sealed") / "sealed"
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (x TEXT)")
    connection.executemany("INSERT INTO t VALUES (?)", [(f"{WORDS} {n}" * 20,) for n in range(4000)])
    connection.commit()
    seal(connection, path, key_for(SECRET, "content"))
    connection.close()
    return path.read_bytes()


def test_encrypted_content_round_trips_and_is_read_only(sealed: bytes, tmp_path: Path) -> None:
    """The same key opens the database, which refuses to be written to."""
    assert len(sealed) > 2 * encryption.PIECE
    (tmp_path / "sealed").write_bytes(sealed)
    connection = open_sealed(tmp_path / "sealed", key_for(SECRET, "content"))
    rows = connection.execute("SELECT x FROM t ORDER BY rowid").fetchall()
    assert rows == [(f"{WORDS} {n}" * 20,) for n in range(4000)]
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM t")
    connection.close()


def test_encrypted_content_cannot_be_read_without_the_key(sealed: bytes, tmp_path: Path) -> None:
    """A key of another browser or for another conversation is refused, and no plain text is in the file."""
    assert WORDS.encode() not in sealed
    assert b"SQLite" not in sealed
    (tmp_path / "sealed").write_bytes(sealed)
    for key in (key_for(Secret("of another"), "content"), key_for(SECRET, "another")):
        with pytest.raises(ArchiveError):
            open_sealed(tmp_path / "sealed", key)


@settings(max_examples=25, deadline=None)
@given(place=st.integers(0, 2**32), what=st.sampled_from(["change", "cut", "swap", "add"]))
def test_every_change_is_detected(
    sealed: bytes, tmp_path_factory: pytest.TempPathFactory, place: int, what: str
) -> None:
    """A changed byte, a truncated file, an appended byte and swapped pieces are errors."""
    content = bytearray(sealed)
    at = place % len(content)
    if what == "change":
        content[at] ^= 1
    elif what == "cut":
        del content[at:]
    elif what == "add":
        content += b"x"
    else:
        head, size = len(encryption.MAGIC) + encryption.PREFIX, encryption.PIECE + encryption.TAG
        first, second = content[head : head + size], content[head + size : head + 2 * size]
        content[head : head + 2 * size] = second + first
    path = tmp_path_factory.getbasetemp() / "changed"
    path.write_bytes(content)
    with pytest.raises(ArchiveError):
        open_sealed(path, key_for(SECRET, "content"))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """Opening an encrypted archive that does not exist raises an archive error."""
    with pytest.raises(ArchiveError):
        open_sealed(tmp_path / "none", key_for(SECRET, "content"))
