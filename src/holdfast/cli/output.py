"""How commands print: for people on a terminal, plainly in a pipe, as JSON when asked."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.text import Text

__all__ = ["JsonOption", "byte_progress", "console", "print_error", "print_json"]

JsonOption = Annotated[bool, typer.Option("--json", help="Print the answer as JSON, for programs.")]

# A bar that appears and vanishes at once is only noise.
PATIENCE_BYTES: Final = 64 << 20


def console(*, stderr: bool = False) -> Console:
    """Open a console on standard output or standard error as they are now; colours only on a terminal."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def print_error(message: str) -> None:
    """Say what went wrong in one line on standard error."""
    line = Text.assemble(("error:", "bold red"), " ", " ".join(message.split()))
    console(stderr=True).print(line)


def print_json(answer: object) -> None:
    """Print an answer as one JSON document."""
    text = msgspec.json.format(msgspec.json.encode(answer), indent=2)
    sys.stdout.write(text.decode() + "\n")


@contextmanager
def byte_progress(what: str, total: int | None) -> Iterator[Callable[[int], None] | None]:
    """Show a bar while bytes are read, on a terminal and when it will take a while; else give None."""
    if not sys.stderr.isatty() or (total is not None and total < PATIENCE_BYTES):
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=done)
