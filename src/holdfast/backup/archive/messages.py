"""Brings the messages of a backup into an archive, where each is kept once.

A message is the same in two backups when chat, author and the time it was first sent are the same; its id is made
of these. Several that share all of them, as a burst of one author can, are told apart by the kind of update they
are and by their order in the file. Of each message every version is kept with the snapshots it was first and last
seen in; what the latest of them says is what shows.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import Final

from holdfast.backup.archive.changes import differences
from holdfast.backup.archive.recipients import Cast
from holdfast.backup.archive.records import RecordWriter, read_record
from holdfast.backup.archive.rows import CHILDREN, Rows, ignored
from holdfast.backup.archive.snapshots import Snapshots
from holdfast.backup.archive.tolerance import Notes
from holdfast.backup.schema.backup_pb2 import ChatItem
from holdfast.backup.wire.entries import Item, message_id

__all__ = ["Counts", "Messages"]

COLUMNS: Final = 30
# The tries for a free id begin above all ranks.
TRY: Final = 1 << 16
FIRST: Final = itemgetter(0)
# What an item has, and what its row has.
RICH, UNSURE, STRANGER, ROW = 2, 4, 5, 8
CHAT, AUTHOR, FIRST_SENT, ORDER, DIRECTION, KIND, SLOT, RANK, FINGERPRINT = 1, 2, 4, 7, 9, 10, 23, 24, 25


# chat, author, when it was first sent, and the kind of update
Identity = tuple[int, int, int, int]


@dataclass(slots=True)
class Counts:
    """What an import did to the messages of an archive."""

    read: int = 0
    new: int = 0
    changed: int = 0
    vanished: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """A message that is in the archive already."""

    id: int
    identity: Identity
    rank: int
    fingerprint: int
    first_seen: int
    last_seen: int | None
    order: tuple[int, int]
    place: tuple[int, int]


def renumbered(item: Item, number: int, rank: int) -> Item:
    """Give an item another id."""
    row = item[ROW]
    receipts = [(number, *one[1:]) for one in item[6] or ()]
    reactions = [(number, *one[1:]) for one in item[7] or ()]
    return (*item[:6], receipts, reactions, (number, *row[1:RANK], rank, *row[RANK + 1 :]))


@dataclass(slots=True)
class Messages:
    """Takes in the messages of one backup, a block at a time."""

    connection: sqlite3.Connection
    snapshots: Snapshots
    cast: Cast
    notes: Notes
    counts: Counts = field(default_factory=Counts)
    top: int = 0
    empty: bool = False
    rows: Rows = field(init=False)
    # Of what is in the archive already, only what has to be noted is of interest.
    scratch: Rows = field(init=False)
    records: RecordWriter = field(init=False)
    maps: dict[int, dict[int, int]] = field(default_factory=dict)
    replaced: list[int] = field(default_factory=list)
    # Where to go on for a message that has many twins: all ranks below were given out in this file.
    ranks: dict[Identity, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows, self.scratch = (
            Rows(self.cast.people, self.cast.by_aci, self.notes, self.cast.placeholder) for _ in range(2)
        )
        self.records = RecordWriter(self.connection, self.snapshots.current)
        self.maps[self.snapshots.current] = self.cast.people
        (self.top,) = self.connection.execute("SELECT coalesce(max(id), 0) FROM message").fetchone()
        self.empty = self.top == 0
        run = self.connection.execute
        run("CREATE TEMP TABLE IF NOT EXISTS seen (id INTEGER PRIMARY KEY)")
        run("CREATE TEMP TABLE IF NOT EXISTS fresh (id INTEGER PRIMARY KEY)")
        run("DELETE FROM temp.seen")
        run("DELETE FROM temp.fresh")

    def add(self, items: Iterable[tuple[Item, bytes, int]]) -> None:
        """Take in some messages in the order of the file, each with its record and the number of its frame."""
        wanted: list[tuple[Item, bytes, int]] = []
        for entry in items:
            item = entry[0]
            row = item[ROW]
            if row[CHAT] and row[AUTHOR] and row[DIRECTION] and row[KIND] and not item[UNSURE]:
                wanted.append(entry)
            elif (kept := self.tolerate(item, entry[2])) is not None:
                wanted.append((kept, *entry[1:]))
        known = self.find([entry[0][ROW][0] for entry in wanted])
        fresh: dict[int, Identity] = {}
        notes, shots = self.notes, self.snapshots
        notes.record = "chatItem"
        seen_in = (shots.current, shots.still(shots.current))
        for entry in wanted:
            item, raw, notes.frame = entry
            parsed = ChatItem.FromString(raw) if item[RICH] else None
            if parsed is not None and ignored(parsed, notes):
                continue
            row = item[ROW]
            number = row[0]
            identity = (row[CHAT], row[AUTHOR], row[FIRST_SENT], row[SLOT])
            old = known.get(number)
            if old is not None or number in fresh:
                number, rank, old = self.settle(identity, number, old, fresh)
                if number != row[0]:
                    item = renumbered(item, number, rank)
            if old is None:
                self.rows.add(item, parsed, seen_in + self.records.add(raw))
                self.counts.new += 1
            else:
                self.meet(item, raw, parsed, old)
            fresh[number] = identity
        self.counts.read += len(fresh)
        self.top = max(self.top, max(fresh, default=0))
        self.flush()
        if not shots.only:
            self.connection.executemany("INSERT INTO temp.seen VALUES (?)", [(one,) for one in fresh])

    def tolerate(self, item: Item, frame: int) -> Item | None:
        """Skip what the format says to skip, and give a place to what names nobody."""
        self.notes.at(frame, "chatItem")
        row = item[ROW]
        if not row[DIRECTION] or not row[KIND]:
            self.notes.skip(f"ChatItem.{'item' if row[DIRECTION] else 'directionalDetails'} not set")
            return None
        if item[UNSURE]:
            self.notes.default("SendStatus.deliveryStatus not set, read as pending")
        chat, author = row[CHAT], row[AUTHOR]
        if not author:
            self.notes.default("written by somebody who is not in the file, kept as Unknown")
            author = self.cast.placeholder()
        if not chat:
            self.notes.default("in a chat that is not in the file, kept as Unknown")
            chat = self.cast.placeholder_chat()
        row = (0, chat, author, *row[AUTHOR + 1 :])
        item = (*item[:ROW], row)
        return renumbered(item, message_id(chat, author, row[FIRST_SENT], row[SLOT], 0), 0)

    def find(self, ids: Sequence[int]) -> dict[int, Known]:
        """Find which ids the archive has; what lies beyond the highest it has is not looked for."""
        asked = [number for number in ids if number <= self.top]
        if not asked:
            return {}
        rows = self.connection.execute(
            "SELECT id, chat_id, author_id, first_sent_ms, slot, rank, fingerprint, first_seen, "
            "last_seen, order_ms, "
            "order_n, block_id, block_at FROM message WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(asked),),
        )
        return {
            row[0]: Known(row[0], row[1:5], row[5], row[6], row[7], row[8], (row[9], row[10]), (row[11], row[12]))
            for row in rows
        }

    def was_seen(self, number: int) -> bool:
        """Tell whether an earlier block of this file had the message."""
        if self.snapshots.only:
            query = "SELECT 1 FROM message WHERE id = ?"
        else:
            query = "SELECT 1 FROM temp.seen WHERE id = ?"
        return self.connection.execute(query, (number,)).fetchone() is not None

    def settle(
        self,
        identity: Identity,
        number: int,
        old: Known | None,
        fresh: dict[int, Identity],
    ) -> tuple[int, int, Known | None]:
        """Find the id of a message whose first choice is taken: by itself, by its twin, or by a stranger."""
        rank = self.ranks.get(identity, 0)
        attempt = 0
        if rank:
            number = message_id(*identity, rank)
        while True:
            if number in fresh:
                twin = fresh[number] == identity
            else:
                old = old if old is not None and old.id == number else self.find([number]).get(number)
                if old is None:
                    self.ranks.update({identity: rank + 1} if rank else {})
                    return number, rank, None
                twin = old.identity == identity and old.rank == rank
                if twin and not self.was_seen(number):
                    self.ranks.update({identity: rank + 1} if rank else {})
                    return number, rank, old
            if twin:
                rank += 1
                attempt = 0
            else:
                attempt += 1
            number = message_id(*identity, rank | attempt * TRY)

    def meet(self, item: Item, raw: bytes, parsed: ChatItem | None, old: Known) -> None:
        """Merge a message with what the archive has of it."""
        shots, run = self.snapshots, self.connection.execute
        now = shots.current
        last = old.last_seen if old.last_seen is not None else shots.newest
        assert last is not None  # noqa: S101  # what is in the archive came with a snapshot
        is_later = shots.later(last, now) == now
        first = shots.earlier(old.first_seen, now)
        still = shots.still(shots.later(last, now))
        # Of an unchanged message that a later snapshot still has, nothing is written.
        if (first, still) != (old.first_seen, old.last_seen):
            run("UPDATE message SET first_seen = ?, last_seen = ? WHERE id = ?", (first, still, old.id))
        order = item[ROW][ORDER : ORDER + 2]
        if is_later and order != old.order:
            run("UPDATE message SET order_ms = ?, order_n = ? WHERE id = ?", (*order, old.id))
        fingerprint = item[ROW][FINGERPRINT]
        versions = {
            row[0]: row[1:]
            for row in run(
                "SELECT fingerprint, first_seen, last_seen, block_id, block_at FROM message_version "
                "WHERE message_id = ?",
                (old.id,),
            )
        }
        shown = fingerprint == old.fingerprint or not is_later
        if shown and (parsed is not None or item[STRANGER]):
            self.scratch.add(item, parsed, ())
            self.scratch.clear()
        if not versions and fingerprint == old.fingerprint:
            return
        if not versions:
            versions[old.fingerprint] = (old.first_seen, last, *old.place)
        if fingerprint in versions:
            known_first, known_last, *place = versions[fingerprint]
            versions[fingerprint] = (shots.earlier(known_first, now), shots.later(known_last, now), *place)
        else:
            versions[fingerprint] = (now, now, *self.records.add(raw))
        if not shown:
            self.replace(item, parsed, (first, still, *versions[fingerprint][2:]))
        self.record(old.id, versions)

    def replace(self, item: Item, parsed: ChatItem | None, tail: tuple[int | None, ...]) -> None:
        """Let a message say what a later snapshot says."""
        run, number = self.connection.execute, item[ROW][0]
        run(
            "INSERT INTO message_index (message_index, rowid, text, extra, signs, facets) "
            "SELECT 'delete', id, text, extra, signs, facets FROM searchable WHERE id = ?",
            (number,),
        )
        for table in CHILDREN:
            run(f"DELETE FROM {table} WHERE message_id = ?", (number,))  # names of ours
        self.replaced.append(number)
        self.rows.add(item, parsed, tail)
        self.counts.changed += 1

    def record(self, number: int, versions: dict[int, tuple[int, ...]]) -> None:
        """Write down the versions of a message and what changed from each to the next."""
        run, shots = self.connection.execute, self.snapshots
        run("DELETE FROM message_version WHERE message_id = ?", (number,))
        run("DELETE FROM message_change WHERE message_id = ?", (number,))
        self.connection.executemany(
            "INSERT INTO message_version VALUES (?, ?, ?, ?, ?, ?)",
            [(number, mark, *row) for mark, row in versions.items()],
        )
        self.records.flush()
        ordered = sorted(versions.values(), key=lambda row: shots.order[row[0]])
        changes: list[tuple[object, ...]] = []
        for before, after in pairwise(ordered):
            one, other = self.load(before), self.load(after)
            changes += [
                (number, len(changes) + n, after[0], *change)
                for n, change in enumerate(differences(one[0], one[1], other[0], other[1]))
            ]
        self.connection.executemany("INSERT INTO message_change VALUES (?, ?, ?, ?, ?, ?, ?)", changes)

    def load(self, row: tuple[int, ...]) -> tuple[ChatItem, dict[int, int]]:
        """Read a version again, with the ids of its file."""
        snapshot, raw = read_record(self.connection, row[2], row[3])
        if snapshot not in self.maps:
            rows = self.connection.execute(
                "SELECT file_id, recipient_id FROM snapshot_recipient WHERE snapshot_id = ?", (snapshot,)
            )
            self.maps[snapshot] = dict(rows.fetchall())
        return ChatItem.FromString(raw), self.maps[snapshot]

    def flush(self) -> None:
        """Write the rows that wait."""
        many, waiting = self.connection.executemany, self.rows.messages
        if self.replaced:
            many("DELETE FROM message WHERE id = ?", [(number,) for number in self.replaced])
            self.replaced.clear()
        if waiting:
            if not self.empty:
                many("INSERT OR IGNORE INTO temp.fresh VALUES (?)", [row[:1] for row in waiting])
            # Rows that come in the order of their keys are written side by side.
            waiting.sort(key=FIRST)
            many(f"INSERT INTO message VALUES ({', '.join('?' * COLUMNS)})", waiting)
            waiting.clear()
        for table, rows in self.rows.tables.items():
            if rows:
                rows.sort(key=FIRST)
                many(f"INSERT INTO {table} VALUES ({', '.join('?' * CHILDREN[table])})", rows)
                rows.clear()

    def finish(self) -> None:
        """Mark what has vanished, and let new words be found."""
        self.records.flush()
        run, shots = self.connection.execute, self.snapshots
        if self.empty:
            run("INSERT INTO message_index (message_index) VALUES ('rebuild')")
        else:
            run(
                "INSERT INTO message_index (rowid, text, extra, signs, facets) "
                "SELECT id, text, extra, signs, facets FROM searchable WHERE id IN (SELECT id FROM temp.fresh)"
            )
        if shots.is_newest and shots.newest is not None:
            gone = run(
                "UPDATE message SET last_seen = ? WHERE last_seen IS NULL "
                "AND chat_id IN (SELECT id FROM recipient WHERE account_id = ?) "
                "AND id NOT IN (SELECT id FROM temp.seen)",
                (shots.newest, shots.account),
            )
            self.counts.vanished = gone.rowcount
        run("DELETE FROM temp.seen")
        run("DELETE FROM temp.fresh")
