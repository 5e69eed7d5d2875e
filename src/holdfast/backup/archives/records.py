"""Stores the original records of messages, so that no field is lost for lack of a column.

Records of one import are compressed together in blocks of 64 KiB, which takes a seventh of the time and two thirds
of the space of single ones. A message refers to its block and the offset in it.
"""

import sqlite3
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from zlib_ng import zlib_ng

from holdfast.backup.errors import ArchiveError
from holdfast.redacted_repr import redacted

__all__ = ["RecordReader", "RecordWriter", "read_record", "rewrite_records"]

BLOCK: Final = 64 << 10
# An eighth smaller than level 1, for a thirtieth more import time; higher levels gain little.
LEVEL: Final = 3
# The length prefix of a record, in bytes.
LENGTH: Final = 4
# A block of an untrusted archive is not decompressed beyond this. Frames have at most 256 MiB, unless the limits
# of the reader are raised.
MAX_BLOCK: Final = 1 << 30
# So many blocks are compressed or wait for it.
MAX_PENDING: Final = 64


@redacted
@dataclass(slots=True)
class RecordWriter:
    """Appends records to blocks, which are compressed in a thread of `executor`, if there is one."""

    connection: sqlite3.Connection
    snapshot: int
    block: int = 0
    waiting: bytearray = field(default_factory=bytearray)
    limit: int = BLOCK
    executor: Executor | None = None
    # Blocks that are compressed in another thread, in their order.
    pending: deque[tuple[int, Future[bytes]]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        (last,) = self.connection.execute("SELECT coalesce(max(id), 0) FROM block").fetchone()
        self.block = last + 1

    def add(self, raw: bytes) -> tuple[int, int]:
        """Append a record and return its block and offset."""
        at = len(self.waiting)
        if at >= self.limit:
            self.end_block()
            at = 0
        self.waiting += len(raw).to_bytes(LENGTH, "little")
        self.waiting += raw
        return self.block, at

    def end_block(self) -> None:
        """Compress the current block, and begin the next one."""
        if not self.waiting:
            return
        raw = bytes(self.waiting)
        self.waiting.clear()
        if self.executor is None:
            self.insert(self.block, zlib_ng.compress(raw, LEVEL))
        else:
            self.pending.append((self.block, self.executor.submit(zlib_ng.compress, raw, LEVEL)))
        self.block += 1

    def write_compressed(self, most_pending: int = MAX_PENDING) -> None:
        """Write blocks that were compressed in another thread; at most `most_pending` are left unfinished."""
        while self.pending and (len(self.pending) > most_pending or self.pending[0][1].done()):
            block, compressed = self.pending.popleft()
            self.insert(block, compressed.result())

    def insert(self, block: int, data: bytes) -> None:
        """Insert a compressed block."""
        self.connection.execute("INSERT INTO block VALUES (?, ?, ?)", (block, self.snapshot, data))

    def flush(self) -> None:
        """Write all blocks."""
        self.end_block()
        self.write_compressed(0)


@redacted
@dataclass(slots=True)
class RecordReader:
    """Reads records; the last block is cached, as messages of one time are mostly in one block."""

    connection: sqlite3.Connection
    block: int = -1
    snapshot: int = 0
    data: bytes = b""

    def read(self, block: int, at: int) -> tuple[int, bytes]:
        """Return a record, with the snapshot it is from."""
        if block != self.block:
            self.load(block)
        size = int.from_bytes(self.data[at : at + LENGTH], "little")
        at += LENGTH
        if at + size > len(self.data):
            raise ArchiveError(f"the archive is damaged: block {block} is truncated")
        return self.snapshot, self.data[at : at + size]

    def load(self, block: int) -> None:
        """Decompress a block."""
        row = self.connection.execute("SELECT snapshot_id, data FROM block WHERE id = ?", (block,)).fetchone()
        if row is None:
            raise ArchiveError(f"the archive is damaged: block {block} is missing")
        decompressor = zlib.decompressobj()
        try:
            self.data = decompressor.decompress(row[1], MAX_BLOCK)
        except zlib.error:
            self.data = b""
        if not decompressor.eof:
            raise ArchiveError(f"the archive is damaged: block {block} cannot be decompressed")
        self.block, self.snapshot = block, row[0]


def read_record(connection: sqlite3.Connection, block: int, at: int) -> tuple[int, bytes]:
    """Return a record, with the snapshot it is from."""
    return RecordReader(connection).read(block, at)


# The block and the offset of a record.
Place = tuple[int, int]


def rewrite_records(connection: sqlite3.Connection, edited: Mapping[Place, bytes]) -> None:
    """Rewrite blocks without unreferenced records, and with `edited` records replaced.

    Otherwise removed records would remain in their compressed blocks.
    """
    run, many = connection.execute, connection.executemany
    run("DROP TABLE IF EXISTS temp.referred")
    run(
        "CREATE TEMP TABLE referred AS SELECT block_id, block_at, id, NULL AS fingerprint FROM stored_message "
        "UNION ALL SELECT block_id, block_at, message_id, fingerprint FROM message_version"
    )
    run("CREATE INDEX temp.referred_by_block ON referred (block_id, block_at)")
    run("DELETE FROM block WHERE id NOT IN (SELECT block_id FROM temp.referred)")
    reader = RecordReader(connection)
    for block, rows in groupby(record_references(connection), key=lambda row: row[0]):
        reader.load(block)
        out = bytearray()
        places: dict[int, int] = {}
        moved: list[tuple[int, int, int | None]] = []
        for _block, at, number, fingerprint in rows:
            if at not in places:
                places[at] = len(out)
                raw = edited.get((block, at)) or reader.read(block, at)[1]
                out += len(raw).to_bytes(LENGTH, "little")
                out += raw
            moved.append((places[at], number, fingerprint))
        if bytes(out) == reader.data:
            continue
        run("UPDATE block SET data = ? WHERE id = ?", (zlib_ng.compress(bytes(out), LEVEL), block))
        many(
            "UPDATE stored_message SET block_at = ? WHERE id = ?",
            [(at, number) for at, number, fingerprint in moved if fingerprint is None],
        )
        many(
            "UPDATE message_version SET block_at = ? WHERE message_id = ? AND fingerprint = ?",
            [row for row in moved if row[2] is not None],
        )
    run("DROP TABLE temp.referred")


def record_references(connection: sqlite3.Connection) -> Iterator[tuple[int, int, int, int | None]]:
    """Yield the messages and versions that refer to records, block by block."""
    for (block,) in connection.execute("SELECT id FROM block ORDER BY id").fetchall():
        yield from connection.execute(
            "SELECT block_id, block_at, id, fingerprint FROM temp.referred WHERE block_id = ? ORDER BY block_at",
            (block,),
        ).fetchall()
