"""The snapshot file: a tar archive with checksums and a manifest at its end.

holdfast-backup.json     header: format version, Holdfast version, schema revision of the database
tables/<name>.jsonl      a table: the column names, then one row per line
sequences.json           the highest id ever used in each table
repositories/<id>/...    HEAD, packed-refs and the objects of a repository
files/...                all other files of the data folder, including LFS objects
checksums                for each member above, in order: its SHA-256, its size, its name
manifest.json            counts, total size, and the SHA-256 of `checksums`
"""

import gzip
import hashlib
import io
import os
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Final, Self, TypeVar
from urllib.parse import quote_from_bytes

import msgspec

from holdfast import __version__
from holdfast.hosting.errors import SnapshotDamaged, SnapshotRefused
from holdfast.hosting.git.folders import fsync_path

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["ArchiveMember", "SnapshotHeader", "SnapshotManifest", "SnapshotWriter", "read_members", "verify"]

FORMAT: Final = 1
HEAD: Final = "holdfast-backup.json"
CHECKSUMS: Final = "checksums"
MANIFEST: Final = "manifest.json"
CHUNK: Final = 1 << 20
SMALL: Final = 16 << 20
PLACES: Final = ("tables", "repositories", "files")
UNREADABLE: Final = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, UnicodeError)

Progress = Callable[[int], object]
T = TypeVar("T")


class SnapshotHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first member: format and version."""

    format: int
    version: str
    revision: str
    made_at: int


class SnapshotManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The last member: counts and checksums of all others."""

    format: int
    version: str
    revision: str
    made_at: int
    members: int
    size: int
    """The total size of all members in bytes."""
    checksums: str
    tables: dict[str, int]
    """The number of rows per table."""
    repositories: int
    deleted: tuple[int, ...]
    """The repositories that were deleted during the backup; their rows are ignored."""


class ArchiveMember(msgspec.Struct, frozen=True):
    """A member of the tar archive, while it is being read."""

    name: str
    size: int
    content: IO[bytes]


def checksum_line(digest: str, size: int, name: str) -> bytes:
    """Format the checksum of a member."""
    return f"{digest} {size} {quote_from_bytes(os.fsencode(name))}\n".encode()


class SnapshotWriter:
    """Writes a snapshot file, which is renamed into place when it is complete."""

    def __init__(self, target: Path, revision: str, progress: Progress, *, now: int | None = None) -> None:
        self.head = SnapshotHeader(
            format=FORMAT, version=__version__, revision=revision, made_at=int(time.time()) if now is None else now
        )
        self._target = target
        self._progress = progress
        self._count = self._size = 0

    def __enter__(self) -> Self:
        self._partial = self._target.with_name(f".{self._target.name}.{os.getpid()}.partial")
        descriptor = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._raw = os.fdopen(descriptor, "wb")
        packed = self._target.name.endswith((".gz", ".tgz"))
        # Packs and most LFS objects are already compressed; a higher level gains nothing.
        self._stream: IO[bytes] = gzip.GzipFile("", "wb", 1, self._raw) if packed else self._raw  # type: ignore[assignment]  # a GzipFile is read and written like a file
        self._tar = tarfile.open(fileobj=self._stream, mode="w", format=tarfile.PAX_FORMAT)
        self._lines = tempfile.TemporaryFile(dir=self._target.parent)
        self._digest = hashlib.sha256()
        self.add_bytes(HEAD, msgspec.json.encode(self.head))
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._lines.close()
        # The file is discarded: closing the tar file would only write its end.
        if self._stream is not self._raw:
            self._stream.close()
        self._raw.close()
        self._partial.unlink(missing_ok=True)

    def add_bytes(self, name: str, content: bytes) -> None:
        """Add a small member."""
        self.add(name, io.BytesIO(content), len(content))

    def add(self, name: str, content: IO[bytes], size: int) -> None:
        """Add a member of a known size; a file that has shrunk is an error, a file that has grown is truncated."""
        watched = HashingReader(content)
        try:
            self._put(name, watched, size)
        except OSError as error:
            if watched.received < size and not error.errno:
                raise SnapshotRefused(f"{name} shrank while it was read; try again") from error
            raise
        line = checksum_line(watched.digest.hexdigest(), size, name)
        self._lines.write(line)
        self._digest.update(line)
        self._count += 1
        self._size += size
        self._progress(self._size)

    def finish(self, *, tables: dict[str, int], repositories: int) -> SnapshotManifest:
        """Write the checksums and the manifest, and rename the file into place durably."""
        manifest = SnapshotManifest(
            format=FORMAT,
            version=self.head.version,
            revision=self.head.revision,
            made_at=self.head.made_at,
            members=self._count,
            size=self._size,
            checksums=self._digest.hexdigest(),
            tables=tables,
            repositories=repositories,
            deleted=(),
        )
        size = self._lines.tell()
        self._lines.seek(0)
        self._put(CHECKSUMS, self._lines, size)
        content = msgspec.json.encode(manifest)
        self._put(MANIFEST, io.BytesIO(content), len(content))
        self._tar.close()
        if self._stream is not self._raw:
            self._stream.close()
        self._raw.flush()
        os.fsync(self._raw.fileno())
        if self._target.exists():
            raise SnapshotRefused(f"{self._target} was created meanwhile; backups are never overwritten")
        self._partial.rename(self._target)
        fsync_path(self._target.parent)
        return manifest

    def _put(self, name: str, content: "IO[bytes] | HashingReader", size: int) -> None:
        info = tarfile.TarInfo(name)
        info.size = size
        info.mode = 0o600
        info.mtime = self.head.made_at
        self._tar.addfile(info, content)
        # tarfile keeps every member in memory, which is too much for a million files.
        self._tar.members.clear()  # type: ignore[attr-defined]  # typeshed does not know it


class HashingReader:
    """A file reader that hashes the bytes read."""

    def __init__(self, content: IO[bytes]) -> None:
        self._content = content
        self.digest = hashlib.sha256()
        self.received = 0

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        piece = self._content.read(size)
        self.digest.update(piece)
        self.received += len(piece)
        return piece


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Translate errors of reading an archive to `SnapshotError`."""
    try:
        yield
    except OSError as error:
        if error.errno:
            raise SnapshotRefused(f"{path} cannot be read: {error.strerror}") from error
        raise SnapshotDamaged(f"{path} is damaged, or not a backup") from error
    except UNREADABLE as error:
        raise SnapshotDamaged(f"{path} is damaged, or not a backup") from error


class MemberReader(io.RawIOBase):
    """A member's content; read errors are raised as `SnapshotDamaged`."""

    def __init__(self, content: IO[bytes], path: Path) -> None:
        self._content = content
        self._path = path

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read some bytes."""
        view = memoryview(buffer).cast("B")
        with translated_errors(self._path):
            piece = self._content.read(len(view))
        view[: len(piece)] = piece
        return len(piece)


def read_members(path: Path) -> Iterator[ArchiveMember]:
    """Yield the members in order; raise `SnapshotDamaged` for an unexpected member."""
    with translated_errors(path):
        tar = tarfile.open(path, "r:*")  # noqa: SIM115  # closed below, also when nobody reads on
    with tar:
        while True:
            with translated_errors(path):
                info = tar.next()
                if info is None:
                    return
                tar.members.clear()  # type: ignore[attr-defined]  # typeshed does not know it
                content = tar.extractfile(info) if info.isreg() and is_harmless(info.name) else None
            if content is None:
                raise SnapshotDamaged(f"{path} holds {info.name!r}, which a backup never contains")
            yield ArchiveMember(info.name, info.size, io.BufferedReader(MemberReader(content, path), CHUNK))


def is_harmless(name: str) -> bool:
    """Return whether a member's name is free of path traversal."""
    if name in {HEAD, CHECKSUMS, MANIFEST, "sequences.json"}:
        return True
    parts = name.split("/")
    if "\0" in name or "\\" in name or any(part in {"", ".", ".."} for part in parts):
        return False
    return len(parts) > 1 and parts[0] in PLACES and not PurePosixPath(name).is_absolute()


def verify(path: Path, progress: Progress = lambda done: done) -> SnapshotManifest:
    """Read the whole backup and verify every checksum; return the manifest."""
    damaged = SnapshotDamaged(f"{path} is damaged, or not a backup")
    with tempfile.TemporaryFile() as lines:
        digest = hashlib.sha256()
        count = size = 0
        compared = False
        manifest: SnapshotManifest | None = None
        for member in read_members(path):
            if manifest is not None or (count == 0 and member.name != HEAD):
                raise damaged
            if member.name == CHECKSUMS:
                compare_checksums(member.content, lines, path)
                compared = True
            elif member.name == MANIFEST:
                manifest = decode_json(read_small(member, damaged), SnapshotManifest, damaged)
            elif compared:
                raise damaged
            else:
                hashed = HashingReader(member.content)
                if count == 0:
                    first = read_small(ArchiveMember(member.name, member.size, hashed), damaged)  # type: ignore[arg-type]  # it only has to be readable
                    check_format(decode_json(first, SnapshotHeader, damaged), path)
                while hashed.read(CHUNK):
                    pass
                line = checksum_line(hashed.digest.hexdigest(), member.size, member.name)
                digest.update(line)
                lines.write(line)
                count += 1
                size += member.size
                progress(size)
    if manifest is None or not compared:
        raise SnapshotDamaged(f"{path} is truncated")
    if (manifest.members, manifest.size, manifest.checksums) != (count, size, digest.hexdigest()):
        raise damaged
    return manifest


def read_small(member: ArchiveMember, damaged: SnapshotDamaged) -> bytes:
    """Read a member of limited size into memory."""
    if member.size > SMALL:
        raise damaged
    return member.content.read()


def compare_checksums(recorded: IO[bytes], lines: IO[bytes], path: Path) -> None:
    """Compare the checksums in the archive with the computed ones; the error names the first that differs."""
    lines.seek(0)
    for counted, line in zip(lines, recorded, strict=False):
        if counted != line:
            name = counted.decode(errors="replace").split()[-1]
            raise SnapshotDamaged(f"{path} is damaged: {name} is not what was written")


def decode_json(content: bytes, kind: type[T], damaged: SnapshotDamaged) -> T:
    """Decode a JSON member."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise damaged from None


def check_format(head: SnapshotHeader, path: Path) -> None:
    """Raise `SnapshotRefused` for an unknown format version."""
    if head.format != FORMAT:
        raise SnapshotRefused(f"{path} was made by Holdfast {head.version}; this version cannot read its format")
