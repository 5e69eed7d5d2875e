"""Files that appear whole or not at all."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.backup.errors import TargetRefused, UnwritableBackup

__all__ = ["NO_LINKS", "check_replaceable", "write_whole"]

# These say that a hard link cannot be made here, not that the disk fails.
NO_LINKS: Final = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES, errno.ENOSYS, errno.EINVAL}


@contextmanager
def write_whole(path: Path, *, replace: bool = False) -> Iterator[BinaryIO]:
    """Open a file to write under a temporary name beside `path`; it gets that name once it is safely on disk.

    When the block fails, or the machine does, whatever was at `path` before is still there. Without `replace` a
    file of that name raises `TargetRefused`, also one that somebody makes while this one is being written. Only
    the owner can read the file, whatever the umask.
    """
    import tempfile  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    check_replaceable(path, replace=replace)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:PREFIX]}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise UnwritableBackup(f"{path} cannot be written: {error.strerror}") from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        if replace:
            part.replace(path)
        else:
            rename_exclusively(part, path)
        sync_folder(path.parent)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UnwritableBackup(f"{path} cannot be written: {error.strerror}") from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


# Of a file's name, in the name it has while it is written: that one has to fit as well.
PREFIX: Final = 60


def check_replaceable(path: Path, *, replace: bool) -> None:
    """Raise `TargetRefused` where a file must not be written: one is there, or what is there is no plain file."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return
    if not replace:
        raise already_there(path)
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
        raise TargetRefused(f"{path} is a device or a pipe, not a file; `-` writes to standard output")


def rename_exclusively(part: Path, path: Path) -> None:
    """Rename a file unless the new name is taken, which is decided by the file system and not before."""
    try:
        if os.link in os.supports_follow_symlinks:
            os.link(part, path, follow_symlinks=False)
        else:
            os.link(part, path)
    except FileExistsError:
        raise already_there(path) from None
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # Without hard links the name is taken first, by an empty file that is ours to replace.
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise already_there(path) from None
        part.replace(path)
    else:
        part.unlink()


def already_there(path: Path) -> TargetRefused:
    """Say that a file is in the way."""
    return TargetRefused(f"{path} exists already; give another name, or --force to replace it")


def sync_folder(path: Path) -> None:
    """Make the names in a folder last: a renamed file is only safe once its folder is.

    Windows has no way to open a folder, and writes its names by itself.
    """
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
