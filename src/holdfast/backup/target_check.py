"""Prevents output from overwriting the backup it is made from, which may be the only copy."""

import os
from collections.abc import Iterable
from pathlib import Path

from holdfast.backup.backup_reader import Backup
from holdfast.backup.errors import TargetRefused

__all__ = ["check_target", "check_target_against"]


def check_target(source: Backup, target: Path) -> None:
    """Raise an error if the target is the file a backup is read from, or inside a folder it is read from."""
    paths = [Path(source.name)]
    if source.snapshot is not None:
        paths += [source.snapshot.path, source.snapshot.store]
    check_target_against(paths, target)


def check_target_against(sources: Iterable[Path], target: Path) -> None:
    """Raise an error if the target is one of these files, under any name, or inside one of these folders.

    Files are compared by identity in the file system, which resolves symbolic links, hard links and spellings on a
    case-insensitive disk.
    """
    around = [target, Path(os.path.realpath(target.parent))]
    around += around[-1].parents
    for source in sources:
        folder = is_folder(source)
        for place in around if folder else around[:1]:
            if is_same(place, source):
                relation = (
                    "inside the backup it is made from" if folder and place != target else "the backup itself"
                )
                raise TargetRefused(f"{target} is {relation}; give another name to write to")


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_same(path: Path, other: Path) -> bool:
    """Return whether two paths are the same existing file or folder."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False
