"""Writes refs to a local copy of a repository; the database is the source of truth, so nothing is fsynced."""

from collections.abc import Mapping
from typing import Final

import pygit2
from pygit2.transaction import ReferenceTransaction

from holdfast.hosting.errors import GitError
from holdfast.hosting.git.encoding import argument, raw, well_formed
from holdfast.hosting.git.program import run
from holdfast.hosting.git.refs import BRANCHES
from holdfast.hosting.git.repository import Repo

__all__ = ["set_head", "write_refs"]

# From this many refs on, one git process costs less than a lock for each of them.
MANY: Final = 32


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
