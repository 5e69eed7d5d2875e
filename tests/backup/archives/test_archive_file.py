"""Opening archives, and refusing what is none."""

import sqlite3
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import schema
from holdfast.backup.errors import ArchiveError, ArchiveTooNew, NotAnArchive


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
