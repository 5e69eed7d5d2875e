"""The folders of repositories, by repository id, so that a rename or transfer moves no files.

repositories/2f/815.git      the low byte of the id, then the id
repositories/.making/...     incomplete repositories, renamed when they are complete
repositories/.leaving/...    deleted repositories, renamed before their files are removed
"""

import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from holdfast.hosting.errors import NoSuchFolder, StorageUnavailable

__all__ = [
    "OBJECT_FORMATS",
    "Folders",
    "ObjectFormat",
    "in_use",
    "is_in_use",
    "make_folder_below",
    "make_private_folder",
    "share",
]

ObjectFormat = Literal["sha1", "sha256"]
# The supported object formats. Objects and refs are written in these, whatever the library can read.
OBJECT_FORMATS: Final[tuple[ObjectFormat, ...]] = ("sha1",)
FOLDER: Final = re.compile(r"([1-9][0-9]{0,18})\.git")
MAKING: Final = ".making"
LEAVING: Final = ".leaving"
BUSY_SECONDS: Final = 3600.0
# The file of a repository that is locked, and which is neither written nor replaced.
LOCKED: Final = "config"


@lru_cache(maxsize=4096)
def repository_path(root: str, repository_id: int) -> Path:
    """Return the path of a repository below the root."""
    return Path(root, f"{repository_id & 0xFF:02x}", f"{repository_id}.git")


class Folders:
    """The repositories of one data folder."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._root = str(self.root)

    @property
    def hooks(self) -> Path:
        """The folder of the hooks of all repositories."""
        return self.root / ".hooks"

    def path(self, repository_id: int) -> Path:
        """Return the path of a repository, whether or not it exists."""
        if not 0 < repository_id < 2**63:
            raise NoSuchFolder(f"no repository can have the id {repository_id}")
        return repository_path(self._root, repository_id)

    def existing(self, repository_id: int) -> Path:
        """Return the path of a repository, which must exist."""
        place = self.path(repository_id)
        if not place.is_dir():
            raise NoSuchFolder(f"repository {repository_id} is not on disk")
        return place

    def exists(self, repository_id: int) -> bool:
        """Return whether a repository is on disk."""
        return self.path(repository_id).is_dir()

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """Create a temporary folder for incoming data, and remove it afterwards.

        It is locked, so that a sweep keeps it however long it is in use.
        """
        with tempfile.TemporaryDirectory(dir=self._aside(MAKING), ignore_cleanup_errors=True) as temporary:
            descriptor = os.open(temporary, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield Path(temporary)
            finally:
                os.close(descriptor)

    def delete(self, repository_id: int) -> None:
        """Delete a repository: it is renamed first, then its files are removed; a missing one is no error."""
        place = self.path(repository_id)
        aside = Path(tempfile.mkdtemp(dir=self._aside(LEAVING)))
        try:
            place.rename(aside / place.name)
        except FileNotFoundError:
            aside.rmdir()
            return
        fsync_path(place.parent)
        # A running push may still write files there; the next sweep removes what is left.
        shutil.rmtree(aside, ignore_errors=True)

    def sweep(self, *, now: float | None = None) -> None:
        """Remove incomplete and deleted folders left by a crash, except recent ones and those in use."""
        latest = (time.time() if now is None else now) - BUSY_SECONDS
        for name in (MAKING, LEAVING):
            for folder in self._aside(name).iterdir():
                # One that vanishes meanwhile was removed by its process.
                with suppress(FileNotFoundError):
                    if folder.lstat().st_mtime < latest and not is_locked(folder):
                        shutil.rmtree(folder, ignore_errors=True)

    def all_ids(self) -> Iterator[int]:
        """Yield the ids of all repositories on disk, in no order."""
        for folder in self.root.glob("[0-9a-f][0-9a-f]/*.git"):
            match = FOLDER.fullmatch(folder.name)
            if match and self.path(int(match[1])) == folder and folder.is_dir():
                yield int(match[1])

    def size(self, repository_id: int) -> int:
        """Return the size of a repository in bytes; files that vanish meanwhile are not counted."""
        return sum(file_sizes(self.existing(repository_id)))

    def _aside(self, name: str) -> Path:
        folder = self.root / name
        make_folder_below(folder, self.root.parent)
        return folder


def share(folder: Path) -> int | None:
    """Take a shared lock on a repository, and return its descriptor; None if there is no repository.

    A repository with a shared lock is not evicted.
    """
    try:
        descriptor = os.open(folder / LOCKED, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def in_use(folder: Path | None) -> Iterator[None]:
    """Hold a shared lock on a repository, if there is one."""
    descriptor = None if folder is None else share(folder)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def is_in_use(folder: Path) -> bool:
    """Return whether a process holds a shared lock on a repository."""
    try:
        return is_locked(folder / LOCKED)
    except FileNotFoundError:
        return False


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock on a file or folder."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents, accessible only to the owner (mode 0700)."""
    # `mkdir(parents=True)` does not apply the mode to the parents.
    for path in reversed((folder, *folder.parents)):
        if not path.is_dir():
            path.mkdir(mode=0o700, exist_ok=True)


def make_folder_below(folder: Path, data: Path) -> None:
    """Create a folder and its missing parents up to the data folder, accessible only to the owner.

    A missing data folder is not created: its data may be elsewhere, such as on a disk that is not mounted.
    """
    if not data.is_dir():
        raise StorageUnavailable(f"the data folder {data} is not there")
    make_private_folder(folder)


def file_sizes(folder: Path) -> Iterator[int]:
    """Yield the sizes of all files below a folder."""
    for entry in list_folder(folder):
        with suppress(FileNotFoundError):
            if entry.is_dir(follow_symlinks=False):
                yield from file_sizes(Path(entry.path))
            else:
                yield entry.stat(follow_symlinks=False).st_size


def list_folder(folder: Path) -> list[os.DirEntry[str]]:
    """List a folder; a folder that vanished meanwhile is empty."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def fsync_path(path: Path) -> None:
    """Call `fsync` on a file, or on a folder for its directory entries."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
