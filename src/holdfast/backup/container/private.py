"""Files and folders that only their owner can read, independent of the umask."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from holdfast.backup.errors import UnwritableBackup

__all__ = ["create_private_file", "make_private_folder", "restrict"]

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def create_private_file(path: Path) -> None:
    """Create an empty file with mode 0600; an existing file is not changed."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE)
    except FileExistsError:
        return
    except OSError as error:
        raise UnwritableBackup(f"{path} cannot be written: {error.strerror}") from error
    try:
        if hasattr(os, "fchmod"):  # Windows has it from Python 3.13 on, where modes mean little
            os.fchmod(handle, PRIVATE_FILE)
    finally:
        os.close(handle)


def make_private_folder(path: Path) -> None:
    """Create a folder and its missing parents with mode 0700; existing folders are not changed."""
    missing: list[Path] = []
    level = path
    while not level.is_dir():
        missing.append(level)
        if level == level.parent:
            break
        level = level.parent
    for folder in reversed(missing):
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        folder.chmod(PRIVATE_FOLDER)


def restrict(paths: Iterable[Path]) -> list[Path]:
    """Remove the permissions of group and others from files and folders; return those that had any.

    Missing files and files of other owners are skipped. On Windows, where a file inherits the permissions of its
    folder, nothing is done.
    """
    if not hasattr(os, "geteuid"):
        return []
    changed: list[Path] = []
    for path in paths:
        try:
            state = path.stat()
            if state.st_uid == os.geteuid() and state.st_mode & OTHERS:
                path.chmod(stat.S_IMODE(state.st_mode) & ~OTHERS)
                changed.append(path)
        except OSError:
            continue
    return changed
