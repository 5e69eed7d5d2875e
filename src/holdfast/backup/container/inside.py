"""Opens files of a folder somebody else made: only real files, and only inside that folder.

A copied folder may hold links that lead anywhere, pipes that never end and devices. None of them is a backup.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.backup.errors import UnreadableBackup

__all__ = ["open_inside"]

# Without O_NONBLOCK, opening a pipe waits for somebody to write to it. Windows has neither that nor O_NOFOLLOW; it
# needs O_BINARY, or takes a file for text.
FLAGS: Final[int] = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY"))


def open_inside(root: Path, path: Path) -> BinaryIO:
    """Open a file below `root`, following links only as long as they stay there.

    A missing file is `FileNotFoundError`, for callers to whom that is no surprise.
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
