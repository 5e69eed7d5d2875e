"""Export to Parquet, for DuckDB, Polars, Spark and pandas; needs the extra `parquet`."""

from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from holdfast.backup.archives import Archive
from holdfast.backup.exports.arrow import BATCH, arrow_schema, check_pyarrow, record_batch
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.folder import ExportSummary
from holdfast.backup.exports.job import Progress
from holdfast.backup.exports.tables import Row, Table, TableFormat, write_tables

__all__ = ["write_parquet"]


class ParquetWriter:
    """Writes rows in row groups."""

    def __init__(self, target: BinaryIO, table: Table) -> None:
        from pyarrow import parquet  # noqa: PLC0415  # an extra, loaded when it is asked for

        self.table = table
        self.schema = arrow_schema(table)
        self.pending: list[Row] = []
        self.writer: Any = parquet.ParquetWriter(target, self.schema, compression="zstd", version="2.6")

    def add(self, row: Row) -> None:
        """Buffer a row, and write the buffer when it is full."""
        self.pending.append(row)
        if len(self.pending) == BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows."""
        if self.pending:
            self.writer.write_batch(record_batch(self.table, self.schema, self.pending))
            self.pending.clear()

    def close(self) -> None:
        """Write the buffered rows and the footer of the file."""
        self.flush()
        self.writer.close()

    def abandon(self) -> None:
        """Close the writer, ignoring errors, before its file is closed."""
        with suppress(Exception):
            self.writer.close()


def write_parquet(
    archive: Archive,
    target: Path,
    choice: ChatSelection,
    *,
    media: bool = True,
    progress: Progress | None = None,
    stamp: str = "",
) -> ExportSummary:
    """Write an archive, or a selection of it, as Parquet."""
    check_pyarrow()
    form = TableFormat("parquet", ".parquet", ParquetWriter)
    return write_tables(archive, target, choice, form, media=media, progress=progress, stamp=stamp)
