"""Importing backups: the same content whatever the order, everything or nothing."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup import archive
from holdfast.backup.errors import ArchiveBusy, DamagedBackup
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import ChatItem
from tests.backup.archive.dump import dump
from tests.backup.archive.histories import copies, imported, items, later, renumber, write
from tests.backup.streams import sample, stream_of

KILLER = """
import sys
from holdfast import backup
from holdfast.backup import archive
with archive.open(sys.argv[1], create=True) as opened, backup.open(sys.argv[2]) as found:
    print("go", flush=True)
    opened.add(found)
"""


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
    with archive.open(tmp_path / "a.db") as opened:
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
    with archive.open(tmp_path / "b.db") as opened:
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
    with archive.open(tmp_path / "a.db") as opened:
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
    with archive.open(tmp_path / "a.db") as opened:
        rows = opened.connection.execute(
            "SELECT text FROM message WHERE text IN ('first', 'second') ORDER BY order_n"
        )
        assert [text for (text,) in rows] == ["first", "second", "second"]


def test_thousands_of_one_moment_take_no_longer_than_others(tmp_path: Path) -> None:
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
    assert first.seconds + second.seconds < 60


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
    with archive.open(tmp_path / "a.db") as opened:
        found = []
        for chat in opened.chats():
            texts = [message.text for message in opened.messages(chat.id) if message.kind == "message"]
            found.append([text for text in texts if text and text.startswith("number")])
    assert sorted(filter(None, found)) == sorted(expected.values())


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_a_killed_import_leaves_the_archive_as_it_was(tmp_path: Path) -> None:
    """At whatever moment."""
    small, large, place = tmp_path / "small", tmp_path / "large", tmp_path / "a.db"
    write(small, *copies())
    large.write_bytes(stream_of(sample(4000, 2)))
    imported(place, small)
    before = dump(place)
    dice = random.Random(5)
    for _ in range(4):
        started = subprocess.Popen([sys.executable, "-c", KILLER, str(place), str(large)], stdout=subprocess.PIPE)
        assert started.stdout is not None
        started.stdout.readline()
        time.sleep(dice.random() * 0.4)  # the moment is what the test chooses, nothing waits for it
        os.kill(started.pid, signal.SIGKILL)
        started.communicate()
        with archive.open(place) as opened:
            finished = len(opened.snapshots()) == 2
        if finished:
            break
        assert dump(place) == before
    imported(place, large)
    with archive.open(place) as opened:
        assert len(opened.snapshots()) == 2


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
    monkeypatch.setattr("holdfast.backup.archive.opening.PATIENCE_S", 0.01)
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
        archive.open(tmp_path / "a.db", create=True) as opened,
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
    with archive.open(tmp_path / "a.db") as opened:
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
