"""Writes the tables of one backup: a task of a build."""

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from holdfast.backup import backup_reader
from holdfast.backup.datasets.rows import TableReader
from holdfast.backup.datasets.schema import SCHEMA_VERSION, TABLES, dataset_schema, parquet_options
from holdfast.backup.datasets.sources import DatasetSource
from holdfast.backup.datasets.targets import BackupRecord, DatasetTarget, FailedBackup, open_target
from holdfast.backup.errors import KeyIncomplete, UnwritableBackup
from holdfast.backup.path_text import path_text
from holdfast.errors import HoldfastError
from holdfast.redacted_repr import redacted

__all__ = ["BuildTask", "build_backup"]

# The default of DuckDB.
ROW_GROUP: Final = 122_880
# A row group ends earlier if texts are long: it is buffered in memory.
ROW_GROUP_BYTES: Final = 1 << 28
# Errors of the target, not of the backup.
DISK_FAULTS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


@redacted
class BuildTask(msgspec.Struct, frozen=True):
    """A backup to build; it can be pickled."""

    source: DatasetSource
    location: str


def build_backup(task: BuildTask) -> BackupRecord | FailedBackup:
    """Write the tables of one backup; its errors are returned, so that other backups are built."""
    source = task.source
    try:
        return write_backup(source, open_target(task.location))
    except KeyIncomplete as error:
        reason = f"{error}; put it into a file {source.name}.key beside the backup, or give --keys or --key-file"
    except UnwritableBackup:
        raise
    except HoldfastError as error:
        reason = str(error)
    except OSError as error:
        if error.errno in DISK_FAULTS:
            raise UnwritableBackup(f"{task.location} cannot be written: {os.strerror(error.errno)}") from error
        reason = f"{error.filename or source.path}: {error.strerror}"
    except Exception as error:  # noqa: BLE001  # one backup must not end the build of the others
        reason = f"{type(error).__name__}: this is a mistake in Holdfast; `holdfast backup info` shows where"
    return FailedBackup(source.name, path_text(source.path), path_text(reason))


def write_backup(source: DatasetSource, target: DatasetTarget) -> BackupRecord:
    """Write the tables of one backup, and publish them when all are complete."""
    source.check_file_type()
    stamp = source.stamp()
    with target.staging(source.name) as folder:
        with ExitStack() as stack:
            backup = stack.enter_context(backup_reader.open(source.path, source.keys()))
            writers = {name: stack.enter_context(table_writer(folder, name)) for name in TABLES}
            reader = TableReader(backup)
            for name, batch in reader.batches():
                writers[name].add(batch)
        files = {name: writer.path for name, writer in writers.items()}
        record = BackupRecord(
            name=source.name,
            path=path_text(source.path),
            schema=SCHEMA_VERSION,
            stamp=stamp,
            rows={name: writer.rows for name, writer in writers.items()},
            sizes={name: path.stat().st_size for name, path in files.items()},
            findings=dict(reader.findings),
        )
        target.publish(record, files)
    return record


class TableWriter:
    """Writes record batches of one table to a Parquet file, in row groups of an efficient size."""

    def __init__(self, path: Path, writer: Any) -> None:
        self.path = path
        self.rows = 0
        self._writer = writer
        self._batches: list[Any] = []
        self._buffered_rows = 0
        self._buffered_bytes = 0

    def add(self, batch: Any) -> None:
        """Add a batch."""
        self._batches.append(batch)
        self._buffered_rows += batch.num_rows
        self._buffered_bytes += batch.nbytes
        self.rows += batch.num_rows
        if self._buffered_rows >= ROW_GROUP or self._buffered_bytes >= ROW_GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the buffered batches as a row group."""
        import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use

        if self._batches:
            # Columns whose dictionaries differ between batches would be written without one.
            table = pa.Table.from_batches(self._batches).unify_dictionaries()
            self._writer.write_table(table, row_group_size=2 * ROW_GROUP)
            self._batches.clear()
            self._buffered_rows = self._buffered_bytes = 0


@contextmanager
def table_writer(folder: Path, name: str) -> Iterator[TableWriter]:
    """Open a Parquet file for a table; it is complete when the context exits without an error."""
    from pyarrow import parquet  # noqa: PLC0415  # an extra, imported on first use

    path, table = folder / f"{name}.parquet", TABLES[name]
    with parquet.ParquetWriter(path, dataset_schema(table), **parquet_options(table)) as writer:
        buffered = TableWriter(path, writer)
        yield buffered
        buffered.flush()
