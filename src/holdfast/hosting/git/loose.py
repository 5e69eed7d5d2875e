"""Writes loose objects, many with one wait for the disk.

Every object's bytes are written out to the disk before it gets its name. File systems with a journal (ext4, XFS)
keep the names in their order, so that one `fsync` of what was named last (the ref) keeps all before it, and the
ref is never kept without its objects. Where bytes cannot be written out alone (anything but Linux),
each file is synced by itself.
"""

import ctypes
import hashlib
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from zlib_ng import zlib_ng

from holdfast.hosting.errors import GitDamaged, GitError
from holdfast.hosting.git.repository import Kind, Repo

__all__ = [
    "Written",
    "file_id",
    "keep_before",
    "object_id",
    "sync_names",
    "write_blob_file",
    "write_object",
    "write_objects",
]

QUICK: Final = 1
# Most of a tree are ids, which cannot be made smaller; a collection packs it soon enough.
AS_IT_IS: Final = 0
TRIED: Final = 5
CHUNK: Final = 1024 * 1024
# An object that is there already is read back below this size: a crash may have left a name without its bytes.
READ_BACK: Final = 4 * 1024 * 1024
BEFORE_WRITE_AND_AFTER: Final = 1 | 2 | 4
WRITE: Final = 2
# So many files are open at once while they are written out together.
TOGETHER: Final = 64


def find_write_out() -> tuple[Callable[[int], None], Callable[[int], None]]:
    """Return what brings a file's bytes, but not necessarily its name, to the disk, and what only begins to."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            call = ctypes.CDLL(None, use_errno=True).sync_file_range
            call.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)

            def write_out(descriptor: int) -> None:
                if call(descriptor, 0, 0, BEFORE_WRITE_AND_AFTER) != 0:
                    os.fsync(descriptor)

            def begin(descriptor: int) -> None:
                call(descriptor, 0, 0, WRITE)

            return write_out, begin
    return os.fsync, lambda _descriptor: None


write_out, begin_write_out = find_write_out()


class Written:
    """An object that was written: its id, and the file that must be synced for its name to be kept."""

    __slots__ = ("id", "path")

    def __init__(self, object_id: str, path: str) -> None:
        self.id = object_id
        self.path = path


def header(kind: Kind, size: int) -> bytes:
    """Return what an object begins with."""
    return b"%s %d\0" % (kind.encode(), size)


def object_id(kind: Kind, content: bytes) -> str:
    """Return the id of an object."""
    digest = hashlib.sha1(header(kind, len(content)), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def write_object(repo: Repo, kind: Kind, content: bytes, *, durable: bool = True) -> Written:
    """Write an object; one that is there already is made young again, so that no collection takes it away."""
    made = object_id(kind, content)
    (path,) = write_objects(repo, [(made, kind, content)], durable=durable)
    return Written(made, path)


def write_objects(repo: Repo, objects: Sequence[tuple[str, Kind, bytes]], *, durable: bool = True) -> list[str]:
    """Write objects whose ids are known, waiting for the disk once for many; return their files in order."""
    paths = [repo.loose_path(made) for made, _, _ in objects]
    for first in range(0, len(objects), TOGETHER):
        with Putting(repo, durable=durable) as putting:
            for path, (made, kind, content) in zip(paths[first:], objects[first : first + TOGETHER], strict=False):
                if len(content) > READ_BACK or not is_kept(repo, made, path):
                    level = AS_IT_IS if kind == "tree" else QUICK
                    putting.add(path, (zlib_ng.compress(header(kind, len(content)) + content, level),))
    return paths


def file_id(source: Path) -> str:
    """Return the id that what is in a file has as a blob."""
    digest = hashlib.sha1(header("blob", source.stat().st_size), usedforsecurity=False)
    with source.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def write_blob_file(repo: Repo, source: Path, *, durable: bool = True) -> Written:
    """Write what is in a file as a blob, without holding it in memory."""
    size = source.stat().st_size
    made = file_id(source)
    path = repo.loose_path(made)

    def pieces() -> Iterator[bytes]:
        pack = zlib_ng.compressobj(QUICK)
        yield pack.compress(header("blob", size))
        with source.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield pack.compress(chunk)
        yield pack.flush()

    with Putting(repo, durable=durable) as putting:
        putting.add(path, pieces())
    return Written(made, path)


def is_kept(repo: Repo, made: str, path: str) -> bool:
    """Tell whether an object lies there whole, and make it young again."""
    try:
        os.utime(path)
        return repo.loose(made) is not None
    except (OSError, GitDamaged):
        return False


class Putting:
    """Files that are written beside the objects, and get their names once the bytes of all are on the disk."""

    def __init__(self, repo: Repo, *, durable: bool) -> None:
        self._repo = repo
        self._durable = durable
        self._open: list[tuple[int, str, str]] = []
        self._beside = f"{repo.place}/objects/tmp_obj_{secrets.token_hex(8)}"

    def __enter__(self) -> Self:
        return self

    def add(self, path: str, pieces: Iterable[bytes]) -> None:
        """Write a file that will have this path."""
        incoming = f"{self._beside}{len(self._open)}"
        try:
            descriptor = os.open(incoming, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
            self._open.append((descriptor, incoming, path))
            for piece in pieces:
                rest = memoryview(piece)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
            if self._durable:
                begin_write_out(descriptor)
        except OSError as error:
            raise self._failed(error) from error

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        named = 0
        try:
            if kind is None:
                for descriptor, incoming, path in self._open:
                    if self._durable:
                        write_out(descriptor)
                    give_name(incoming, path)
                    named += 1
        except OSError as error:
            raise self._failed(error) from error
        finally:
            for descriptor, _, _ in self._open:
                os.close(descriptor)
            for _, left, _ in self._open[named:]:
                with suppress(OSError):
                    os.unlink(left)  # noqa: PTH108  # a text, not a Path: on a hot path

    def _failed(self, error: OSError) -> GitError:
        return GitError(f"an object cannot be written to {self._repo.folder.name}: {error.strerror}")


def give_name(incoming: str, path: str) -> None:
    """Rename a file into the folder of its object; a collection may remove that folder at any moment."""
    for attempt in range(1, TRIED + 1):
        try:
            os.rename(incoming, path)  # noqa: PTH104  # a text, not a Path: on a hot path
        except FileNotFoundError:
            if attempt == TRIED:
                raise
            with suppress(FileExistsError):
                os.mkdir(os.path.dirname(path), 0o755)  # noqa: PTH102, PTH120  # a text, not a Path: on a hot path
        else:
            return


def keep_before(paths: Iterable[str]) -> None:
    """Make sure that what is named from now on is not kept without these files.

    A journal keeps the order of names by itself, and the bytes behind these are written out already.
    """
    if write_out is os.fsync:
        sync_names(paths)


def sync_names(paths: Iterable[str]) -> None:
    """Wait until files that were written and renamed are kept whatever happens to the machine."""
    wanted = list(paths)
    if write_out is not os.fsync:
        # Journals keep their order: when the last name is on the disk, all before it are.
        wanted = wanted[-1:]
    for path in wanted:
        sync(path)
    if write_out is os.fsync:
        for folder in {os.path.dirname(path) for path in wanted}:  # noqa: PTH120  # a text, not a Path: on a hot path
            sync(folder)


def sync(path: str) -> None:
    """Wait until a file, or the names in a folder, are on the disk; what was packed meanwhile is there."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
