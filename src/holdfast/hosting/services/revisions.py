"""Revisions: resolution of a branch, tag or commit id in the local copy of a repository."""

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchRevision
from holdfast.hosting.git import refs
from holdfast.hosting.git.encoding import is_id
from holdfast.hosting.git.repository import Repo

__all__ = ["open_git", "open_latest", "resolve_commit"]


def open_git(app: App, target: RepositoryAccess) -> Repo:
    """Open the local copy of a repository, updated to at least the version of the target."""
    return app.copies.open(target.repository)


def open_latest(app: App, target: RepositoryAccess) -> Repo:
    """Open the local copy of a repository at the latest version, which may be newer than the target."""
    return app.copies.update(target.repository.id)


def resolve_commit(repo: Repo, target: RepositoryAccess, revision: str) -> str:
    """Return the commit a branch, a tag or a full or abbreviated id names; empty is the default branch."""
    resolved = refs.resolve(repo, revision, target.repository.default_branch)
    if resolved is not None:
        return resolved.commit
    commit = refs.rev_parse(repo, revision) if revision and not is_id(revision) else None
    if commit is None:
        raise NoSuchRevision(revision)
    return commit
