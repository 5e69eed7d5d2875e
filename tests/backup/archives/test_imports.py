"""Importing backups: the same content whatever the order, everything or nothing."""

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
from holdfast.backup.archives.item_rows import message_id
from holdfast.backup.errors import ArchiveBusy, DamagedBackup
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import ChatItem
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, imported, items, later, renumber, write
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


def test_other_ids_are_the_same_people(tmp_path: Path) -> None:
    """A snapshot of another device adds nothing when it says the same."""
    header, frames = copies()
    one = write(tmp_path / "one", header, frames)
    for frame in frames:
        renumber(frame, lambda number: number * 3 + 100, lambda number: number + 5000)
    header.backupTimeMs += 1
    other = write(tmp_path / "other", header, frames)
    first, second = imported(tmp_path / "a.db", one, other)
    assert (first.new, second.new, second.changed, second.vanished) == (60, 0, 0, 0)


def test_what_changed_is_recorded(tmp_path: Path) -> None:
    """An edit, a reaction, a receipt; and what has vanished stays readable and is marked."""
    header, frames = copies()
    one = write(tmp_path / "one", header, frames)
    every = list(items(frames))
    plain = [item for item in every if item.standardMessage.text.body and not item.revisions]
    sent = next(item for item in plain if item.HasField("outgoing"))
    edited = next(item for item in plain if item is not sent)
    gone = next(item for item in reversed(plain) if item not in (sent, edited))
    before, gone_text = edited.standardMessage.text.body, gone.standardMessage.text.body
    wording = ChatItem.FromString(edited.SerializeToString())
    edited.revisions.append(wording)
    edited.standardMessage.text.body = "what was really meant"
    edited.dateSent += 60_000
    sent.standardMessage.reactions.add(emoji="🎉", authorId=sent.authorId, sentTimestamp=1, sortOrder=7)
    for status in sent.outgoing.sendStatus:
        status.viewed.sealedSender = False
    kept = [frame for frame in frames if not (frame.HasField("chatItem") and frame.chatItem == gone)]
    header.backupTimeMs += 86_400_000
    two = write(tmp_path / "two", header, kept)
    _, second = imported(tmp_path / "a.db", one, two)
    assert (second.new, second.changed, second.vanished) == (0, 2, 1)
    with archives.open(tmp_path / "a.db") as opened:
        changes = opened.connection.execute("SELECT what, before, after FROM message_change").fetchall()
        (hit,) = opened.search("really meant").hits
        assert [revision.text for revision in hit.message.revisions] == [before]
        assert {what for what, _, _ in changes} == {"edited", "reaction", "receipt"}
        assert ("edited", before, "what was really meant") in changes
        assert ("reaction", None, "🎉") in changes
        rows = opened.connection.execute(
            "SELECT text, vanished FROM messages WHERE vanished IS NOT NULL"
        ).fetchall()
        assert [text for text, _ in rows] == [gone_text]


def test_an_older_snapshot_does_not_overwrite(tmp_path: Path) -> None:
    """What a later backup says stays, whenever the older one is imported."""
    header, frames = copies()
    older = write(tmp_path / "older", header, frames)
    for item in items(frames):
        if item.standardMessage.text.body:
            item.standardMessage.text.body += " (later)"
    header.backupTimeMs += 5
    newer = write(tmp_path / "newer", header, frames)
    for name, order in (("a", (older, newer)), ("b", (newer, older))):
        imported(tmp_path / f"{name}.db", *order)
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")
    with archives.open(tmp_path / "b.db") as opened:
        query = "SELECT count(*) FROM message WHERE kind = 'message' AND text NOT LIKE '%(later)' AND text <> ''"
        assert opened.connection.execute(query).fetchone() == (0,)


def test_two_accounts_are_kept_apart(tmp_path: Path) -> None:
    """The same people and words in both are in both."""
    header, frames = copies()
    one = write(tmp_path / "one", header, frames)
    header.mediaRootBackupKey = b"another account's media root key"
    account = next(frame.account for frame in frames if frame.HasField("account"))
    account.profileKey = bytes(32)
    other = write(tmp_path / "other", header, frames)
    first, second = imported(tmp_path / "a.db", one, other)
    assert first.new == second.new == 60
    with archives.open(tmp_path / "a.db") as opened:
        assert len({chat.account_id for chat in opened.chats()}) == 2


def test_messages_of_one_moment_are_all_kept(tmp_path: Path) -> None:
    """The same author twice in one millisecond, even with the same words."""
    header, frames = copies()
    one = next(item for item in items(frames) if item.standardMessage.text.body)
    twins = []
    for text in ("first", "second", "second"):
        frame = Frame()
        frame.chatItem.CopyFrom(one)
        frame.chatItem.standardMessage.text.body = text
        twins.append(frame)
    path = write(tmp_path / "one", header, [*frames, *twins])
    header.backupTimeMs += 1
    again = write(tmp_path / "two", header, [*frames, *twins])
    first, second = imported(tmp_path / "a.db", path, again)
    assert first.new == 63
    assert (second.new, second.changed, second.vanished) == (0, 0, 0)
    with archives.open(tmp_path / "a.db") as opened:
        rows = opened.connection.execute(
            "SELECT text FROM message WHERE text IN ('first', 'second') ORDER BY order_n"
        )
        assert [text for (text,) in rows] == ["first", "second", "second"]


def test_thousands_of_one_moment_stay_apart(tmp_path: Path) -> None:
    """As a broken export writes them: all without a time."""
    header, frames = copies()
    one = next(item for item in items(frames) if item.standardMessage.text.body)
    twins = []
    for number in range(3000):
        frame = Frame()
        frame.chatItem.CopyFrom(one)
        frame.chatItem.dateSent = 0
        frame.chatItem.standardMessage.text.body = f"twin {number}"
        twins.append(frame)
    path = write(tmp_path / "one", header, [*frames, *twins])
    header.backupTimeMs += 1
    again = write(tmp_path / "two", header, [*frames, *twins])
    first, second = imported(tmp_path / "a.db", path, again)
    assert (first.new, second.new, second.changed, second.vanished) == (3060, 0, 0, 0)


def test_messages_stand_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Also where times go backwards."""
    header, frames = copies()
    expected: dict[int, list[str]] = {}
    for number, item in enumerate(items(frames)):
        if item.standardMessage.text.body:
            item.standardMessage.text.body = f"number {number}"
            if number % 3 == 0:
                item.dateSent = item.incoming.dateReceived = 0
            expected.setdefault(item.chatId, []).append(f"number {number}")
    imported(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    with archives.open(tmp_path / "a.db") as opened:
        found = []
        for chat in opened.chats():
            texts = [message.text for message in opened.messages(chat.id) if message.kind == "message"]
            found.append([text for text in texts if text and text.startswith("number")])
    assert sorted(filter(None, found)) == sorted(expected.values())


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


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.integers(2, 4))
def test_people_who_become_known_bit_by_bit_are_the_same_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random, count: int
) -> None:
    """By number, by PNI, by both, by ACI: ids, messages, receipts and lists are what all backups together say."""
    home = tmp_path_factory.mktemp("people")
    sources = [
        later(home / f"{number}", dice, days=dice.randrange(3), messages=30, half_known=True)
        for number in range(count)
    ]
    imported(home / "a.db", *sources)
    mixed = [*sources, dice.choice(sources)]
    dice.shuffle(mixed)
    imported(home / "b.db", *mixed)
    assert dump(home / "a.db") == dump(home / "b.db")


@settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.integers(2, 3))
def test_messages_of_one_moment_are_the_same_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random, count: int
) -> None:
    """Some files have one of them, some have several, in one order or another."""
    home = tmp_path_factory.mktemp("twins")
    sources = [
        later(
            home / f"{number}",
            dice,
            days=dice.randrange(3),
            messages=20,
            twins=True,
            half_known=dice.random() < 0.5,
        )
        for number in range(count)
    ]
    imported(home / "a.db", *sources)
    mixed = [*sources, dice.choice(sources)]
    dice.shuffle(mixed)
    imported(home / "b.db", *mixed)
    assert dump(home / "a.db") == dump(home / "b.db")


def test_one_of_two_twins_that_is_left_is_not_the_other(tmp_path: Path) -> None:
    """What a later backup still has stays what it was, and what it no longer has is marked."""
    header, frames = copies()
    one = next(frame for frame in frames if frame.chatItem.standardMessage.text.body)
    one.chatItem.ClearField("revisions")
    twin = Frame.FromString(one.SerializeToString())
    one.chatItem.standardMessage.text.body, twin.chatItem.standardMessage.text.body = "left", "gone"
    both = write(tmp_path / "both", header, [*frames, twin])
    header.backupTimeMs += 1000
    alone = write(tmp_path / "alone", header, frames)
    for name, order in (("a", (both, alone)), ("b", (alone, both))):
        imported(tmp_path / f"{name}.db", *order)
        with archives.open(tmp_path / f"{name}.db") as opened:
            rows = opened.connection.execute(
                "SELECT text, vanished IS NOT NULL FROM messages WHERE text IN ('left', 'gone') ORDER BY text"
            ).fetchall()
            changes = opened.connection.execute("SELECT count(*) FROM message_change").fetchone()
        assert (rows, changes) == ([("gone", 1), ("left", 0)], (0,))
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")


def test_two_messages_that_want_one_id_get_theirs_in_any_order(tmp_path: Path) -> None:
    """An id has 20 bits for each second, so two messages of one second can want the same."""
    header, frames = copies()
    item = next(item for item in items(frames) if item.standardMessage.text.body and not item.revisions)
    (first,) = imported(tmp_path / "ids.db", write(tmp_path / "ids", header, frames))
    assert first.new == 60
    with archives.open(tmp_path / "ids.db") as opened:
        chat, author = opened.connection.execute(
            "SELECT chat_id, author_id FROM message WHERE text = ? AND sent_ms = ?",
            (item.standardMessage.text.body, item.dateSent),
        ).fetchone()
    wanted: dict[int, int] = {}
    pair: tuple[int, int] | None = None
    for second in range(1_500_000_000, 1_500_100_000):
        wanted.clear()
        for sent in range(second * 1000, second * 1000 + 1000):
            number = message_id(chat, author, sent, 0, 0)
            if number in wanted:
                pair = (wanted[number], sent)
            wanted[number] = sent
        if pair:
            break
    assert pair is not None
    sources = []
    for sent in pair:
        rival = Frame()
        rival.chatItem.CopyFrom(item)
        rival.chatItem.dateSent = sent
        rival.chatItem.standardMessage.text.body = f"sent at {sent}"
        header.backupTimeMs += 1
        sources.append(write(tmp_path / str(sent), header, [*frames, rival]))
    imported(tmp_path / "a.db", *sources)
    imported(tmp_path / "b.db", *reversed(sources))
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")
    with archives.open(tmp_path / "a.db") as opened:
        assert {hit.message.text for hit in opened.search("sent").hits} >= {f"sent at {sent}" for sent in pair}


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
    monkeypatch.setattr("holdfast.backup.archives.archive_file.PATIENCE_S", 0.01)
    header, frames = copies()
    header.backupTimeMs += 1
    two = write(tmp_path / "two", header, frames)
    writer = sqlite3.connect(place, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(ArchiveBusy, match="somebody else is writing"):
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
