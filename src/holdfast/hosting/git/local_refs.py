"""Reads and writes the refs of a local copy; the database is the source of truth, so nothing is fsynced."""

import os
from collections.abc import Mapping
from typing import Final

import pygit2
from pygit2.transaction import ReferenceTransaction

from holdfast.hosting.errors import GitDamaged, GitError, GitFailed, GitTimedOut
from holdfast.hosting.git.encoding import argument, raw, well_formed
from holdfast.hosting.git.program import run
from holdfast.hosting.git.refs import BRANCHES
from holdfast.hosting.git.repository import Repo

__all__ = ["read_refs", "set_head", "write_refs"]

# From this many refs on, one git process costs less than a lock for each of them.
MANY: Final = 32
# The exit code of `git show-ref`.
NO_REFS: Final = 1


def read_refs(repo: Repo) -> dict[str, str]:
    """Return all refs with their targets; raise `GitDamaged` if a target does not exist."""
    try:
        listed = run(repo.folder, "show-ref")
    except GitTimedOut:
        raise
    except GitFailed as error:
        if error.code == NO_REFS:
            return {}
        raise GitDamaged(f"the refs of {repo.folder.name} cannot be read") from error
    refs = (line.split(b" ", 1) for line in listed.splitlines())
    return {os.fsdecode(name): target.decode() for target, name in refs}


def write_refs(repo: Repo, targets: Mapping[str, str | None]) -> None:
    """Point refs to ids, and delete those without one; deletions come first, since a name may be reused."""
    deleted = [ref for ref, target in targets.items() if target is None]
    kept = {ref: target for ref, target in targets.items() if target is not None}
    if deleted:
        update_refs(repo, [b"delete %s\0\0" % raw(ref) for ref in deleted])
    # The library cannot write names that are not UTF-8.
    if len(kept) >= MANY or any(well_formed(ref) != ref for ref in kept):
        update_refs(repo, [b"update %s\0%s\0\0" % (raw(ref), target.encode()) for ref, target in kept.items()])
        return
    try:
        for ref, target in kept.items():
            transaction = ReferenceTransaction(repo.git)
            name = argument(raw(ref))
            transaction.lock_ref(name)
            transaction.set_target(name, target)
            transaction.commit()
    except (pygit2.GitError, OSError, ValueError) as error:
        raise GitError(f"a ref cannot be written to {repo.folder.name}") from error


def update_refs(repo: Repo, commands: list[bytes]) -> None:
    """Run `git update-ref`."""
    run(repo.folder, "update-ref", "--no-deref", "-z", "--stdin", input=b"".join(commands), timeout=600.0)


def set_head(repo: Repo, branch: str) -> None:
    """Point HEAD to a branch, whether or not it exists."""
    name = argument(BRANCHES + raw(branch))
    if repo.git.references["HEAD"].raw_target != raw(name):
        repo.git.references.create("HEAD", name, force=True)
