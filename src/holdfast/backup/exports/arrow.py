"""Tables of an export as Arrow record batches; needs the extra `parquet`."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from holdfast.backup.dates import END
from holdfast.backup.errors import ExtraMissing
from holdfast.backup.exports.tables import Row, Table

__all__ = ["BATCH", "arrow_schema", "check_pyarrow", "record_batch", "record_batches"]

# Rows per batch: larger batches take more memory, smaller ones more disk space.
BATCH: Final = 20_000


def check_pyarrow() -> None:
    """Raise `ExtraMissing` where pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401, PLC0415  # an extra, imported on first use
    except ImportError as error:
        raise ExtraMissing("Parquet needs an extra: pip install 'holdfast[parquet]'") from error


def arrow_schema(table: Table) -> Any:  # pyarrow exports no types
    """Return the Arrow schema of a table."""
    import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use

    types = {
        "text": pa.string(),
        "label": pa.dictionary(pa.int32(), pa.string()),
        "int": pa.int64(),
        "flag": pa.bool_(),
        "time": pa.timestamp("ms", tz="UTC"),
    }
    return pa.schema([(column.name, types[column.kind]) for column in table.columns])


def record_batch(table: Table, schema: Any, rows: Sequence[Row]) -> Any:
    """Convert rows of a table to a record batch."""
    import pyarrow as pa  # noqa: PLC0415  # an extra, imported on first use

    cells: list[Any] = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in table.columns]
    for n, column in enumerate(table.columns):
        if column.kind == "time":
            # Readers reject a whole file because of one time outside of the calendar.
            cells[n] = [ms if ms is not None and ms < END else None for ms in cells[n]]
    arrays = [pa.array(values, field.type) for values, field in zip(cells, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def record_batches(table: Table, rows: Iterable[Row], size: int = BATCH) -> Iterator[Any]:
    """Convert all rows of a table to record batches of at most `size` rows."""
    schema = arrow_schema(table)
    row_iterator = iter(rows)
    while batch := list(islice(row_iterator, size)):
        yield record_batch(table, schema, batch)
