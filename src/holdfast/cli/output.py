"""Terminal, plain-text and JSON output of commands."""

import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Annotated, Final, Literal, TextIO, TypeVar, cast

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "JsonError",
    "JsonOption",
    "JsonOutput",
    "byte_progress",
    "console",
    "count_progress",
    "print_error",
    "print_json",
    "print_json_error",
    "print_note",
    "print_table",
    "printable",
    "waiting",
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

Item = TypeVar("Item")

# The zero-width joiner, which combines emoji.
JOINER: Final = "\u200d"

# Wider than any line of a table.
UNLIMITED_COLUMNS: Final = 100_000
# The spaces between two columns of a table.
GAP: Final = 2

# The smallest input with a progress bar: a shorter one would disappear at once.
PATIENCE_BYTES: Final = 64 << 20


class PipedOutput(io.TextIOBase):
    """A stream that is not a terminal; strips the trailing spaces of table rows."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base class has a plain attribute
        """The encoding of the stream."""
        return self.stream.encoding

    def write(self, text: str, /) -> int:
        """Write a text without the trailing spaces of its lines."""
        self.stream.write("\n".join(line.rstrip(" ") for line in text.split("\n")))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self.stream.flush()


def console(*, stderr: bool = False) -> "Console":
    """Return a console on standard output or standard error; colors and line breaks only on a terminal.

    Text is printed as it is: in the markup of rich, `[b]` of a file's name is a tag, and `:dog:` an emoji.
    """
    from holdfast.cli.terminal import CommandConsole  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        return CommandConsole(stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)
    # A pipe has no width: a row is one line.
    return CommandConsole(
        file=cast("IO[str]", PipedOutput(stream)),
        highlight=False,
        soft_wrap=True,
        markup=False,
        emoji=False,
        width=UNLIMITED_COLUMNS,
    )


def print_table(
    columns: Sequence[str],
    rows: "Sequence[Sequence[Text | str]]",
    *,
    optional: Sequence[str] = (),
    wrapped: str | None = None,
) -> None:
    """Print a plain table; columns whose name ends in `#` are right-aligned, empty ones are omitted.

    If it is wider than the terminal, the `optional` columns are omitted in their order, and then the column
    `wrapped`, by default the first, is wrapped.
    """
    from rich.cells import cell_len  # noqa: PLC0415  # loaded when it is needed, so that commands start at once
    from rich.table import Table  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    out = console()
    shown = [n for n, name in enumerate(columns) if not rows or any(len(row[n]) for row in rows)]
    widths = [
        max(cell_len(name.rstrip("#")), *(cell_len(str(row[n])) for row in rows), 0)
        for n, name in enumerate(columns)
    ]
    for name in optional:
        if sum(widths[n] + GAP for n in shown) - GAP > out.width:
            shown = [n for n in shown if columns[n] != name]
    table = Table(box=None, pad_edge=False, header_style="bold")
    flexible = wrapped or columns[shown[0]]
    for n in shown:
        side: Literal["left", "right"] = "right" if columns[n].endswith("#") else "left"
        table.add_column(columns[n].rstrip("#"), justify=side, no_wrap=columns[n] != flexible)
    for row in rows:
        table.add_row(*(row[n] for n in shown))
    out.print(table)


def print_error(message: str) -> None:
    """Print an error in one line on standard error."""
    from rich.text import Text  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    line = Text.assemble(("error:", "bold red"), " ", printable(message))
    console(stderr=True).print(line)


def print_note(message: str) -> None:
    """Print a note in one line on standard error."""
    console(stderr=True).print(printable(message))


def printable(text: str) -> str:
    """Return untrusted text as one line, with control and bidirectional characters escaped."""
    line = " ".join(text.split())
    return "".join(sign for sign in line if sign.isprintable() or sign == JOINER)


@dataclass(frozen=True, slots=True)
class JsonError:
    """The JSON document of a command that failed: the error message and the exit status."""

    error: str
    status: int


class JsonOutput:
    """Whether the command has printed its JSON document."""

    printed = False


def print_json_error(message: str, status: int) -> None:
    """Print an error as the JSON document of a command, unless it has printed one."""
    if not JsonOutput.printed:
        print_json(JsonError(printable(message), status))


def print_json(value: object) -> None:
    """Print a value as one JSON document."""
    import msgspec  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    JsonOutput.printed = True
    text = msgspec.json.format(msgspec.json.encode(value, enc_hook=as_text), indent=2)
    sys.stdout.write(text.decode() + "\n")


def as_text(value: object) -> str:
    """Encode a path as JSON; bytes that are not UTF-8 are escaped."""
    if isinstance(value, PurePath):
        return os.fsencode(value).decode(errors="backslashreplace")
    raise NotImplementedError(f"JSON has no form for {type(value).__name__}")


@contextmanager
def byte_progress(description: str, total: int | None) -> Iterator[Callable[[int], None] | None]:
    """Yield a callback for a progress bar of bytes, on a terminal and for large inputs; else None."""
    if not sys.stderr.isatty() or (total is not None and total < PATIENCE_BYTES):
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task(description, total=total)
        yield lambda completed: progress.update(task, completed=completed)


@contextmanager
def count_progress(description: str) -> Iterator[Callable[[Item], Item]]:
    """Yield a function that counts items on a terminal and returns them unchanged."""
    if not sys.stderr.isatty():
        yield lambda item: item
        return
    from rich import progress as bars  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    columns = (bars.TextColumn("{task.completed:,.0f} {task.description}", markup=False), bars.TimeElapsedColumn())
    with bars.Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task(description, total=None)
        passed = 0

        def count(item: Item) -> Item:
            nonlocal passed
            passed += 1
            # Updating the bar for each of a million items would take longer than producing them.
            if passed & 0xFF == 0:
                progress.update(task, completed=passed)
            return item

        yield count


@contextmanager
def waiting(description: str) -> Iterator[None]:
    """Show an activity and its duration on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich import progress as bars  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    columns = (bars.SpinnerColumn(), bars.TextColumn("{task.description}", markup=False), bars.TimeElapsedColumn())
    with bars.Progress(*columns, console=console(stderr=True), transient=True) as progress:
        progress.add_task(description, total=None)
        yield
