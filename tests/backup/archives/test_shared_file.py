"""Reading the bytes of an archive's file without losing the locks of this process."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import is_archive
from holdfast.backup.archives.passphrases import SALT, ArchiveKey
from holdfast.backup.archives.shared_file import FILES, hold, read_head
from holdfast.backup.errors import ArchiveError
from holdfast.backup.exports.stamps import change_counter
from holdfast.web.backup_files import inspect_file
from holdfast.web.chats.file_kinds import FileKind, kind_of_path
from tests.backup.archives.histories import copies, import_backups, write

WRITE = (
    "import sqlite3, sys\nother = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
    "other.execute('BEGIN IMMEDIATE')\nother.execute('DELETE FROM reaction')\nother.execute('COMMIT')"
)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Import a backup."""
    path = tmp_path / "chats.db"
    import_backups(path, write(tmp_path / "one", *copies()))
    return path


def write_in_another_process(path: Path) -> str:
    """Write to an archive in another process; return its error."""
    command = [sys.executable, "-c", WRITE, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def open_again(path: Path) -> None:
    """Open and close another connection."""
    archives.open(path).close()


def look_at_damage(path: Path) -> None:
    """Compare a key with the pages."""
    assert not ArchiveKey(b"k" * 32, b"s" * SALT).fits(path)


def list_it(path: Path) -> None:
    """Inspect the file as the start page does."""
    assert inspect_file.__wrapped__(path, 0, 0).is_archive


def detect(path: Path) -> None:
    """Detect its kind as the pages of archives do."""
    assert kind_of_path(path) is FileKind.ARCHIVE


@pytest.mark.parametrize("look", [open_again, is_archive, look_at_damage, list_it, detect])
def test_another_process_does_not_write_what_is_read(archive: Path, look: Callable[[Path], object]) -> None:
    """A connection that reads keeps its lock, whatever else this process reads of the file."""
    with archives.open(archive) as reading:
        rows = reading.connection.execute("SELECT id FROM message")
        rows.fetchone()
        look(archive)
        change_counter(reading)
        assert write_in_another_process(archive).endswith("database is locked\n")
        rows.fetchall()
    assert write_in_another_process(archive) == ""


def test_descriptors_are_closed_with_the_last_connection(archive: Path) -> None:
    """Nothing stays open, also if an archive is refused."""
    before = set(FILES)
    one, other = archives.open(archive), archives.open(archive)
    (shared,) = [file for file_id, file in FILES.items() if file_id not in before]
    assert (shared.users, len(shared.descriptors)) == (2, 1)
    one.close()
    one.close()
    assert [file.closed for file in shared.descriptors] == [False]
    other.close()
    assert [file.closed for file in shared.descriptors] == [True]
    archive.write_bytes(b"SQLite format 3\x00" + b"x" * 5000)
    with pytest.raises(ArchiveError):
        archives.open(archive)
    assert set(FILES) == before


def test_a_replaced_file_is_another_one(tmp_path: Path) -> None:
    """The content is that of the path, although the file that was there before is still open."""
    path = tmp_path / "file"
    path.write_bytes(b"old content")
    before = set(FILES)
    with hold(path) as old:
        (tmp_path / "new").write_bytes(b"new content")
        (tmp_path / "new").replace(path)
        assert (read_head(path, 3), old.read(3), old.read(7, 4), old.size) == (b"new", b"old", b"content", 11)
    assert set(FILES) == before


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    """Nothing waits for a writer of a pipe, and its first bytes are left to whoever reads it."""
    os.mkfifo(tmp_path / "pipe")
    assert not is_archive(tmp_path / "pipe")
    with pytest.raises(ArchiveError, match="a pipe or a device"):
        archives.open(tmp_path / "pipe")
