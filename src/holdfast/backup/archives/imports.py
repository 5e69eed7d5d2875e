"""Imports backups, each atomically in one transaction.

A backup is read twice. The first pass changes nothing: it refuses a damaged backup, recognises one that was
imported before by its digest, and counts bytes for the progress.
"""

import gc
import hashlib
import sqlite3
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import DecodeError

from holdfast.backup.archives.accounts import find_account, refresh_account
from holdfast.backup.archives.extras import Extras
from holdfast.backup.archives.identity_changes import apply_alias_moves
from holdfast.backup.archives.identity_merge import merge_accounts
from holdfast.backup.archives.item_rows import ODD, Item, any_odd, read_items
from holdfast.backup.archives.media_cipher import EncryptedSpool
from holdfast.backup.archives.messages import Entry, Messages
from holdfast.backup.archives.recipients import RecipientMap
from holdfast.backup.archives.schema_views import LATER_INDEXES
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.backup_reader import Backup
from holdfast.backup.errors import ArchiveBusy, ArchiveError
from holdfast.backup.names import account_name
from holdfast.backup.path_text import path_text
from holdfast.backup.public import public
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.schema.backup_pb2 import AccountData, ChatItem
from holdfast.backup.wire import Block, FrameStream, walk
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint
from holdfast.redacted_repr import redacted

__all__ = ["ImportResult", "Progress", "import_backup", "transaction"]

# Called with the bytes read, the total and the number of messages. A fifth is added to the total for building the
# indexes at the end.
Progress = Callable[[int, int, int], None]

LATEST: Final = (1 << 63) - 1
DAY: Final = 86_400_000
# Index of the flags of an item.
FLAGS: Final = 2
SETTINGS: Final = ("accountSettings", "platformASpecificSettings", "iosSpecificSettings")


@public
@redacted
@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import; `known` is True if the archive already had the backup and nothing was changed."""

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
class BackupScan:
    """The result of the first pass; `read_blocks` begins the second."""

    header: BackupInfo
    raw_header: bytes
    account: AccountData
    raw_account: bytes
    digest: str
    frames: int
    bytes: int
    read_blocks: Callable[[], Iterator[Block]]


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run a transaction; raise `ArchiveBusy` for a second writer and `ArchiveError` for an I/O error."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise ArchiveBusy("another process is writing to the archive; try again later") from error
        raise ArchiveError(f"the archive cannot be written: {error}") from error
    try:
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            # Readers are waited for when the transaction is committed.
            raise ArchiveBusy("another process is using the archive; try again later") from error
        if isinstance(error, sqlite3.Error) and not isinstance(
            error, sqlite3.ProgrammingError | sqlite3.IntegrityError
        ):
            raise ArchiveError(f"the archive cannot be written: {error}") from error
        raise


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Disable the cyclic garbage collector: millions of rows are created, none of them in reference cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def scan_backup(backup: Backup, spool: EncryptedSpool) -> BackupScan:
    """Read a backup once, copying it into `spool` if its source cannot be read twice."""
    digest = hashlib.sha256(encode_varint(len(backup.header)) + backup.header)
    frames = size = 0
    raw_account: bytes | None = None
    if not backup.repeatable:
        spool.write(encode_varint(len(backup.header)) + backup.header)
    for block in backup.blocks():
        walked = walk.walk(block.data, 0, NO_CAP)
        if walked.fault:
            raise block.damaged(walked.fault, walked.frames, walked.at)
        if raw_account is None:
            raw_account = next((frame.raw for frame in block if frame.kind == 1), None)
        digest.update(block.data)
        frames += walked.frames
        size += len(block.data)
        if not backup.repeatable:
            spool.write(block.data)
    account = Frame.FromString(raw_account or b"").account
    header = BackupInfo.FromString(backup.header)

    def read_blocks() -> Iterator[Block]:
        if backup.repeatable:
            return backup.blocks()
        return FrameStream(spool.rewind()).blocks()

    return BackupScan(
        header, backup.header, account, raw_account or b"", digest.hexdigest(), frames, size, read_blocks
    )


def import_backup(
    connection: sqlite3.Connection, backup: Backup, progress: Progress | None = None
) -> ImportResult:
    """Import one backup through a writable connection."""
    started = time.perf_counter()
    name = path_text(backup.name)
    with EncryptedSpool() as spool, garbage_collection_paused():
        scan = scan_backup(backup, spool)
        with transaction(connection):
            made_ms = min(scan.header.backupTimeMs, LATEST)
            account, others = find_account(connection, scan.header, scan.account, (made_ms, scan.digest))
            if others:
                merge_accounts(connection, others, account)
            existing = connection.execute(
                "SELECT id, name, messages FROM snapshot WHERE account_id = ? AND digest = ?",
                (account, scan.digest),
            ).fetchone()
            if existing is not None:
                return ImportResult(
                    name,
                    existing[0],
                    existing[1],
                    made_ms,
                    True,
                    existing[2],
                    0,
                    0,
                    0,
                    0,
                    0,
                    time.perf_counter() - started,
                )
            # Compression releases the interpreter lock, so it runs beside everything else.
            with ThreadPoolExecutor(1, "holdfast-compression") as executor:
                importer = Importer.begin(connection, executor, scan, account, made_ms, name)
                importer.run(progress)
    counts, notes = importer.messages.counts, importer.notes.counts
    return ImportResult(
        name,
        importer.snapshots.current,
        account_name(scan.account),
        made_ms,
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
    """The state of one import."""

    connection: sqlite3.Connection
    scan: BackupScan
    snapshots: Snapshots
    notes: Notes
    recipient_map: RecipientMap
    extras: Extras
    messages: Messages
    newest: int
    latest: int = 0
    place: int = -1

    @classmethod
    def begin(  # noqa: PLR0917  # called once
        cls,
        connection: sqlite3.Connection,
        executor: Executor,
        scan: BackupScan,
        account: int,
        made_ms: int,
        source: str,
    ) -> "Importer":
        """Insert the snapshot and prepare the import of its frames."""
        owner = scan.account
        settings = {name: getattr(owner, name) for name in SETTINGS if owner.HasField(name)}
        written = (f'"{name}": {MessageToJson(message, indent=None)}' for name, message in settings.items())
        text = f"{{{', '.join(written)}}}"
        row = connection.execute(
            f"INSERT INTO snapshot VALUES (NULL, {', '.join('?' * 17)})",
            (
                account,
                made_ms,
                scan.digest,
                min(scan.header.version, LATEST),
                scan.header.currentAppVersion,
                scan.header.firstAppVersion,
                scan.frames,
                scan.bytes,
                0,
                account_name(owner),
                owner.username or None,
                " ".join(part for part in (owner.bioEmoji, owner.bioText) if part) or None,
                text,
                scan.raw_header,
                scan.raw_account or None,
                source,
                time.time_ns() // 1_000_000,
            ),
        )
        current = row.lastrowid
        assert current is not None  # noqa: S101  # a row was just written
        snapshots = Snapshots.read(connection, account, current, made_ms, scan.digest)
        notes = Notes()
        recipient_map = RecipientMap(connection, snapshots, notes)
        recipient_map.load()
        extras = Extras(connection, snapshots, recipient_map.people, recipient_map.aliases, notes)
        messages = Messages(connection, snapshots, recipient_map, notes, executor)
        return cls(connection, scan, snapshots, notes, recipient_map, extras, messages, min(made_ms + DAY, LATEST))

    def run(self, progress: Progress | None) -> None:
        """Read all frames and import them."""
        run = self.connection.execute
        is_first_import = self.messages.is_empty
        if is_first_import:
            for name in LATER_INDEXES:
                run(f"DROP INDEX IF EXISTS {name}")
        bytes_read, total = 0, self.scan.bytes * 6 // 5
        for block in self.scan.read_blocks():
            self.import_block(block)
            bytes_read += len(block.data)
            if progress is not None:
                progress(bytes_read, total, self.messages.counts.read)
        self.notes.set_frame(0, "account")
        self.extras.add_custom_colors(self.scan.account)
        self.note_account_defaults()
        self.recipient_map.finish()
        if is_first_import:
            for statement in LATER_INDEXES.values():
                run(statement)
        self.messages.finish()
        snapshots = self.snapshots
        self.connection.executemany(
            "INSERT INTO skipped VALUES (?, ?, ?, ?, ?, ?)",
            [(snapshots.current, *note, times) for note, times in self.notes.counts.items()],
        )
        run("UPDATE snapshot SET messages = ? WHERE id = ?", (self.messages.counts.read, snapshots.current))
        refresh_account(self.connection, snapshots)
        if progress is not None:
            progress(total, total, self.messages.counts.read)

    def import_block(self, block: Block) -> None:
        """Import the frames of a block: first all others one by one, then the messages in bulk."""
        data = block.data
        items, others, frames, fault, at, latest, place = self.read(data)
        if fault:
            raise block.damaged(fault, frames, at)
        if not others and not any_odd(items):
            self.latest, self.place = latest, place
            self.messages.add(items, data, block.index)
            return
        odd: dict[int, list[tuple[int, Frame]]] = {}
        parsed = [
            (before, block.index + before + n, parse(data[start:end], block.index + before + n))
            for n, (before, start, end) in enumerate(others)
        ]
        moved = self.recipient_map.register(
            frame.recipient for _n, _index, frame in parsed if frame.HasField("recipient")
        )
        apply_alias_moves(self.connection, self.recipient_map, self.messages.merger, moved)
        for before, index, frame in parsed:
            self.import_frame(frame, index)
            if frame.WhichOneof("item") == "chatItem":
                odd.setdefault(before, []).append((index, frame))
        self.recipient_map.save()
        # The messages refer to the recipients and chats imported above.
        items, *_rest, self.latest, self.place = self.read(data)
        places = [before for before, _start, _end in others]
        entries: list[Entry] = []
        for n in range(len(items) + 1):
            entries += [self.reparse(frame.chatItem, index) for index, frame in odd.get(n, ())]
            if n < len(items):
                entries.append(self.entry(data, items[n], block.index + n + bisect_right(places, n)))
        self.messages.add_each(entries)

    def read(self, data: bytes) -> tuple[list[Item], list[tuple[int, int, int]], int, int, int, int, int]:
        """Parse the chat items of a block, ordered after those of the blocks before it."""
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
        """Return the item with its record; one that the compiled reader cannot read is parsed by protobuf."""
        raw = data[item[0] : item[1]]
        if not item[FLAGS] & ODD:
            return item, raw, frame
        return self.reparse(ChatItem.FromString(raw), frame)

    def reparse(self, chat_item: ChatItem, index: int) -> Entry:
        """Parse a message again from its canonical serialization, alone in its frame."""
        raw = Frame(chatItem=chat_item).SerializeToString()
        data = encode_varint(len(raw)) + raw
        items, *_rest = self.read(data)
        return items[0], chat_item.SerializeToString(), index

    def note_account_defaults(self) -> None:
        """Record defaults that were used for unset or unknown values of the account's settings."""
        owner = self.scan.account
        if owner.HasField("backupsSubscriberData") and not owner.backupsSubscriberData.WhichOneof(
            "iapSubscriptionId"
        ):
            self.notes.skip("IAPSubscriberData.iapSubscriptionId not set")
        if owner.HasField("accountSettings"):
            self.notes.enum(owner.accountSettings, "phoneNumberSharingMode")
            self.notes.enum(owner.accountSettings, "defaultSentMediaQuality")
        if owner.HasField("usernameLink"):
            self.notes.enum(owner.usernameLink, "color")

    def import_frame(self, frame: Frame, index: int) -> None:
        """Import one frame that is not a message."""
        kind = frame.WhichOneof("item")
        self.notes.set_frame(index, kind or "frame")
        if kind is None:
            self.notes.skip("Frame.item not set")
        elif kind == "recipient":
            self.recipient_map.add(frame.recipient, frame.recipient.SerializeToString())
        elif kind == "chat":
            self.recipient_map.add_chat(frame.chat, frame.chat.SerializeToString())
        elif kind == "stickerPack":
            self.extras.add_sticker_pack(frame.stickerPack)
        elif kind == "adHocCall":
            self.extras.add_call(frame.adHocCall)
        elif kind == "notificationProfile":
            self.extras.add_notification_profile(frame.notificationProfile)
        elif kind == "chatFolder":
            self.extras.add_chat_folder(frame.chatFolder)


def parse(raw: bytes, index: int) -> Frame:
    """Parse a frame."""
    try:
        return Frame.FromString(raw)
    except DecodeError as error:
        raise ArchiveError(f"frame {index} cannot be read") from error
