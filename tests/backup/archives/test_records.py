"""The original records of messages."""

import sqlite3
from collections.abc import Iterator

import pytest

from holdfast.backup.archives import schema
from holdfast.backup.archives.records import RecordWriter, read_record
from holdfast.backup.errors import ArchiveError


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """Make the tables of an archive."""
    opened = sqlite3.connect(":memory:", isolation_level=None)
    schema.create(opened)
    yield opened
    opened.close()


def test_every_record_comes_back(connection: sqlite3.Connection) -> None:
    """Empty records, small ones and ones larger than a block are read as they were written."""
    records = [b"", b"x", bytes(200_000), *(str(number).encode() * 99 for number in range(2000))]
    writer = RecordWriter(connection, 7)
    positions = [writer.add(raw) for raw in records]
    writer.flush()
    assert [read_record(connection, *position) for position in positions] == [(7, raw) for raw in records]
    assert connection.execute("SELECT count(*) > 3 FROM block").fetchone() == (1,)


@pytest.mark.parametrize("change", ["DELETE FROM block", "UPDATE block SET data = x'00'"])
def test_damage_is_said_to_be_damage(connection: sqlite3.Connection, change: str) -> None:
    """A missing or changed block raises an `ArchiveError` that says that the archive is damaged."""
    writer = RecordWriter(connection, 7)
    position = writer.add(b"something")
    writer.flush()
    connection.execute(change)
    with pytest.raises(ArchiveError, match="the archive is damaged"):
        read_record(connection, *position)
