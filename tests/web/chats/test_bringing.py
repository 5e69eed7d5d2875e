"""Bringing a backup into an archive."""

import sqlite3
from pathlib import Path

import msgspec
import pytest

from holdfast.backup import archive
from holdfast.backup.convert import To
from holdfast.backup.errors import BackupError
from holdfast.backup.made_up import write_sample
from holdfast.backup.sample import sample_records
from holdfast.web.chats.bringing import PROBLEM, READY, SEALED, Problem, Task, bring
from tests.backup.archive.histories import copies, imported, write
from tests.backup.container.vectors import SET_B
from tests.backup.streams import KEY_FILE, KEYS


def problem_in(folder: Path) -> Problem:
    """Read why it did not work."""
    return msgspec.json.decode((folder / PROBLEM).read_bytes(), type=Problem)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Make the folder of a conversation."""
    (tmp_path / "entry").mkdir()
    return tmp_path / "entry"


def test_a_plain_backup_becomes_an_archive_with_its_findings(tmp_path: Path, target: Path) -> None:
    """Named as people call it, not by where it lay."""
    source = write(tmp_path / "one", *copies())
    bring(Task(str(source), str(target), "phone.binproto"))
    with archive.open(target / READY) as opened:
        assert [one.source for one in opened.snapshots()] == ["phone.binproto"]
        assert opened.connection.execute("SELECT valid FROM page_verdict").fetchone() == (1,)
    assert {path.name for path in target.iterdir()} <= {READY, "progress"}


def test_a_damaged_backup_is_said_to_be_one(tmp_path: Path, target: Path) -> None:
    """By its name, and nothing is left of the attempt."""
    source = write(tmp_path / "one", *copies())
    source.write_bytes(source.read_bytes()[:-5])
    with pytest.raises(BackupError):
        bring(Task(str(source), str(target), "phone.binproto"))
    told = problem_in(target)
    assert not told.key
    assert str(tmp_path) not in told.text
    assert {path.name for path in target.iterdir()} <= {PROBLEM, "progress"}


def test_an_encrypted_one_leaves_nothing_in_the_clear(tmp_path: Path, target: Path) -> None:
    """All that is written is sealed; a wrong key is told from a damaged file."""
    source = tmp_path / "phone.backup"
    write_sample(sample_records(60, 1), source, To.CONTAINER, seed=1, keys=KEYS)
    with pytest.raises(BackupError):
        bring(Task(str(source), str(target), "phone.backup", keys=f"recovery-key = {'a' * 64}", key=b"k" * 32))
    assert problem_in(target).key
    (target / PROBLEM).unlink()
    bring(Task(str(source), str(target), "phone.backup", keys=KEY_FILE, key=b"k" * 32))
    assert (target / SEALED).is_file()
    for path in target.iterdir():
        content = path.read_bytes()
        assert b"SQLite" not in content
        assert str(SET_B.pool).encode() not in content


def test_an_archive_is_taken_only_as_one(tmp_path: Path, target: Path) -> None:
    """A database that says it is one but has other tables, or is damaged, is refused."""
    place = tmp_path / "a.db"
    imported(place, write(tmp_path / "one", *copies()))
    bring(Task(str(place), str(target), "a.db", is_archive=True))
    with archive.open(target / READY) as opened:
        assert opened.chats()
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TRIGGER evil AFTER INSERT ON message BEGIN DELETE FROM message; END")
    with pytest.raises(BackupError):
        bring(Task(str(place), str(target), "a.db", is_archive=True))
    assert "tables" in problem_in(target).text
    place.write_bytes(b"SQLite format 3\x00" + bytes(4000))
    with pytest.raises(BackupError):
        bring(Task(str(place), str(target), "a.db", is_archive=True))
