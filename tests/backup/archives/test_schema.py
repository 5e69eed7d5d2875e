"""The tables of an archive."""

import sqlite3
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import schema
from holdfast.backup.errors import ArchiveError, ArchiveTooNew, NotAnArchive
from tests.backup.archives.histories import copies, imported, write


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Make an archive of one sample with every kind of record and message."""
    imported(tmp_path / "a.db", write(tmp_path / "one", *copies(400)))
    return tmp_path / "a.db"


def test_a_new_archive_says_what_it_is(filled: Path) -> None:
    """It has a mark, a version, and no table is without a place in the documentation."""
    with sqlite3.connect(filled) as plain:
        assert plain.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
        assert plain.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


def test_every_table_has_rows_in_a_whole_history(filled: Path) -> None:
    """Every kind of record of the format ends up in a table of its own."""
    filled_later = {"media", "message_version", "message_change", "twin"}
    with sqlite3.connect(filled) as plain:
        tables = plain.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'message_index%'"
        ).fetchall()
        empty = {name for (name,) in tables if plain.execute(f'SELECT count(*) FROM "{name}"').fetchone() == (0,)}
    assert empty <= filled_later


def test_the_views_are_what_they_were(filled: Path) -> None:
    """People write queries against them, so a column is never renamed or removed."""
    with sqlite3.connect(filled) as plain:
        columns = {
            view: [column[0] for column in plain.execute(f"SELECT * FROM {view} LIMIT 1").description]
            for view in ("messages", "chats", "people")
        }
    assert columns["messages"][:9] == [
        "id",
        "account",
        "chat",
        "author",
        "direction",
        "kind",
        "text",
        "sent",
        "sent_ms",
    ]
    assert columns["chats"][:4] == ["id", "account", "name", "kind"]
    assert columns["people"][:7] == ["id", "account", "name", "kind", "aci", "pni", "phone"]


def test_nothing_dangles(filled: Path) -> None:
    """All foreign keys lead somewhere although they are not enforced while rows are loaded."""
    with sqlite3.connect(filled) as plain:
        assert plain.execute("PRAGMA foreign_key_check").fetchall() == []


def test_an_archive_of_a_later_version_is_refused(filled: Path) -> None:
    """With what to do about it."""
    with sqlite3.connect(filled) as plain:
        plain.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    for create in (False, True):
        with pytest.raises(ArchiveTooNew, match="knows versions up to"):
            archives.open(filled, create=create)


def test_an_archive_from_before_the_first_release_is_only_read(filled: Path) -> None:
    """Its people cannot be told apart as they are now, and nothing is written to it."""
    with sqlite3.connect(filled) as plain:
        plain.execute("ALTER TABLE identity RENAME COLUMN alias TO another")
    plain.close()
    before = filled.read_bytes()
    with archives.open(filled) as opened:
        assert opened.chats()
    with pytest.raises(ArchiveError, match="before the first release"):
        archives.open(filled, create=True)
    assert filled.read_bytes() == before


def test_other_databases_are_left_alone(tmp_path: Path) -> None:
    """Neither read nor written."""
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as plain:
        plain.execute("CREATE TABLE mine (a)")
    for create in (False, True):
        with pytest.raises(NotAnArchive):
            archives.open(other, create=create)


@pytest.mark.parametrize("content", [b"just text", b"", b"SQLite format 3\x00 and no more"])
def test_what_is_no_archive_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    """Text, an empty file, half a database."""
    place = tmp_path / "no.db"
    place.write_bytes(content)
    with pytest.raises(ArchiveError) as caught:
        archives.open(place)
    assert "\n" not in str(caught.value)


def test_a_missing_archive_is_said_to_be_missing(tmp_path: Path) -> None:
    """Reading makes nothing."""
    with pytest.raises(ArchiveError, match="there is no archive"):
        archives.open(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []
