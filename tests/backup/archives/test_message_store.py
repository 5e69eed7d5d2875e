"""The message tables of an archive: ids, collisions and moves."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives.item_rows import HAS_TEXT, message_id
from holdfast.backup.archives.message_store import BEYOND, SECOND_BITS, MessageStore, StoredMessage
from holdfast.backup.archives.records import RecordWriter
from holdfast.backup.archives.rows import Rows
from holdfast.backup.archives.statements import insert_plain
from holdfast.backup.archives.tolerance import Notes
from tests.backup.archives.histories import copies, import_backups, items, write


@pytest.fixture
def connection(filled: Path) -> Iterator[sqlite3.Connection]:
    """Connect to an archive, to change it too."""
    with archives.open(filled, create=True) as opened:
        yield opened.connection


def store_of(connection: sqlite3.Connection) -> MessageStore:
    """Open the messages of an archive as an import does."""
    return MessageStore(connection, RecordWriter(connection, 1), Rows({}, {}, Notes(), lambda: 0))


def two_messages(store: MessageStore) -> tuple[StoredMessage, StoredMessage]:
    """Return the two messages of an archive with the lowest keys, the lower first."""
    ids = [number for (number,) in store.connection.execute("SELECT id FROM message WHERE first_sent_ms > 0")]
    first, second, *_rest = sorted(store.find(ids).values(), key=lambda message: message.key)
    return first, second


def test_messages_stand_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Messages keep the order of the file, also where their times go backwards."""
    header, frames = copies()
    expected: dict[int, list[str]] = {}
    for number, item in enumerate(items(frames)):
        if item.standardMessage.text.body:
            item.standardMessage.text.body = f"number {number}"
            if number % 3 == 0:
                item.dateSent = item.incoming.dateReceived = 0
            expected.setdefault(item.chatId, []).append(f"number {number}")
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    with archives.open(tmp_path / "a.db") as opened:
        stored = []
        for chat in opened.chats():
            texts = [message.text for message in opened.messages(chat.id) if message.kind == "message"]
            stored.append([text for text in texts if text and text.startswith("number")])
    assert sorted(filter(None, stored)) == sorted(expected.values())


def test_what_is_beyond_the_highest_id_is_not_looked_for(connection: sqlite3.Connection) -> None:
    """Ids above the highest one are not found, and an empty archive has 0 as its highest id."""
    store = store_of(connection)
    ((highest, count),) = connection.execute("SELECT max(id), count(*) FROM stored_message").fetchall()
    assert (store.highest_id, store.is_empty) == (highest, False)
    assert [*store.find([highest, highest + 1])] == [highest]
    assert store.find([highest + 1]) == {}
    connection.execute("DELETE FROM stored_message")
    nothing = store_of(connection)
    assert (nothing.highest_id, nothing.is_empty) == (0, True)
    assert nothing.find(list(range(count))) == {}


@pytest.mark.parametrize("last_seen", [-1, 1])
@pytest.mark.parametrize(
    ("received", "server_sent", "look", "extra", "receipts"),
    [
        (2500, 1900, HAS_TEXT | 8, "", b""),
        (-1, -1, 10, "lake.jpg", b""),
        (0, 0, HAS_TEXT | 9, "", b"\x0c\x06\x00"),
    ],
)
def test_short_rows_are_stored_like_full_ones(  # noqa: PLR0917  # the columns
    connection: sqlite3.Connection,
    last_seen: int,
    received: int,
    server_sent: int,
    look: int,
    extra: str,
    receipts: bytes,
) -> None:
    """A short row and a full one with the same values are stored the same, and mixed ones in the order of ids."""
    connection.execute("DELETE FROM stored_message")
    store = store_of(connection)
    store.insert_plain = insert_plain(1, last_seen)
    packed = bytearray(receipts)
    times, none = (received, server_sent, 3000, 4), (-1,) * 4
    for number in (4, 2):
        store.rows.messages.append((number, 5, 6, 2000, *times, look, "ok", extra, 77, 8 << 32 | 9, packed))
    for number in (1, 3):
        record = (77, 1, last_seen, 8, 9, packed)
        store.rows.messages.append((number, 5, 6, 2000, 2000, *times, look, "ok", extra, *none, 0, 0, *record))
    store.flush()
    rows = connection.execute("SELECT * FROM stored_message ORDER BY id").fetchall()
    assert [row[0] for row in rows] == [1, 2, 3, 4]
    assert len({row[1:] for row in rows}) == 1
    assert rows[0][10:13] == ("ok" if look & HAS_TEXT else None, extra or None, receipts or None)
    assert (store.highest_id, store.rows.messages) == (4, [])


def test_a_second_import_does_not_know_what_the_first_has_written(connection: sqlite3.Connection) -> None:
    """A new store empties the temporary table of messages that wait to be indexed."""
    store_of(connection)
    connection.execute("INSERT INTO temp.unindexed VALUES (5)")
    store_of(connection)
    assert connection.execute("SELECT * FROM temp.unindexed").fetchall() == []


def test_duplicates_are_found_in_their_second_and_beyond_all_seconds(connection: sqlite3.Connection) -> None:
    """Duplicates are found at every id of their second, the first and last included, and beyond all seconds.

    One with another author is no duplicate.
    """
    store = store_of(connection)
    message = two_messages(store)[0]
    begin = message.identity[2] // 1000 << SECOND_BITS
    positions = [begin, begin + (1 << SECOND_BITS) - 1, BEYOND, BEYOND + 5]
    outside = [begin - 1, begin + (1 << SECOND_BITS)]
    columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(stored_message)") if name != "id"]
    copied = f"INSERT INTO stored_message (id, {', '.join(columns)}) SELECT ?, {', '.join(columns)} "  # our names
    connection.execute("UPDATE stored_message SET rank = 0 WHERE id = ?", (message.id,))
    connection.execute("DELETE FROM stored_message WHERE id <> ?", (message.id,))
    for number, position in enumerate([*positions, *outside], 1):
        connection.execute(f"{copied} FROM stored_message WHERE id = ?", (position, message.id))
        connection.execute("UPDATE stored_message SET rank = ? WHERE id = ?", (number, position))
    assert sorted(store.duplicates(message)) == positions
    connection.execute("UPDATE stored_message SET author_id = author_id + 1 WHERE id = ?", (BEYOND,))
    assert sorted(store.duplicates(message)) == [positions[0], positions[1], positions[3]]


def test_of_two_that_want_one_place_the_lower_has_it(connection: sqlite3.Connection) -> None:
    """The message with the lower key gets the id; the other one is moved beyond all seconds."""
    store = store_of(connection)
    lower, higher = two_messages(store)
    expected = message_id(*lower.identity, 0)
    assert store.find_id(*lower.key) == (expected, lower)
    # The higher stands where the lower would: it has to leave.
    store.remove(lower.id)
    store.move(higher, expected, higher.rank)
    assert store.find_id(*lower.key) == (expected, None)
    moved = store.find([message_id(*higher.identity, higher.key[1], 1)])
    assert [message.key for message in moved.values()] == [higher.key]
    assert store.find([expected]) == {}


def test_the_higher_of_two_goes_to_the_next_place(connection: sqlite3.Connection) -> None:
    """The message with the higher key gets the next id that is free."""
    store = store_of(connection)
    lower, higher = two_messages(store)
    positions = [message_id(*higher.identity, higher.key[1], attempt) for attempt in range(3)]
    store.remove(higher.id)
    store.move(lower, positions[0], lower.rank)
    assert store.find_id(*higher.key) == (positions[1], None)
    (row,) = store.find([positions[0]]).values()
    assert store.find_free_id(higher, 1) == positions[1]
    store.move(row, positions[1], lower.rank)
    assert store.find_free_id(higher, 1) == positions[2]
    assert store.find_id(*higher.key) == (positions[0], None)


def test_a_moved_message_takes_along_what_hangs_on_it(connection: sqlite3.Connection) -> None:
    """A move changes the id in the table of reactions, calls `on_move`, and updates the highest id."""
    ((number,),) = connection.execute("SELECT message_id FROM reaction LIMIT 1").fetchall()
    store = store_of(connection)
    moves: list[tuple[int, int]] = []
    store.on_move = lambda before, after: moves.append((before, after))
    reactions = "SELECT count(*) FROM reaction WHERE message_id = ?"
    count = connection.execute(reactions, (number,)).fetchone()
    message = store.find([number])[number]
    store.move(message, number, 7)
    assert moves == []
    assert store.find([number])[number].rank == 7
    store.move(message, BEYOND + 9, message.rank)
    assert moves == [(number, BEYOND + 9)]
    assert store.highest_id == BEYOND + 9
    assert connection.execute(reactions, (BEYOND + 9,)).fetchone() == count
    assert connection.execute("SELECT id FROM temp.unindexed").fetchall() == [(BEYOND + 9,)]
