"""Local copies: one bare repository per repository, built from the database and the object store.

A copy is updated to the version of its repository before it is read: the packs and refs of newer log entries are
applied. No copy is needed for durability, so nothing is fsynced. A copy that is missing, damaged or older than the
last boot of the machine (a power failure may have lost parts of it) is rebuilt.
"""

import fcntl
import math
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec
import pygit2
import structlog

from holdfast.hosting.errors import GitDamaged, GitError, GitFailed, NoSuchFolder
from holdfast.hosting.git import local_refs, refs
from holdfast.hosting.git.corruption import take_report
from holdfast.hosting.git.folders import Folders, is_in_use, make_folder_below
from holdfast.hosting.git.packs import decode_pack, object_count
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo, open_fresh, open_repository, reopen
from holdfast.hosting.storage.object_store import ObjectStore
from holdfast.hosting.storage.pack_files import index_key, index_packs, merge_pack_files
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.repository_log import NOT_ADOPTED, PackRow, RefState

__all__ = ["LocalCopies", "create_repository"]

STATE_FILE: Final = "holdfast-copy"
STATE_BYTES: Final = 192
# A file beside the folder of a copy, whose time is that of the last deletion because of damage.
DAMAGED: Final = ".damaged"
# The file that is locked by the writers of a copy.
LOCK: Final = ".lock"
BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
# At least this many new objects become a pack; fewer are written as loose objects, so that a copy has few packs.
UNPACK_LIMIT: Final = 32
SECONDS: Final = 3600.0
# The maximum time between the arrival of a push and its transaction; `tidy` keeps unknown packs for so long.
PUSH_SECONDS: Final = 3600.0
# A copy used within this time is not evicted.
BUSY_SECONDS: Final = 600.0
# The minimum interval between deletions of a copy for damage, the same as a multiple of the time in which it was
# built, and the limit of that: damage that is in the log costs a small part of one CPU.
DAMAGE_SECONDS: Final = 5.0
DAMAGE_FACTOR: Final = 20
MOST_DAMAGE_SECONDS: Final = 600.0
# The resolution of the time of last use.
USED_SECONDS: Final = 60.0
# The minimum interval between comparisons of the refs of a copy, and the same as a multiple of their duration.
REFS_SECONDS: Final = 2.0
REFS_FACTOR: Final = 100
log = structlog.get_logger(__name__)
held = threading.local()


class CopyState(msgspec.Struct, frozen=True):
    """The log version of a copy, and the boot id of the machine when it was written."""

    version: int
    boot: str
    compaction: int = -1
    """The compactions of the repository when the copy was last tidied; -1 if it never was."""
    tidy_at: int = 0
    """When packs that were kept for their age can be deleted, in Unix time; 0 if there are none."""
    built_ms: int = 0
    """How long it took to build the copy."""


def boot_id() -> str:
    """Return the boot id of this machine; an empty string where there is none."""
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return ""


class LocalCopies:
    """The local copies on this machine."""

    def __init__(self, folders: Folders, database: Database, store: ObjectStore) -> None:
        self.folders = folders
        self._database = database
        self._store = store
        self._boot = boot_id()
        # The version of each copy when this process last read it; another process may have updated it since.
        self._versions: dict[int, int] = {}
        self._used: dict[int, float] = {}
        # When the refs of each copy are compared with the database next.
        self._next_comparison: dict[int, float] = {}

    def open(self, repository: Repository) -> Repo:
        """Open the copy of a repository, updated to at least the repository's version."""
        number = repository.id
        if take_report(self.folders.path(number)):
            self.discard_damaged(number)
        if self._versions.get(number, -1) < repository.version:
            self.update(number)
        self._note_use(number)
        try:
            repo = open_repository(self.folders.path(number))
            if self._has_head(repo, repository):
                return repo
        except NoSuchFolder:
            return self.update(number)
        except GitDamaged:
            if not self.discard_damaged(number):
                raise
            return self.update(number)
        return self.update(number) if self._discard_without_head(repository) else repo

    def _has_head(self, repo: Repo, repository: Repository) -> bool:
        """Return whether a copy has the commit of the default branch, if there is one.

        A copy that lost its refs or packs would otherwise be served as a repository with fewer branches or none.
        """
        head = refs.target(repo, "HEAD")
        if head is not None:
            return repo.header(head) is not None
        ref = f"{refs.BRANCHES.decode()}{repository.default_branch}"
        return repository_log.find_ref(self._database, repository.id, ref) is None

    def _discard_without_head(self, repository: Repository) -> bool:
        """Delete a copy without the commit of its default branch, unless another thread has just updated it."""
        with self.locked(repository.id):
            if self._has_head(open_fresh(self._update(repository.id).folder), repository):
                return True
            return self.discard_damaged(repository.id)

    def _note_use(self, repository_id: int) -> None:
        """Set the access time of a copy's state file, by which copies are evicted."""
        now = time.monotonic()
        if self._used.get(repository_id, -math.inf) < now - USED_SECONDS:
            self._used[repository_id] = now
            with suppress(OSError):
                path = self.folders.path(repository_id) / STATE_FILE
                os.utime(path, (time.time(), path.stat().st_mtime))

    def path(self, repository: Repository) -> Path:
        """Return the folder of a copy, updated to at least the repository's version, for the git program.

        The files of the copy are checked, since libgit2 may still have open what was deleted. All refs are
        compared with the database, at most once in `REFS_SECONDS`: git serves what is left of them.
        """
        folder = self.open(repository).folder
        if self._next_comparison.get(repository.id, -math.inf) < time.monotonic():
            self._compare_refs(repository.id)
        try:
            if not self._has_head(open_fresh(folder), repository) and self._discard_without_head(repository):
                self.update(repository.id)
        except GitDamaged:
            # A folder that is missing was evicted just now.
            if folder.is_dir() and not self.discard_damaged(repository.id):
                raise
            self.update(repository.id)
        return folder

    def _compare_refs(self, repository_id: int) -> None:
        """Compare the refs of a copy with the database, and rebuild the copy if they differ."""
        started = time.monotonic()
        with self.locked(repository_id):
            repo = self._update(repository_id)
            with self._database.snapshot() as connection:
                recorded = repository_log.changed_refs(connection, repository_id, 0)
            # A newer version is compared next time, and the only copy of a repository that is not adopted never.
            if recorded is not None and self._versions.get(repository_id) == recorded.version:
                try:
                    is_damaged = local_refs.read_refs(repo) != recorded.refs
                except GitDamaged:
                    is_damaged = True
                if is_damaged and self.discard_damaged(repository_id):
                    self._update(repository_id)
        ended = time.monotonic()
        wait = max(REFS_SECONDS, REFS_FACTOR * (ended - started))
        self._next_comparison[repository_id] = ended + wait

    def update(self, repository_id: int) -> Repo:
        """Update a copy to the current version of its repository."""
        with self.locked(repository_id):
            return self._update(repository_id)

    @contextmanager
    def writing(self, repository_id: int) -> Iterator[Repo]:
        """Hold the lock of a copy against other writers on this machine; yields it up to date."""
        with self.locked(repository_id):
            yield self._update(repository_id)

    def open_any(self, repository_id: int) -> Repo:
        """Open a copy at any version: for a writer that usually has the objects it needs in memory."""
        try:
            return open_repository(self.folders.path(repository_id))
        except NoSuchFolder:
            return self.update(repository_id)

    def outdated(self) -> list[int]:
        """Return the repositories that were compacted since their copies, which this process uses, were tidied."""
        compactions = repository_log.compactions(self._database, list(self._versions))
        return [number for number, compaction in compactions.items() if self._is_outdated(number, compaction)]

    def _is_outdated(self, repository_id: int, compaction: int) -> bool:
        state = self._state(self.folders.path(repository_id))
        return state is not None and (state.compaction < compaction or 0 < state.tidy_at <= time.time())

    def tidy_outdated(self, repository_id: int) -> bool:
        """Tidy a copy, unless another process has just done it; return whether it was outdated."""
        with self.locked(repository_id):
            compaction = repository_log.compactions(self._database, [repository_id]).get(repository_id, 0)
            if not self._is_outdated(repository_id, compaction):
                return False
            self.tidy(repository_id)
            return True

    def tidy(self, repository_id: int) -> None:
        """Replace the loose objects and other packs of a copy by the packs of the log, after a compaction."""
        started = time.time()
        with self.locked(repository_id):
            repo = self._update(repository_id)
            changed, live, inline = self._read(repository_id, 0)
            written = self._add_objects(repo, live, inline)
            with self._database.read() as connection:
                recorded = repository_log.stored_pack_names(connection, repository_id)
            folder = repo.folder / "objects" / "pack"
            kept = {f"pack-{name}" for name in (*(pack.name for pack in live if pack.store_key), *written)}
            young: list[float] = []
            # It refers to packs that are about to be deleted.
            for path in folder.glob("multi-pack-index*"):
                path.unlink(missing_ok=True)
            for path in folder.glob("pack-*"):
                if path.stem in kept:
                    continue
                # A push that is not recorded yet already has its pack here.
                written_at = path.stat().st_mtime
                if path.stem.removeprefix("pack-") in recorded or written_at < started - PUSH_SECONDS:
                    path.unlink(missing_ok=True)
                else:
                    young.append(written_at)
            run(repo.folder, "prune-packed", "-q", timeout=SECONDS)
            delete_leftovers(folder.parent, started - PUSH_SECONDS)
            write_bitmap(repo)
            state = self._state(repo.folder)
            if state is not None:
                tidy_at = math.ceil(max(young) + PUSH_SECONDS) + 1 if young else 0
                state = msgspec.structs.replace(state, compaction=changed.compaction, tidy_at=tidy_at)
                self._save(repo.folder, state)

    def evict(self, most_bytes: int) -> int:
        """Delete the least recently used copies until the total size is below the limit; return how many.

        A copy used within `BUSY_SECONDS` is kept, since a request may still read it, and so is one that git reads.
        """
        copies = []
        for number in self.folders.all_ids():
            with suppress(OSError, NoSuchFolder):
                path = self.folders.path(number) / STATE_FILE
                copies.append((path.stat().st_atime, number, self.folders.size(number)))
        total = sum(size for _, _, size in copies)
        latest = time.time() - BUSY_SECONDS
        evicted = 0
        for used, number, size in sorted(copies):
            if total <= most_bytes or used > latest:
                break
            with self.locked(number):
                folder = self.folders.path(number)
                if self._used_at(folder) > latest or is_in_use(folder):
                    continue
                self.discard(number)
            total -= size
            evicted += 1
        return evicted

    def delete_orphan(self, repository_id: int, before: float) -> bool:
        """Delete the copy of a repository that does not exist, unless it was used after a time or is in use.

        A folder that is not a copy is kept: it may be the only data. Returns whether the copy was deleted.
        """
        with self.locked(repository_id):
            folder = self.folders.path(repository_id)
            if not before > self._used_at(folder) > -math.inf or is_in_use(folder):
                return False
            self.discard(repository_id)
            for suffix in (DAMAGED, LOCK):
                folder.with_suffix(suffix).unlink(missing_ok=True)
            return True

    def _used_at(self, folder: Path) -> float:
        """Return the access time of a copy's state file, which is when it was last used."""
        try:
            return (folder / STATE_FILE).stat().st_atime
        except FileNotFoundError:
            return -math.inf

    def mark(self, repository_id: int, version: int) -> None:
        """Record the version of a copy, whose lock is held."""
        folder = self.folders.path(repository_id)
        state = self._state(folder) or CopyState(version, self._boot)
        self._save(folder, msgspec.structs.replace(state, version=version))

    def discard(self, repository_id: int) -> None:
        """Delete a copy; the next reader rebuilds it."""
        with self.locked(repository_id):
            self._versions.pop(repository_id, None)
            self.folders.delete(repository_id)

    def discard_damaged(self, repository_id: int) -> bool:
        """Delete a copy in which damage was found, unless one was deleted for it just now.

        If the copy that replaced it is damaged too, the log may be damaged, and rebuilding it for every reader
        would not help: the interval grows with the time that building takes. Returns whether it was deleted.
        """
        with self.locked(repository_id):
            folder = self.folders.path(repository_id)
            reopen(folder)
            state = self._state(folder)
            if state is None:
                return False
            wait = min(max(DAMAGE_SECONDS, DAMAGE_FACTOR * state.built_ms / 1000), MOST_DAMAGE_SECONDS)
            if abs(time.time() - self.last_damage(repository_id) / 1e9) < wait:
                return False
            log.warning("damaged local copy deleted", repository_id=repository_id)
            folder.with_suffix(DAMAGED).touch()
            self.discard(repository_id)
            return True

    def last_damage(self, repository_id: int) -> int:
        """Return when a damaged copy of a repository was last deleted, in nanoseconds; 0 if never.

        What was generated from an earlier copy may be damaged too.
        """
        try:
            return self.folders.path(repository_id).with_suffix(DAMAGED).stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    @contextmanager
    def locked(self, repository_id: int) -> Iterator[None]:
        """Hold the lock of a copy against other processes; reentrant within a thread."""
        held_ids: set[int] = held.__dict__.setdefault("repositories", set())
        if repository_id in held_ids:
            yield
            return
        path = self.folders.path(repository_id).with_suffix(LOCK)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileNotFoundError:
            make_folder_below(path.parent, self.folders.root.parent)
            descriptor = os.open(path, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            held_ids.add(repository_id)
            yield
        finally:
            held_ids.discard(repository_id)
            os.close(descriptor)

    def _update(self, repository_id: int) -> Repo:
        folder = self.folders.path(repository_id)
        state = self._state(folder)
        current = repository_log.current_version(self._database, repository_id)
        if current == NOT_ADOPTED:
            # The folder is not adopted yet: it is the only copy.
            return open_repository(folder)
        if state is None:
            return self._rebuild(repository_id)
        if current < state.version:
            # The database was restored to an earlier time, or failed over to a replica that was behind. The copy
            # has refs that are not recorded; clients would be told that their commits have been pushed.
            log.warning("local copy newer than the database rebuilt", repository_id=repository_id)
            return self._rebuild(repository_id)
        try:
            repo = open_repository(folder)
            if current == state.version:
                self._versions[repository_id] = state.version
                return repo
            changed, packs, inline = self._read(repository_id, state.version)
            self._apply(repo, changed, packs, inline)
        except GitError as error:
            # A process that was killed left the lock of a ref, or the copy was damaged by hand.
            log.warning("local copy rebuilt", repository_id=repository_id, reason=str(error))
            reopen(folder)
            return self._rebuild(repository_id)
        self.mark(repository_id, changed.version)
        self._versions[repository_id] = changed.version
        return repo

    def build(self, repository_id: int, folder: Path) -> int:
        """Build a copy of a repository in a new folder, and return its version."""
        changed, packs, inline = self._read(repository_id, 0)
        create_repository(folder, changed.default_branch)
        self._apply(open_repository(folder), changed, packs, inline)
        return changed.version

    def _read(self, repository_id: int, after: int) -> tuple[RefState, list[PackRow], list[bytes]]:
        """Read the refs and packs of the log entries after a version."""
        with self._database.snapshot() as connection:
            changed = repository_log.changed_refs(connection, repository_id, after)
            if changed is None:
                raise NoSuchFolder(f"there is no repository {repository_id}")
            packs = repository_log.live_packs(connection, repository_id, after)
            return changed, packs, repository_log.pack_contents(connection, packs)

    def _rebuild(self, repository_id: int) -> Repo:
        """Build a copy in a temporary folder, and replace the old one by it."""
        folder = self.folders.path(repository_id)
        started = time.monotonic()
        with self.folders.incoming() as aside:
            version = self.build(repository_id, aside / folder.name)
            self.folders.delete(repository_id)
            make_folder_below(folder.parent, self.folders.root.parent)
            (aside / folder.name).rename(folder)
        built_ms = int(1000 * (time.monotonic() - started))
        self._save(folder, CopyState(version, self._boot, built_ms=built_ms))
        self._versions[repository_id] = version
        return open_repository(folder)

    def _apply(self, repo: Repo, changed: RefState, packs: Sequence[PackRow], inline: Sequence[bytes]) -> None:
        """Add packs, then refs, so that no ref is ever without its objects; idempotent."""
        self._add_objects(repo, packs, inline)
        local_refs.write_refs(repo, changed.refs)
        local_refs.set_head(repo, changed.default_branch)

    def _add_objects(self, repo: Repo, packs: Sequence[PackRow], inline: Sequence[bytes]) -> list[str]:
        """Add packs to a copy, and return the names of those that small packs were merged into."""
        for pack in packs:
            if pack.store_key:
                self._fetch_pack(repo, pack)
        return add_packs(repo, inline)

    def _fetch_pack(self, repo: Repo, pack: PackRow) -> None:
        folder = repo.folder / "objects" / "pack"
        target = folder / f"pack-{pack.name}.pack"
        if target.with_suffix(".idx").exists():
            return
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix="tmp_", ignore_cleanup_errors=True) as aside:
            self._store.fetch(pack.store_key, Path(aside, "pack.pack"))
            self._store.fetch(index_key(pack.store_key), Path(aside, "pack.idx"))
            # The index last: git finds packs by their index.
            for suffix in ("pack", "idx"):
                Path(aside, f"pack.{suffix}").rename(target.with_suffix(f".{suffix}"))

    def _state(self, folder: Path) -> CopyState | None:
        """Return the state of a copy; None if it is missing or was written before the last boot."""
        try:
            state = msgspec.json.decode((folder / STATE_FILE).read_bytes(), type=CopyState)
        except (OSError, msgspec.DecodeError):
            return None
        return state if state.boot == self._boot else None

    def _save(self, folder: Path, state: CopyState) -> None:
        # Written in place, since ext4 syncs a file that is renamed over another. A torn write leads to a rebuild.
        descriptor = os.open(folder / STATE_FILE, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(descriptor, msgspec.json.encode(state).ljust(STATE_BYTES), 0)
        finally:
            os.close(descriptor)


def create_repository(folder: Path, default_branch: str) -> None:
    """Create an empty bare repository, without the hooks and descriptions of a template."""
    pygit2.init_repository(str(folder), bare=True, initial_head=default_branch)
    shutil.rmtree(folder / "hooks", ignore_errors=True)
    with suppress(FileNotFoundError):
        (folder / "description").unlink()


def delete_leftovers(objects: Path, before: float) -> None:
    """Delete temporary files and folders that were last written before a time: their process was killed."""
    for path in (*objects.glob("tmp_*"), *objects.glob("incoming-*"), *objects.glob("*/tmp_*")):
        # A push renames its files while it runs.
        with suppress(FileNotFoundError):
            if max(item.lstat().st_mtime for item in (path, *path.rglob("*"))) < before:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()


def write_bitmap(repo: Repo) -> None:
    """Write a multi-pack index with reachability bitmaps, so that a clone need not walk all objects."""
    # Fails while a ref points to a loose object, as after a concurrent commit. git works without bitmaps, and the
    # next compaction tries again.
    with suppress(GitFailed):
        run(repo.folder, "multi-pack-index", "write", "--bitmap", "--no-progress", timeout=SECONDS)


def add_packs(repo: Repo, packs: Sequence[bytes]) -> list[str]:
    """Add the objects of small packs to a copy: as loose objects if they are few, otherwise as one pack.

    Returns the names of the packs that were written.
    """
    if not packs:
        return []
    if sum(map(object_count, packs)) < UNPACK_LIMIT:
        decoded = [decode_pack(pack) for pack in packs]
        if None not in decoded:
            for packed_object in chain.from_iterable(filter(None, decoded)):
                repo.write(packed_object.kind, packed_object.content)
            return []
    folder = repo.folder / "objects" / "pack"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="tmp_", ignore_cleanup_errors=True) as aside:
        # `git multi-pack-index` writes a damaged index of a pack that contains an object twice.
        variables = {"GIT_OBJECT_DIRECTORY": aside}
        names = [f"pack-{name}.pack" for name in index_packs(repo.folder, packs, variables)]
        merged = merge_pack_files(repo.folder, folder, names, "--window=0", variables=variables)
    # `tidy` need not keep it as long as packs of unknown origin: all of its objects are recorded.
    for path in folder.glob(f"{merged.stem}.*"):
        os.utime(path, (0, 0))
    return [merged.stem.removeprefix("pack-")]
