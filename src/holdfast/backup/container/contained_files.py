"""Opens files of an untrusted folder: only regular files, and only inside that folder.

A copied folder may contain symbolic links to anywhere, pipes and devices; none of them is opened.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.backup.errors import UnreadableBackup

__all__ = ["open_contained"]

# Without O_NONBLOCK, opening a pipe blocks until there is a writer. Windows has neither O_NONBLOCK nor O_NOFOLLOW,
# and needs O_BINARY.
FLAGS: Final[int] = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY"))


def open_contained(root: Path, path: Path) -> BinaryIO:
    """Open a file below `root`, following symbolic links only inside of `root`.

    A missing file raises `FileNotFoundError`.
    """
    try:
        home, target = root.resolve(), path.resolve()
    except (OSError, RuntimeError):  # the latter is how older Pythons report links in a circle
        raise UnreadableBackup(f"{path} is a link that leads nowhere") from None
    if not target.is_relative_to(home):
        raise UnreadableBackup(f"{path} is a link that leads out of {root}; nothing outside of it is read")
    try:
        handle = os.open(target, FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(str(path)) from None
    except OSError as error:
        raise UnreadableBackup(f"{path} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UnreadableBackup(f"{path} is not a file")
    return os.fdopen(handle, "rb")
