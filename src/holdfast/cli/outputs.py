"""Checks of output paths: never a source file, and no existing file without `--force`."""

import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from holdfast.backup.container.atomic_write import check_replaceable
from holdfast.backup.container.private import restrict
from holdfast.backup.errors import TargetRefused
from holdfast.backup.target_check import check_target_against
from holdfast.cli.output import print_note

__all__ = ["ForceOption", "check_target"]

ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite an existing file; never an input file.")]
STANDARD = "-"


def check_target(
    target: Path | None, sources: Iterable[Path | None], *, force: bool = False, folder: bool = False
) -> None:
    """Raise `TargetRefused` for a target that is also an input, or that exists unless `force` is set.

    `sources` are all inputs of a command: backups, keys, logs. With `folder` the target is a folder that is added
    to. Commands call this first, because the work may take long; the file is checked again when it is written.
    """
    if target is None:
        return
    inputs = [source for source in sources if source is not None]
    if str(target) == STANDARD:
        for source in inputs:
            if str(source) != STANDARD and is_open_at(1, source):
                raise TargetRefused(
                    f"standard output is redirected to {source}, which is an input; redirect it elsewhere"
                )
        return
    if any(str(source) == STANDARD for source in inputs) and is_open_at(0, target):
        raise TargetRefused(f"{target} is read from standard input; choose another target")
    check_target_against([source for source in inputs if str(source) != STANDARD], target)
    if folder:
        restrict_empty(target)
    else:
        check_replaceable(target, replace=force)


def restrict_empty(folder: Path) -> None:
    """Make an output folder private to the user, and print a note.

    A folder that is not empty keeps its mode: it may be shared on purpose.
    """
    try:
        if not folder.is_dir() or any(folder.iterdir()):
            return
    except OSError:
        return
    if restrict([folder]):
        print_note(f"note: others could read the folder {folder}; now only you can (mode 0700)")


def is_open_at(descriptor: int, path: Path) -> bool:
    """Return whether a standard stream is redirected to a file."""
    try:
        stream = os.fstat((sys.stdin, sys.stdout)[descriptor].fileno())
        return stat.S_ISREG(stream.st_mode) and os.path.samestat(stream, path.stat())
    except (OSError, ValueError, AttributeError):
        return False
