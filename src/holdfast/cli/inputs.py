"""Opens the input backup of a command: a path or standard input, with a progress bar."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, BinaryIO, TypeVar

import typer

from holdfast import backup
from holdfast.cli.output import byte_progress

__all__ = ["SourceArgument", "resolve_input", "size_of", "with_open_backup"]

SourceArgument = Annotated[
    Path,
    typer.Argument(
        help="A backup in any format: a file, a backup folder or an export; `-` reads standard input.",
        show_default=False,
    ),
]
Answer = TypeVar("Answer")


def with_open_backup(
    path: Path,
    keys: "backup.KeyMaterial | None",
    work: Callable[[backup.Backup], Answer],
    *,
    edited: list[int] | None = None,
) -> Answer:
    """Open a backup with a progress bar on a terminal, and pass it to a function."""
    on_edited = None if edited is None else edited.append
    with (
        byte_progress(path.name, size_of(path)) as progress,
        backup.open(resolve_input(path), keys, progress=progress, on_edited=on_edited) as opened,
    ):
        return work(opened)


def resolve_input(path: Path) -> Path | BinaryIO:
    """Return the path, or standard input for `-`."""
    return sys.stdin.buffer if str(path) == "-" else path


def size_of(path: Path) -> int | None:
    """Return the size of a regular file, else None."""
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None
