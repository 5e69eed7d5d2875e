"""The key of encrypted media files, and the deletion of superseded copies."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup.archives import media_key
from holdfast.backup.archives.media_cipher import MAGIC, MediaKey
from holdfast.backup.archives.media_files import MediaFolder
from holdfast.backup.errors import ArchiveError

DIGEST = "ab" * 32


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """Make a database."""
    opened = sqlite3.connect(":memory:", isolation_level=None)
    opened.execute("CREATE TABLE media (path TEXT)")
    yield opened
    opened.close()


def test_a_key_is_made_once_and_read(connection: sqlite3.Connection) -> None:
    """The key that is read is the created one, which is random unless a key is given."""
    created = media_key.create(connection)
    assert media_key.read(connection) == created
    connection.execute("DROP TABLE encryption")
    given = MediaKey(bytes(32))
    assert media_key.create(connection, given) == given == media_key.read(connection)
    assert created != given


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE encryption",
        "DELETE FROM encryption",
        "UPDATE encryption SET media_key = x'00'",
        "ALTER TABLE encryption ADD COLUMN more TEXT",
    ],
)
def test_a_missing_key_is_damage(connection: sqlite3.Connection, statement: str) -> None:
    """A missing table, row or key and a changed table raise an `ArchiveError` that names the key."""
    media_key.create(connection)
    connection.execute(statement)
    with pytest.raises(ArchiveError, match="no key for its media"):
        media_key.read(connection)


def both_forms(parent: Path, key: MediaKey) -> tuple[Path, Path]:
    """Write a file of each form."""
    files = []
    for folder in (MediaFolder(parent), MediaFolder(parent, key)):
        path = folder.place_of(DIGEST, "image/png")
        with folder.write(path) as out:
            out.write(b"content")
        files.append(parent / path)
    return files[0], files[1]


@pytest.mark.parametrize("encrypted", [True, False])
def test_files_of_the_other_form_are_deleted_once(
    connection: sqlite3.Connection, tmp_path: Path, *, encrypted: bool
) -> None:
    """Files of the other form are deleted only after they were marked as superseded, and only once."""
    key = media_key.create(connection)
    plain, sealed = both_forms(tmp_path, key)
    (plain.parent / ".left.part").write_bytes(b"content that was left")
    folder = MediaFolder(tmp_path, key if encrypted else None)
    media_key.delete_superseded_files(connection, folder)
    assert plain.exists()
    assert sealed.exists()
    media_key.mark_superseded(connection)
    media_key.delete_superseded_files(connection, folder)
    assert plain.exists() != encrypted
    assert sealed.exists() == encrypted
    assert (plain.parent / ".left.part").exists() != encrypted
    tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name <> 'media'").fetchone()
    assert tables == ((1,) if encrypted else (0,))
    both_forms(tmp_path, key)
    media_key.delete_superseded_files(connection, folder)
    assert plain.exists()
    assert sealed.exists()


def test_an_attachment_that_begins_like_an_encrypted_file_is_not_deleted(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    """Somebody has sent a file of an encrypted archive; the archive refers to it, so a decryption keeps it."""
    media_key.create(connection)
    media_key.mark_superseded(connection)
    (tmp_path / "aa").mkdir()
    for name in ("sent.bin", "left"):
        (tmp_path / "aa" / name).write_bytes(MAGIC + b"content")
    connection.execute("INSERT INTO media VALUES ('aa/sent.bin')")
    media_key.delete_superseded_files(connection, MediaFolder(tmp_path))
    assert [path.name for path in (tmp_path / "aa").iterdir()] == ["sent.bin"]


def test_what_is_deleted_is_overwritten(tmp_path: Path) -> None:
    """The content of a deleted file is overwritten with zeros, unless an export has a hard link to it."""
    path = tmp_path / "a"
    path.write_bytes(b"secret" * 500_000)
    with path.open("rb") as seen:
        media_key.overwrite_and_delete(path)
        assert seen.read() == bytes(3_000_000)
    assert not path.exists()
    path.write_bytes(b"secret")
    os.link(path, tmp_path / "exported")
    media_key.overwrite_and_delete(path)
    assert not path.exists()
    assert (tmp_path / "exported").read_bytes() == b"secret"
