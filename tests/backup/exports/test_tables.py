"""The tables that the CSV and Parquet exports share."""

from pathlib import Path
from typing import BinaryIO

from msgspec.structs import replace

from holdfast.backup.archives import Archive
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.message_records import messages
from holdfast.backup.exports.tables import MESSAGE_TABLES, TABLES, Row, Table, TableFormat, write_tables


class CountingWriter:
    """A table writer that counts rows, and checks that the values of each fit its columns."""

    def __init__(self, target: BinaryIO, table: Table) -> None:
        self.target = target
        self.table = table
        self.count = 0

    def add(self, row: Row) -> None:
        """Check and count a row."""
        assert len(row) == len(self.table.columns), self.table.name
        kinds = {"text": str, "label": str, "int": int, "flag": bool, "time": int}
        for column, value in zip(self.table.columns, row, strict=True):
            assert value is None or type(value) is kinds[column.kind], (self.table.name, column.name)
        self.count += 1

    def close(self) -> None:
        """Write the count."""
        self.target.write(str(self.count).encode())

    def abandon(self) -> None:
        """Do nothing."""


FORM = TableFormat("counts", ".txt", CountingWriter)


def count(folder: Path, name: str) -> int:
    """Read how many rows a table has."""
    files = [folder / f"{name}.txt"] if (folder / f"{name}.txt").exists() else (folder / name).glob("*.txt")
    return sum(int(file.read_text()) for file in files)


def test_every_row_fits_its_columns_and_none_is_missing(two_snapshots: Archive, tmp_path: Path) -> None:
    """Every row has the types of its columns, and each table has as many rows as the archive."""
    write_tables(two_snapshots, tmp_path / "out", ChatSelection(), FORM)
    tables = {
        "messages": "message",
        "attachments": "attachment",
        "reactions": "reaction",
        "revisions": "revision",
        "changes": "message_change",
        "events": "update_event",
        "calls": "call",
        "payments": "payment",
        "chats": "chat",
        "people": "recipient WHERE kind IN ('contact', 'self', 'unknown')",
        "members": "group_member",
        "links": "link_preview WHERE revision = 0",
        "mentions": "text_range WHERE revision = 0 AND part = 'text' AND mention_aci IS NOT NULL",
    }
    for name, table in tables.items():
        (expected,) = two_snapshots.connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        assert count(tmp_path / "out", name) == expected, name
    records = [message for chat in two_snapshots.chats() for message in messages(two_snapshots, chat.id)]
    receipts = sum(len(message.receipts) for message in records)
    assert count(tmp_path / "out", "receipts") == receipts > 0
    assert {table.name for table in TABLES} == {*tables, "receipts", "poll_votes"}


def test_an_answer_nobody_chose_has_a_row(opened: Archive) -> None:
    """Every poll option has a row, even without votes, so that it can be counted."""
    (table,) = (table for table in MESSAGE_TABLES if table.name == "poll_votes")
    polls = [message for chat in opened.chats() for message in messages(opened, chat.id) if message.poll]
    assert polls
    for message in polls:
        assert message.poll
        rows = list(table.rows(message))
        assert {row[5] for row in rows} == set(range(len(message.poll.options)))
        assert sum(row[7] is not None for row in rows) == sum(len(option.votes) for option in message.poll.options)
        first, *others = message.poll.options
        unchosen = replace(message.poll, options=(replace(first, votes=()), *others))
        rows = list(table.rows(replace(message, poll=unchosen)))
        assert [row[7] for row in rows if row[5] == 0] == [None]


def test_messages_are_cut_by_the_year_and_tables_without_rows_are_there(opened: Archive, tmp_path: Path) -> None:
    """Messages are split by year, and an empty table has a file, so that queries can name it."""
    write_tables(opened, tmp_path / "out", ChatSelection(), FORM)
    years = {path.stem for path in (tmp_path / "out" / "messages").iterdir()}
    rows = opened.connection.execute("SELECT DISTINCT strftime('%Y', order_ms / 1000, 'unixepoch') FROM message")
    assert years == {year for (year,) in rows}
    assert [path.name for path in (tmp_path / "out" / "changes").iterdir()] == ["empty.txt"]


def test_an_archive_without_messages_gives_empty_tables(opened: Archive, tmp_path: Path) -> None:
    """A selection without messages gives tables without rows."""
    write_tables(opened, tmp_path / "out", ChatSelection(until_ms=1), FORM)
    assert all(count(tmp_path / "out", table.name) == 0 for table in TABLES)
