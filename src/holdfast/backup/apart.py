"""Keeps what is made from a backup apart from the backup itself, which may be the only one somebody has."""

import os
from collections.abc import Iterable
from pathlib import Path

from holdfast.backup.backup_reader import Backup
from holdfast.backup.errors import TargetRefused

__all__ = ["keep_apart", "keep_apart_from"]


def keep_apart(source: Backup, target: Path) -> None:
    """Refuse to write to the file a backup is read from, or into the folders it is read from."""
    paths = [Path(source.name)]
    if source.snapshot is not None:
        paths += [source.snapshot.path, source.snapshot.store]
    keep_apart_from(paths, target)


def keep_apart_from(sources: Iterable[Path], target: Path) -> None:
    """Refuse to write to one of some files, under whatever name it is reached, or into one of some folders.

    Names are compared by what the file system says they lead to: a symbolic link, a hard link, another spelling on
    a disk that does not tell upper from lower case.
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
    """Return whether a path leads to a folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_same(path: Path, other: Path) -> bool:
    """Return whether two paths lead to one file or folder that exists."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False
