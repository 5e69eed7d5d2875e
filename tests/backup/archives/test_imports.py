"""Importing backups: atomic, and independent of the order of imports."""

import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.errors import ArchiveBusy, DamagedBackup
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import ChatItem
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, import_backups, items, write, write_later
from tests.backup.streams import sample, stream_of
from tests.examples import examples

# Stops after so many steps of the database and says so, or says at the end how many there were.
STEPWISE = """
import sys
from itertools import count
from holdfast import backup
from holdfast.backup import archives
steps, stop = count(), int(sys.argv[3])
def step():
    if next(steps) == stop:
        print("half way", flush=True)
        sys.stdin.read()
with archives.open(sys.argv[1], create=True) as opened, backup.open(sys.argv[2]) as found:
    opened.connection.execute("PRAGMA cache_size = 20")  # so that much of it is on the disk before the end
    opened.connection.set_progress_handler(step, 25)
    opened.add(found)
print(next(steps), flush=True)
"""


def import_and_kill(path: Path, source: Path, stop: int) -> str:
    """Import a backup in a process, kill it after a number of steps, and return its last line of output."""
    command = [sys.executable, "-c", STEPWISE, str(path), str(source), str(stop)]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    line = started.stdout.readline().strip()
    started.kill()
    started.communicate()
    return line


def test_importing_twice_changes_nothing(tmp_path: Path) -> None:
    """A second import of the same backup is recognised, and the archive file stays the same byte by byte."""
    source, path = write(tmp_path / "one", *copies()), tmp_path / "a.db"
    import_backups(path, source)
    before = path.read_bytes()
    (second,) = import_backups(path, source)
    assert second.known
    assert path.read_bytes() == before


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.integers(2, 4))
def test_any_order_and_repetition_gives_the_same_archive(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random, count: int
) -> None:
    """Backups with edits, reactions, deletions, renames and other ids give one archive in any order."""
    folder = tmp_path_factory.mktemp("order")
    sources = [write_later(folder / f"{number}", dice, days=dice.randrange(3)) for number in range(count)]
    import_backups(folder / "a.db", *sources)
    mixed = [*sources, dice.choice(sources)]
    dice.shuffle(mixed)
    import_backups(folder / "b.db", *mixed)
    assert dump(folder / "a.db") == dump(folder / "b.db")


def check_killed_imports(folder: Path, rng: random.Random, times: int) -> None:
    """Kill imports at random points; each time the archive is unchanged or completely imported."""
    path, base, complete = folder / "a.db", folder / "base.db", folder / "whole.db"
    first = write(folder / "first", *copies(120, 2))
    second = write_later(folder / "second", rng, days=1, messages=120, seed=2)
    import_backups(base, first)
    before = dump(base)
    complete.write_bytes(base.read_bytes())
    steps = int(import_and_kill(complete, second, -1))
    after = dump(complete)
    half_way = 0
    for _ in range(times):
        for left in folder.glob("a.db*"):
            left.unlink()
        path.write_bytes(base.read_bytes())
        line = import_and_kill(path, second, rng.randrange(steps * 11 // 10))
        half_way += (folder / "a.db-journal").exists()
        assert dump(path) == (before if line == "half way" else after)
    assert half_way, "no import was killed between its first write and its last"
    import_backups(path, second)
    assert dump(path) == after


def test_a_killed_import_leaves_the_archive_as_it_was(tmp_path: Path) -> None:
    """An import that is killed at a random moment is rolled back, also after its first pages were written."""
    check_killed_imports(tmp_path, random.Random(5), 4)


@pytest.mark.long
def test_imports_killed_often_leave_the_archive_as_it_was(tmp_path: Path) -> None:
    """Imports that are killed at eighty random moments are rolled back."""
    check_killed_imports(tmp_path, random.Random(6), 80)


def test_a_first_import_that_is_killed_leaves_an_empty_archive(tmp_path: Path) -> None:
    """After a killed first import, the next import of the backup gives the whole archive."""
    source, path = write(tmp_path / "one", *copies(120)), tmp_path / "a.db"
    steps = int(import_and_kill(tmp_path / "b.db", source, -1))
    assert import_and_kill(path, source, steps // 2) == "half way"
    (second,) = import_backups(path, source)
    assert (second.known, second.new) == (False, 120)
    assert dump(path) == dump(tmp_path / "b.db")


def test_a_damaged_backup_changes_nothing(tmp_path: Path) -> None:
    """A truncated backup is refused, and the archive file stays the same byte by byte."""
    path, damaged = tmp_path / "a.db", tmp_path / "bad"
    import_backups(path, write(tmp_path / "one", *copies()))
    before = path.read_bytes()
    damaged.write_bytes(stream_of(sample(80, 3))[:-7])
    with pytest.raises(DamagedBackup):
        import_backups(path, damaged)
    assert path.read_bytes() == before


def test_a_second_writer_is_told_to_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import raises `ArchiveBusy` after the timeout while another connection holds the write lock."""
    path, source = tmp_path / "a.db", write(tmp_path / "one", *copies())
    import_backups(path, source)
    monkeypatch.setattr("holdfast.backup.archives.archive_file.BUSY_TIMEOUT_S", 0.01)
    header, frames = copies()
    header.backupTimeMs += 1
    two = write(tmp_path / "two", header, frames)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(ArchiveBusy, match="another process is writing"):
        import_backups(path, two)
    writer.close()


def test_standard_input_can_be_imported(tmp_path: Path) -> None:
    """A backup can be imported from a pipe, which can be read only once."""
    source, target = os.pipe()
    if os.fork() == 0:
        os.close(source)
        with os.fdopen(target, "wb") as out:
            out.write(stream_of(sample()))
        os._exit(0)
    os.close(target)
    with (
        os.fdopen(source, "rb") as pipe,
        backup.open(pipe) as reader,
        archives.open(tmp_path / "a.db", create=True) as opened,
    ):
        assert opened.add(reader).new == 60
    os.wait()


def test_what_a_reader_skips_and_defaults_is_listed(tmp_path: Path) -> None:
    """Every skipped or defaulted value is listed with the number of its frame."""
    header, frames = copies()
    chat = next(item.chatId for item in items(frames))
    author = next(item.authorId for item in items(frames))
    unknown = [
        Frame(),
        Frame(chatItem=ChatItem(chatId=chat, authorId=author, dateSent=1)),
        Frame(chatItem=ChatItem(chatId=99_999, authorId=88_888, dateSent=2)),
    ]
    unknown[2].chatItem.incoming.read = True
    unknown[2].chatItem.standardMessage.text.body = "from quicksilver"
    unsure = Frame(chatItem=ChatItem(chatId=chat, authorId=author, dateSent=3))
    unsure.chatItem.outgoing.sendStatus.add(recipientId=author)
    unsure.chatItem.standardMessage.text.body = "pending"
    update = Frame(chatItem=ChatItem(chatId=chat, authorId=author, dateSent=4))
    update.chatItem.directionless.SetInParent()
    update.chatItem.updateMessage.simpleUpdate.SetInParent()
    first = len(frames) + 1
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, [*frames, *unknown, unsure, update]))
    with archives.open(tmp_path / "a.db") as opened:
        notes = {(note.frame - first, note.action, note.what) for note in opened.skipped() if note.frame >= first}
        (hit,) = opened.search("quicksilver").hits
    assert notes == {
        (0, "skipped", "Frame.item not set"),
        (1, "skipped", "ChatItem.directionalDetails not set"),
        (2, "defaulted", "in a chat that is not in the file, kept as Unknown"),
        (2, "defaulted", "written by somebody who is not in the file, kept as Unknown"),
        (3, "defaulted", "SendStatus.deliveryStatus not set, read as pending"),
        (4, "skipped", "SimpleChatUpdate.type UNKNOWN"),
    }
    assert (hit.message.chat, hit.message.author) == ("Unknown", "Unknown")


def test_a_field_that_is_new_to_a_frame_is_passed_over(tmp_path: Path) -> None:
    """A message in a frame with an unknown field is imported like one without it."""
    header, frames = copies()
    records = [frame.SerializeToString() for frame in frames]
    index = next(n for n, frame in enumerate(frames) if frame.chatItem.HasField("incoming"))
    # Field 127, a number.
    records[index] += b"\xf8\x07\x05"
    path = tmp_path / "one"
    path.write_bytes(stream_of([header.SerializeToString(), *records]))
    import_backups(tmp_path / "new.db", path)
    import_backups(tmp_path / "known.db", write(tmp_path / "other", header, frames))
    with archives.open(tmp_path / "new.db") as new, archives.open(tmp_path / "known.db") as unchanged:
        query = "SELECT id, sent_ms, kind, text FROM message ORDER BY id"
        assert list(new.connection.execute(query)) == list(unchanged.connection.execute(query))
