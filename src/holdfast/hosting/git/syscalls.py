"""What a commit asks of the kernel, one call after the other: for where `kernel.pyx` was not compiled."""

import ctypes
import fcntl
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

__all__ = ["SYNCS_NAMES", "begin_write_out", "exchange", "give_name", "lay", "rewrite", "touch", "write_out"]

TRIED: Final = 5
HERE: Final = -100
EXCHANGE: Final = 2
BEFORE_WRITE_AND_AFTER: Final = 1 | 2 | 4
WRITE: Final = 2


def found(name: str, *kinds: type) -> Callable[..., int] | None:
    """Return a call of Linux's that Python does not have, if it is there."""
    if sys.platform != "linux":
        return None
    try:
        call: Callable[..., int] = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError):
        return None
    call.argtypes = kinds  # type: ignore[attr-defined]  # a function of the C library, to mypy any callable
    return call


SYNC_FILE_RANGE: Final = found("sync_file_range", ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
RENAME_AT: Final = found("renameat2", ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
# Whether bytes cannot be brought to the disk alone: then each name has to be brought there by itself as well.
SYNCS_NAMES: Final = SYNC_FILE_RANGE is None


def write_out(descriptor: int) -> None:
    """Bring a file's bytes, but not necessarily its name, to the disk."""
    if SYNC_FILE_RANGE is None or SYNC_FILE_RANGE(descriptor, 0, 0, BEFORE_WRITE_AND_AFTER) != 0:
        os.fsync(descriptor)


def begin_write_out(descriptor: int) -> None:
    """Begin to bring a file's bytes to the disk, if that can be begun without waiting."""
    if SYNC_FILE_RANGE is not None:
        SYNC_FILE_RANGE(descriptor, 0, 0, WRITE)


def exchange(one: str, other: str) -> bool:
    """Let two files change places; tell whether they have."""
    return RENAME_AT is not None and RENAME_AT(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0


def rewrite(path: str, content: bytes) -> bool:
    """Write a file again that nobody else has open and that has no other name; tell whether there is such one."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        there = os.fstat(descriptor)
        if there.st_nlink != 1 or not is_ours_alone(descriptor):
            return False
        os.pwrite(descriptor, content, 0)
        if there.st_size != len(content):
            os.ftruncate(descriptor, len(content))
        write_out(descriptor)
    finally:
        os.close(descriptor)
    return True


def is_ours_alone(descriptor: int) -> bool:
    """Tell whether nobody else has a file open: only then there is a lease on it, given back at once."""
    try:
        # Somebody who opens it in between would have us told by a signal that ends a process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except (OSError, AttributeError):
        return False
    return True


def touch(path: str) -> bool:
    """Make a file young again; tell whether there is one."""
    try:
        os.utime(path)
    except OSError:
        return False
    return True


def lay(files: Sequence[tuple[str, str, bytes]], durable: bool) -> None:  # noqa: FBT001  # as in C
    """Write files beside their places, and name them once the bytes of all are on the disk, or raise OSError.

    Each is given as where it is written, where it will be, and what is in it.
    """
    laid: list[tuple[int, str, str]] = []
    named = 0
    try:
        for beside, path, content in files:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
            laid.append((descriptor, beside, path))
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            if durable:
                begin_write_out(descriptor)
        for descriptor, beside, path in laid:
            if durable:
                write_out(descriptor)
            give_name(beside, path)
            named += 1
    finally:
        for descriptor, _, _ in laid:
            os.close(descriptor)
        for _, beside, _ in laid[named:]:
            with suppress(OSError):
                os.unlink(beside)  # noqa: PTH108  # a text, not a Path: on a hot path


def give_name(beside: str, path: str) -> None:
    """Rename a file into the folder of its object; a collection may remove that folder at any moment."""
    for attempt in range(1, TRIED + 1):
        try:
            os.rename(beside, path)  # noqa: PTH104  # a text, not a Path: on a hot path
        except FileNotFoundError:
            if attempt == TRIED:
                raise
            with suppress(FileExistsError):
                os.mkdir(os.path.dirname(path), 0o755)  # noqa: PTH102, PTH120  # a text, not a Path: on a hot path
        else:
            return
