"""Importing backups: atomic, and independent of the order of imports."""

import gc
import hashlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import ImportResult
from holdfast.backup.archives.imports import DAY, LATEST, garbage_collection_paused, transaction
from holdfast.backup.archives.schema_views import LATER_INDEXES
from holdfast.backup.errors import ArchiveBusy, ArchiveError, DamagedBackup
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import AccountData, ChatItem
from holdfast.backup.wire.varint import encode_varint
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


def query(path: Path, text: str) -> list[tuple[object, ...]]:
    """Run a query on an archive."""
    with archives.open(path) as opened:
        return opened.connection.execute(text).fetchall()


def account_of(frames: list[Frame]) -> AccountData:
    """Return the account of a backup, to change it."""
    return next(frame.account for frame in frames if frame.HasField("account"))


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """Make a table with one row."""
    opened = sqlite3.connect(":memory:", isolation_level=None)
    opened.execute("CREATE TABLE t (a INTEGER PRIMARY KEY)")
    opened.execute("INSERT INTO t VALUES (1)")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("statement", "raised"),
    [
        ("INSERT INTO t VALUES (1)", sqlite3.IntegrityError),
        ("SELECT ?", sqlite3.ProgrammingError),
        ("SELECT nothing", ArchiveError),
    ],
)
def test_a_transaction_that_fails_is_rolled_back(
    connection: sqlite3.Connection, statement: str, raised: type[Exception]
) -> None:
    """Errors of the program stay as they are, and any other error of the database is an `ArchiveError`."""
    with pytest.raises(raised), transaction(connection):
        connection.execute("INSERT INTO t VALUES (2)")
        connection.execute(statement)
    assert not connection.in_transaction
    with transaction(connection):
        connection.execute("INSERT INTO t VALUES (3)")
    assert connection.execute("SELECT a FROM t").fetchall() == [(1,), (3,)]


def test_a_transaction_that_already_ended_is_not_rolled_back(connection: sqlite3.Connection) -> None:
    """An error that is none of the database is raised as it is, also after the database ended the transaction."""
    with pytest.raises(KeyError), transaction(connection):
        connection.execute("ROLLBACK")
        raise KeyError


def test_a_transaction_that_cannot_begin_is_an_error(connection: sqlite3.Connection) -> None:
    """Only a lock is said to be another process that writes; within a transaction no other can begin."""
    connection.execute("BEGIN")
    with pytest.raises(ArchiveError, match="the archive cannot be written") as refused, transaction(connection):
        pass
    assert not isinstance(refused.value, ArchiveBusy)


def test_the_garbage_collector_is_as_before_after_a_pause() -> None:
    """It is off inside and on again afterwards, unless it was off before."""
    assert gc.isenabled()
    with garbage_collection_paused():
        assert not gc.isenabled()
        with garbage_collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_importing_twice_changes_nothing(tmp_path: Path) -> None:
    """A second import of the same backup is recognised, and the archive file stays the same byte by byte."""
    source, path = write(tmp_path / "one", *copies()), tmp_path / "a.db"
    begun = time.perf_counter()
    (first,) = import_backups(path, source)
    before = path.read_bytes()
    (second,) = import_backups(path, source)
    assert 0 < first.seconds + second.seconds <= time.perf_counter() - begun
    assert second.known
    assert path.read_bytes() == before
    (row,) = query(path, "SELECT id, name, made_ms FROM snapshot")
    for result, counts in (first, (False, 60, 60, 0, 0, 0, 1)), (second, (True, 60, 0, 0, 0, 0, 0)):
        assert (result.snapshot, result.account, result.made_ms) == row
        assert result == ImportResult(str(source), row[0], row[1], row[2], *counts, result.seconds)


def test_the_row_of_an_import_says_what_the_backup_is(tmp_path: Path) -> None:
    """The row has the header, the account with its settings, the digest, the sizes and the time of the import."""
    header, frames = copies()
    header.version = LATEST + 1
    header.backupTimeMs = LATEST + 5
    header.currentAppVersion, header.firstAppVersion = "App 9", "App 1"
    account = account_of(frames)
    account.username, account.bioEmoji, account.bioText = "zoe.7", "🌱", "Out"
    account.accountSettings.readReceipts = True
    account.platformASpecificSettings.useSystemEmoji = True
    account.ClearField("iosSpecificSettings")
    source = write(tmp_path / "one", header, frames)
    begun = time.time_ns() // 1_000_000
    import_backups(tmp_path / "a.db", source)
    (row,) = query(
        tmp_path / "a.db",
        "SELECT made_ms, digest, version, app_version, first_app_version, frames, bytes, messages, username, bio, "
        "header, account_record, source FROM snapshot",
    )
    raw_header, data = header.SerializeToString(), source.read_bytes()
    raw_account = next(frame for frame in frames if frame.HasField("account")).SerializeToString()
    assert row == (
        *(LATEST, hashlib.sha256(data).hexdigest(), LATEST, "App 9", "App 1", len(frames)),
        *(len(data) - len(stream_of([raw_header])), 60, "zoe.7", "🌱 Out", raw_header, raw_account, str(source)),
    )
    ((settings_text, imported),) = query(tmp_path / "a.db", "SELECT settings, imported_ms FROM snapshot")
    assert isinstance(settings_text, str)
    assert isinstance(imported, int)
    stored = json.loads(settings_text)
    assert list(stored) == ["accountSettings", "platformASpecificSettings"]
    assert stored["platformASpecificSettings"]["useSystemEmoji"]
    assert begun <= imported <= time.time_ns() // 1_000_000


def test_a_backup_without_an_account_is_imported(tmp_path: Path) -> None:
    """Its row has no record of the account, no username and no bio, and its settings are empty."""
    header, frames = copies()
    remaining = [frame for frame in frames if not frame.HasField("account")]
    (result,) = import_backups(tmp_path / "a.db", write(tmp_path / "one", header, remaining))
    assert result.new == 60
    row = "SELECT account_record, username, bio, settings, frames FROM snapshot"
    assert query(tmp_path / "a.db", row) == [(None, None, None, "{}", len(remaining))]


def test_the_indexes_are_there_after_each_import(tmp_path: Path) -> None:
    """The first import drops some indexes and builds them at its end; later ones keep them."""
    header, frames = copies()
    sources = [write(tmp_path / "one", header, frames)]
    header.backupTimeMs += 1
    sources.append(write(tmp_path / "two", header, frames))
    for source in sources:
        import_backups(tmp_path / "a.db", source)
        names = {
            name for (name,) in query(tmp_path / "a.db", "SELECT name FROM sqlite_master WHERE type = 'index'")
        }
        assert set(LATER_INDEXES) <= names


def test_progress_is_reported_by_block_and_at_the_end(tmp_path: Path) -> None:
    """After each block the bytes so far are reported, of six fifths of the backup, and last the whole."""
    header, frames = copies()
    large = Frame(chatItem=next(items(frames)))
    large.chatItem.standardMessage.text.body = "x" * 900_000
    large.chatItem.dateSent += 1
    source = write(tmp_path / "one", header, [*frames, large])
    size = source.stat().st_size - len(stream_of([header.SerializeToString()]))
    reports: list[tuple[int, int, int]] = []
    with backup.open(source) as found, archives.open(tmp_path / "a.db", create=True) as opened:
        opened.add(found, progress=lambda *report: reports.append(report))
        blocks = [len(block.data) for block in found.blocks()]
    assert len(blocks) == 2
    total = size * 6 // 5
    assert reports == [(blocks[0], total, 60), (size, total, 61), (total, total, 61)]


def test_a_message_of_the_future_is_ordered_at_most_a_day_after_its_backup(tmp_path: Path) -> None:
    """The order of a message whose time is later than that is the day after, and its own time is kept."""
    header, frames = copies()
    last = [item for item in items(frames) if item.HasField("incoming")][-1]
    last.dateSent = last.incoming.dateReceived = header.backupTimeMs + 9 * DAY
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    latest = query(tmp_path / "a.db", "SELECT max(order_ms), max(sent_ms) FROM message")
    assert latest == [(header.backupTimeMs + DAY, header.backupTimeMs + 9 * DAY)]


def test_defaults_of_the_account_are_listed(tmp_path: Path) -> None:
    """Values of the account that are not set are listed with the frame 0, and those that are set are not."""
    header, frames = copies()
    account = account_of(frames)
    account.accountSettings.phoneNumberSharingMode = AccountData.EVERYBODY
    account.accountSettings.defaultSentMediaQuality = AccountData.HIGH
    account.usernameLink.color = AccountData.UsernameLink.PINK
    account.backupsSubscriberData.purchaseToken = "token"
    import_backups(tmp_path / "full.db", write(tmp_path / "full", header, frames))
    account.accountSettings.ClearField("phoneNumberSharingMode")
    account.accountSettings.ClearField("defaultSentMediaQuality")
    account.usernameLink.ClearField("color")
    account.backupsSubscriberData.ClearField("purchaseToken")
    import_backups(tmp_path / "unset.db", write(tmp_path / "unset", header, frames))
    for field in ("accountSettings", "usernameLink", "backupsSubscriberData"):
        account.ClearField(field)
    import_backups(tmp_path / "none.db", write(tmp_path / "none", header, frames))
    notes = "SELECT record, action, what FROM skipped WHERE frame = 0 ORDER BY what"
    assert query(tmp_path / "full.db", notes) == query(tmp_path / "none.db", notes) == []
    assert query(tmp_path / "unset.db", notes) == [
        ("account", "defaulted", "AccountSettings.defaultSentMediaQuality UNKNOWN_QUALITY read as STANDARD"),
        ("account", "defaulted", "AccountSettings.phoneNumberSharingMode UNKNOWN read as NOBODY"),
        ("account", "skipped", "IAPSubscriberData.iapSubscriptionId not set"),
        ("account", "defaulted", "UsernameLink.color UNKNOWN read as BLUE"),
    ]


def test_records_of_every_kind_are_stored(tmp_path: Path) -> None:
    """An archive has as many packs, calls, profiles and folders as the backup, and all recipients and chats."""
    header, frames = copies()
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    for kind, table in (
        ("stickerPack", "sticker_pack"),
        ("adHocCall", "ad_hoc_call"),
        ("notificationProfile", "notification_profile"),
        ("chatFolder", "chat_folder"),
        ("recipient", "snapshot_recipient"),
        ("chat", "snapshot_chat"),
    ):
        expected = sum(frame.WhichOneof("item") == kind for frame in frames)
        assert (kind, query(tmp_path / "a.db", f"SELECT count(*) FROM {table}")) == (kind, [(expected,)])
        assert expected


def disordered(path: Path, seed: int) -> Path:
    """Write a backup of several blocks in disorder: late and early messages, duplicates and impossible times."""
    header, frames = copies(8000, 3)
    dice = random.Random(seed)
    others = [frame for frame in frames if not frame.HasField("chatItem")]
    found = [frame for frame in frames if frame.HasField("chatItem")]
    for number in dice.sample(range(len(found)), 400):
        other = dice.randrange(len(found))
        found[number], found[other] = found[other], found[number]
    for frame in dice.sample(found, 100):
        frame.chatItem.dateSent = dice.choice((1, frame.chatItem.dateSent * 2, 1 << 52, (1 << 63) - 1))
    for frame in dice.sample(found, 100):
        again = Frame.FromString(frame.SerializeToString())
        again.chatItem.standardMessage.text.body += " again 👍"
        found.insert(dice.randrange(len(found)), again)
    return write(path, header, others + found)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
def test_a_backup_in_disorder_gives_the_same_archive_in_any_order(tmp_path: Path, seed: int) -> None:
    """A backup of several blocks gives one archive, with the same index, whatever was imported before it."""
    source = disordered(tmp_path / "one", seed)
    header, frames = copies(20, 9)
    other = write(tmp_path / "other", header, frames)
    import_backups(tmp_path / "a.db", source, other)
    import_backups(tmp_path / "b.db", other, source)
    assert query(tmp_path / "a.db", "SELECT count(*) > 8000 FROM message") == [(True,)]
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")


class FailedProgressError(Exception):
    """Raised by a callback."""


def test_an_exception_between_two_blocks_ends_the_import_and_its_threads(tmp_path: Path) -> None:
    """While records are compressed in a thread, an exception rolls the import back and leaves no thread."""
    source = disordered(tmp_path / "one", 1)
    import_backups(tmp_path / "expected.db", source)
    threads = set(threading.enumerate())
    callers: set[int] = set()

    def fail(*report: int) -> None:
        callers.add(threading.get_ident())
        if report[2] > 5000:
            raise kind

    with backup.open(source) as found, archives.open(tmp_path / "a.db", create=True) as opened:
        for kind in (FailedProgressError, KeyboardInterrupt):
            callers.clear()
            with pytest.raises(kind):
                opened.add(found, progress=fail)
            assert not opened.connection.in_transaction
            assert opened.connection.execute("SELECT count(*) FROM stored_message").fetchone() == (0,)
            assert callers == {threading.get_ident()}
            assert set(threading.enumerate()) == threads
        opened.add(found)
    assert dump(tmp_path / "a.db") == dump(tmp_path / "expected.db")


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
    """A backup from a pipe, which can be read only once, gives the same archive as one from a file."""
    data = stream_of(sample())
    source, target = os.pipe()
    if os.fork() == 0:
        os.close(source)
        with os.fdopen(target, "wb") as out:
            out.write(data)
        os._exit(0)
    os.close(target)
    with (
        os.fdopen(source, "rb") as pipe,
        backup.open(pipe) as reader,
        archives.open(tmp_path / "a.db", create=True) as opened,
    ):
        assert opened.add(reader).new == 60
    os.wait()
    (tmp_path / "one").write_bytes(data)
    import_backups(tmp_path / "b.db", tmp_path / "one")
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")


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
    (result,) = import_backups(
        tmp_path / "a.db", write(tmp_path / "one", header, [*frames, *unknown, unsure, update])
    )
    ((others,),) = query(tmp_path / "a.db", f"SELECT count(*) FROM skipped WHERE frame < {first}")
    assert (result.skipped, result.defaulted) == (3, 3 + others)  # type: ignore[operator]  # a number, among the columns of a row
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


def test_a_message_with_two_directions_is_read_as_protobuf_reads_it(tmp_path: Path) -> None:
    """The last of two directions counts, and the record is the canonical one, also in a block of messages."""
    header, frames = copies()
    large = Frame(chatItem=next(items(frames)))
    large.chatItem.standardMessage.text.body = "x" * 900_000
    outgoing = ChatItem(outgoing=ChatItem.OutgoingMessageDetails()).SerializeToString()
    incoming = [item for item in items(frames) if item.HasField("incoming") and item.standardMessage.text.body]
    odd = [incoming[0].SerializeToString(), incoming[1].SerializeToString()]
    records = [frame.SerializeToString() for frame in frames if frame.chatItem.SerializeToString() not in odd]
    first, second = (b"\x22" + encode_varint(len(outgoing + raw)) + outgoing + raw for raw in odd)
    # The large message begins a block; the frames of other kinds are in the one before it.
    records = [header.SerializeToString(), *records, first, large.SerializeToString(), second]
    (tmp_path / "one").write_bytes(stream_of(records))
    with backup.open(tmp_path / "one") as found:
        assert [*found.blocks()][1].data == stream_of(records[-2:])
    import_backups(tmp_path / "a.db", tmp_path / "one")
    with archives.open(tmp_path / "a.db") as opened:
        messages = [message for chat in opened.chats() for message in opened.messages(chat.id)]
        for item, raw in zip(incoming[:2], odd, strict=True):
            (message,) = (message for message in messages if message.text == item.standardMessage.text.body)
            assert (message.direction, message.sent_ms) == ("incoming", item.dateSent)
            assert opened.record(message.id) == raw


def test_a_frame_that_is_damaged_is_named_by_its_number(tmp_path: Path) -> None:
    """A name that is no UTF-8 refuses the import with the number of its frame."""
    header, frames = copies()
    records = [header.SerializeToString(), *(frame.SerializeToString() for frame in frames)]
    (tmp_path / "one").write_bytes(stream_of([*records, b"\x42\x03\x0a\x01\xff", records[-1]]))
    with pytest.raises(DamagedBackup, match="not UTF-8") as refused:
        import_backups(tmp_path / "a.db", tmp_path / "one")
    assert refused.value.frame == len(records)


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
