"""An open bare repository: object access, and the writer lock (a file lock between processes).

Opened repositories are kept per thread and dropped when the folder they stood for is gone or another lies in its
place. libgit2 is kept away from damage it does not survive: it never returns from a truncated loose object, and
a truncated pack kills the process (both with 1.9.7). So loose objects are read here, and packs are held against
their index before the library maps them.
"""

import fcntl
import hashlib
import os
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import pygit2
from pygit2.enums import ConfigLevel, ObjectType

from holdfast.hosting.errors import GitDamaged, GitError, GitUnsupported, NoSuchFolder, NoSuchObject
from holdfast.hosting.git.encoding import is_id

__all__ = ["Kind", "Repo", "configure", "is_moving_refs", "locked", "moving_refs", "open_repository"]

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
WRITES_TRIED: Final = 5
# The file whose lock shows that refs are about to move.
MOVING: Final = "holdfast-moving"

opened = threading.local()
held = threading.local()


def configure(*, fsync: bool = True) -> None:
    """Set what libgit2 does for all repositories this process opens from now on."""
    for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = ""
    pygit2.settings.owner_validation = False
    # Without this, directories of a hundred files and more are read and inflated again each time.
    pygit2.settings.cache_object_limit(ObjectType.TREE, TREE_CACHED)
    pygit2.settings.cache_object_limit(ObjectType.COMMIT, COMMIT_CACHED)
    pygit2.settings.cache_max_size(CACHE)
    pygit2.settings.mwindow_file_limit = PACKS_OPEN
    pygit2.settings.enable_fsync_gitdir(fsync)
    vars(opened).clear()


@dataclass(frozen=True, slots=True)
class Repo:
    """An open repository; it belongs to the thread that opened it."""

    folder: Path
    git: pygit2.Repository
    place: str = field(init=False, repr=False, compare=False)
    """The folder as a text: what a hot path adds names to, and what is kept per repository has as its key."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", str(self.folder))

    def find(self, object_id: str) -> tuple[Kind, bytes] | None:
        """Return an object's kind and content, or nothing when there is no such object."""
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
            raise damaged_error(object_id) from error
        return KINDS[ObjectType(number)], content

    def read(self, object_id: str, kind: Kind) -> bytes:
        """Return the content of an object that something names: it must be there, and be of that kind."""
        found = self.find(object_id)
        if found is None:
            raise damaged_error(object_id, "is missing")
        if found[0] != kind:
            raise damaged_error(object_id, f"is a {found[0]}, not a {kind}")
        return found[1]

    def header(self, object_id: str) -> tuple[Kind, int] | None:
        """Return an object's kind and size without reading it, or nothing when there is no such object."""
        if not is_id(object_id):
            return None
        try:
            number, size = self.git.odb.read_header(object_id)
        except (KeyError, ValueError):
            return None
        except pygit2.GitError as error:
            raise damaged_error(object_id) from error
        return KINDS[ObjectType(number)], size

    def require(self, object_id: str, kind: Kind) -> int:
        """Return the size of an object somebody asked for by its id."""
        found = self.header(object_id)
        if found is None or found[0] != kind:
            raise NoSuchObject(f"there is no {kind} {object_id}")
        return found[1]

    def write(self, kind: Kind, content: bytes) -> str:
        """Add an object and return its id; one that is there already is kept from being pruned."""
        for attempt in range(1, WRITES_TRIED + 1):
            try:
                return str(self.git.odb.write(NUMBERS[kind], content))
            except (pygit2.GitError, OSError) as error:
                # A collection removes folders of objects when they are empty: also between making and using one.
                if attempt == WRITES_TRIED:
                    raise GitError(f"an object cannot be written to {self.folder.name}") from error
        raise AssertionError

    def loose_path(self, object_id: str) -> str:
        """Return where an object lies if it is not in a pack."""
        return f"{self.place}/objects/{object_id[:2]}/{object_id[2:]}"

    def loose(self, object_id: str) -> tuple[Kind, bytes] | None:
        """Return an object that is not in a pack; its id must fit what is in it."""
        try:
            with open(self.loose_path(object_id), "rb") as file:  # noqa: PTH123  # Path costs more than reading
                packed = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise damaged_error(object_id) from error
        inflate = zlib.decompressobj()
        try:
            content = inflate.decompress(packed)
        except zlib.error as error:
            raise damaged_error(object_id) from error
        end = content.find(b"\0", 0, HEADER)
        kind, _, size = content[: max(end, 0)].partition(b" ")
        if not inflate.eof or kind not in BY_NAME or size != b"%d" % (len(content) - end - 1):
            raise damaged_error(object_id, "is truncated")
        if hashlib.sha1(content, usedforsecurity=False).hexdigest() != object_id:
            raise damaged_error(object_id, "holds something else")
        return BY_NAME[kind], content[end + 1 :]


def damaged_error(object_id: str, problem: str = "cannot be read") -> GitDamaged:
    """Say that an object is damaged."""
    return GitDamaged(f"the object {object_id} {problem}")


def open_repository(folder: Path) -> Repo:
    """Open a repository, or return the one this thread has open already."""
    kept: OrderedDict[str, tuple[tuple[int, int, int], Repo]]
    place = str(folder)
    try:
        kept = opened.repositories
    except AttributeError:
        kept = opened.repositories = OrderedDict()
    try:
        # The folder's own number can be given to another at once; with the time it is one of a kind.
        found = os.stat(f"{place}/config")  # noqa: PTH116  # a text, not a Path: on a hot path
    except OSError as error:
        kept.pop(place, None)
        raise NoSuchFolder(f"there is no repository in {folder.name}") from error
    identity = (found.st_dev, found.st_ino, found.st_mtime_ns)
    known = kept.get(place)
    if known is not None and known[0] == identity:
        kept.move_to_end(place)
        return known[1]
    check_packs(folder)
    try:
        repo = Repo(folder, pygit2.Repository(place, pygit2.enums.RepositoryOpenFlag.NO_SEARCH))
    except (pygit2.GitError, OSError, ValueError) as error:
        if "unknown object format" in str(error):
            raise GitUnsupported("repositories with SHA-256 ids cannot be read here") from error
        raise GitDamaged(f"the repository in {folder.name} cannot be opened") from error
    kept[place] = identity, repo
    kept.move_to_end(place)
    while len(kept) > KEPT_PER_THREAD:
        kept.popitem(last=False)
    return repo


def check_packs(folder: Path) -> None:
    """Refuse a repository with a pack that ends early: reading past the end of a mapped file kills the process."""
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
            continue  # it was replaced by another while we looked
        except OSError as error:
            raise GitDamaged(f"the pack {Path(pack).name} cannot be read") from error


def last_bytes(path: str, count: int) -> bytes:
    """Return the last bytes of a file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, count, max(os.fstat(descriptor).st_size - count, 0))
    finally:
        os.close(descriptor)


class locked:  # noqa: N801  # reads as a sentence where it is used: with locked(folder)
    """The writer lock of a repository, between processes; reentrant within a thread.

    It only keeps them from running into one another: what keeps a ref from being lost is that each move says what
    it replaces, for git itself does not know this lock.
    """

    __slots__ = ("_descriptor", "_place")

    def __init__(self, folder: Path | str) -> None:
        self._place = str(folder)
        self._descriptor: int | None = None

    def __enter__(self) -> None:
        folders: set[str] = held.__dict__.setdefault("folders", set())
        if self._place in folders:
            return
        try:
            descriptor = os.open(self._place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise NoSuchFolder(f"there is no repository in {Path(self._place).name}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except BaseException:
            os.close(descriptor)
            raise
        folders.add(self._place)
        self._descriptor = descriptor

    def __exit__(self, *_error: object) -> None:
        if self._descriptor is not None:
            held.folders.discard(self._place)
            os.close(self._descriptor)


@contextmanager
def moving_refs(folder: Path) -> Iterator[int]:
    """Show that refs of a repository are about to move, until that is recorded; yield the descriptor that does.

    Whoever inherits the descriptor shows it too: when a service dies, git may still be moving what it was told to.
    """
    try:
        descriptor = os.open(folder / MOVING, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise NoSuchFolder(f"there is no repository in {folder.name}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield descriptor
    finally:
        os.close(descriptor)


def is_moving_refs(folder: Path) -> bool:
    """Tell whether a process that lives is about to move refs of a repository, or git is on its behalf."""
    try:
        descriptor = os.open(folder / MOVING, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


configure()
