"""Repositories in a snapshot: a consistent set of refs, and every object they need.

Refs are read first and objects copied afterwards: concurrent pushes only add objects. Garbage collection, which
removes objects (`holdfast.hosting.git.gc`), is excluded by a lock.
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
    """Return whether a backup may contain a file of a repository; settings and hooks are excluded."""
    return name in {"HEAD", "packed-refs"} or bool(LOOSE.fullmatch(name) or PACK.fullmatch(name))


def copy_repository(sink: FileSink, folder: Path, number: int) -> bool:
    """Add a repository to a backup; return False if it was deleted before it was copied completely."""
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
            # Only garbage collection removes objects, and it is locked out: this was done by hand.
            raise SnapshotError(
                f"objects of repository {number} were deleted while it was copied; try again"
            ) from error
        return False
    return True


@contextmanager
def shared_gc_lock(folder: Path) -> Iterator[None]:
    """Hold the garbage collection lock, shared with other readers."""
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
    """Return HEAD and a consistent set of refs, in the format of `packed-refs`."""
    before = None
    for _ in range(ATTEMPTS):
        # Our writers wait for this lock but git's do not, so two reads must agree.
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
    """List the files of objects; a pack counts if its index exists, which git writes last."""
    names = []
    for place in sorted((folder / "objects").glob("[0-9a-f][0-9a-f]")):
        names += [f"objects/{place.name}/{path.name}" for path in place.iterdir()]
    packs = [f"objects/pack/{path.name}" for path in (folder / "objects" / "pack").iterdir()]
    matches = [match for match in map(PACK.fullmatch, packs) if match]
    by_kind = {kind: {match[1] for match in matches if match[2] == kind} for kind in ("pack", "idx")}
    complete = by_kind["pack"] & by_kind["idx"]
    return [name for name in names if LOOSE.fullmatch(name)] + [
        match[0] for match in matches if match[1] in complete
    ]


def check_head(content: bytes, number: int) -> str:
    """Return the branch of a HEAD; raise `SnapshotDamaged` for anything else."""
    prefix, _, branch = content.partition(b"refs/heads/")
    name = os.fsdecode(branch.removesuffix(b"\n"))
    if prefix != b"ref: " or not refs.is_ref_name(name):
        raise SnapshotDamaged(f"the HEAD of repository {number} names no branch")
    return name
