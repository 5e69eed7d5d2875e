"""Backups and archives as Arrow record batches."""

import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

import holdfast.backup as hb
from holdfast.backup.archives import Archive
from holdfast.backup.exports.tables import TABLES
from tests.backup.archives.histories import copies, write


def test_batches_hold_what_an_export_to_parquet_holds(opened: Archive, tmp_path: Path) -> None:
    """Every table has the schema and the rows of the Parquet export."""
    hb.export(opened, tmp_path / "out", "parquet", media=False)
    with hb.dataset(opened) as dataset:
        assert dataset.tables == tuple(table.name for table in TABLES)
        for name in dataset.tables:
            table = pa.Table.from_batches(dataset.batches(name, size=50), dataset.schema(name))
            path = tmp_path / "out" / f"{name}.parquet"
            files = [path] if path.exists() else sorted((tmp_path / "out" / name).iterdir())
            written = pa.concat_tables([parquet.read_table(file) for file in files])
            assert table.schema.equals(written.schema), name
            assert sorted(map(str, table.to_pylist())) == sorted(map(str, written.to_pylist())), name
    assert opened.chats()  # it was open before, and still is


def test_a_backup_is_read_without_leaving_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The temporary archive of a backup is deleted afterwards, and DuckDB counts all its messages."""
    source = write(tmp_path / "one", *copies(100))
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with hb.dataset(source) as dataset:
        messages = pa.Table.from_batches(dataset.batches("messages"))
        counted = duckdb.sql("SELECT count(*) FROM messages")
        assert counted is not None
        assert counted.fetchall() == [(messages.num_rows,)]
        assert messages.num_rows == hb.info(source).counts["chatItem"]
        assert list(folder.iterdir())
    assert not list(folder.iterdir())


def test_a_path_to_an_archive_is_opened(tmp_path: Path) -> None:
    """A path is recognised as an archive by its content, as by `export`."""
    source = write(tmp_path / "one", *copies(30))
    with hb.archive(tmp_path / "chats.db", create=True) as archive, hb.open(source) as backup:
        archive.add(backup)
    with hb.dataset(tmp_path / "chats.db") as dataset:
        assert sum(batch.num_rows for batch in dataset.batches("messages")) == hb.info(source).counts["chatItem"]


def test_an_unknown_table_is_refused(opened: Archive) -> None:
    """The error of an unknown table lists the tables that exist."""
    with (
        hb.dataset(opened) as dataset,
        pytest.raises(KeyError, match="there is no table letters; there are messages"),
    ):
        dataset.batches("letters")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error without pyarrow names the extra, before the source is opened."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(hb.ExtraMissing, match="holdfast\\[parquet\\]"):
        hb.dataset(tmp_path / "nowhere")
