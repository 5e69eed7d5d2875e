"""Atomic writes: a file appears complete or not at all."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.backup.errors import TargetRefused, UnwritableBackup

__all__ = ["NO_LINKS", "check_replaceable", "write_atomically"]

# Error codes of file systems without hard links.
NO_LINKS: Final = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES, errno.ENOSYS, errno.EINVAL}


@contextmanager
def write_atomically(path: Path, *, replace: bool = False) -> Iterator[BinaryIO]:
    """Write a file atomically: under a temporary name beside `path`, renamed after fsync.

    After an error or a crash, the previous file at `path` is unchanged. Without `replace` an existing file raises
    `TargetRefused`, also one that is created concurrently. Only the owner can read the file, independent of the
    umask.
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


# The most characters of a file name that are used in its temporary name, which has a limited length too.
PREFIX: Final = 60


def check_replaceable(path: Path, *, replace: bool) -> None:
    """Raise `TargetRefused` if there is a file that must not be replaced, or anything but a regular file."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return
    if not replace:
        raise already_there(path)
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
        raise TargetRefused(f"{path} is a device or a pipe, not a file; `-` writes to standard output")


def rename_exclusively(part: Path, path: Path) -> None:
    """Rename a file unless the new name exists, atomically."""
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
        # Without hard links the name is reserved with an empty file, which is then replaced.
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise already_there(path) from None
        part.replace(path)
    else:
        part.unlink()


def already_there(path: Path) -> TargetRefused:
    """Return the error for an existing file."""
    return TargetRefused(f"{path} exists already; give another name, or --force to replace it")


def sync_folder(path: Path) -> None:
    """Call fsync on a folder: a renamed file is durable only after that.

    Does nothing on Windows, where folders cannot be opened.
    """
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
