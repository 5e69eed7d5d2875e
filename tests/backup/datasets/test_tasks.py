"""The tables of one backup as Parquet files."""

import os
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from holdfast.backup.datasets import tasks
from holdfast.backup.datasets.schema import TABLES, dataset_schema
from holdfast.backup.datasets.sources import DatasetSource
from holdfast.backup.datasets.targets import BackupRecord, FailedBackup
from holdfast.backup.datasets.tasks import BuildTask, build_backup
from holdfast.backup.errors import UnwritableBackup
from tests.backup.streams import sample, stream_of


def test_a_record_says_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record of a backup has the rows and the bytes of each table."""
    monkeypatch.setattr(tasks, "ROW_GROUP", 10)
    (tmp_path / "a").write_bytes(stream_of(sample(100)))
    record = build_backup(BuildTask(DatasetSource("a", str(tmp_path / "a")), str(tmp_path / "out")))
    assert isinstance(record, BackupRecord)
    for table, rows in record.rows.items():
        path = tmp_path / "out" / table / "backup=a" / "data.parquet"
        file = parquet.ParquetFile(path)
        assert (file.metadata.num_rows, path.stat().st_size) == (rows, record.sizes[table])
        assert file.schema_arrow.metadata[b"holdfast.dataset"] == b"1"
    assert record.messages == record.rows["messages"] > 0
    assert record.findings == {}


def test_columns_are_encoded_by_what_they_hold(tmp_path: Path) -> None:
    """Columns with repeated values have a dictionary, and ascending ones have a delta encoding."""
    (tmp_path / "a").write_bytes(stream_of(sample(100)))
    build_backup(BuildTask(DatasetSource("a", str(tmp_path / "a")), str(tmp_path / "out")))
    group = parquet.ParquetFile(tmp_path / "out" / "messages" / "backup=a" / "data.parquet").metadata.row_group(0)
    encodings = {
        column.path_in_schema: set(column.encodings) for column in map(group.column, range(group.num_columns))
    }
    for name in ("direction", "kind", "chat_id", "author_id"):
        assert "RLE_DICTIONARY" in encodings[name]
    for name in ("message_id", "sent", "sent_ms", "received"):
        assert "DELTA_BINARY_PACKED" in encodings[name]
    assert "RLE_DICTIONARY" not in encodings["text"]


def test_labels_keep_their_dictionary_in_a_row_group_of_many_batches(tmp_path: Path) -> None:
    """Batches with different labels in one row group share a dictionary."""
    schema = dataset_schema(TABLES["reactions"])
    names = ["a" * 50, "b" * 50]
    with tasks.table_writer(tmp_path, "reactions") as writer:
        for emoji in names:
            writer.add(pa.RecordBatch.from_pylist([{"message_id": 1, "emoji": emoji}] * 1000, schema))
    file = parquet.ParquetFile(tmp_path / "reactions.parquet")
    assert file.read()["emoji"].to_pylist() == [names[0]] * 1000 + [names[1]] * 1000
    assert file.metadata.num_row_groups == 1
    assert file.metadata.row_group(0).column(schema.get_field_index("emoji")).total_uncompressed_size < 1000


def test_a_row_group_ends_where_texts_are_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row group ends when its texts exceed a limit of bytes, which bounds the memory."""
    monkeypatch.setattr(tasks, "ROW_GROUP_BYTES", 500)
    schema = dataset_schema(TABLES["findings"])
    with tasks.table_writer(tmp_path, "findings") as writer:
        for size in (1000, 1, 1):
            writer.add(pa.RecordBatch.from_pylist([{"detail": "x" * size}], schema))
    metadata = parquet.ParquetFile(tmp_path / "findings.parquet").metadata
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [1, 2]
    assert writer.rows == 3


def test_what_is_no_backup_is_told(tmp_path: Path) -> None:
    """A file that is no backup fails with a reason, and leaves no file in the target."""
    (tmp_path / "a").write_text("hello")
    failed = build_backup(BuildTask(DatasetSource("a", str(tmp_path / "a")), str(tmp_path / "out")))
    assert isinstance(failed, FailedBackup)
    assert "not a chat backup" in failed.reason
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    """The reason of a missing file has its name."""
    failed = build_backup(BuildTask(DatasetSource("a", str(tmp_path / "gone")), str(tmp_path / "out")))
    assert isinstance(failed, FailedBackup)
    assert "gone" in failed.reason


def test_a_full_disk_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk raises `UnwritableBackup` and does not fail the backup."""

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tasks, "write_backup", full)
    with pytest.raises(UnwritableBackup, match="No space left"):
        build_backup(BuildTask(DatasetSource("a", str(tmp_path / "a")), str(tmp_path / "out")))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A named pipe that nobody writes to is a failed backup: opening it would not return."""
    os.mkfifo(tmp_path / "pipe")
    failed = build_backup(BuildTask(DatasetSource("pipe", str(tmp_path / "pipe")), str(tmp_path / "out")))
    assert isinstance(failed, FailedBackup)
    assert failed.reason == f"{tmp_path / 'pipe'} is a pipe or a device, not a file"
