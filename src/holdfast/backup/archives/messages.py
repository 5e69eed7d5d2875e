"""Brings the messages of a backup into an archive, where each is kept once.

A message is the same in two backups when chat, author and the time it was first sent are the same; its id is made
of these. Several that share all of them, as a burst of one author can, are told apart by the kind of update they
are and by what they said at first.
"""

import sqlite3
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archives.item_rows import LOST, PARTS, RICH, STRANGER, UNSURE, Item, message_id
from holdfast.backup.archives.message_index import index_all, index_messages
from holdfast.backup.archives.message_merge import CHAT, FINGERPRINT, Merger, identity_of, placed
from holdfast.backup.archives.message_store import MessageStore, StoredMessage, Version
from holdfast.backup.archives.plain_rows import take_in
from holdfast.backup.archives.recipients import RecipientMap
from holdfast.backup.archives.records import RecordWriter
from holdfast.backup.archives.rows import ROW, Rows, ignored
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.schema.backup_pb2 import ChatItem
from holdfast.redacted_repr import redacted

__all__ = ["Entry", "ImportCounts", "Messages"]

# An item with its record and the number of its frame.
Entry = tuple[Item, bytes, int]

WHAT: Final = 2
AUTHOR, ORDER, LOOK = 2, 7, 9


@dataclass(slots=True)
class ImportCounts:
    """What an import did to the messages of an archive."""

    read: int = 0
    new: int = 0
    changed: int = 0
    vanished: int = 0


@redacted
@dataclass(slots=True)
class Messages:
    """Takes in the messages of one backup, a block at a time."""

    connection: sqlite3.Connection
    snapshots: Snapshots
    recipient_map: RecipientMap
    notes: Notes
    counts: ImportCounts = field(default_factory=ImportCounts)
    rows: Rows = field(init=False)
    # Of what is in the archive already, only what has to be noted is of interest.
    scratch: Rows = field(init=False)
    store: MessageStore = field(init=False)
    merger: Merger = field(init=False)
    known: dict[int, StoredMessage] = field(default_factory=dict)
    kept: dict[int, dict[int, Version]] = field(default_factory=dict)
    seen_in: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self.rows, self.scratch = (
            Rows(self.recipient_map.people, self.recipient_map.by_aci, self.notes, self.recipient_map.placeholder)
            for _ in range(2)
        )
        records = RecordWriter(self.connection, self.snapshots.current)
        self.store = MessageStore(self.connection, records, self.rows)
        self.merger = Merger(self.connection, self.store, self.snapshots, self.recipient_map)
        still = self.snapshots.still(self.snapshots.current)
        self.seen_in = (self.snapshots.current, -1 if still is None else still)

    @property
    def empty(self) -> bool:
        """Whether the archive had no messages before."""
        return self.store.empty

    def add(self, items: list[Item], data: bytes, frame: int) -> None:
        """Take in messages that stand one after the other in `data`, the first in that frame."""
        self.look_up([item[ROW][0] for item in items])
        taken = take_in(
            items,
            data,
            frame,
            self.known,
            self.merger.moved,
            self.merger.here,
            self.seen_in,
            self.store.records,
            self.recipient_map.people,
            self.recipient_map.by_aci,
            self.rows.messages,
            self.rows.tables,
            self.take,
        )
        self.counts.new += taken
        self.counts.read += taken
        self.end()

    def add_each(self, entries: list[Entry]) -> None:
        """Take in messages one by one, in the order of the file."""
        self.look_up([item[ROW][0] for item, _raw, _frame in entries])
        for item, raw, frame in entries:
            self.take(item, raw, frame)
        self.end()

    def look_up(self, ids: list[int]) -> None:
        """Find what the archive has of some messages before they are taken in."""
        self.known = self.store.find(ids)
        self.kept = self.store.versions(self.known) if self.known else {}
        self.merger.moved.update(self.merger.met(self.known))

    def end(self) -> None:
        """Write what was taken in."""
        self.store.flush()
        self.merger.keep_seen()

    def take(self, item: Item, raw: bytes, frame: int) -> None:
        """Take in one message, whatever it is."""
        self.notes.at(frame, "chatItem")
        tolerated = self.tolerate(item) if item[WHAT] & (LOST | UNSURE) else item
        if tolerated is None:
            return
        item = tolerated
        parsed = ChatItem.FromString(raw) if item[WHAT] & (RICH | PARTS) else None
        if parsed is not None and ignored(parsed, self.notes):
            return
        number = item[ROW][0]
        old = self.known.get(number)
        if old is None and item[WHAT] & LOST:
            old = self.store.find([number]).get(number)
        self.counts.read += 1
        if number in self.merger.here or number in self.merger.moved:
            self.settle(item, raw, parsed)
        elif old is None:
            self.new(item, raw, parsed)
        elif old.identity == identity_of(item) and old.rank == 0:
            last = self.snapshots.newest if old.last_seen is None else old.last_seen
            versions = self.kept.get(number) or self.merger.one_version(old, last or self.snapshots.current)
            self.meet(item, raw, parsed, old, versions)
        else:
            self.settle(item, raw, parsed)

    def settle(self, item: Item, raw: bytes, parsed: ChatItem | None) -> None:
        """Take in a message whose place is taken by a twin or by a stranger."""
        number, rank, old = self.merger.settle(item, parsed or ChatItem.FromString(raw))
        item = placed(item, number, rank)
        if old is None:
            self.new(item, raw, parsed)
        else:
            self.meet(item, raw, parsed, old, self.merger.versions_of(old))

    def new(self, item: Item, raw: bytes, parsed: ChatItem | None) -> None:
        """Take in a message the archive does not have."""
        self.rows.add(item, parsed, self.seen_in + self.store.records.add(raw))
        self.merger.here[item[ROW][0]] = item[ROW][FINGERPRINT]
        self.counts.new += 1

    def meet(
        self, item: Item, raw: bytes, parsed: ChatItem | None, old: StoredMessage, versions: dict[int, Version]
    ) -> None:
        """Merge a message with what the archive has of it."""
        row, now = item[ROW], self.snapshots.current
        order = row[ORDER : ORDER + 2]
        there = versions.get(row[FINGERPRINT])
        place = (there.block, there.at) if there else self.store.records.add(raw)
        version = Version(now, now, *place, *order)
        before = versions[old.fingerprint]
        replaced = self.merger.join(item, parsed, self.rows, old, version, versions)
        if replaced:
            self.counts.changed += self.merger.differ(before, raw)
        elif parsed is not None or item[WHAT] & STRANGER:
            self.scratch.add(item, parsed, ())
            self.scratch.clear()
        self.merger.see(old.id, [row[FINGERPRINT]])

    def tolerate(self, item: Item) -> Item | None:
        """Skip what the format says to skip, and give a place to what names nobody."""
        row, what = item[ROW], item[WHAT]
        if not row[LOOK] & 15 or not row[LOOK] >> 4 & 31:
            self.notes.skip(f"ChatItem.{'item' if row[LOOK] & 15 else 'directionalDetails'} not set")
            return None
        if what & UNSURE:
            self.notes.default("SendStatus.deliveryStatus not set, read as pending")
        chat, author = row[CHAT], row[AUTHOR]
        if not author:
            self.notes.default("written by somebody who is not in the file, kept as Unknown")
            author = self.recipient_map.placeholder()
        if not chat:
            self.notes.default("in a chat that is not in the file, kept as Unknown")
            chat = self.recipient_map.placeholder_chat()
        item = (*item[:ROW], (0, chat, author, *row[AUTHOR + 1 :]))
        return placed(item, message_id(*identity_of(item), 0), 0)

    def finish(self) -> None:
        """Mark what has vanished, and let new words be found."""
        self.index()
        run, shots = self.connection.execute, self.snapshots
        if shots.is_newest and shots.newest is not None:
            gone = run(
                "UPDATE stored_message SET last_seen = ? WHERE last_seen IS NULL "
                "AND chat_id IN (SELECT id FROM recipient WHERE account_id = ?) "
                "AND id NOT IN (SELECT id FROM temp.seen)",
                (shots.newest, shots.account),
            )
            self.counts.vanished = gone.rowcount
        run("DELETE FROM temp.seen")

    def index(self) -> None:
        """Let new words be found."""
        self.store.records.flush()
        if self.empty:
            index_all(self.connection)
        else:
            index_messages(self.connection, "SELECT id FROM temp.fresh")
        self.connection.execute("DELETE FROM temp.fresh")
