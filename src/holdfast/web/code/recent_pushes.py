"""Recently pushed branches of the viewer, which the home page of a repository offers to compare."""

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import HostingError
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.encoding import raw, well_formed
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.store import pulls, repository_log
from holdfast.hosting.store.repositories import Repository, find_by_id
from holdfast.web.code.location import commit_by_id
from holdfast.web.repository_frame import root_path

__all__ = ["RecentPush", "recent_pushes"]

SECONDS: Final = 2 * 60 * 60
MOST_SHOWN: Final = 2
MOST_ENTRIES: Final = 20
BRANCHES: Final = "refs/heads/"


@dataclass(frozen=True, slots=True)
class RecentPush:
    """A branch that was pushed to, and the comparison that a pull request is opened from."""

    branch: str
    at: int
    address: str


def recent_pushes(request: RequestContext, target: RepositoryAccess, repo: Repo) -> list[RecentPush]:
    """Return the branches that the viewer pushed in the last hours and that have no open pull request."""
    user, repository = request.actor.user, target.repository
    if user is None or repository.is_archived or not target.permissions.may_read(Unit.PULLS):
        return []
    with request.app.database.read() as connection:
        entries = repository_log.log_entries(connection, repository.id, limit=MOST_ENTRIES)
    since = int(time.time()) - SECONDS
    # The newest entries come first.
    moved: dict[str, int] = {}
    for entry in entries:
        if entry.actor_id == user.id and entry.created_at >= since and entry.update.ref.startswith(BRANCHES):
            moved.setdefault(entry.update.ref.removeprefix(BRANCHES), entry.created_at)
    home = base_of(request, repository)
    default = repository.default_branch
    names = [name for name in moved if well_formed(name) == name and (name != default or home is not None)]
    newest = names[: MOST_SHOWN * 2]
    shown = [name for name in newest if is_new(request, repository, repo, name, home)]
    return [RecentPush(name, moved[name], compare_address(target, home, name)) for name in shown[:MOST_SHOWN]]


def base_of(request: RequestContext, repository: Repository) -> Repository | None:
    """Return the repository a fork is compared with, if the viewer may read its pull requests."""
    if repository.fork_of is None:
        return None
    parent = find_by_id(request.app.database, repository.fork_of)
    if parent is None or not permissions_in(request.app, request.actor, parent).may_read(Unit.PULLS):
        return None
    return parent


def is_new(
    request: RequestContext, repository: Repository, repo: Repo, name: str, home: Repository | None
) -> bool:
    """Return whether a branch exists, has commits of its own, and is not the head of an open pull request.

    A branch of a fork has none if its commit is in the parent, as after forking and updating the fork.
    """
    ref, default = refs.branch(repo, name), refs.branch(repo, repository.default_branch)
    if ref is None or pulls.is_open_head(request.app.database, repository.id, name):
        return False
    if home is not None:
        with suppress(HostingError):
            return commit_by_id(request.app.copies.open(home), ref.id) is None
        return False
    if default is None:
        return False
    with suppress(HostingError):
        return history.merge_base(repo, default.id, ref.id) != ref.id
    return False


def compare_address(target: RepositoryAccess, home: Repository | None, name: str) -> str:
    """Return the address of the comparison of a branch with the default branch."""
    if home is None:
        base = quote(raw(target.repository.default_branch), safe="/")
        return f"{root_path(target)}/compare/{base}...{quote(raw(name), safe='/')}"
    base = quote(raw(home.default_branch), safe="/")
    source = f"{quote(target.repository.owner.name)}:{quote(raw(name), safe='/')}"
    return f"/{quote(home.owner.name)}/{quote(home.name)}/compare/{base}...{source}"
