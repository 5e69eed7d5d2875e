"""Imports backups: each in one transaction, so that whatever interrupts it leaves the archive as it was.

A backup is read twice. The first time it is only looked through: a damaged one is refused before anything is
written, one that was imported before is recognised by its content, and it is known how long the rest will take.
"""

import gc
import hashlib
import sqlite3
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import DecodeError

from holdfast.backup.archives.accounts import find_account, refresh_account
from holdfast.backup.archives.extras import Extras
from holdfast.backup.archives.identity_changes import rename_people
from holdfast.backup.archives.identity_merge import merge_accounts
from holdfast.backup.archives.item_rows import ODD, Item, read_items
from holdfast.backup.archives.media_cipher import EncryptedSpool
from holdfast.backup.archives.messages import Entry, Messages
from holdfast.backup.archives.recipients import RecipientMap
from holdfast.backup.archives.schema_views import LATER_INDEXES
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.backup_reader import Backup
from holdfast.backup.errors import ArchiveBusy, ArchiveError
from holdfast.backup.names import account_name
from holdfast.backup.public import public
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.schema.backup_pb2 import AccountData, ChatItem
from holdfast.backup.wire import Block, FrameStream, walk
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint
from holdfast.redacted_repr import redacted

__all__ = ["ImportResult", "Progress", "import_backup", "writing"]

# How far an import is, of how much, and the messages so far. The first two are bytes of the stream, and a fifth
# more for the indexes that are made when all were read.
Progress = Callable[[int, int, int], None]

LATEST: Final = (1 << 63) - 1
DAY: Final = 86_400_000
# Where an item says what is special about it.
WHAT: Final = 2
SETTINGS: Final = ("accountSettings", "platformASpecificSettings", "iosSpecificSettings")


@public
@redacted
@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did; `known` is True when the archive had the backup already and nothing was changed."""

    source: str
    snapshot: int
    account: str
    made_ms: int
    known: bool
    messages: int
    new: int
    changed: int
    vanished: int
    skipped: int
    defaulted: int
    seconds: float


@redacted
@dataclass(frozen=True, slots=True)
class Survey:
    """What the first reading found."""

    header: BackupInfo
    raw_header: bytes
    account: AccountData
    raw_account: bytes
    digest: str
    frames: int
    bytes: int
    again: Callable[[], Iterator[Block]]


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Do everything or nothing; a failing disk and a second writer are said to be that."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise ArchiveBusy("somebody else is writing to the archive; try again when that is done") from error
        raise ArchiveError(f"the archive cannot be written: {error}") from error
    try:
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error) and not isinstance(
            error, sqlite3.ProgrammingError | sqlite3.IntegrityError
        ):
            raise ArchiveError(f"the archive cannot be written: {error}") from error
        raise


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the collector from looking through millions of rows none of which form a circle."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def survey(backup: Backup, spool: EncryptedSpool) -> Survey:
    """Read a backup through, and into `spool` where it can be read only once."""
    digest = hashlib.sha256(encode_varint(len(backup.header)) + backup.header)
    frames = size = 0
    raw_account: bytes | None = None
    if not backup.repeatable:
        spool.write(encode_varint(len(backup.header)) + backup.header)
    for block in backup.blocks():
        found = walk.walk(block.data, 0, NO_CAP)
        if found.fault:
            raise block.damaged(found.fault, found.frames, found.at)
        if raw_account is None:
            raw_account = next((frame.raw for frame in block if frame.kind == 1), None)
        digest.update(block.data)
        frames += found.frames
        size += len(block.data)
        if not backup.repeatable:
            spool.write(block.data)
    account = Frame.FromString(raw_account or b"").account
    header = BackupInfo.FromString(backup.header)

    def again() -> Iterator[Block]:
        if backup.repeatable:
            return backup.blocks()
        return FrameStream(spool.rewind()).blocks()

    return Survey(header, backup.header, account, raw_account or b"", digest.hexdigest(), frames, size, again)


def import_backup(
    connection: sqlite3.Connection, backup: Backup, progress: Progress | None = None
) -> ImportResult:
    """Import one backup into the archive behind a connection that may write."""
    started = time.perf_counter()
    with EncryptedSpool() as spool, without_collector():
        found = survey(backup, spool)
        with writing(connection):
            made = min(found.header.backupTimeMs, LATEST)
            account, others = find_account(connection, found.header, found.account, (made, found.digest))
            if others:
                merge_accounts(connection, others, account)
            known = connection.execute(
                "SELECT id, name, messages FROM snapshot WHERE account_id = ? AND digest = ?",
                (account, found.digest),
            ).fetchone()
            if known is not None:
                return ImportResult(
                    backup.name,
                    known[0],
                    known[1],
                    made,
                    True,
                    known[2],
                    0,
                    0,
                    0,
                    0,
                    0,
                    time.perf_counter() - started,
                )
            importer = Importer.begin(connection, found, account, made, backup.name)
            importer.run(progress)
    counts, notes = importer.messages.counts, importer.notes.found
    return ImportResult(
        backup.name,
        importer.snapshots.current,
        account_name(found.account),
        made,
        False,
        counts.read,
        counts.new,
        counts.changed,
        counts.vanished,
        sum(1 for note in notes if note[2] == "skipped"),
        sum(1 for note in notes if note[2] == "defaulted"),
        time.perf_counter() - started,
    )


@redacted
@dataclass(slots=True)
class Importer:
    """One import at work."""

    connection: sqlite3.Connection
    survey: Survey
    snapshots: Snapshots
    notes: Notes
    recipient_map: RecipientMap
    extras: Extras
    messages: Messages
    newest: int
    latest: int = 0
    place: int = -1

    @classmethod
    def begin(
        cls, connection: sqlite3.Connection, found: Survey, account: int, made: int, source: str
    ) -> "Importer":
        """Write down the snapshot and get ready for its frames."""
        owner = found.account
        settings = {name: getattr(owner, name) for name in SETTINGS if owner.HasField(name)}
        written = (f'"{name}": {MessageToJson(one, indent=None)}' for name, one in settings.items())
        text = f"{{{', '.join(written)}}}"
        row = connection.execute(
            f"INSERT INTO snapshot VALUES (NULL, {', '.join('?' * 17)})",
            (
                account,
                made,
                found.digest,
                min(found.header.version, LATEST),
                found.header.currentAppVersion,
                found.header.firstAppVersion,
                found.frames,
                found.bytes,
                0,
                account_name(owner),
                owner.username or None,
                " ".join(part for part in (owner.bioEmoji, owner.bioText) if part) or None,
                text,
                found.raw_header,
                found.raw_account or None,
                source,
                time.time_ns() // 1_000_000,
            ),
        )
        current = row.lastrowid
        assert current is not None  # noqa: S101  # a row was just written
        snapshots = Snapshots.read(connection, account, current, made, found.digest)
        notes = Notes()
        recipient_map = RecipientMap(connection, snapshots, notes)
        recipient_map.load()
        extras = Extras(connection, snapshots, recipient_map.people, recipient_map.aliases, notes)
        messages = Messages(connection, snapshots, recipient_map, notes)
        return cls(connection, found, snapshots, notes, recipient_map, extras, messages, min(made + DAY, LATEST))

    def run(self, progress: Progress | None) -> None:
        """Read all frames again, this time for what they say."""
        run = self.connection.execute
        first = self.messages.empty
        if first:
            for name in LATER_INDEXES:
                run(f"DROP INDEX IF EXISTS {name}")
        done, total = 0, self.survey.bytes * 6 // 5
        for block in self.survey.again():
            self.block(block)
            done += len(block.data)
            if progress is not None:
                progress(done, total, self.messages.counts.read)
        self.notes.at(0, "account")
        self.extras.colors(self.survey.account)
        self.tolerate_account()
        self.recipient_map.finish()
        if first:
            for statement in LATER_INDEXES.values():
                run(statement)
        self.messages.finish()
        shots = self.snapshots
        self.connection.executemany(
            "INSERT INTO skipped VALUES (?, ?, ?, ?, ?, ?)",
            [(shots.current, *note, times) for note, times in self.notes.found.items()],
        )
        run("UPDATE snapshot SET messages = ? WHERE id = ?", (self.messages.counts.read, shots.current))
        refresh_account(self.connection, shots)
        if progress is not None:
            progress(total, total, self.messages.counts.read)

    def block(self, block: Block) -> None:
        """Take in the frames of a block: all others one by one first, then the messages in one go."""
        data = block.data
        items, others, frames, fault, at, latest, place = self.read(data)
        if fault:
            raise block.damaged(fault, frames, at)
        if not others and not any(item[WHAT] & ODD for item in items):
            self.latest, self.place = latest, place
            self.messages.add(items, data, block.index)
            return
        odd: dict[int, list[tuple[int, Frame]]] = {}
        parsed = [
            (before, block.index + before + n, parse(data[start:end], block.index + before + n))
            for n, (before, start, end) in enumerate(others)
        ]
        moved = self.recipient_map.meet(
            frame.recipient for _n, _index, frame in parsed if frame.HasField("recipient")
        )
        rename_people(self.connection, self.recipient_map, self.messages.merger, moved)
        for before, index, frame in parsed:
            self.other(frame, index)
            if frame.WhichOneof("item") == "chatItem":
                odd.setdefault(before, []).append((index, frame))
        self.recipient_map.save()
        # The messages speak of what the others have just introduced.
        items, *_rest, self.latest, self.place = self.read(data)
        places = [before for before, _start, _end in others]
        entries: list[Entry] = []
        for n in range(len(items) + 1):
            entries += [self.anew(frame.chatItem, index) for index, frame in odd.get(n, ())]
            if n < len(items):
                entries.append(self.entry(data, items[n], block.index + n + bisect_right(places, n)))
        self.messages.add_each(entries)

    def read(self, data: bytes) -> tuple[list[Item], list[tuple[int, int, int]], int, int, int, int, int]:
        """Make items of records that come after those before."""
        recipient_map, where = self.recipient_map, (self.latest, self.place, self.newest)
        return read_items(
            data,
            NO_CAP,
            recipient_map.people,
            recipient_map.chats,
            *where,
            recipient_map.aliases,
            recipient_map.chat_aliases,
        )

    def entry(self, data: bytes, item: Item, frame: int) -> Entry:
        """Cut out the record of a message; one only protobuf can read is read by it first."""
        raw = data[item[0] : item[1]]
        if not item[WHAT] & ODD:
            return item, raw, frame
        return self.anew(ChatItem.FromString(raw), frame)

    def anew(self, chat_item: ChatItem, index: int) -> Entry:
        """Read a message again as protobuf would write it, alone in its frame."""
        raw = Frame(chatItem=chat_item).SerializeToString()
        data = encode_varint(len(raw)) + raw
        items, *_rest = self.read(data)
        return items[0], chat_item.SerializeToString(), index

    def tolerate_account(self) -> None:
        """Note what of the account's own settings is read as something else."""
        owner = self.survey.account
        if owner.HasField("backupsSubscriberData") and not owner.backupsSubscriberData.WhichOneof(
            "iapSubscriptionId"
        ):
            self.notes.skip("IAPSubscriberData.iapSubscriptionId not set")
        if owner.HasField("accountSettings"):
            self.notes.enum(owner.accountSettings, "phoneNumberSharingMode")
            self.notes.enum(owner.accountSettings, "defaultSentMediaQuality")
        if owner.HasField("usernameLink"):
            self.notes.enum(owner.usernameLink, "color")

    def other(self, frame: Frame, index: int) -> None:
        """Take in one frame that is not a message."""
        kind = frame.WhichOneof("item")
        self.notes.at(index, kind or "frame")
        if kind is None:
            self.notes.skip("Frame.item not set")
        elif kind == "recipient":
            self.recipient_map.add(frame.recipient, frame.recipient.SerializeToString())
        elif kind == "chat":
            self.recipient_map.chat(frame.chat, frame.chat.SerializeToString())
        elif kind == "stickerPack":
            self.extras.pack(frame.stickerPack)
        elif kind == "adHocCall":
            self.extras.call(frame.adHocCall)
        elif kind == "notificationProfile":
            self.extras.profile(frame.notificationProfile)
        elif kind == "chatFolder":
            self.extras.folder(frame.chatFolder)


def parse(raw: bytes, index: int) -> Frame:
    """Parse a frame."""
    try:
        return Frame.FromString(raw)
    except DecodeError as error:
        raise ArchiveError(f"frame {index} cannot be read") from error
