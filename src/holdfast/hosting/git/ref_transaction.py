"""Moves the refs of a push in one transaction, each by compare-and-set against the value the client saw.

A few refs become files, as git writes them. Many go to `packed-refs`, which is replaced once for all of them.
Either way nothing is reported before it is on the disk. Git's own locks are held on every file that is replaced or
removed, so the git program may run beside.
"""

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Final

from holdfast.hosting.errors import RefBusy
from holdfast.hosting.git.encoding import raw
from holdfast.hosting.git.loose_objects import sync
from holdfast.hosting.git.packed_refs import PackedRefs, lock_packed_refs, replace_packed_refs
from holdfast.hosting.git.quarantine import PushRejection
from holdfast.hosting.git.repository import Repo, locked
from holdfast.hosting.store.pending_ref_updates import Move

__all__ = ["MANY", "Applied", "apply_moves", "existing_deletes"]

# From this many refs on, replacing one file is quicker than writing one for each.
MANY: Final = 16
PATIENCE: Final = 5.0
PAUSE: Final = 0.01
TAGS_DEEP: Final = 32
MOVED_MEANWHILE: Final = "the ref has moved meanwhile; fetch and push again"


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a push: the refs that have moved, and why others have not."""

    moved: tuple[Move, ...]
    refusals: tuple[PushRejection, ...]


@dataclass(slots=True)
class State:
    """What is known while a transaction runs."""

    repo: Repo
    packed: PackedRefs
    many: bool
    refusals: dict[str, str] = field(default_factory=dict)
    is_loose: dict[bytes, bool] = field(default_factory=dict)
    kinds: dict[str, str | None] = field(default_factory=dict)
    made: set[bytes] = field(default_factory=set)
    made_above: set[bytes] = field(default_factory=set)
    gone: set[bytes] = field(default_factory=set)
    packing: set[str] = field(default_factory=set)
    root: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.root = os.fsencode(self.repo.place) + b"/"

    def path(self, name: bytes) -> bytes:
        """Return where a ref lies when it is not packed."""
        return self.root + name

    def loose(self, name: bytes) -> str | None:
        """Return the id in a ref's own file, or nothing when it has none."""
        try:
            with open(self.path(name), "rb") as file:  # noqa: PTH123  # Path costs more than reading
                return file.read(1024).rstrip().decode(errors="replace")
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None

    def is_file(self, name: bytes) -> bool:
        """Tell whether a ref above others has a file; thousands of branches share the few names above them."""
        if name not in self.is_loose:
            self.is_loose[name] = os.path.isfile(self.path(name))  # noqa: PTH113  # a text, not a Path: on a hot path
        return self.is_loose[name]

    def is_folder(self, name: bytes) -> bool:
        """Tell whether refs that have files lie below a name."""
        return os.path.isdir(self.path(name))  # noqa: PTH112  # bytes, which Path is not

    def kind(self, object_id: str) -> str | None:
        """Return the kind of an object, or nothing when it is not there."""
        if object_id not in self.kinds:
            found = self.repo.header(object_id)
            self.kinds[object_id] = None if found is None else found[0]
        return self.kinds[object_id]

    def peel(self, object_id: str) -> str | None:
        """Return where a tag object leads to; nothing when it leads nowhere or is none."""
        at = object_id
        for _ in range(TAGS_DEEP):
            if self.kind(at) != "tag":
                return at if at != object_id and self.kind(at) is not None else None
            line = self.repo.read(at, "tag").partition(b"\n")[0]
            at = line.removeprefix(b"object ").decode(errors="replace")
        return None


def existing_deletes(repo: Repo, moves: Sequence[Move]) -> list[Move]:
    """Return the moves without those that delete a ref that is not there: these are done before they begin."""
    if not any(move.deletes for move in moves):
        return list(moves)
    state = State(repo, PackedRefs(repo.place), many=False)
    if len(moves) >= MANY:
        _ = state.packed.lines
    return [
        move
        for move in moves
        if not move.deletes
        or state.loose(raw(move.ref)) is not None
        or state.packed.get(raw(move.ref)) is not None
    ]


def apply_moves(repo: Repo, moves: Sequence[Move], *, atomic: bool = False) -> Applied:
    """Move refs; with `atomic`, all of them or none. What was moved is on the disk when this returns."""
    with locked(repo.place), ExitStack() as held:
        deleting = any(move.deletes for move in moves)
        many = len(moves) >= MANY
        descriptor = held.enter_context(lock_packed_refs(repo.place)) if many or deleting else None
        state = State(repo, PackedRefs(repo.place), many=many)
        if many:
            _ = state.packed.lines  # looked up many times: parsed once
        locks: dict[str, bytes] = {}
        held.callback(release, locks)
        # What is deleted makes room for what is created below or above it.
        ordered = sorted(moves, key=lambda move: not move.deletes)
        for move in ordered:
            reason = prepared(state, move, locks)
            if reason is not None:
                state.refusals[move.ref] = reason
        if atomic and state.refusals:
            others = "not pushed because another ref of an atomic push was refused"
            reasons = {move.ref: state.refusals.get(move.ref, others) for move in moves}
            return Applied((), tuple(PushRejection(ref, reason) for ref, reason in reasons.items()))
        commit(state, [move for move in ordered if move.ref not in state.refusals], locks, descriptor)
        refusals = tuple(PushRejection(ref, reason) for ref, reason in state.refusals.items())
        return Applied(tuple(move for move in moves if move.ref not in state.refusals), refusals)


def release(locks: dict[str, bytes]) -> None:
    """Let go of the locks of refs that are still held."""
    for path in locks.values():
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108  # a text, not a Path: on a hot path
    locks.clear()


def prepared(state: State, move: Move, locks: dict[str, bytes]) -> str | None:
    """Take a ref's lock where it has a file, and hold the ref against what the client saw; return why it stays."""
    name = raw(move.ref)
    if move.deletes and state.loose(b"HEAD") == f"ref: {move.ref}":
        return "the branch HEAD points to cannot be deleted"
    if not move.deletes:
        kind = state.kind(move.new)
        if kind is None:
            return f"there is no object {move.new}"
        if kind != "commit" and name.startswith(b"refs/heads/"):
            return f"a branch points at a commit, not at a {kind}"
    loose = state.loose(name)
    has_file = loose is not None
    if move.creates and not move.deletes:
        reason = conflict(state, name)
        if reason is not None:
            return reason
    # Where a file is yet to be deleted, there is no folder for a lock.
    if not move.deletes and (state.many or not state.gone.isdisjoint(above(name))):
        state.packing.add(move.ref)
    if has_file or not (move.ref in state.packing or move.deletes):
        try:
            locks[move.ref] = take_lock(state.path(name))
            loose = state.loose(name)
        except RefBusy as error:
            return str(error)
        except NotADirectoryError:
            return "it cannot be there beside a ref above it"
        except OSError as error:
            return f"it cannot be locked: {error.strerror}"
    now = loose or state.packed.get(name)
    if (now or "") != ("" if move.creates else move.old):
        return MOVED_MEANWHILE
    if move.deletes:
        state.gone.add(name)
    elif move.creates:
        state.made.add(name)
        state.made_above.update(above(name))
    return None


def above(name: bytes) -> list[bytes]:
    """Return the names of refs there cannot be beside a ref, because it lies below them."""
    parts = name.split(b"/")
    return [b"/".join(parts[:count]) for count in range(2, len(parts))]


def conflict(state: State, name: bytes) -> str | None:
    """Return why a new ref has no room: git keeps a ref as a file, and those below its name in a folder."""
    for other in above(name):
        there = (state.is_file(other) or state.packed.get(other) is not None) and other not in state.gone
        if there or other in state.made:
            return f"it cannot be there beside {other.decode(errors='replace')}"
    if name in state.made_above:
        return "it cannot be there beside a ref below it"
    for other in state.packed.below(name):
        if other not in state.gone:
            return f"it cannot be there beside {other.decode(errors='replace')}"
    if not state.is_folder(name):
        return None
    for folder, _, files in os.walk(state.path(name)):
        for file in files:
            other = b"%s/%s" % (folder.removeprefix(state.root), file)
            if other not in state.gone and not file.endswith(b".lock"):
                return f"it cannot be there beside {other.decode(errors='replace')}"
    return None


def take_lock(path: bytes) -> bytes:
    """Make git's lock of a ref, waiting a while for whoever has it; return its path."""
    lock = path + b".lock"
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
        except FileExistsError as error:
            if time.monotonic() > deadline:
                raise RefBusy("something else holds it; try again") from error
            time.sleep(PAUSE)  # git tells nobody when it lets go of a lock
        except FileNotFoundError:
            os.makedirs(os.path.dirname(lock), exist_ok=True)  # noqa: PTH103, PTH120  # bytes, which Path is not
        else:
            return lock


def commit(state: State, moves: Sequence[Move], locks: dict[str, bytes], descriptor: int | None) -> None:
    """Make the moves that were found to be possible."""
    changed = {raw(move.ref): move.new for move in moves if move.ref in state.packing}
    removed = [raw(move.ref) for move in moves if move.deletes and state.packed.get(raw(move.ref)) is not None]
    dirty: set[bytes] = set()
    if descriptor is not None and (changed or removed):
        replace_packed_refs(
            state.repo.place, descriptor, state.packed, changed=changed, removed=removed, peel=state.peel
        )
        dirty.add(os.fsencode(state.repo.place))
    # A ref's own file hides what is packed: so it goes last, and with it the old value.
    for move in moves:
        if move.ref in locks and (move.deletes or move.ref in state.packing):
            path = state.path(raw(move.ref))
            with suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108  # a text, not a Path: on a hot path
                dirty.add(os.path.dirname(path))  # noqa: PTH120  # bytes, which Path is not
            release_one(locks, move.ref)
    dirty = {drop_empty(folder, state.path(b"refs")) for folder in dirty}
    for move in moves:
        if move.ref in locks:
            try:
                write_loose(state, move, locks)
            except OSError as error:
                state.refusals[move.ref] = f"it cannot be written: {error.strerror}"
                continue
            path = state.path(raw(move.ref))
            dirty.add(os.path.dirname(path))  # noqa: PTH120  # bytes, which Path is not
    for folder in dirty:
        sync(os.fsdecode(folder))


def release_one(locks: dict[str, bytes], ref: str) -> None:
    """Let go of the lock of a ref."""
    with suppress(FileNotFoundError):
        os.unlink(locks.pop(ref))  # noqa: PTH108  # a text, not a Path: on a hot path


def write_loose(state: State, move: Move, locks: dict[str, bytes]) -> None:
    """Write a ref's own file into its lock, and rename that."""
    path = state.path(raw(move.ref))
    descriptor = os.open(locks[move.ref], os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, move.new.encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    # Empty folders are what is left of refs that were below it.
    for folder, _, _ in os.walk(path, topdown=False):
        with suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106  # a text, not a Path: on a hot path
    os.rename(locks[move.ref], path)  # noqa: PTH104  # a text, not a Path: on a hot path
    del locks[move.ref]


def drop_empty(folder: bytes, refs: bytes) -> bytes:
    """Remove a folder of refs that is empty, and those above it but the first two levels; return what is left."""
    while folder.startswith(refs + b"/") and folder.count(b"/") > refs.count(b"/") + 1:
        try:
            os.rmdir(folder)  # noqa: PTH106  # a text, not a Path: on a hot path
        except OSError:
            break
        folder = os.path.dirname(folder)  # noqa: PTH120  # bytes, which Path is not
    return folder
