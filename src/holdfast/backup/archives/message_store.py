"""Where the messages of an archive stand: finds them, takes them out, moves them, and writes rows that wait."""

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from holdfast.backup.archives.item_rows import message_id
from holdfast.backup.archives.message_index import unindex_messages
from holdfast.backup.archives.records import RecordReader, RecordWriter
from holdfast.backup.archives.rows import Rows
from holdfast.backup.archives.statements import CHILDREN, INSERT
from holdfast.redacted_repr import redacted

__all__ = ["Identity", "MessageStore", "StoredMessage", "Version"]

# How ids are made, see `message_id`: so many of them to a second, and from there on those that found none free.
SECOND_BITS: Final = 20
BEYOND: Final = 1 << 52
LATEST_SECOND: Final = (1 << 32) - 1

# chat, author, when it was first sent, and the kind of update
Identity = tuple[int, int, int, int]


class Version(NamedTuple):
    """One wording of a message: the first and the last snapshot with it, its record, its place in the latter."""

    first_seen: int
    last_seen: int
    block: int
    at: int
    order_ms: int
    order_n: int


@redacted
@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message that is in the archive already.

    `rank` is 0 for one that no file has a twin of. Twins have a number made of their content; that of the lowest
    is negative, and it stands where it would without twins, so that whoever looks there learns of them.
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
        """What its id is made of."""
        return self.identity, max(self.rank, 0)


@redacted
@dataclass(slots=True)
class MessageStore:
    """The messages of an archive, and the rows that wait to be among them."""

    connection: sqlite3.Connection
    records: RecordWriter
    rows: Rows
    reader: RecordReader = field(init=False)
    highest_id: int = 0
    is_empty: bool = False
    replaced: list[int] = field(default_factory=list)
    # Told when a message gets another id.
    on_move: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        run = self.connection.execute
        self.reader = RecordReader(self.connection)
        (self.highest_id,) = run("SELECT coalesce(max(id), 0) FROM stored_message").fetchone()
        self.is_empty = self.highest_id == 0
        run("CREATE TEMP TABLE IF NOT EXISTS unindexed (id INTEGER PRIMARY KEY)")
        run("DELETE FROM temp.unindexed")

    def find(self, ids: Sequence[int]) -> dict[int, StoredMessage]:
        """Find which ids the archive has; what lies beyond the highest it has is not looked for."""
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
        """Find the versions of those messages that have more than one, by fingerprint."""
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
        """List a message and its duplicates."""
        second = min(message.identity[2] // 1000, LATEST_SECOND) << SECOND_BITS
        rows = self.connection.execute(
            "SELECT id FROM message WHERE (id BETWEEN ? AND ? OR id >= ?) "
            "AND (chat_id, author_id, first_sent_ms, slot) = (?, ?, ?, ?) AND rank <> 0",
            (second, second + (1 << SECOND_BITS) - 1, BEYOND, *message.identity),
        )
        return [number for (number,) in rows]

    def find_id(self, identity: Identity, rank: int) -> tuple[int, StoredMessage | None]:
        """Find where a message stands, or would stand; of two that want one place, the lower has it."""
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
        """Find the next free place for a message that has to leave its own."""
        while True:
            number = message_id(*message.identity, message.key[1], attempt)
            stored_message = self.find([number]).get(number)
            if stored_message is None:
                return number
            attempt += 1

    def record(self, version: Version) -> tuple[int, bytes]:
        """Read the record of a version again, with the snapshot whose ids it has."""
        self.records.flush()
        return self.reader.read(version.block, version.at)

    def unindex(self, number: int) -> None:
        """Let a message no longer be found by its words."""
        if self.is_empty:
            return
        if not self.connection.execute("DELETE FROM temp.unindexed WHERE id = ?", (number,)).rowcount:
            unindex_messages(self.connection, "?", (number,))

    def delete_rows(self, number: int) -> None:
        """Take away what shows of a message."""
        self.unindex(number)
        for table in CHILDREN:
            self.connection.execute(f"DELETE FROM {table} WHERE message_id = ?", (number,))  # names of ours

    def replace(self, number: int) -> None:
        """Take away what shows of a message that waits to be written anew."""
        self.delete_rows(number)
        self.replaced.append(number)

    def remove(self, number: int) -> None:
        """Take a message away with all its versions."""
        self.delete_rows(number)
        run = self.connection.execute
        for table in ("message_version", "message_change"):
            run(f"DELETE FROM {table} WHERE message_id = ?", (number,))
        run("DELETE FROM stored_message WHERE id = ?", (number,))

    def move(self, message: StoredMessage, number: int, rank: int) -> None:
        """Give a message another id, or another rank."""
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
        """Write the rows that wait."""
        many, waiting = self.connection.executemany, self.rows.messages
        if not waiting:
            return
        if self.replaced:
            many("DELETE FROM stored_message WHERE id = ?", [(number,) for number in self.replaced])
            self.replaced.clear()
        # Rows that come in the order of their keys are written side by side.
        waiting.sort()
        if not self.is_empty:
            many("INSERT INTO temp.unindexed VALUES (?)", [row[:1] for row in waiting])
        many(INSERT["stored_message"], waiting)
        self.highest_id = max(self.highest_id, waiting[-1][0])
        waiting.clear()
        for table, rows in self.rows.tables.items():
            if rows:
                rows.sort()
                many(INSERT[table], rows)
                rows.clear()
