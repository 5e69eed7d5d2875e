"""Keeps the records messages were read from, so that nothing is lost that no table has a column for.

Records of one import stand together in blocks, each compressed as a whole: a seventh of the time and two thirds of
the room that single ones would take. A message knows its block and where in it its record begins.
"""

import sqlite3
import zlib
from dataclasses import dataclass, field
from typing import Final

from zlib_ng import zlib_ng

from holdfast.backup.errors import ArchiveError
from holdfast.redacted_repr import redacted

__all__ = ["RecordReader", "RecordWriter", "read_record"]

BLOCK: Final = 64 << 10
# Before each record stands how long it is.
LENGTH: Final = 4


@redacted
@dataclass(slots=True)
class RecordWriter:
    """Puts records into blocks."""

    connection: sqlite3.Connection
    snapshot: int
    block: int = 0
    waiting: bytearray = field(default_factory=bytearray)
    limit: int = BLOCK

    def __post_init__(self) -> None:
        (last,) = self.connection.execute("SELECT coalesce(max(id), 0) FROM block").fetchone()
        self.block = last + 1

    def add(self, raw: bytes) -> tuple[int, int]:
        """Keep a record and return its place: the block, and the offset in it."""
        at = len(self.waiting)
        if at >= self.limit:
            self.flush()
            at = 0
        self.waiting += len(raw).to_bytes(LENGTH, "little")
        self.waiting += raw
        return self.block, at

    def flush(self) -> None:
        """Write the block that is being filled."""
        if self.waiting:
            data = zlib_ng.compress(bytes(self.waiting), 1)
            self.connection.execute("INSERT INTO block VALUES (?, ?, ?)", (self.block, self.snapshot, data))
            self.block += 1
            self.waiting.clear()


@redacted
@dataclass(slots=True)
class RecordReader:
    """Reads records; the block of the last one is kept, as neighbours in time mostly are neighbours there."""

    connection: sqlite3.Connection
    block: int = -1
    snapshot: int = 0
    data: bytes = b""

    def read(self, block: int, at: int) -> tuple[int, bytes]:
        """Return the snapshot a record was read from, and its bytes."""
        if block != self.block:
            self.load(block)
        size = int.from_bytes(self.data[at : at + LENGTH], "little")
        at += LENGTH
        if at + size > len(self.data):
            raise ArchiveError(f"the archive is damaged: block {block} is cut short")
        return self.snapshot, self.data[at : at + size]

    def load(self, block: int) -> None:
        """Unpack a block."""
        row = self.connection.execute("SELECT snapshot_id, data FROM block WHERE id = ?", (block,)).fetchone()
        if row is None:
            raise ArchiveError(f"the archive is damaged: block {block} is missing")
        try:
            self.data = zlib.decompress(row[1])
        except zlib.error:
            raise ArchiveError(f"the archive is damaged: block {block} cannot be unpacked") from None
        self.block, self.snapshot = block, row[0]


def read_record(connection: sqlite3.Connection, block: int, at: int) -> tuple[int, bytes]:
    """Return the snapshot a record was read from, and its bytes."""
    return RecordReader(connection).read(block, at)
