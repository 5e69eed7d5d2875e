"""Imports the messages of a backup; each message is stored once.

A message is the same in two backups if chat, author and the time of its first revision are the same; its id is
computed from these. Several messages that share all of them are distinguished by the kind of update and by their
original content.
"""

import sqlite3
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archives.item_rows import LOST, PARTS, RICH, STRANGER, UNSURE, Item, message_id
from holdfast.backup.archives.message_index import index_all, index_messages
from holdfast.backup.archives.message_merge import CHAT, FINGERPRINT, Merger, identity_of, with_place
from holdfast.backup.archives.message_store import MessageStore, StoredMessage, Version
from holdfast.backup.archives.plain_rows import add_plain_messages
from holdfast.backup.archives.recipients import RecipientMap
from holdfast.backup.archives.records import RecordWriter
from holdfast.backup.archives.rows import ROW, Rows, is_ignored
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.statements import insert_plain
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.schema.backup_pb2 import ChatItem
from holdfast.redacted_repr import redacted

__all__ = ["Entry", "ImportCounts", "Messages"]

# An item with its record and the number of its frame.
Entry = tuple[Item, bytes, int]

FLAGS: Final = 2
AUTHOR, ORDER, LOOK = 2, 7, 9


@dataclass(slots=True)
class ImportCounts:
    """Counts of read, new, changed and vanished messages."""

    read: int = 0
    new: int = 0
    changed: int = 0
    vanished: int = 0


@redacted
@dataclass(slots=True)
class Messages:
    """Imports the messages of one backup, block by block."""

    connection: sqlite3.Connection
    snapshots: Snapshots
    recipient_map: RecipientMap
    notes: Notes
    # Of an import: compresses records in another thread.
    executor: Executor | None = None
    counts: ImportCounts = field(default_factory=ImportCounts)
    rows: Rows = field(init=False)
    # For stored messages, used only to record what was skipped or defaulted.
    scratch: Rows = field(init=False)
    store: MessageStore = field(init=False)
    merger: Merger = field(init=False)
    stored: dict[int, StoredMessage] = field(default_factory=dict)
    stored_versions: dict[int, dict[int, Version]] = field(default_factory=dict)
    seen_in: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self.rows, self.scratch = (
            Rows(self.recipient_map.people, self.recipient_map.by_aci, self.notes, self.recipient_map.placeholder)
            for _ in range(2)
        )
        records = RecordWriter(self.connection, self.snapshots.current, executor=self.executor)
        self.store = MessageStore(self.connection, records, self.rows)
        self.merger = Merger(self.connection, self.store, self.snapshots, self.recipient_map)
        last_seen = self.snapshots.last_seen_value(self.snapshots.current)
        self.seen_in = (self.snapshots.current, -1 if last_seen is None else last_seen)
        self.store.insert_plain = insert_plain(*self.seen_in)

    @property
    def is_empty(self) -> bool:
        """Whether the archive had no messages before."""
        return self.store.is_empty

    def add(self, items: list[Item], data: bytes, frame: int) -> None:
        """Import messages that are contiguous in `data`; `frame` is the number of the first one's frame."""
        self.look_up([item[ROW][0] for item in items])
        converted = add_plain_messages(
            items,
            data,
            frame,
            self.stored,
            self.merger.moved,
            self.merger.block_fingerprints,
            self.seen_in,
            self.store.records,
            self.recipient_map.people,
            self.recipient_map.by_aci,
            self.rows.messages,
            self.rows.tables,
            self.add_message,
        )
        self.counts.new += converted
        self.counts.read += converted
        self.end_block()

    def add_each(self, entries: list[Entry]) -> None:
        """Import messages one by one, in the order of the backup."""
        self.look_up([item[ROW][0] for item, _raw, _frame in entries])
        for item, raw, frame in entries:
            self.add_message(item, raw, frame)
        self.end_block()

    def look_up(self, ids: list[int]) -> None:
        """Load the stored rows and versions of messages before they are imported."""
        self.stored = self.store.find(ids)
        self.stored_versions = self.store.versions(self.stored) if self.stored else {}
        self.merger.moved.update(self.merger.seen_in_earlier_blocks(self.stored))

    def end_block(self) -> None:
        """Write the buffered rows and the sightings of a block."""
        self.store.flush()
        self.merger.save_seen()

    def add_message(self, item: Item, raw: bytes, frame: int) -> None:
        """Import one message of any kind."""
        self.notes.set_frame(frame, "chatItem")
        tolerated = self.apply_defaults(item) if item[FLAGS] & (LOST | UNSURE) else item
        if tolerated is None:
            return
        item = tolerated
        parsed = ChatItem.FromString(raw) if item[FLAGS] & (RICH | PARTS) else None
        if parsed is not None and is_ignored(parsed, self.notes):
            return
        number = item[ROW][0]
        old = self.stored.get(number)
        if old is None and item[FLAGS] & LOST:
            old = self.store.find([number]).get(number)
        self.counts.read += 1
        if number in self.merger.block_fingerprints or number in self.merger.moved:
            self.add_at_free_place(item, raw, parsed)
        elif old is None:
            self.insert(item, raw, parsed)
        elif old.identity == identity_of(item) and old.rank == 0:
            last = self.snapshots.newest if old.last_seen is None else old.last_seen
            versions = self.stored_versions.get(number) or self.merger.single_version(
                old, last or self.snapshots.current
            )
            self.merge(item, raw, parsed, old, versions)
        else:
            self.add_at_free_place(item, raw, parsed)

    def add_at_free_place(self, item: Item, raw: bytes, parsed: ChatItem | None) -> None:
        """Import a message whose id is taken, by a duplicate or by a collision."""
        number, rank, old = self.merger.find_place(item, parsed or ChatItem.FromString(raw))
        item = with_place(item, number, rank)
        if old is None:
            self.insert(item, raw, parsed)
        else:
            self.merge(item, raw, parsed, old, self.merger.versions_of(old))

    def insert(self, item: Item, raw: bytes, parsed: ChatItem | None) -> None:
        """Insert a new message."""
        self.rows.add(item, parsed, self.seen_in + self.store.records.add(raw))
        self.merger.block_fingerprints[item[ROW][0]] = item[ROW][FINGERPRINT]
        self.counts.new += 1

    def merge(
        self, item: Item, raw: bytes, parsed: ChatItem | None, old: StoredMessage, versions: dict[int, Version]
    ) -> None:
        """Merge a message with the stored one."""
        row, now = item[ROW], self.snapshots.current
        order = row[ORDER : ORDER + 2]
        same_version = versions.get(row[FINGERPRINT])
        place = (same_version.block, same_version.at) if same_version else self.store.records.add(raw)
        version = Version(now, now, *place, *order)
        before = versions[old.fingerprint]
        replaced = self.merger.merge_version(item, parsed, self.rows, old, version, versions)
        if replaced:
            self.counts.changed += self.merger.content_differs(before, raw)
        elif parsed is not None or item[FLAGS] & STRANGER:
            self.scratch.add(item, parsed, ())
            self.scratch.clear()
        self.merger.mark_seen(old.id, [row[FINGERPRINT]])

    def apply_defaults(self, item: Item) -> Item | None:
        """Skip what the format says to skip, and replace missing chats and authors by placeholders."""
        row, flags = item[ROW], item[FLAGS]
        if not row[LOOK] & 15 or not row[LOOK] >> 4 & 31:
            self.notes.skip(f"ChatItem.{'item' if row[LOOK] & 15 else 'directionalDetails'} not set")
            return None
        if flags & UNSURE:
            self.notes.default("SendStatus.deliveryStatus not set, read as pending")
        chat, author = row[CHAT], row[AUTHOR]
        if not author:
            self.notes.default("written by somebody who is not in the file, kept as Unknown")
            author = self.recipient_map.placeholder()
        if not chat:
            self.notes.default("in a chat that is not in the file, kept as Unknown")
            chat = self.recipient_map.placeholder_chat()
        item = (*item[:ROW], (0, chat, author, *row[AUTHOR + 1 :]))
        return with_place(item, message_id(*identity_of(item), 0), 0)

    def finish(self) -> None:
        """Update the full-text index, and mark vanished messages."""
        self.index()
        run, snapshots = self.connection.execute, self.snapshots
        if snapshots.is_newest and snapshots.newest is not None:
            updated = run(
                "UPDATE stored_message SET last_seen = ? WHERE last_seen IS NULL "
                "AND chat_id IN (SELECT id FROM recipient WHERE account_id = ?) "
                "AND id NOT IN (SELECT id FROM temp.seen)",
                (snapshots.newest, snapshots.account),
            )
            self.counts.vanished = updated.rowcount
        run("DELETE FROM temp.seen")

    def index(self) -> None:
        """Update the full-text index."""
        self.store.records.flush()
        if self.is_empty:
            index_all(self.connection)
        else:
            index_messages(self.connection, "SELECT id FROM temp.unindexed")
        self.connection.execute("DELETE FROM temp.unindexed")
