"""Repositories in a snapshot: a consistent set of refs, and every object they need.

The refs are read first and the objects copied after: what is pushed meanwhile is harmless, since objects are only
added. What removes objects (`holdfast.hosting.git.gc`) takes a lock that is held here from before the first to
after the second.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Protocol

from holdfast.hosting.errors import GitDamaged, NoSuchFolder, SnapshotDamaged, SnapshotError
from holdfast.hosting.git import refs
from holdfast.hosting.git.repository import Repo, locked, open_repository

__all__ = ["check_head", "copy_repository", "is_member"]

LOOSE: Final = re.compile(r"objects/[0-9a-f]{2}/(?:[0-9a-f]{38}|[0-9a-f]{62})")
PACK: Final = re.compile(r"objects/pack/(pack-[0-9a-f]{40,64})\.(pack|idx|rev|bitmap|mtimes|promisor)")
ATTEMPTS: Final = 10


class FileSink(Protocol):
    """Receives the files of a snapshot."""

    def add(self, name: str, content: IO[bytes], size: int) -> None:
        """Add a file."""

    def add_bytes(self, name: str, content: bytes) -> None:
        """Add a small file."""


def is_member(name: str) -> bool:
    """Tell whether a backup may hold a file of that name for a repository; settings and hooks it may not."""
    return name in {"HEAD", "packed-refs"} or bool(LOOSE.fullmatch(name) or PACK.fullmatch(name))


def copy_repository(sink: FileSink, folder: Path, number: int) -> bool:
    """Add a repository to a backup; return false when it was deleted before it was copied whole."""
    place = f"repositories/{number}"
    try:
        with shared_gc_lock(folder):
            repo = open_repository(folder)
            head, packed = snapshot_refs(repo)
            sink.add_bytes(f"{place}/HEAD", head)
            sink.add_bytes(f"{place}/packed-refs", packed)
            for name in object_files(folder):
                with (folder / name).open("rb") as file:
                    sink.add(f"{place}/{name}", file, os.fstat(file.fileno()).st_size)
    except (NoSuchFolder, FileNotFoundError) as error:
        if folder.exists():
            # Only collecting removes objects, and it waits for us: somebody did so by hand.
            raise SnapshotError(
                f"objects of repository {number} vanished while it was copied; try again"
            ) from error
        return False
    return True


@contextmanager
def shared_gc_lock(folder: Path) -> Iterator[None]:
    """Hold the lock that collecting takes, together with others who only read."""
    try:
        descriptor = os.open(folder / "objects", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise NoSuchFolder(f"there is no repository in {folder.name}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def snapshot_refs(repo: Repo) -> tuple[bytes, bytes]:
    """Return what HEAD says and the refs the way git packs them, all as they were at one moment."""
    before = None
    for _ in range(ATTEMPTS):
        # Our own writers wait for this lock; git's do not, hence two readings that must agree.
        with locked(repo.folder):
            found = read_refs(repo)
        if found == before:
            return found
        before = found
    raise SnapshotError(f"the refs of {repo.folder.name} change too fast to be read; try again")


def read_refs(repo: Repo) -> tuple[bytes, bytes]:
    """Read HEAD and all refs."""
    branch = refs.head(repo)
    if branch is None:
        raise GitDamaged(f"the HEAD of {repo.folder.name} names no branch")
    lines = []
    for name in sorted(refs.all_refs(repo)):
        target = refs.target(repo, name)
        if target is not None:
            lines.append(target.encode() + b" " + name + b"\n")
    return b"ref: refs/heads/" + os.fsencode(branch) + b"\n", b"# pack-refs with: sorted \n" + b"".join(lines)


def object_files(folder: Path) -> list[str]:
    """List the files that hold objects; a pack counts when its index is there, which git adds last."""
    names = []
    for place in sorted((folder / "objects").glob("[0-9a-f][0-9a-f]")):
        names += [f"objects/{place.name}/{path.name}" for path in place.iterdir()]
    packs = [f"objects/pack/{path.name}" for path in (folder / "objects" / "pack").iterdir()]
    matches = [match for match in map(PACK.fullmatch, packs) if match]
    by_kind = {kind: {match[1] for match in matches if match[2] == kind} for kind in ("pack", "idx")}
    whole = by_kind["pack"] & by_kind["idx"]
    return [name for name in names if LOOSE.fullmatch(name)] + [match[0] for match in matches if match[1] in whole]


def check_head(content: bytes, number: int) -> str:
    """Return the branch a HEAD names; anything else does not belong into a backup."""
    prefix, _, branch = content.partition(b"refs/heads/")
    name = os.fsdecode(branch.removesuffix(b"\n"))
    if prefix != b"ref: " or not refs.is_ref_name(name):
        raise SnapshotDamaged(f"the HEAD of repository {number} names no branch")
    return name
