"""Records of messages with all their data."""

import sqlite3
from collections.abc import Callable

import pytest

from holdfast.backup.archives import Archive
from holdfast.backup.archives.statements import CHILDREN
from holdfast.backup.exports import schemas
from holdfast.backup.exports.message_records import iso_time, messages
from holdfast.backup.schema.backup_pb2 import ChatItem

Count = Callable[[schemas.ExportedMessage], int]


def ranges(record: schemas.ExportedMessage | schemas.ExportedRevision) -> int:
    """Count the styles and mentions of a version, with those of its quote."""
    return len(record.ranges) + (len(record.quote.ranges) if record.quote else 0)


# How many rows of a table a message has, as its record tells it.
TOLD: dict[str, Count] = {
    "reaction": lambda one: len(one.reactions),
    "revision": lambda one: len(one.revisions),
    "attachment": lambda one: len(one.attachments) + sum(len(each.attachments) for each in one.revisions),
    "quote": lambda one: (one.quote is not None) + sum(each.quote is not None for each in one.revisions),
    "text_range": lambda one: ranges(one) + sum(ranges(each) for each in one.revisions),
    "link_preview": lambda one: len(one.links) + sum(len(each.links) for each in one.revisions),
    "sticker": lambda one: one.sticker is not None,
    "poll": lambda one: one.poll is not None,
    "poll_option": lambda one: len(one.poll.options) if one.poll else 0,
    "poll_vote": lambda one: sum(len(option.votes) for option in one.poll.options) if one.poll else 0,
    "payment": lambda one: one.payment is not None,
    "gift_badge": lambda one: one.gift_badge is not None,
    "admin_deletion": lambda one: one.deleted_by is not None,
    "contact_card": lambda one: one.contact_card is not None,
    "contact_card_field": lambda one: len(one.contact_card.fields) if one.contact_card else 0,
    "update_event": lambda one: len(one.events),
    "call": lambda one: one.call is not None,
    "message_change": lambda one: len(one.changes),
}


def all_messages(archive: Archive) -> list[schemas.ExportedMessage]:
    """Read all messages."""
    return [message for chat in archive.chats() for message in messages(archive, chat.id)]


def test_every_table_of_messages_is_told() -> None:
    """A new table of message parts fails here until it is exported."""
    assert set(TOLD) == {*CHILDREN, "message_change"}


@pytest.mark.parametrize("table", TOLD)
def test_every_row_is_told(two_snapshots: Archive, table: str) -> None:
    """Every row of the tables of message parts is part of the exported messages."""
    rows = two_snapshots.connection.execute(f"SELECT message_id, count(*) FROM {table} GROUP BY 1")
    expected = dict(rows.fetchall())
    actual = {message.id: int(TOLD[table](message)) for message in all_messages(two_snapshots)}
    assert {number: count for number, count in actual.items() if count} == expected


def test_receipts_are_told(two_snapshots: Archive) -> None:
    """The times of exported receipts equal those of the original record."""
    count = 0
    for message in all_messages(two_snapshots):
        record = ChatItem.FromString(two_snapshots.record(message.id))
        expected = sorted(status.timestamp for status in record.outgoing.sendStatus)
        assert sorted(receipt.at_ms for receipt in message.receipts) == expected
        count += len(message.receipts)
    assert count


def test_columns_of_a_message_are_told(two_snapshots: Archive) -> None:
    """Exported messages have the columns of the table under the same names."""
    two_snapshots.connection.row_factory = sqlite3.Row
    rows = two_snapshots.connection.execute("SELECT * FROM message").fetchall()
    two_snapshots.connection.row_factory = None
    records = {message.id: message for message in all_messages(two_snapshots)}
    assert len(records) == len(rows)
    same = {"chat_id", "author_id", "sent_ms", "first_sent_ms", "received_ms", "server_sent_ms", "order_ms"}
    same |= {"order_n", "direction", "kind", "text", "read", "sealed_sender", "sms", "expire_start_ms"}
    same |= {"expires_in_ms", "pinned_ms", "pinned_until_ms"}
    for row in rows:
        for name in same:
            assert getattr(records[row["id"]], name) == row[name], name
        assert (records[row["id"]].vanished_ms is None) == (row["last_seen"] is None)
    assert any(message.vanished_ms for message in records.values())
    assert any(message.changes for message in records.values())


def test_files_are_named_by_whoever_places_them(opened: Archive) -> None:
    """An attachment has the file name that the media callback returns, and none without a callback."""
    roles = set()
    for chat in opened.chats():
        for message in messages(opened, chat.id, media=lambda file: f"media/{file.role}"):
            assert all(file_record.file == f"media/{file_record.role}" for file_record in message.attachments)
            roles |= {file_record.role for file_record in message.attachments}
        assert all(entry.file is None for message in messages(opened, chat.id) for entry in message.attachments)
    assert roles >= {"attachment", "long_text", "sticker"}


def test_times_are_written_in_utc() -> None:
    """A time is written in ISO 8601 in UTC, and one beyond the calendar is None."""
    assert iso_time(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"
    assert iso_time(None) is None
    assert iso_time((1 << 63) - 1) is None
