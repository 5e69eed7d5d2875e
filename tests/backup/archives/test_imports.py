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
from tests.backup.archives.histories import copies, imported, items, later, write
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


def stepwise(place: Path, source: Path, stop: int) -> str:
    """Import a backup, kill it after so many steps, and return what it said last."""
    words = [sys.executable, "-c", STEPWISE, str(place), str(source), str(stop)]
    started = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    said = started.stdout.readline().strip()
    started.kill()
    started.communicate()
    return said


def test_importing_twice_changes_nothing(tmp_path: Path) -> None:
    """Not one byte."""
    one, place = write(tmp_path / "one", *copies()), tmp_path / "a.db"
    imported(place, one)
    before = place.read_bytes()
    (again,) = imported(place, one)
    assert again.known
    assert place.read_bytes() == before


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.integers(2, 4))
def test_any_order_and_repetition_gives_the_same_archive(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random, count: int
) -> None:
    """Snapshots of one history with edits, reactions, receipts, deletions, renames and numbers of their own."""
    home = tmp_path_factory.mktemp("order")
    sources = [later(home / f"{number}", dice, days=dice.randrange(3)) for number in range(count)]
    imported(home / "a.db", *sources)
    mixed = [*sources, dice.choice(sources)]
    dice.shuffle(mixed)
    imported(home / "b.db", *mixed)
    assert dump(home / "a.db") == dump(home / "b.db")


def killed_again_and_again(home: Path, dice: random.Random, times: int) -> None:
    """Kill imports at random points; each time the archive is what it was before, or what it would have become."""
    place, base, whole = home / "a.db", home / "base.db", home / "whole.db"
    first = write(home / "first", *copies(120, 2))
    second = later(home / "second", dice, days=1, messages=120, seed=2)
    imported(base, first)
    before = dump(base)
    whole.write_bytes(base.read_bytes())
    steps = int(stepwise(whole, second, -1))
    after = dump(whole)
    half_way = 0
    for _ in range(times):
        for left in home.glob("a.db*"):
            left.unlink()
        place.write_bytes(base.read_bytes())
        said = stepwise(place, second, dice.randrange(steps * 11 // 10))
        half_way += (home / "a.db-journal").exists()
        assert dump(place) == (before if said == "half way" else after)
    assert half_way, "no import was killed between its first write and its last"
    imported(place, second)
    assert dump(place) == after


def test_a_killed_import_leaves_the_archive_as_it_was(tmp_path: Path) -> None:
    """At whatever moment, with half of it on the disk."""
    killed_again_and_again(tmp_path, random.Random(5), 4)


@pytest.mark.long
def test_imports_killed_often_leave_the_archive_as_it_was(tmp_path: Path) -> None:
    """At eighty moments."""
    killed_again_and_again(tmp_path, random.Random(6), 80)


def test_a_first_import_that_is_killed_leaves_an_empty_archive(tmp_path: Path) -> None:
    """Which the next import fills."""
    source, place = write(tmp_path / "one", *copies(120)), tmp_path / "a.db"
    steps = int(stepwise(tmp_path / "b.db", source, -1))
    assert stepwise(place, source, steps // 2) == "half way"
    (again,) = imported(place, source)
    assert (again.known, again.new) == (False, 120)
    assert dump(place) == dump(tmp_path / "b.db")


def test_a_damaged_backup_changes_nothing(tmp_path: Path) -> None:
    """It is refused with the place of the damage before anything is written."""
    place, bad = tmp_path / "a.db", tmp_path / "bad"
    imported(place, write(tmp_path / "one", *copies()))
    before = place.read_bytes()
    bad.write_bytes(stream_of(sample(80, 3))[:-7])
    with pytest.raises(DamagedBackup):
        imported(place, bad)
    assert place.read_bytes() == before


def test_a_second_writer_is_told_to_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line."""
    place, one = tmp_path / "a.db", write(tmp_path / "one", *copies())
    imported(place, one)
    monkeypatch.setattr("holdfast.backup.archives.archive_file.BUSY_TIMEOUT_S", 0.01)
    header, frames = copies()
    header.backupTimeMs += 1
    two = write(tmp_path / "two", header, frames)
    writer = sqlite3.connect(place, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(ArchiveBusy, match="another process is writing"):
        imported(place, two)
    writer.close()


def test_standard_input_can_be_imported(tmp_path: Path) -> None:
    """What can be read only once is kept until it was read through."""
    source, target = os.pipe()
    if os.fork() == 0:
        os.close(source)
        with os.fdopen(target, "wb") as out:
            out.write(stream_of(sample()))
        os._exit(0)
    os.close(target)
    with (
        os.fdopen(source, "rb") as pipe,
        backup.open(pipe) as found,
        archives.open(tmp_path / "a.db", create=True) as opened,
    ):
        assert opened.add(found).new == 60
    os.wait()


def test_what_a_reader_skips_and_defaults_is_listed(tmp_path: Path) -> None:
    """With the number of the frame."""
    header, frames = copies()
    chat = next(item.chatId for item in items(frames))
    author = next(item.authorId for item in items(frames))
    odd = [
        Frame(),
        Frame(chatItem=ChatItem(chatId=chat, authorId=author, dateSent=1)),
        Frame(chatItem=ChatItem(chatId=99_999, authorId=88_888, dateSent=2)),
    ]
    odd[2].chatItem.incoming.read = True
    odd[2].chatItem.standardMessage.text.body = "from quicksilver"
    unsure = Frame(chatItem=ChatItem(chatId=chat, authorId=author, dateSent=3))
    unsure.chatItem.outgoing.sendStatus.add(recipientId=author)
    unsure.chatItem.standardMessage.text.body = "pending"
    update = Frame(chatItem=ChatItem(chatId=chat, authorId=author, dateSent=4))
    update.chatItem.directionless.SetInParent()
    update.chatItem.updateMessage.simpleUpdate.SetInParent()
    first = len(frames) + 1
    imported(tmp_path / "a.db", write(tmp_path / "one", header, [*frames, *odd, unsure, update]))
    with archives.open(tmp_path / "a.db") as opened:
        notes = {(one.frame - first, one.action, one.what) for one in opened.skipped() if one.frame >= first}
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
    """The message beside it is imported."""
    header, frames = copies()
    records = [frame.SerializeToString() for frame in frames]
    place = next(n for n, frame in enumerate(frames) if frame.chatItem.HasField("incoming"))
    # Field 127, a number.
    records[place] += b"\xf8\x07\x05"
    path = tmp_path / "one"
    path.write_bytes(stream_of([header.SerializeToString(), *records]))
    imported(tmp_path / "new.db", path)
    imported(tmp_path / "known.db", write(tmp_path / "other", header, frames))
    with archives.open(tmp_path / "new.db") as new, archives.open(tmp_path / "known.db") as known:
        query = "SELECT id, sent_ms, kind, text FROM message ORDER BY id"
        assert list(new.connection.execute(query)) == list(known.connection.execute(query))
