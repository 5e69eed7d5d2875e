"""Removing imports, chats and people: their content is erased, and everything else is unchanged."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import removal
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import ArchiveError, NotInArchive
from holdfast.backup.media import pointers
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, import_backups, write
from tests.backup.archives.removals import archive_bytes, archive_with_secrets, query, remove_content
from tests.backup.streams import KEYS


def test_no_byte_of_a_chat_is_left(tmp_path: Path) -> None:
    """The file has no text of a removed chat, in tables, index, free pages or records, and other chats stay.

    Its pages are given back to the file system.
    """
    path, chat, _person = archive_with_secrets(tmp_path)
    ((messages,),) = query(path, "SELECT count(*) FROM message WHERE chat_id = ?", chat)
    ((title,),) = query(path, "SELECT name FROM recipient WHERE id = ?", chat)
    others = query(path, "SELECT * FROM messages WHERE chat_id <> ? ORDER BY id", chat)
    result = remove_content(path, chat=chat)
    assert (result.chats, result.messages, result.people, result.edited) == (1, messages, 0, 0)
    assert query(path, "PRAGMA freelist_count") == [(0,)]
    left = archive_bytes(path)
    assert not [word for word in (b"xylophonsecret", b"groupsecretword", str(title).encode()) if word in left]
    assert query(path, "SELECT * FROM messages ORDER BY id") == others
    dump(path)
    with archives.open(path) as opened:
        assert opened.search("xylophonsecret").hits == ()
        for number, *_rest in others:
            assert isinstance(number, int)
            assert opened.record(number)


def test_no_byte_is_left_in_free_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Free pages are overwritten even if the file is not vacuumed, as while another program reads it.

    The connection overwrites nothing afterwards if it did not before.
    """
    path, chat, _person = archive_with_secrets(tmp_path)
    monkeypatch.setattr(removal, "vacuum", lambda _connection: None)
    with archives.open(path, create=True) as opened:
        # Some builds of SQLite overwrite by default.
        opened.connection.execute("PRAGMA secure_delete = OFF").fetchone()
        opened.remove(chat=chat)
        assert opened.connection.execute("PRAGMA secure_delete").fetchone() == (0,)
    ((free,),) = query(path, "PRAGMA freelist_count")
    assert free
    assert b"xylophonsecret" not in archive_bytes(path)


def test_an_archive_that_is_in_use_is_not_vacuumed(tmp_path: Path) -> None:
    """A reader prevents the vacuum without an error, and once it is gone free pages are given back.

    A read-only archive is an error.

    No other database can be attached afterwards.
    """
    place = tmp_path / "v.db"
    with closing(sqlite3.connect(place, isolation_level=None, timeout=0)) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
        connection.execute("DELETE FROM t")
        (before,) = connection.execute("PRAGMA freelist_count").fetchone()
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        with closing(sqlite3.connect(place, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM t").fetchone()
            removal.vacuum(connection)
        assert connection.execute("PRAGMA freelist_count").fetchone() == (before,) > (0,)
        removal.vacuum(connection)
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        assert connection.getlimit(sqlite3.SQLITE_LIMIT_ATTACHED) == 0
    with (
        closing(sqlite3.connect(f"{place.as_uri()}?mode=ro", uri=True)) as connection,
        pytest.raises(ArchiveError, match="the archive cannot be written"),
    ):
        removal.vacuum(connection)


def test_a_dry_run_counts_and_changes_nothing(tmp_path: Path) -> None:
    """A dry run gives the counts of the removal, and the file stays the same byte by byte."""
    path, chat, person = archive_with_secrets(tmp_path)
    before = path.read_bytes()
    with archives.open(path, create=True) as opened:
        counted = [
            opened.remove(chat=chat, dry_run=True),
            opened.remove(person=person, dry_run=True),
            opened.remove(snapshot=1, dry_run=True),
        ]
    assert path.read_bytes() == before
    assert remove_content(path, chat=chat) == counted[0]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    """Unknown ids, the owner and a group as a person are refused, and so is an archive opened read-only."""
    path, chat, _person = archive_with_secrets(tmp_path)
    ((owner,),) = query(path, "SELECT id FROM recipient WHERE kind = 'self'")
    assert isinstance(owner, int)
    for target in ({"chat": 5}, {"person": 5}, {"snapshot": 5}, {"person": owner}, {"person": chat}):
        with pytest.raises(NotInArchive):
            remove_content(path, **target)
    with pytest.raises(ValueError, match="one of"):
        remove_content(path)
    with archives.open(path) as opened, pytest.raises(ArchiveError):
        opened.remove(chat=chat)


def media_of(archive: Path) -> set[str]:
    """List the files beside an archive."""
    return {path.name for path in archive.with_name(f"{archive.name}-media").rglob("*") if path.is_file()}


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    """Write a phone's folder with encrypted attachments."""
    write_sample(sample_records(120, 1), tmp_path / "phone", OutputFormat.FOLDER, seed=1, keys=KEYS)
    return tmp_path / "phone"


def test_files_nothing_else_uses_are_deleted_and_stay_away(tmp_path: Path, phone: Path) -> None:
    """Media files that only the removed chat uses are deleted, and `keep` does not copy them again."""
    path = tmp_path / "a.db"
    assert backup.keep(phone, path, KEYS).complete
    before = media_of(path)
    used = query(
        path,
        "SELECT DISTINCT m.chat_id, d.sha256 FROM attachment a JOIN message m ON m.id = a.message_id "
        "JOIN media d ON d.media_name = a.media_name",
    )
    chat = max({entry for entry, _hash in used}, key=lambda entry: sum(other == entry for other, _hash in used))
    assert isinstance(chat, int)
    with backup.open(phone, KEYS) as source:
        # Wallpapers are in no message.
        outside = {
            entry.attachment.plaintext_hash.hex()
            for entry in pointers(source)
            if entry.attachment and not entry.sent_ms
        }
    elsewhere = {str(digest) for entry, digest in used if entry != chat}
    unused = {str(digest) for entry, digest in used if entry == chat} - elsewhere
    unused -= outside
    assert unused
    report = remove_content(path, chat=chat)
    assert report.files == len(unused)
    left = media_of(path)
    assert {name.partition(".")[0] for name in before - left} == unused
    assert not path.with_name("a.db-keep.json").exists()
    result = backup.keep(phone, path, KEYS)
    assert result.complete
    assert media_of(path) == left
    assert backup.keep(phone, path, KEYS).unchanged
    assert all(word not in str(query(path, "SELECT * FROM media WHERE path = ''")) for word in unused)


def test_files_an_interrupted_removal_left_go_with_the_next_opening(tmp_path: Path, phone: Path) -> None:
    """Media files marked as removed are deleted when the archive is next opened to write.

    That is the state after a process was killed between its commit and the deletion of the files.
    """
    path = tmp_path / "a.db"
    backup.keep(phone, path, KEYS)
    assert media_of(path)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE media SET path = ''")
    connection.close()
    with archives.open(path):
        assert media_of(path)
    with archives.open(path, create=True):
        assert not media_of(path)


# Stops after so many steps of the database and says so, or says at the end how many there were.
STEPWISE = """
import sys
from itertools import count
from holdfast.backup import archives
steps, stop = count(), int(sys.argv[3])
def step():
    if next(steps) == stop:
        print("half way", flush=True)
        sys.stdin.read()
with archives.open(sys.argv[1], create=True) as opened:
    opened.connection.execute("PRAGMA cache_size = 20")  # so that much of it is on the disk before the end
    opened.connection.set_progress_handler(step, 25)
    opened.remove(**{sys.argv[2].partition("=")[0]: int(sys.argv[2].partition("=")[2])})
print(next(steps), flush=True)
"""


def remove_and_kill(path: Path, target: str, stop: int) -> str:
    """Remove something in a process, kill it after a number of steps, and return its last line of output."""
    command = [sys.executable, "-c", STEPWISE, str(path), target, str(stop)]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    line = started.stdout.readline().strip()
    started.kill()
    started.communicate()
    return line


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ["chat", "person", "snapshot"])
def test_a_killed_removal_leaves_the_archive_before_or_after(tmp_path: Path, kind: str) -> None:
    """A removal killed at any of twelve moments is rolled back or complete."""
    path, chat, person = archive_with_secrets(tmp_path)
    header, frames = copies(120)
    header.backupTimeMs += 1000
    import_backups(path, write(tmp_path / "two", header, frames))
    content = path.read_bytes()
    target = f"{kind}={ {'chat': chat, 'person': person, 'snapshot': 1}[kind] }"
    before = dump(path)
    steps = int(remove_and_kill(path, target, -1))
    after = dump(path)
    assert before != after
    ends = set()
    for part in range(12):
        for rest in tmp_path.glob("a.db*"):
            rest.unlink()
        path.write_bytes(content)
        assert remove_and_kill(path, target, steps * part // 12 + part) == "half way"
        now = dump(path)
        assert now in (before, after)
        ends.add(now == before)
    assert True in ends
