"""The tables of one backup as Parquet files."""

from pathlib import Path

import pytest
from pyarrow import parquet

from holdfast.backup.datasets import tasks
from holdfast.backup.datasets.sources import DatasetSource
from holdfast.backup.datasets.targets import BackupRecord, FailedBackup
from holdfast.backup.datasets.tasks import BuildTask, build_backup
from holdfast.backup.errors import UnwritableBackup
from tests.backup.streams import sample, stream_of


def test_a_record_says_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and bytes of each table, in row groups."""
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


def test_what_is_no_backup_is_told(tmp_path: Path) -> None:
    """And nothing is left of it."""
    (tmp_path / "a").write_text("hello")
    failed = build_backup(BuildTask(DatasetSource("a", str(tmp_path / "a")), str(tmp_path / "out")))
    assert isinstance(failed, FailedBackup)
    assert "not a chat backup" in failed.reason
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    """By its name."""
    failed = build_backup(BuildTask(DatasetSource("a", str(tmp_path / "gone")), str(tmp_path / "out")))
    assert isinstance(failed, FailedBackup)
    assert "gone" in failed.reason


def test_a_full_disk_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no fault of the backup."""

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tasks, "write_backup", full)
    with pytest.raises(UnwritableBackup, match="No space left"):
        build_backup(BuildTask(DatasetSource("a", str(tmp_path / "a")), str(tmp_path / "out")))
