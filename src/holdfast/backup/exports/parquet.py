"""The Parquet form, for DuckDB, Polars, Spark and pandas; it needs the extra `parquet`."""

from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from holdfast.backup.archives import Archive
from holdfast.backup.errors import ExtraMissing
from holdfast.backup.exports.choice import Choice
from holdfast.backup.exports.folder import Written
from holdfast.backup.exports.job import Progress
from holdfast.backup.exports.periods import END
from holdfast.backup.exports.tables import Form, Row, Table, write_tables

__all__ = ["check_parquet", "write_parquet"]

# Rows that are written together; more would take memory, fewer would take room.
GROUP: Final = 20_000


class ParquetWriter:
    """Writes rows in groups, a column at a time."""

    def __init__(self, target: BinaryIO, table: Table) -> None:
        import pyarrow as pa  # noqa: PLC0415  # an extra, loaded when it is asked for
        from pyarrow import parquet  # noqa: PLC0415

        types = {
            "text": pa.string(),
            "label": pa.dictionary(pa.int32(), pa.string()),
            "int": pa.int64(),
            "flag": pa.bool_(),
            "time": pa.timestamp("ms", tz="UTC"),
        }
        self.schema: Any = pa.schema([(column.name, types[column.kind]) for column in table.columns])
        self.times = [n for n, column in enumerate(table.columns) if column.kind == "time"]
        self.waiting: list[Row] = []
        self.pa: Any = pa
        self.writer: Any = parquet.ParquetWriter(target, self.schema, compression="zstd", version="2.6")

    def add(self, row: Row) -> None:
        """Keep a row until there are enough to write."""
        self.waiting.append(row)
        if len(self.waiting) == GROUP:
            self.flush()

    def flush(self) -> None:
        """Write the rows that wait."""
        if not self.waiting:
            return
        cells: list[Any] = [list(column) for column in zip(*self.waiting, strict=True)]
        for n in self.times:
            # Readers refuse a whole file for a time that no calendar has.
            cells[n] = [ms if ms is not None and ms < END else None for ms in cells[n]]
        arrays = [self.pa.array(column, kind.type) for column, kind in zip(cells, self.schema, strict=True)]
        self.writer.write_batch(self.pa.record_batch(arrays, schema=self.schema))
        self.waiting.clear()

    def close(self) -> None:
        """Write what waits, and the end of the file."""
        self.flush()
        self.writer.close()

    def abandon(self) -> None:
        """End the file as well as can be: left open, it would be ended after it is closed."""
        with suppress(Exception):
            self.writer.close()


def check_parquet() -> None:
    """Refuse to write Parquet where what it takes is not installed."""
    try:
        import pyarrow  # noqa: F401, PLC0415  # an extra, loaded when it is asked for
    except ImportError as error:
        raise ExtraMissing("Parquet needs an extra: pip install 'holdfast[parquet]'") from error


def write_parquet(
    archive: Archive,
    target: Path,
    choice: Choice,
    *,
    media: bool = True,
    progress: Progress | None = None,
    stamp: str = "",
) -> Written:
    """Write an archive, or what was chosen of it, as Parquet."""
    check_parquet()
    form = Form("parquet", ".parquet", ParquetWriter)
    return write_tables(archive, target, choice, form, media=media, progress=progress, stamp=stamp)
