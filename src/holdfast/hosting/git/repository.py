"""An open bare repository: object access, and the writer lock (a file lock between processes).

Open repositories are cached per thread, and dropped when their folder is deleted or replaced. libgit2 (1.9.7) does
not survive damage: it hangs on a truncated loose object and crashes on a truncated pack. So loose objects are read
here, and packs are checked against their index before libgit2 maps them.
"""

import hashlib
import os
import shutil
import tempfile
import threading
import zlib
from collections import OrderedDict
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, Literal

import pygit2
from pygit2.enums import ConfigLevel, ObjectType

from holdfast.hosting.errors import GitDamaged, GitError, GitUnsupported, NoSuchFolder, NoSuchObject
from holdfast.hosting.git.corruption import report
from holdfast.hosting.git.encoding import is_id

__all__ = ["Kind", "Repo", "configure", "open_fresh", "open_repository", "reopen"]

Kind = Literal["commit", "tree", "blob", "tag"]
KINDS: Final[dict[ObjectType, Kind]] = {
    ObjectType.COMMIT: "commit",
    ObjectType.TREE: "tree",
    ObjectType.BLOB: "blob",
    ObjectType.TAG: "tag",
}
NUMBERS: Final = {kind: number for number, kind in KINDS.items()}
BY_NAME: Final[dict[bytes, Kind]] = {kind.encode(): kind for kind in KINDS.values()}

KEPT_PER_THREAD: Final = 32
TREE_CACHED: Final = 512 * 1024
COMMIT_CACHED: Final = 16 * 1024
CACHE: Final = 64 * 1024 * 1024
PACKS_OPEN: Final = 512
HEADER: Final = 32
MAX_WRITE_ATTEMPTS: Final = 5
SPELLINGS: Final = 1000

# The priorities of libgit2: packs are searched before loose objects.
LOOSE_PRIORITY: Final = 1
PACK_PRIORITY: Final = 2

Identity = tuple[int, int, int]
opened = threading.local()
# Repositories in which damage was found: the identity of the folder it was found in, and how many there were.
damaged: dict[str, tuple[Identity | None, int]] = {}


def configure() -> None:
    """Set libgit2's global options."""
    for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = ""
    pygit2.settings.owner_validation = False
    # Otherwise trees with a hundred entries and more are not cached.
    pygit2.settings.cache_object_limit(ObjectType.TREE, TREE_CACHED)
    pygit2.settings.cache_object_limit(ObjectType.COMMIT, COMMIT_CACHED)
    pygit2.settings.cache_max_size(CACHE)
    pygit2.settings.mwindow_file_limit = PACKS_OPEN
    # Repositories on disk are copies of the database and the object store: no data is lost with them.
    pygit2.settings.enable_fsync_gitdir(False)
    vars(opened).clear()


@dataclass(frozen=True, slots=True)
class Repo:
    """An open repository; it belongs to the thread that opened it."""

    folder: Path
    git: pygit2.Repository
    place: str = field(init=False, repr=False, compare=False)
    """The folder as a string, for hot paths and as a cache key."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", str(self.folder))

    def find(self, object_id: str) -> tuple[Kind, bytes] | None:
        """Return an object's type and content, or None."""
        if not is_id(object_id):
            return None
        loose = self.loose(object_id)
        if loose is not None:
            return loose
        try:
            number, content = self.git.odb.read(object_id)
        except (KeyError, ValueError):
            return None
        except pygit2.GitError as error:
            raise self.corrupt_error(object_id) from error
        return KINDS[ObjectType(number)], content

    def read(self, object_id: str, kind: Kind) -> bytes:
        """Return the content of an object; raise `GitDamaged` if it is missing or of another type."""
        git_object = self.find(object_id)
        if git_object is None:
            raise damaged_error(object_id, "is missing")
        if git_object[0] != kind:
            raise damaged_error(object_id, f"is a {git_object[0]}, not a {kind}")
        return git_object[1]

    def header(self, object_id: str) -> tuple[Kind, int] | None:
        """Return an object's type and size without its content, or None."""
        if not is_id(object_id):
            return None
        try:
            number, size = self.git.odb.read_header(object_id)
        except (KeyError, ValueError):
            return None
        except pygit2.GitError as error:
            raise self.corrupt_error(object_id) from error
        return KINDS[ObjectType(number)], size

    def require(self, object_id: str, kind: Kind) -> int:
        """Return the size of an object; raise `NoSuchObject` if it does not exist."""
        header = self.header(object_id)
        if header is None or header[0] != kind:
            raise NoSuchObject(f"there is no {kind} {object_id}")
        return header[1]

    def write(self, kind: Kind, content: bytes) -> str:
        """Write an object and return its id; an existing one is freshened against pruning."""
        for attempt in range(1, MAX_WRITE_ATTEMPTS + 1):
            try:
                return str(self.git.odb.write(NUMBERS[kind], content))
            except (pygit2.GitError, OSError) as error:
                # Garbage collection removes empty object folders, possibly between creating and using one.
                if attempt == MAX_WRITE_ATTEMPTS:
                    raise self._write_error(BytesIO(content), error)  # noqa: B904  # it has its cause
        raise AssertionError

    def write_file(self, path: Path) -> str:
        """Write the content of a file as a blob and return its id."""
        try:
            return str(self.git.create_blob_fromdisk(str(path)))
        except (pygit2.GitError, OSError, ValueError) as error:
            with path.open("rb") as file:
                raise self._write_error(file, error)  # noqa: B904  # it has its cause

    def _write_error(self, source: BinaryIO, error: Exception) -> GitError:
        """Return the error for an object that cannot be written, with its cause.

        libgit2 does not say that a disk is full; writing the same bytes to a temporary file does.
        """
        problem = GitError(f"an object cannot be written to {self.folder.name}")
        problem.__cause__ = error
        try:
            with tempfile.TemporaryFile(dir=self.folder / "objects", prefix="tmp_") as file:
                shutil.copyfileobj(source, file)
        except OSError as cause:
            problem.__cause__ = cause
        return problem

    def loose_path(self, object_id: str) -> str:
        """Return the path of an object as a loose object."""
        return f"{self.place}/objects/{object_id[:2]}/{object_id[2:]}"

    def loose(self, object_id: str) -> tuple[Kind, bytes] | None:
        """Return a loose object; its hash is verified."""
        try:
            with open(self.loose_path(object_id), "rb") as file:  # noqa: PTH123  # Path costs more than reading
                packed = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self.corrupt_error(object_id) from error
        inflate = zlib.decompressobj()
        try:
            content = inflate.decompress(packed)
        except zlib.error as error:
            raise self.corrupt_error(object_id) from error
        end = content.find(b"\0", 0, HEADER)
        kind, _, size = content[: max(end, 0)].partition(b" ")
        if not inflate.eof or kind not in BY_NAME or size != b"%d" % (len(content) - end - 1):
            raise self.corrupt_error(object_id, "is truncated")
        if hashlib.sha1(content, usedforsecurity=False).hexdigest() != object_id:
            raise self.corrupt_error(object_id, "holds something else")
        return BY_NAME[kind], content[end + 1 :]

    def corrupt_error(self, object_id: str, problem: str = "cannot be read") -> GitDamaged:
        """Return the error for an object that is corrupt on disk, and report it."""
        report(self.place)
        return damaged_error(object_id, problem)


def damaged_error(object_id: str, problem: str = "cannot be read") -> GitDamaged:
    """Return the error for a damaged object."""
    return GitDamaged(f"the object {object_id} {problem}")


def open_repository(folder: Path) -> Repo:
    """Open a repository, cached per thread."""
    cache: OrderedDict[str, tuple[tuple[Identity, int], Repo]]
    place = str(folder)
    try:
        cache = opened.repositories
    except AttributeError:
        cache = opened.repositories = OrderedDict()
    try:
        identity = identity_of(place)
    except OSError as error:
        cache.pop(place, None)
        raise NoSuchFolder(f"there is no repository in {folder.name}") from error
    count = damaged[place][1] if place in damaged else 0
    cached = cache.get(place)
    if cached is not None and cached[0] == (identity, count):
        cache.move_to_end(place)
        return cached[1]
    repo = open_fresh(folder)
    cache[place] = (identity, count), repo
    cache.move_to_end(place)
    while len(cache) > KEPT_PER_THREAD:
        cache.popitem(last=False)
    return repo


def open_fresh(folder: Path) -> Repo:
    """Open a repository without the cache, so that files which were deleted meanwhile are noticed."""
    place = str(folder)
    check_packs(folder)
    try:
        git = pygit2.Repository(place, pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
        if place in damaged:
            # Another spelling of the path for each damaged folder: see `reopen`.
            objects = f"{place}/objects{'/.' * (damaged[place][1] % SPELLINGS)}"
            database = pygit2.Odb()
            database.add_backend(pygit2.OdbBackendLoose(objects, -1, False), LOOSE_PRIORITY)
            database.add_backend(pygit2.OdbBackendPack(objects), PACK_PRIORITY)
            git.set_odb(database)
    except (pygit2.GitError, OSError, ValueError) as error:
        if "unknown object format" in str(error):
            raise GitUnsupported("repositories with SHA-256 ids cannot be read here") from error
        raise GitDamaged(f"the repository in {folder.name} cannot be opened") from error
    return Repo(folder, git)


def reopen(folder: Path) -> None:
    """Open a repository in which damage was found anew, in all threads.

    libgit2 has one open file per path of a pack in the whole process: as long as one thread has a damaged pack
    open, the others read it too, even after it was replaced. So its path is spelled differently from now on.
    """
    place = str(folder)
    try:
        identity = identity_of(place)
    except OSError:
        identity = None
    found_in, count = damaged.get(place, (None, 0))
    # Once per folder: damage that is in the log is found in it again and again.
    if count == 0 or found_in != identity:
        damaged[place] = identity, count + 1


def identity_of(place: str) -> Identity:
    """Return what distinguishes a folder from one that replaced it."""
    # An inode number can be reused at once; with the time it is unique.
    status = os.stat(f"{place}/config")  # noqa: PTH116  # a string instead of a Path, on a hot path
    return status.st_dev, status.st_ino, status.st_mtime_ns


def check_packs(folder: Path) -> None:
    """Raise `GitDamaged` for a truncated pack: reading past the end of a mapped file kills the process."""
    try:
        indexes = [entry.path for entry in os.scandir(folder / "objects" / "pack") if entry.name.endswith(".idx")]
    except FileNotFoundError:
        return
    for index in indexes:
        pack = index.removesuffix(".idx") + ".pack"
        try:
            # Both end with the pack's checksum; the index has its own after it.
            if last_bytes(index, 40)[:20] != last_bytes(pack, 20):
                raise GitDamaged(f"the pack {Path(pack).name} does not fit its index")
        except FileNotFoundError:
            continue  # replaced concurrently
        except OSError as error:
            raise GitDamaged(f"the pack {Path(pack).name} cannot be read") from error


def last_bytes(path: str, count: int) -> bytes:
    """Return the last bytes of a file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, count, max(os.fstat(descriptor).st_size - count, 0))
    finally:
        os.close(descriptor)


configure()
