"""The original records of messages."""

import sqlite3
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from holdfast.backup.archives import records as record_module
from holdfast.backup.archives import schema
from holdfast.backup.archives.records import MAX_PENDING, RecordWriter, read_record, rewrite_records
from holdfast.backup.errors import ArchiveError

# A length of nine bytes before four.
TRUNCATED = zlib.compress(b"\x09\0\0\0some")


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """Make the tables of an archive."""
    opened = sqlite3.connect(":memory:", isolation_level=None)
    schema.create(opened)
    yield opened
    opened.close()


def add_records(connection: sqlite3.Connection, *raw: bytes, limit: int = 16) -> list[tuple[int, int]]:
    """Write records and return their places; with four bytes each, two are in a block."""
    writer = RecordWriter(connection, 7, limit=limit)
    places = [writer.add(record) for record in raw]
    writer.flush()
    return places


def refer(
    connection: sqlite3.Connection, message: int, place: tuple[int, int], *, version: int | None = None
) -> None:
    """Add a message, or a version of one, that refers to a record."""
    if version is None:
        connection.execute(
            "INSERT INTO stored_message (id, chat_id, author_id, order_ms, order_n, sent_before, edited_after, "
            "look, slot, rank, fingerprint, first_seen, block_id, block_at) "
            "VALUES (?, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, ?, ?)",
            (message, *place),
        )
    else:
        connection.execute(
            "INSERT INTO message_version VALUES (?, ?, 1, 1, ?, ?, 0, 0)", (message, version, *place)
        )


def records(connection: sqlite3.Connection) -> dict[tuple[int, int | None], bytes]:
    """Read the record of every message and version, by its number and fingerprint."""
    rows = connection.execute(
        "SELECT id, NULL, block_id, block_at FROM stored_message "
        "UNION ALL SELECT message_id, fingerprint, block_id, block_at FROM message_version ORDER BY 1, 2"
    ).fetchall()
    return {(number, version): read_record(connection, *place)[1] for number, version, *place in rows}


def blocks(connection: sqlite3.Connection) -> dict[int, bytes]:
    """Decompress every block."""
    return {number: zlib.decompress(data) for number, data in connection.execute("SELECT id, data FROM block")}


def test_every_record_comes_back(connection: sqlite3.Connection) -> None:
    """Empty records, small ones and ones larger than a block are read as they were written."""
    records = [b"", b"x", bytes(200_000), *(str(number).encode() * 99 for number in range(2000))]
    writer = RecordWriter(connection, 7)
    positions = [writer.add(raw) for raw in records]
    writer.flush()
    assert [read_record(connection, *position) for position in positions] == [(7, raw) for raw in records]
    assert connection.execute("SELECT count(*) > 3 FROM block").fetchone() == (1,)


def test_a_block_that_has_reached_its_limit_is_written(connection: sqlite3.Connection) -> None:
    """A record goes to the next block once the current one has the limit, and not before."""
    writer = RecordWriter(connection, 7, limit=16)
    assert [writer.add(b"four") for _ in range(5)] == [(1, 0), (1, 8), (2, 0), (2, 8), (3, 0)]
    writer.flush()
    writer.flush()
    assert blocks(connection) == {1: b"\4\0\0\0four" * 2, 2: b"\4\0\0\0four" * 2, 3: b"\4\0\0\0four"}
    assert RecordWriter(connection, 8).add(b"later") == (4, 0)


def test_blocks_compressed_in_a_thread_are_written_in_their_order(connection: sqlite3.Connection) -> None:
    """Blocks are written when they are compressed, the first one first, and all of them by a flush."""
    release = Event()
    with ThreadPoolExecutor(1) as executor:
        executor.submit(release.wait)
        writer = RecordWriter(connection, 7, limit=16, executor=executor)
        places = [writer.add(b"four") for _ in range(5)]
        writer.write_compressed()
        assert blocks(connection) == {}
        assert places == [(1, 0), (1, 8), (2, 0), (2, 8), (3, 0)]
        release.set()
        writer.write_compressed(1)
        assert 1 in blocks(connection)
        writer.flush()
        assert blocks(connection) == {1: b"\4\0\0\0four" * 2, 2: b"\4\0\0\0four" * 2, 3: b"\4\0\0\0four"}
    assert [read_record(connection, *place) for place in places] == [(7, b"four")] * 5


def test_few_blocks_wait_for_the_thread(connection: sqlite3.Connection) -> None:
    """When blocks are created faster than they are compressed, writing waits until few are left."""
    with ThreadPoolExecutor(1) as executor:
        writer = RecordWriter(connection, 7, limit=1, executor=executor)
        for number in range(3 * MAX_PENDING):
            writer.add(bytes([number]) * 100_000)
        writer.write_compressed()
        assert len(writer.pending) <= MAX_PENDING
        assert len(blocks(connection)) >= 2 * MAX_PENDING - 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("DELETE FROM block", "is missing"),
        ("UPDATE block SET data = x'00'", "cannot be decompressed"),
        ("UPDATE block SET data = substr(data, 1, length(data) - 1)", "cannot be decompressed"),
        (f"UPDATE block SET data = x'{TRUNCATED.hex()}'", "is truncated"),
    ],
)
def test_damage_is_said_to_be_damage(connection: sqlite3.Connection, change: str, problem: str) -> None:
    """A missing or changed block raises an `ArchiveError` that says that the archive is damaged."""
    writer = RecordWriter(connection, 7)
    position = writer.add(b"something")
    writer.flush()
    connection.execute(change)
    with pytest.raises(ArchiveError, match=f"the archive is damaged: block 1 {problem}"):
        read_record(connection, *position)


def test_a_block_is_decompressed_up_to_a_limit(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small block of an untrusted archive cannot fill the memory; one of the size of the limit is read."""
    (place,) = add_records(connection, bytes(996))
    monkeypatch.setattr(record_module, "MAX_BLOCK", 1000)
    assert read_record(connection, *place) == (7, bytes(996))
    monkeypatch.setattr(record_module, "MAX_BLOCK", 999)
    with pytest.raises(ArchiveError, match="block 1 cannot be decompressed"):
        read_record(connection, *place)


def test_records_nothing_refers_to_are_gone_after_a_rewrite(connection: sqlite3.Connection) -> None:
    """A block with no record that is used is deleted, and of the others only such records are left."""
    one, _two, three, _four, five = add_records(connection, b"1111", b"2222", b"3333", b"4444", b"5555")
    refer(connection, 1, one)
    refer(connection, 2, five)
    assert three[0] == 2
    rewrite_records(connection, {})
    assert blocks(connection) == {1: b"\4\0\0\x001111", 3: b"\4\0\0\x005555"}
    assert records(connection) == {(1, None): b"1111", (2, None): b"5555"}


def test_what_refers_to_a_record_finds_it_after_a_rewrite(connection: sqlite3.Connection) -> None:
    """Messages and versions that share a record refer to one copy of it, at its new place."""
    _one, two, _three, four = add_records(connection, b"1111", b"2222", b"3333", b"4444")
    refer(connection, 1, two)
    refer(connection, 2, two)
    refer(connection, 2, four, version=5)
    refer(connection, 2, two, version=6)
    refer(connection, 1, four, version=5)
    before = records(connection)
    rewrite_records(connection, {})
    assert blocks(connection) == {1: b"\4\0\0\x002222", 2: b"\4\0\0\x004444"}
    assert records(connection) == before


def test_edited_records_take_the_place_of_the_old_ones(connection: sqlite3.Connection) -> None:
    """An edited record moves what follows it, also where a block becomes equal to the one before it."""
    first, second, third, fourth = places = add_records(connection, b"1111", b"2222", b"3333", b"4444")
    for number, place in enumerate(places):
        refer(connection, number, place)
    rewrite_records(connection, {second: b"longer", third: b"1111", fourth: b"longer"})
    expected = b"\4\0\0\x001111\6\0\0\0longer"
    assert blocks(connection) == {1: expected, 2: expected}
    assert list(records(connection).values()) == [b"1111", b"longer", b"1111", b"longer"]
    rewrite_records(connection, {first: b"no", third: b"longest"})
    assert list(records(connection).values()) == [b"no", b"longer", b"longest", b"longer"]


def test_a_block_equal_to_the_one_before_it_is_compared_with_itself(connection: sqlite3.Connection) -> None:
    """A block of which every record is edited is written, although the result is the block before it."""
    first, second = add_records(connection, b"same", b"else", limit=1)
    refer(connection, 1, first)
    refer(connection, 2, second)
    rewrite_records(connection, {second: b"same"})
    assert blocks(connection) == {1: b"\4\0\0\0same", 2: b"\4\0\0\0same"}


def test_a_rewrite_can_be_repeated_after_one_that_failed(connection: sqlite3.Connection) -> None:
    """A rewrite of a damaged block is refused and can be repeated, and a successful one leaves no table behind."""
    (place,) = add_records(connection, b"1111")
    refer(connection, 1, place)
    ((data,),) = connection.execute("SELECT data FROM block")
    connection.execute("UPDATE block SET data = x'00'")
    with pytest.raises(ArchiveError, match="the archive is damaged"):
        rewrite_records(connection, {})
    connection.execute("UPDATE block SET data = ?", (data,))
    rewrite_records(connection, {})
    assert records(connection) == {(1, None): b"1111"}
    assert connection.execute("SELECT name FROM temp.sqlite_master").fetchall() == []
