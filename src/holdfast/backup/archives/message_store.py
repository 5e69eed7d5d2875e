"""The message tables of an archive: finds, deletes and moves messages, and writes buffered rows."""

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

from holdfast.backup.archives.item_rows import message_id
from holdfast.backup.archives.message_index import unindex_messages
from holdfast.backup.archives.records import RecordReader, RecordWriter
from holdfast.backup.archives.rows import Rows
from holdfast.backup.archives.statements import CHILDREN, INSERT, PLAIN_COLUMNS
from holdfast.redacted_repr import redacted

__all__ = ["Identity", "MessageStore", "StoredMessage", "Version"]

# The layout of ids, see `message_id`: this many per second, and from `BEYOND` on those after a collision.
SECOND_BITS: Final = 20
BEYOND: Final = 1 << 52
LATEST_SECOND: Final = (1 << 32) - 1

# chat, author, time of the first revision, and the kind of update
Identity = tuple[int, int, int, int]


class Version(NamedTuple):
    """One version of a message: its first and last snapshot, its record, its order in the latter."""

    first_seen: int
    last_seen: int
    block: int
    at: int
    order_ms: int
    order_n: int


@redacted
@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message in the archive.

    `rank` is 0 for a message without duplicates. Duplicates have a rank computed from their content; the lowest is
    stored negated, and that message has the id that a message without duplicates would have, so that a lookup
    finds it.
    """

    id: int
    identity: Identity
    rank: int
    fingerprint: int
    first_seen: int
    last_seen: int | None
    order: tuple[int, int]
    place: tuple[int, int]

    @property
    def key(self) -> tuple[Identity, int]:
        """The values from which its id is computed."""
        return self.identity, max(self.rank, 0)


@redacted
@dataclass(slots=True)
class MessageStore:
    """Access to the message tables, and the buffer of rows to be written."""

    connection: sqlite3.Connection
    records: RecordWriter
    rows: Rows
    reader: RecordReader = field(init=False)
    highest_id: int = 0
    is_empty: bool = False
    # The statement for short rows, which contains the sightings of the import.
    insert_plain: str = ""
    replaced: list[int] = field(default_factory=list)
    # Called when a message gets another id.
    on_move: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        run = self.connection.execute
        self.reader = RecordReader(self.connection)
        (self.highest_id,) = run("SELECT coalesce(max(id), 0) FROM stored_message").fetchone()
        self.is_empty = self.highest_id == 0
        run("CREATE TEMP TABLE IF NOT EXISTS unindexed (id INTEGER PRIMARY KEY)")
        run("DELETE FROM temp.unindexed")

    def find(self, ids: Sequence[int]) -> dict[int, StoredMessage]:
        """Return the stored messages among these ids; ids above the highest one are not looked up."""
        candidates = [number for number in ids if number <= self.highest_id]
        if not candidates:
            return {}
        rows = self.connection.execute(
            "SELECT id, chat_id, author_id, first_sent_ms, slot, rank, fingerprint, first_seen, last_seen, "
            "order_ms, order_n, block_id, block_at FROM message WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(candidates),),
        )
        return {
            row[0]: StoredMessage(
                row[0], row[1:5], row[5], row[6], row[7], row[8], (row[9], row[10]), (row[11], row[12])
            )
            for row in rows
        }

    def versions(self, ids: Collection[int]) -> dict[int, dict[int, Version]]:
        """Return the versions of the messages that have more than one, by fingerprint."""
        rows = self.connection.execute(
            "SELECT message_id, fingerprint, first_seen, last_seen, block_id, block_at, order_ms, order_n "
            "FROM message_version WHERE message_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        by_message: dict[int, dict[int, Version]] = {}
        for number, fingerprint, *row in rows:
            by_message.setdefault(number, {})[fingerprint] = Version(*row)
        return by_message

    def duplicates(self, message: StoredMessage) -> list[int]:
        """Return the ids of a message and its duplicates."""
        second = min(message.identity[2] // 1000, LATEST_SECOND) << SECOND_BITS
        rows = self.connection.execute(
            "SELECT id FROM message WHERE (id BETWEEN ? AND ? OR id >= ?) "
            "AND (chat_id, author_id, first_sent_ms, slot) = (?, ?, ?, ?) AND rank <> 0",
            (second, second + (1 << SECOND_BITS) - 1, BEYOND, *message.identity),
        )
        return [number for (number,) in rows]

    def find_id(self, identity: Identity, rank: int) -> tuple[int, StoredMessage | None]:
        """Return the id and the stored row of a message; on a collision the lower key takes precedence."""
        self.flush()
        attempt = 0
        while True:
            number = message_id(*identity, rank, attempt)
            message = self.find([number]).get(number)
            if message is None or message.key == (identity, rank):
                return number, message
            if (identity, rank) < message.key:
                self.move(message, self.find_free_id(message, attempt + 1), message.rank)
                return number, None
            attempt += 1

    def find_free_id(self, message: StoredMessage, attempt: int) -> int:
        """Return the next free id for a message that is displaced by a collision."""
        while True:
            number = message_id(*message.identity, message.key[1], attempt)
            stored_message = self.find([number]).get(number)
            if stored_message is None:
                return number
            attempt += 1

    def record(self, version: Version) -> tuple[int, bytes]:
        """Return the record of a version, with the snapshot whose ids it contains."""
        self.records.flush()
        return self.reader.read(version.block, version.at)

    def unindex(self, number: int) -> None:
        """Remove a message from the full-text index."""
        if self.is_empty:
            return
        if not self.connection.execute("DELETE FROM temp.unindexed WHERE id = ?", (number,)).rowcount:
            unindex_messages(self.connection, "?", (number,))

    def delete_rows(self, number: int) -> None:
        """Delete the related rows of a message and its index entry."""
        self.unindex(number)
        for table in CHILDREN:
            self.connection.execute(f"DELETE FROM {table} WHERE message_id = ?", (number,))  # constants

    def replace(self, number: int) -> None:
        """Delete the related rows of a message; `flush` writes it again."""
        self.delete_rows(number)
        self.replaced.append(number)

    def remove(self, number: int) -> None:
        """Delete a message with all its versions."""
        self.delete_rows(number)
        run = self.connection.execute
        for table in ("message_version", "message_change"):
            run(f"DELETE FROM {table} WHERE message_id = ?", (number,))
        run("DELETE FROM stored_message WHERE id = ?", (number,))

    def move(self, message: StoredMessage, number: int, rank: int) -> None:
        """Change the id or the rank of a message."""
        run = self.connection.execute
        if number != message.id:
            self.unindex(message.id)
            for table in (*CHILDREN, "message_version", "message_change"):
                run(f"UPDATE {table} SET message_id = ? WHERE message_id = ?", (number, message.id))
            if not self.is_empty:
                run("INSERT INTO temp.unindexed VALUES (?)", (number,))
            self.highest_id = max(self.highest_id, number)
            if self.on_move is not None:
                self.on_move(message.id, number)
        run("UPDATE stored_message SET id = ?, rank = ? WHERE id = ?", (number, rank, message.id))

    def flush(self) -> None:
        """Write the buffered rows."""
        many, waiting = self.connection.executemany, self.rows.messages
        self.records.write_compressed()
        if not waiting:
            return
        if self.replaced:
            many("DELETE FROM stored_message WHERE id = ?", [(number,) for number in self.replaced])
            self.replaced.clear()
        # Rows inserted in key order go to adjacent pages.
        waiting.sort()
        if not self.is_empty:
            many("INSERT INTO temp.unindexed VALUES (?)", [row[:1] for row in waiting])
        for columns, same in groupby(waiting, len):
            many(self.insert_plain if columns == PLAIN_COLUMNS else INSERT["stored_message"], same)
        self.highest_id = max(self.highest_id, waiting[-1][0])
        waiting.clear()
        for table, rows in self.rows.tables.items():
            if rows:
                rows.sort()
                many(INSERT[table], rows)
                rows.clear()
