"""Tables of an export as Arrow record batches."""

import sys

import pyarrow as pa
import pytest

from holdfast.backup.dates import END
from holdfast.backup.errors import ExtraMissing
from holdfast.backup.exports.arrow import arrow_schema, check_pyarrow, record_batch, record_batches
from holdfast.backup.exports.tables import Row, Table
from holdfast.backup.table_columns import Column

COLUMNS = (
    Column("text", "text"),
    Column("chat", "label"),
    Column("id", "int"),
    Column("read", "flag"),
    Column("sent", "time"),
)
TABLE = Table("messages", "Some messages", COLUMNS, lambda _record: ())


def row(number: int) -> Row:
    """Make a row."""
    return f"text {number}", "Boats", number, number % 2 == 0, number * 1000


def test_each_kind_of_column_has_its_type() -> None:
    """Labels are dictionary-encoded strings, and times are timestamps in UTC."""
    assert [(field.name, str(field.type)) for field in arrow_schema(TABLE)] == [
        ("text", "string"),
        ("chat", "dictionary<values=string, indices=int32, ordered=0>"),
        ("id", "int64"),
        ("read", "bool"),
        ("sent", "timestamp[ms, tz=UTC]"),
    ]


def test_a_batch_holds_the_rows() -> None:
    """A batch has the values of its rows, None is null, and no rows give an empty batch."""
    schema = arrow_schema(TABLE)
    batch = record_batch(TABLE, schema, [row(1), (None,) * 5])
    assert batch.schema == schema
    first, second = batch.to_pylist()
    assert (first["text"], first["chat"], first["id"], first["read"]) == ("text 1", "Boats", 1, False)
    assert first["sent"].timestamp() == 1
    assert set(second.values()) == {None}
    assert record_batch(TABLE, schema, []).num_rows == 0


def test_a_time_beyond_the_calendar_is_null() -> None:
    """A timestamp beyond the calendar is null, as readers refuse a file with one; an integer stays."""
    schema = arrow_schema(TABLE)
    batch = record_batch(TABLE, schema, [("", "", END, True, ms) for ms in (END - 1, END, 2**62)])
    assert batch.column("sent").is_null().to_pylist() == [False, True, True]
    assert batch.column("id").to_pylist() == [END] * 3


def test_rows_that_do_not_fit_are_refused() -> None:
    """A row with too few cells and a value of another type raise an error."""
    schema = arrow_schema(TABLE)
    with pytest.raises(ValueError, match="zip"):
        record_batch(TABLE, schema, [row(1), ("short",)])
    with pytest.raises(pa.ArrowInvalid):
        record_batch(TABLE, schema, [("", "", "seven", True, 0)])


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (4, [4]), (9, [4, 4, 1])])
def test_rows_are_divided_into_batches(count: int, sizes: list[int]) -> None:
    """The batches have all rows in order, and none of the batches is empty."""
    batches = list(record_batches(TABLE, map(row, range(count)), size=4))
    assert [batch.num_rows for batch in batches] == sizes
    assert [number for batch in batches for number in batch.column("id").to_pylist()] == list(range(count))


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error without pyarrow has the command that installs the extra."""
    check_pyarrow()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExtraMissing, match=r"pip install 'holdfast\[parquet\]'"):
        check_pyarrow()
