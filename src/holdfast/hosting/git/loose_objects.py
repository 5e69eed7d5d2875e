"""Writes loose objects, many with one wait for the disk.

Every object's bytes are written out to the disk before it gets its name. File systems with a journal (ext4, XFS)
keep the names in their order, so that one `fsync` of what was named last (the ref) keeps all before it, and the
ref is never kept without its objects. Where bytes cannot be written out alone (anything but Linux),
each file is synced by itself.
"""

import hashlib
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from zlib_ng import zlib_ng

from holdfast.hosting.errors import GitDamaged, GitError
from holdfast.hosting.git import atomic_write
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
# A file takes a whole block of the disk however small it is. So what fits into one is kept as it is, and so are
# trees: most of them are ids, which cannot be made smaller. A collection packs both soon enough; and what makes
# things smaller needs half a megabyte to work in, for which all else has to leave the processor's own memory.
BLOCK: Final = 4000
STORED: Final = struct.Struct("<BHH")
LONGEST_STORED: Final = 0xFFFF
CHUNK: Final = 1024 * 1024
# An object that is there already is read back below this size: a crash may have left a name without its bytes.
READ_BACK: Final = 4 * 1024 * 1024
# So many files are open at once while they are written out together.
TOGETHER: Final = 64


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
    beside = f"{repo.place}/objects/tmp_obj_{os.urandom(8).hex()}"
    for first in range(0, len(objects), TOGETHER):
        files = [
            (f"{beside}{number}", paths[number], packed(kind, content))
            for number, (made, kind, content) in enumerate(objects[first : first + TOGETHER], first)
            if len(content) > READ_BACK or not atomic_write.touch(paths[number]) or not is_whole(repo, made)
        ]
        try:
            atomic_write.lay(files, durable)
        except OSError as error:
            raise failed(repo, error) from error
    return paths


def packed(kind: Kind, content: bytes) -> bytes:
    """Return what the file of an object holds."""
    whole = header(kind, len(content)) + content
    return stored(whole) if kind == "tree" or len(whole) < BLOCK else zlib_ng.compress(whole, QUICK)


def stored(content: bytes) -> bytes:
    """Return a stream of zlib that holds something as it is."""
    starts = range(0, max(len(content), 1), LONGEST_STORED)
    pieces = [b"\x78\x01"]
    for start in starts:
        piece = content[start : start + LONGEST_STORED]
        is_last = start == starts[-1]
        pieces += (STORED.pack(is_last, len(piece), len(piece) ^ 0xFFFF), piece)
    return b"".join([*pieces, zlib.adler32(content).to_bytes(4, "big")])


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

    try:
        put_pieces(f"{repo.place}/objects/tmp_obj_{os.urandom(8).hex()}", path, pieces(), durable=durable)
    except OSError as error:
        raise failed(repo, error) from error
    return Written(made, path)


def is_whole(repo: Repo, made: str) -> bool:
    """Tell whether an object that is there can be read."""
    try:
        return repo.loose(made) is not None
    except (OSError, GitDamaged):
        return False


def put_pieces(beside: str, path: str, pieces: Iterable[bytes], *, durable: bool) -> None:
    """Lay a file where others find it, as `laying` does, piece by piece."""
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    try:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        if durable:
            atomic_write.write_out(descriptor)
        atomic_write.give_name(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)  # noqa: PTH108  # a text, not a Path: on a hot path
        raise
    finally:
        os.close(descriptor)


def failed(repo: Repo, error: OSError) -> GitError:
    """Say that an object cannot be written."""
    return GitError(f"an object cannot be written to {repo.folder.name}: {error.strerror}")


def keep_before(paths: Iterable[str]) -> None:
    """Make sure that what is named from now on is not kept without these files.

    A journal keeps the order of names by itself, and the bytes behind these are written out already.
    """
    if atomic_write.SYNCS_NAMES:
        sync_names(paths)


def sync_names(paths: Iterable[str]) -> None:
    """Wait until files that were written and renamed are kept whatever happens to the machine."""
    wanted = list(paths)
    if not atomic_write.SYNCS_NAMES:
        # Journals keep their order: when the last name is on the disk, all before it are.
        wanted = wanted[-1:]
    for path in wanted:
        sync(path)
    if atomic_write.SYNCS_NAMES:
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
