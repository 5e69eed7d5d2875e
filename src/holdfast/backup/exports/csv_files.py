"""The CSV form: RFC 4180 in UTF-8, written so that spreadsheets open it rightly and run nothing in it.

What somebody wrote may begin with `=`, and a spreadsheet would take that for a formula, which can send what stands
beside it to a stranger. An apostrophe goes before such a text. It also goes before what looks like a formula after
a semicolon, a tab or a line break inside a text, because a spreadsheet that was told another separator would begin
a cell there. With `plain` nothing is added, for programs.
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

# Spreadsheets without it take UTF-8 for the encoding of the last century.
BOM: Final = b"\xef\xbb\xbf"
EQUALS: Final = "=@\uff1d\uff20"
SIGNS: Final = "+\\-\uff0b\uff0d"
# At the start of a cell, anything that looks like a formula.
FORMULA_START: Final = re.compile(rf"[\s\x00-\x1f'\"]*[{EQUALS}{SIGNS}]|[\t\r\n\x00]")
# Inside of a text lists and smileys are let be: with a plus or minus only what can call or fetch something counts,
# or what the next column could go on with.
FORMULA_INSIDE: Final = re.compile(
    rf"(?<=[;\t\r\n])(?=[ \"']*(?:[{EQUALS}]|[{SIGNS}][^;\t\r\n]*(?:[(|!\[{{&\"]|[-+*/^=<>,%:] *\Z)))"
)


def escape_formulas(text: str) -> str:
    """Write a text so that no spreadsheet takes it, or part of it, for a formula."""
    if FORMULA_START.match(text):
        text = f"'{text}"
    return FORMULA_INSIDE.sub("'", text)


def format_time(ms: int | None) -> str | None:
    """Write a time as spreadsheets read it, in UTC."""
    return None if ms is None else spelled(ms)


def format_bool(value: bool | None) -> str | None:  # noqa: FBT001  # it is a value, not a switch
    """Write a truth value."""
    return None if value is None else "true" if value else "false"


@redacted
@dataclass(frozen=True, slots=True)
class CsvEncoder:
    """Encodes lines on their way into a file."""

    target: BinaryIO

    def write(self, line: str) -> int:
        """Write a line."""
        return self.target.write(line.encode())


class CsvWriter:
    """Writes rows as lines of CSV."""

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
        """Do nothing: each row is written at once."""

    def abandon(self) -> None:
        """Do nothing: nothing waits."""


def escape_optional(text: str | None) -> str | None:
    """Guard a text, if there is one."""
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
    """Write an archive, or what was chosen of it, as CSV; `plain` for programs, without it for spreadsheets."""
    form = TableFormat("csv", ".csv", partial(CsvWriter, plain=plain))
    return write_tables(archive, target, choice, form, media=media, progress=progress, stamp=stamp)
