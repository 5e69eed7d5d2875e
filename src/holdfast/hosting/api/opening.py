"""Opening the git side of the repository a request is about."""

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.git import refs
from holdfast.hosting.git.encoding import is_id
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.errors import ApiError

__all__ = ["commit_named", "git_of"]


def git_of(request: RequestContext, target: RepositoryAccess) -> Repo:
    """Open a repository's folder; one that is not there is missed by opening it."""
    return open_repository(request.app.folders.path(target.repository.id))


def commit_named(repo: Repo, target: RepositoryAccess, name: str) -> str:
    """Return the commit a branch, a tag or a full or shortened id stands for; empty is the default branch."""
    found = refs.resolve(repo, name, target.repository.default_branch)
    if found is not None:
        return found.commit
    commit = refs.rev_parse(repo, name) if name and not is_id(name) else None
    if commit is None:
        raise ApiError(404, f"object does not exist [id: {name}, rel_path: ]")
    return commit
