"""Moving refs so that no move is ever lost.

Every move says what it replaces. The ref is locked the way git locks it, read again under that lock, and only then
written, so it does not matter whether the other writer is another thread, another process or a push.
"""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pygit2
from pygit2.transaction import ReferenceTransaction

from holdfast.hosting.errors import (
    GitDamaged,
    GitFailed,
    NoSuchObject,
    NoSuchRef,
    RefBusy,
    RefExists,
    RefMoved,
    RefRefused,
)
from holdfast.hosting.git import recycled_files
from holdfast.hosting.git.atomic_write import write_out
from holdfast.hosting.git.encoding import argument, raw, shown
from holdfast.hosting.git.program import run
from holdfast.hosting.git.refs import BRANCHES, all_refs, check_new_branch, check_ref_name, head, target
from holdfast.hosting.git.repository import Repo, locked

__all__ = ["create", "delete", "drop_stale_lock", "rename_branch", "replace", "set_head", "update"]

PATIENCE: Final = 5.0
FIRST_WAIT: Final = 0.002
LONGEST_WAIT: Final = 0.1
KEPT: Final = "refs/holdfast/kept/"


def update(repo: Repo, ref: str | bytes, old: str, new: str) -> None:
    """Move a ref from one id to another; refuse when it is not where the caller last saw it."""
    check_new(repo, ref, new)
    with taken(repo, ref) as transaction:
        expect(repo, ref, old)
        transaction.set_target(text(ref), new)


def create(repo: Repo, ref: str | bytes, new: str) -> None:
    """Make a ref that is not there yet."""
    check_full_name(ref)
    check_new(repo, ref, new)
    with locked(repo.folder):
        if target(repo, ref) is not None:
            raise RefExists(f"{shown(raw(ref))} exists already")
        check_room(repo, ref)
        with taken(repo, ref) as transaction:
            if target(repo, ref) is not None:
                raise RefExists(f"{shown(raw(ref))} exists already")
            transaction.set_target(text(ref), new)


def delete(repo: Repo, ref: str | bytes, old: str) -> None:
    """Remove a ref; refuse when it is not where the caller last saw it.

    git does it. A ref may be packed as well, and when something else holds the packed refs, libgit2 (1.9.7) leaves
    the packed one there, forgets that in memory, and takes the next attempt for a success.
    """
    with locked(repo.folder):
        expect(repo, ref, old)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                run(repo.folder, "update-ref", "--no-deref", "-d", argument(raw(ref)), old)
            except GitFailed as error:
                expect(repo, ref, old)
                if time.monotonic() > deadline:
                    raise RefBusy(f"something holds {shown(raw(ref))} or the packed refs") from error
                time.sleep(LONGEST_WAIT)
            else:
                return


def replace(repo: Repo, ref: str, old: str | None, new: str) -> str:
    """Move a ref, or make one that is not there, without waiting for the disk; return the file to be synced.

    The lock is git's own, but it is made whole by one call and held for a moment only: a process that is killed
    hardly ever leaves one behind, and `drop_stale_lock` knows it by what it says.
    """
    with locked(repo.place):
        if old is None:
            check_full_name(ref)
            check_absent(repo, ref)
            check_room(repo, ref)
        path = f"{repo.place}/{ref}"
        content = new.encode() + b"\n"
        incoming = None
        has_spare = False
        try:
            incoming = recycled_files.write(repo.place, content) or written_beside(repo, content)
            link_lock(incoming, path)
            try:
                if old is None:
                    clear_empty(path)
                    check_absent(repo, ref)
                else:
                    expect(repo, ref, old)
                has_spare = recycled_files.swap(repo.place, f"{path}.lock", path)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(f"{path}.lock")  # noqa: PTH108  # a text, not a Path: on a hot path
                raise
        except OSError as error:
            raise GitDamaged(f"{ref} cannot be written: {error.strerror}") from error
        finally:
            if incoming is not None and not (has_spare and incoming.endswith(recycled_files.NAME)):
                with suppress(OSError):
                    os.unlink(incoming)  # noqa: PTH108  # a text, not a Path: on a hot path
        return path


def written_beside(repo: Repo, content: bytes) -> str:
    """Write a new file, where a collection removes it if nothing else does."""
    path = f"{repo.folder}/objects/tmp_obj_{secrets.token_hex(8)}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, content)
        write_out(descriptor)
    finally:
        os.close(descriptor)
    return path


def check_absent(repo: Repo, ref: str) -> None:
    """Refuse to go on when there is a ref that the caller did not see."""
    if target(repo, ref) is not None:
        raise RefMoved(f"{ref} is there already")


def clear_empty(path: str) -> None:
    """Remove empty folders where a ref is to be: they are what is left of refs that were below it."""
    for folder, _, _ in os.walk(path, topdown=False):
        with suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106  # a text, not a Path: on a hot path


def link_lock(incoming: str, path: str) -> None:
    """Take git's lock of a ref by giving its file a second name, waiting a while for whoever has it."""
    deadline = time.monotonic() + PATIENCE
    wait = FIRST_WAIT
    while True:
        try:
            os.link(incoming, f"{path}.lock")
        except FileExistsError as error:
            if time.monotonic() > deadline:
                text = f"something holds {path}; if nothing is running, remove its .lock file"
                raise RefBusy(text) from error
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120  # a text, not a Path: on a hot path
            continue
        else:
            return
        # git tells nobody when it lets go of a lock.
        time.sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT)


def drop_stale_lock(repo: Repo, ref: str, old: str, new: str) -> bool:
    """Remove the lock that a process of ours left when it was killed on its way to `new`; return whether it did.

    The caller must hold the repository: then no such process is alive.
    """
    path = f"{repo.folder}/{ref}"
    lock = Path(f"{path}.lock")
    try:
        content = lock.read_bytes()
        before = content == new.encode() + b"\n"
        after = content == old.encode() + b"\n" and recycled_files.is_now_at(repo.folder, path)
        if not before and not after:
            return False
        lock.unlink()
    except OSError:
        return False
    return True


def set_head(repo: Repo, name: str) -> None:
    """Make a branch the one HEAD stands for, whether or not there is such a branch yet."""
    check_ref_name(name)
    with taken(repo, "HEAD") as transaction:
        transaction.set_symbolic_target("HEAD", f"refs/heads/{name}")


def rename_branch(repo: Repo, old: str, new: str) -> None:
    """Give a branch another name; HEAD follows it. At every moment some ref holds its commits."""
    check_new_branch(new)
    before, after = f"refs/heads/{old}", f"refs/heads/{new}"
    with locked(repo.folder):
        at = target(repo, before)
        if at is None:
            raise NoSuchRef(f"there is no branch {old}")
        if target(repo, after) is not None:
            raise RefExists(f"{after} exists already")
        was_head = head(repo) == old
        if f"{new}/".startswith(f"{old}/") or f"{old}/".startswith(f"{new}/"):
            swap_through(repo, before, after, at)
        else:
            create(repo, after, at)
            try:
                delete(repo, before, at)
            except Exception:
                # A push has moved the branch meanwhile: it keeps its name.
                delete(repo, after, at)
                raise
        if was_head:
            set_head(repo, new)


def swap_through(repo: Repo, before: str, after: str, at: str) -> None:
    """Rename a ref to a name below or above its own, which cannot be there at the same time."""
    kept = f"{KEPT}{at}"
    with suppress(RefExists):
        create(repo, kept, at)
    try:
        delete(repo, before, at)
        try:
            create(repo, after, at)
        except Exception:
            create(repo, before, at)
            raise
    finally:
        if target(repo, after) is not None or target(repo, before) is not None:
            delete(repo, kept, at)


def text(ref: str | bytes) -> str:
    """Return a ref's name the way the library takes it."""
    try:
        return raw(ref).decode()
    except UnicodeDecodeError as error:
        raise RefRefused("a ref whose name is not UTF-8 can only be moved by a push") from error


def check_full_name(ref: str | bytes) -> None:
    """Refuse a ref that is not below `refs/` or that git would not have."""
    if not raw(ref).startswith(b"refs/"):
        raise RefRefused(f"{shown(raw(ref))} is not the full name of a ref")
    check_ref_name(text(ref))


def check_new(repo: Repo, ref: str | bytes, new: str) -> None:
    """Refuse to point a ref at nothing, or a branch at anything but a commit."""
    found = repo.header(new)
    if found is None or (raw(ref).startswith(BRANCHES) and found[0] != "commit"):
        raise NoSuchObject(f"there is no commit {new}")


def check_room(repo: Repo, ref: str | bytes) -> None:
    """Refuse a name below the name of another ref, or above it: git keeps one as a file, the other as a folder."""
    name = raw(ref)
    for other in all_refs(repo):
        if other.startswith(name + b"/") or name.startswith(other + b"/"):
            raise RefRefused(f"{shown(name)} cannot be there beside {shown(other)}")


def expect(repo: Repo, ref: str | bytes, old: str) -> None:
    """Refuse to go on when a ref is not where it should be."""
    now = target(repo, ref)
    if now != old:
        raise RefMoved(f"{shown(raw(ref))} is at {now or 'nothing'}, not at {old}")


@contextmanager
def taken(repo: Repo, ref: str | bytes) -> Iterator[ReferenceTransaction]:
    """Hold git's own lock of a ref; what is asked of it happens at the end, unless something is raised before."""
    name = text(ref)
    with locked(repo.folder):
        transaction = lock(repo, name)
        try:
            yield transaction
            try:
                transaction.commit()
            except (pygit2.GitError, OSError) as error:
                raise GitDamaged(f"{name} cannot be written") from error
        finally:
            # Leaving it this way lets go of the lock; leaving it without an error would write once more.
            transaction.__exit__(Exception, None, None)


def lock(repo: Repo, name: str) -> ReferenceTransaction:
    """Take git's lock of a ref, waiting a while for whoever has it."""
    deadline = time.monotonic() + PATIENCE
    wait = FIRST_WAIT
    while True:
        transaction = repo.git.transaction()
        try:
            transaction.lock_ref(name)
        except (pygit2.GitError, OSError, ValueError) as error:
            transaction.__exit__(Exception, None, None)
            problem = str(error)
            if "not a directory" in problem.lower() or "is not directory" in problem:
                raise RefRefused(f"{name} cannot be there beside a ref above it") from error
            if "lock" not in problem:
                raise RefRefused(f"{name} cannot be locked") from error
            if time.monotonic() > deadline:
                raise RefBusy(f"something holds {name}; if nothing is running, remove its .lock file") from error
        else:
            return transaction
        # git tells nobody when it lets go of a lock.
        time.sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT)
