"""The file a ref had before, kept to be written again when a ref moves the next time.

A ref that moves gets another file, so that whoever has the old one open still reads one id and not parts of two.
To remove the old one each time costs more than all the rest: ext4 steps over every file number that became free
in the last seconds, one by one, whenever it makes a file, and commits make several (0.1 ms each after a few
hundred commits). So the two files change places, and the old one waits outside `refs` until nobody has it open.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from holdfast.hosting.git.atomic_write import exchange, rewrite

__all__ = ["NAME", "is_now_at", "swap", "write"]

NAME: Final = "holdfast-spare"


def write(folder: str, content: bytes) -> str | None:
    """Write the spare file of a repository that is locked, and return its path; None when there is none to be had.

    One that somebody still reads, or that has another name (in a copy made of links), is not to be had.
    """
    path = f"{folder}/{NAME}"
    return path if rewrite(path, content) else None


def swap(folder: str, lock: str, path: str) -> bool:
    """Give a ref the file its lock has; the one it had becomes the spare, and the lock is gone.

    Where files cannot change places, or the ref has none, it is simply renamed, and there is no new spare.
    """
    if not exchange(lock, path):
        os.rename(lock, path)  # noqa: PTH104  # a text, not a Path: on a hot path
        return False
    try:
        os.rename(lock, f"{folder}/{NAME}")  # noqa: PTH104  # a text, not a Path: on a hot path
        # Two names of one file are left alone by a rename.
        os.unlink(lock)  # noqa: PTH108  # a text, not a Path: on a hot path
    except FileNotFoundError:
        return True
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(lock)  # noqa: PTH108  # a text, not a Path: on a hot path
    return True


def is_now_at(folder: Path, path: str) -> bool:
    """Tell whether a ref has the spare file: whoever gave it to the ref died before the lock was gone."""
    try:
        return (folder / NAME).samefile(path)
    except OSError:
        return False
