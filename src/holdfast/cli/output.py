"""Terminal, plain-text and JSON output of commands."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Annotated, Final, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.text import Text

__all__ = [
    "JsonOption",
    "byte_progress",
    "console",
    "count_progress",
    "print_error",
    "print_json",
    "print_note",
    "printable",
    "waiting",
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print the answer as JSON, for programs.")]

Item = TypeVar("Item")

# Holds the parts of one emoji together.
JOINER: Final = "\u200d"

# A bar that appears and vanishes at once is only noise.
PATIENCE_BYTES: Final = 64 << 20


def console(*, stderr: bool = False) -> Console:
    """Return a console on standard output or standard error; colors only on a terminal."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def print_error(message: str) -> None:
    """Print an error in one line on standard error."""
    line = Text.assemble(("error:", "bold red"), " ", printable(message))
    console(stderr=True).print(line)


def print_note(message: str) -> None:
    """Print a note in one line on standard error."""
    console(stderr=True).print(Text(printable(message)))


def printable(text: str) -> str:
    """Return untrusted text as one line, with control and bidirectional characters escaped."""
    line = " ".join(text.split())
    return "".join(sign for sign in line if sign.isprintable() or sign == JOINER)


def print_json(value: object) -> None:
    """Print a value as one JSON document."""
    text = msgspec.json.format(msgspec.json.encode(value, enc_hook=as_text), indent=2)
    sys.stdout.write(text.decode() + "\n")


def as_text(value: object) -> str:
    """Encode a path as JSON; bytes that are not UTF-8 are escaped."""
    if isinstance(value, PurePath):
        return os.fsencode(value).decode(errors="backslashreplace")
    raise NotImplementedError(f"JSON has no form for {type(value).__name__}")


@contextmanager
def byte_progress(what: str, total: int | None) -> Iterator[Callable[[int], None] | None]:
    """Yield a callback for a progress bar of bytes, on a terminal and for large inputs; else None."""
    if not sys.stderr.isatty() or (total is not None and total < PATIENCE_BYTES):
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def count_progress(what: str) -> Iterator[Callable[[Item], Item]]:
    """Yield a function that counts items on a terminal and returns them unchanged."""
    if not sys.stderr.isatty():
        yield lambda item: item
        return
    from rich import progress as bars  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    columns = (bars.TextColumn("{task.completed:,.0f} {task.description}"), bars.TimeElapsedColumn())
    with bars.Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        passed = 0

        def count(item: Item) -> Item:
            nonlocal passed
            passed += 1
            # Telling the bar of each of a million things would take longer than making them.
            if passed & 0xFF == 0:
                progress.update(task, completed=passed)
            return item

        yield count


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show an activity and its duration on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich import progress as bars  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    columns = (bars.SpinnerColumn(), bars.TextColumn("{task.description}"), bars.TimeElapsedColumn())
    with bars.Progress(*columns, console=console(stderr=True), transient=True) as progress:
        progress.add_task(what, total=None)
        yield
