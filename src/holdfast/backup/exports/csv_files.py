"""Export to CSV (RFC 4180, UTF-8), protected against CSV injection.

A spreadsheet evaluates text that begins with `=` as a formula, which can send the content of other cells to a
stranger. Such text is prefixed with an apostrophe. So is what looks like a formula after a semicolon, a tab or a
line break inside a text, because a spreadsheet that uses another separator would begin a cell there. With `plain`
nothing is added, for programs.
"""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from holdfast.backup.archives import Archive
from holdfast.backup.dates import spelled
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.folder import ExportSummary
from holdfast.backup.exports.job import Progress
from holdfast.backup.exports.tables import Row, Table, TableFormat, write_tables
from holdfast.redacted_repr import redacted

__all__ = ["escape_formulas", "write_csv"]

# Byte order mark; without it spreadsheets do not detect UTF-8.
BOM: Final = b"\xef\xbb\xbf"
EQUALS: Final = "=@\uff1d\uff20"
SIGNS: Final = "+\\-\uff0b\uff0d"
# Anything that looks like a formula at the start of a cell.
FORMULA_START: Final = re.compile(rf"[\s\x00-\x1f'\"]*[{EQUALS}{SIGNS}]|[\t\r\n\x00]")
# Inside a text, lists and emoticons are left alone: after a plus or minus sign only text that can call or fetch
# something counts, or that the next column could continue.
FORMULA_INSIDE: Final = re.compile(
    rf"(?<=[;\t\r\n])(?=[ \"']*(?:[{EQUALS}]|[{SIGNS}][^;\t\r\n]*(?:[(|!\[{{&\"]|[-+*/^=<>,%:] *\Z)))"
)


def escape_formulas(text: str) -> str:
    """Escape a text so that no spreadsheet evaluates it, or part of it, as a formula."""
    if FORMULA_START.match(text):
        text = f"'{text}"
    return FORMULA_INSIDE.sub("'", text)


def format_time(ms: int | None) -> str | None:
    """Format a time in UTC for spreadsheets."""
    return None if ms is None else spelled(ms)


def format_bool(value: bool | None) -> str | None:  # noqa: FBT001  # it is a value, not a switch
    """Format a boolean."""
    return None if value is None else "true" if value else "false"


@redacted
@dataclass(frozen=True, slots=True)
class CsvEncoder:
    """A text file object that encodes lines to UTF-8."""

    target: BinaryIO

    def write(self, line: str) -> int:
        """Write a line."""
        return self.target.write(line.encode())


class CsvWriter:
    """Writes rows as CSV."""

    def __init__(self, target: BinaryIO, table: Table, *, plain: bool) -> None:
        if not plain:
            target.write(BOM)
        self.writer = csv.writer(CsvEncoder(target))
        self.writer.writerow([column.name for column in table.columns])
        converter: dict[str, Callable[[Any], str | None]] = {"time": format_time, "flag": format_bool}
        if not plain:
            converter |= {"text": escape_optional, "label": lru_cache(maxsize=4096)(escape_optional)}
        self.converters = [
            (n, converter[column.kind]) for n, column in enumerate(table.columns) if column.kind in converter
        ]

    def add(self, row: Row) -> None:
        """Write a row."""
        cells: list[Any] = list(row)
        for n, converter in self.converters:
            cells[n] = converter(cells[n])
        self.writer.writerow(cells)

    def close(self) -> None:
        """Do nothing: rows are not buffered."""

    def abandon(self) -> None:
        """Do nothing: rows are not buffered."""


def escape_optional(text: str | None) -> str | None:
    """Escape a text that may be None."""
    return None if text is None else escape_formulas(text)


def write_csv(
    archive: Archive,
    target: Path,
    choice: ChatSelection,
    *,
    media: bool = True,
    plain: bool = False,
    progress: Progress | None = None,
    stamp: str = "",
) -> ExportSummary:
    """Write an archive, or a selection of it, as CSV: for programs if `plain`, else for spreadsheets."""
    form = TableFormat("csv", ".csv", partial(CsvWriter, plain=plain))
    return write_tables(archive, target, choice, form, media=media, progress=progress, stamp=stamp)
