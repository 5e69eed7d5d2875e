"""Export to Parquet, read by DuckDB."""

import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.errors import ExtraMissing
from holdfast.backup.exports import parquet as form
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.parquet import write_parquet
from holdfast.backup.exports.tables import TABLES
from tests.backup.archives.histories import copies, import_backups, items, write


def query_rows(query: str) -> list[tuple[Any, ...]]:
    """Run a query in DuckDB."""
    relation = duckdb.sql(query)
    assert relation is not None
    return relation.fetchall()


def test_duckdb_reads_it(two_snapshots: Archive, tmp_path: Path) -> None:
    """DuckDB reads the messages of the archive, and joins reactions with them."""
    write_parquet(two_snapshots, tmp_path / "out", ChatSelection())
    messages, reactions = (f"'{tmp_path}/out/{name}/*.parquet'" for name in ("messages", "reactions"))
    columns = "id, chat_id, author_id, direction, kind, text, epoch_ms(sent), sms"
    stored = query_rows(f"SELECT {columns} FROM {messages}")
    rows = two_snapshots.connection.execute(
        "SELECT id, chat_id, author_id, direction, kind, text, sent_ms, sms FROM message"
    )
    assert sorted(stored) == sorted((*row[:7], bool(row[7])) for row in rows)
    joined = query_rows(f"SELECT count(*) FROM {reactions} r JOIN {messages} m ON m.id = r.message_id")
    expected = two_snapshots.connection.execute("SELECT count(*) FROM reaction").fetchall()
    assert joined == expected


def test_columns_have_their_types(opened: Archive, tmp_path: Path) -> None:
    """Every file of a table has the types of its columns, even without rows."""
    write_parquet(opened, tmp_path / "out", ChatSelection())
    kinds = {
        "text": pa.string(),
        "label": pa.dictionary(pa.int32(), pa.string()),
        "int": pa.int64(),
        "flag": pa.bool_(),
        "time": pa.timestamp("ms", tz="UTC"),
    }
    for table in TABLES:
        file = tmp_path / "out" / f"{table.name}.parquet"
        for path in [file] if file.exists() else list((tmp_path / "out" / table.name).iterdir()):
            schema = parquet.read_schema(path)
            assert [(field.name, field.type) for field in schema] == [
                (column.name, kinds[column.kind]) for column in table.columns
            ]


def test_hostile_texts_are_only_texts(hostile: Archive, tmp_path: Path) -> None:
    """Hostile texts are written to Parquet files unchanged."""
    write_parquet(hostile, tmp_path / "out", ChatSelection())
    texts = dict(query_rows(f"SELECT id, text FROM '{tmp_path}/out/messages/*.parquet'"))
    assert texts == dict(hostile.connection.execute("SELECT id, text FROM message"))


def test_a_time_no_calendar_has_is_empty(tmp_path: Path) -> None:
    """A timestamp beyond the calendar is null, as readers refuse a file with one; `sent_ms` is kept."""
    header, frames = copies(60)
    far = (1 << 63) - 1
    first = next(item for item in items(frames) if item.HasField("incoming"))
    first.dateSent = first.incoming.dateReceived = first.incoming.dateServerSent = far
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    with archives.open(tmp_path / "a.db") as opened:
        write_parquet(opened, tmp_path / "out", ChatSelection())
    messages = f"'{tmp_path}/out/messages/*.parquet'"
    rows = query_rows(f"SELECT sent, received FROM {messages} WHERE sent_ms = {far}")
    assert rows == [(None, None)]


def test_rows_are_written_in_groups(opened: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups have a limited size, so that memory does not grow with the number of messages."""
    monkeypatch.setattr(form, "BATCH", 10)
    write_parquet(opened, tmp_path / "out", ChatSelection())
    for path in (tmp_path / "out" / "messages").iterdir():
        file = parquet.ParquetFile(path)
        sizes = [file.metadata.row_group(n).num_rows for n in range(file.metadata.num_row_groups)]
        assert max(sizes) <= 10
        assert sum(sizes) == file.metadata.num_rows
    rows = query_rows(f"SELECT epoch_ms(min(sent)), count(*) FROM '{tmp_path}/out/messages/*.parquet'")
    (first,) = opened.connection.execute("SELECT min(sent_ms) FROM message").fetchone()
    assert rows == [(first, 400)]


def test_a_second_export_writes_nothing(opened: Archive, tmp_path: Path) -> None:
    """A second Parquet export of the same archive leaves all files unchanged."""
    first = write_parquet(opened, tmp_path / "out", ChatSelection())
    second = write_parquet(opened, tmp_path / "out", ChatSelection())
    assert (second.written, second.unchanged, second.removed) == (0, first.written, 0)


def test_without_the_extra_it_says_so(opened: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error without pyarrow names the extra, and no folder is created."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExtraMissing, match="holdfast\\[parquet\\]"):
        write_parquet(opened, tmp_path / "out", ChatSelection())
    assert not (tmp_path / "out").exists()
