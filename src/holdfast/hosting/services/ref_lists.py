"""Pages of the branches and tags of a repository, by name."""

import os
from collections.abc import Sequence
from typing import Final

from holdfast.hosting.app import App
from holdfast.hosting.git.encoding import well_formed
from holdfast.hosting.git.refs import Ref
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.repositories import Repository

__all__ = ["has_refs", "list_branches", "list_full_names", "list_tags", "open_with"]

BRANCHES: Final = "refs/heads"
TAGS: Final = "refs/tags"
# Sorts after any character that can follow a prefix.
LAST_CHARACTER: Final = "\U0010ffff"


def has_refs(app: App, repository: Repository) -> bool:
    """Return whether a repository has a branch or a tag."""
    return repository_log.has_refs(app.database, repository.id)


def list_branches(app: App, repository: Repository, *, skip: int = 0, limit: int) -> tuple[list[Ref], int]:
    """Return a page of the branches, and the total."""
    return list_refs(app, repository, BRANCHES, skip, limit)


def list_tags(app: App, repository: Repository, *, skip: int = 0, limit: int) -> tuple[list[Ref], int]:
    """Return a page of the tags, and the total."""
    return list_refs(app, repository, TAGS, skip, limit)


def list_refs(app: App, repository: Repository, prefix: str, skip: int, limit: int) -> tuple[list[Ref], int]:
    """Return a page of the refs with a prefix, and the total."""
    rows, total = repository_log.list_refs(
        app.database, repository.id, f"{prefix}/", f"{prefix}0", skip=skip, limit=limit
    )
    return [Ref(os.fsencode(name)[len(prefix) + 1 :], target) for name, target in rows], total


def list_full_names(
    app: App, repository: Repository, beginning: str, *, skip: int = 0, limit: int
) -> tuple[list[Ref], int]:
    """Return a page of the branches and tags whose full names start with a prefix, by name, and the total."""
    refs: list[Ref] = []
    total = 0
    # Ref names have no backslash; in the database it escapes bytes that are not valid UTF-8.
    if "\\" in beginning or "\0" in beginning or well_formed(beginning) != beginning:
        return refs, total
    for prefix in (BRANCHES, TAGS):
        if f"{prefix}/".startswith(beginning):
            first, last = f"{prefix}/", f"{prefix}0"
        elif beginning.startswith(f"{prefix}/"):
            first, last = beginning, beginning + LAST_CHARACTER
        else:
            continue
        rows, count = repository_log.list_refs(
            app.database, repository.id, first, last, skip=max(skip - total, 0), limit=limit - len(refs)
        )
        refs += [Ref(os.fsencode(name), target) for name, target in rows]
        total += count
    return refs, total


def open_with(app: App, repository: Repository, refs: Sequence[Ref]) -> Repo:
    """Open the local copy of a repository, with the objects that listed refs point to."""
    repo = app.copies.open(repository)
    if any(repo.header(ref.id) is None for ref in refs):
        # A ref was updated after the repository was read.
        repo = app.copies.update(repository.id)
    return repo
