"""Trying a webhook out: it alone is told of a push to some repository that brought nothing new."""

import msgspec
from sqlalchemy import ColumnElement, true

from holdfast.hosting.errors import NoSuchRepository
from holdfast.hosting.git import refs
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.store import deliveries, repositories
from holdfast.hosting.store.hooks import Hook, HookOwner
from holdfast.hosting.store.pending_ref_updates import Move
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import repositories as table
from holdfast.hosting.webhooks.payloads.pushes import read_push

__all__ = ["TrialQuery", "try_push"]


class TrialQuery(msgspec.Struct, frozen=True):
    """What a trial is about: a branch, a tag or a commit, and a repository where a hook is told of several."""

    ref: str = ""
    repository: str = ""


def try_push(request: RequestContext, owner: HookOwner, hook: Hook, query: TrialQuery) -> None:
    """Let a hook be told of a push that left a ref where it is."""
    repository = chosen(request, owner, query.repository)
    if repository.is_empty:
        raise ApiError(404, "repository is empty")
    repo = open_repository(request.app.folders.existing(repository.id))
    found = refs.resolve(repo, query.ref.strip(), repository.default_branch)
    if found is None:
        raise ApiError(404, f"ref does not exist: {query.ref.strip() or repository.default_branch}")
    prefix = {"branch": "refs/heads/", "tag": "refs/tags/", "commit": ""}[found.kind]
    details: dict[str, object] = {
        "ref": prefix + found.name,
        "before": found.commit,
        "after": found.commit,
        "ref_type": "tag" if found.kind == "tag" else "branch",
    }
    deliveries.record_for_hook(
        request.app.database,
        hook.id,
        "push",
        is_active=hook.is_active,
        owner_id=repository.owner.id,
        repository_id=repository.id,
        actor_id=request.user.id,
        details=details,
        known=read_push(request.app, repository, Move(prefix + found.name, found.commit, found.commit)),
    )


def chosen(request: RequestContext, owner: HookOwner, name: str) -> Repository:
    """Return the repository a trial is about: the hook's, the one named, or the last one pushed to."""
    database = request.app.database
    if owner.kind == "repository":
        return repositories.repository_by_id(database, owner.number)
    within: list[ColumnElement[bool]] = [table.c.owner_id == owner.number if owner.kind == "owner" else true()]
    if name:
        owner_name, _, last = name.rpartition("/")
        within.append(table.c.folded_name == last.casefold())
        if owner_name:
            within.append(repositories.owned_by_name(owner_name))
        elif owner.kind == "service":
            raise ApiError(422, "[Repository]: must be an owner and a name, such as ada/notes")
    else:
        within.append(~table.c.is_empty)
    found, _ = repositories.list_repositories(database, within, sort="pushed", descending=True, skip=0, limit=1)
    if not found:
        if name:
            raise NoSuchRepository(f"repository does not exist: {name}")
        raise NoSuchRepository("there is no repository with commits to try it with")
    return found[0]
