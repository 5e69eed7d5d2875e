"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from holdfast.backup.errors import UnwritableBackup

__all__ = ["write_whole"]


@contextmanager
def write_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write under a temporary name beside `path`; it gets that name once it is safely on disk.

    When the block fails, or the machine does, whatever was at `path` before is still there. Only the owner can
    read the file.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise UnwritableBackup(f"{path} cannot be written: {error.strerror}") from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UnwritableBackup(f"{path} cannot be written: {error.strerror}") from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def sync_folder(path: Path) -> None:
    """Make the names in a folder last: a renamed file is only safe once its folder is."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
