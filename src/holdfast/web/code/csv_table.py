"""CSV and TSV files as tables."""

import csv
import io
from dataclasses import dataclass
from typing import Final

__all__ = ["CsvTable", "is_csv", "read_table"]

DELIMITERS: Final = {".csv": ",;\t|", ".tsv": "\t"}
ROWS: Final = 200
# Further columns are not shown, and longer cells are truncated.
MOST_COLUMNS: Final = 60
LONGEST_CELL: Final = 300


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A page of a table: its header, its rows, and where the previous and next pages start."""

    header: list[str]
    rows: list[list[str]]
    first: int
    total: int
    hidden_columns: int

    @property
    def last(self) -> int:
        """The number of its last row."""
        return self.first + len(self.rows) - 1

    @property
    def before(self) -> int | None:
        """The number of the first row of the previous page; None on the first page."""
        return max(self.first - ROWS, 1) if self.first > 1 else None

    @property
    def after(self) -> int | None:
        """The number of the first row of the next page; None on the last page."""
        return self.last + 1 if self.last < self.total else None


def is_csv(name: str) -> bool:
    """Return whether a file name has the extension of a table."""
    return name[-4:].lower() in DELIMITERS


def read_table(name: str, text: str, first: int) -> CsvTable | None:
    """Parse the rows of a page, numbered from 1 after the header; None if the text is not a table."""
    sample = text.partition("\n")[0]
    delimiter = max(DELIMITERS[name[-4:].lower()], key=sample.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return None
    if not rows or max(map(len, rows)) < 2:
        return None
    header, *body = rows
    first = min(max(first, 1), max(len(body), 1))
    page = body[first - 1 : first - 1 + ROWS]
    columns = max(map(len, [header, *page]))
    shown = min(columns, MOST_COLUMNS)
    return CsvTable(
        cells(header, shown), [cells(row, shown) for row in page], first, len(body), hidden_columns=columns - shown
    )


def cells(row: list[str], columns: int) -> list[str]:
    """Return a row padded or cut to `columns` cells, each truncated to `LONGEST_CELL`."""
    cut = [cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}…" for cell in row[:columns]]
    return [*cut, *[""] * (columns - len(cut))]
