"""Collaborators of a repository, and what somebody may do there."""

from typing import Final

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Mode, RepositoryAccess
from holdfast.hosting.errors import NoSuchUser
from holdfast.hosting.guards import administers, in_repository, signed_in
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.store import accounts, repositories
from holdfast.hosting.store import collaborators as store
from holdfast.hosting.store.accounts import Account

__all__ = [
    "add_collaborator",
    "check_collaborator",
    "list_collaborators",
    "remove_collaborator",
    "show_permission",
]

MODES: Final = {"": Mode.WRITE, "read": Mode.READ, "write": Mode.WRITE, "admin": Mode.ADMIN}


class AddCollaboratorOption(msgspec.Struct, frozen=True):
    """How much a collaborator may do: read, write or admin."""

    permission: str = ""


class RepoCollaboratorPermission(msgspec.Struct, frozen=True):
    """What somebody may do in a repository."""

    permission: str
    role_name: str
    user: UserSchema


def person(request: RequestContext, name: str, status: int) -> Account:
    """Find the user a path names."""
    try:
        return accounts.find_user(request.app.database, name)
    except NoSuchUser:
        raise ApiError(status, f"user does not exist [uid: 0, name: {name}]") from None


@endpoint(
    "GET /repos/{owner}/{repo}/collaborators",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403),
)
def list_collaborators(
    request: RequestContext, target: RepositoryAccess, page: PageParams
) -> PagedList[UserSchema]:
    """List the collaborators of a repository."""
    found, total = store.collaborators_of(request.app.database, target.repository, skip=page.skip, limit=page.size)
    return PagedList([user(request, account) for account in found], total)


@endpoint(
    "GET /repos/{owner}/{repo}/collaborators/{collaborator}",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403, 404, 422),
)
def check_collaborator(request: RequestContext, target: RepositoryAccess, collaborator: str) -> None:
    """Tell whether somebody is a collaborator."""
    if not store.is_collaborator(request.app.database, target.repository, person(request, collaborator, 422)):
        raise ApiError(404)


@endpoint(
    "PUT /repos/{owner}/{repo}/collaborators/{collaborator}",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403, 404, 422),
)
def add_collaborator(
    request: RequestContext, target: RepositoryAccess, collaborator: str, body: AddCollaboratorOption
) -> None:
    """Let somebody into a repository, or change how much they may do."""
    account = person(request, collaborator, 422)
    mode = MODES.get(body.permission)
    if mode is None:
        raise ApiError(422, "[Permission]: must be read, write or admin")
    if account.id == target.repository.owner.id:
        raise ApiError(422, "the owner of a repository cannot be its collaborator")
    store.set_collaborator(request.app.database, target.repository, account, mode)


@endpoint(
    "DELETE /repos/{owner}/{repo}/collaborators/{collaborator}",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403, 404, 422),
)
def remove_collaborator(request: RequestContext, target: RepositoryAccess, collaborator: str) -> None:
    """Send a collaborator out of a repository."""
    store.remove_collaborator(request.app.database, target.repository, person(request, collaborator, 422))


@endpoint(
    "GET /repos/{owner}/{repo}/collaborators/{collaborator}/permission",
    scope="repository",
    guards=(in_repository, signed_in),
    refuses=(401, 403, 404),
)
def show_permission(
    request: RequestContext, target: RepositoryAccess, collaborator: str
) -> RepoCollaboratorPermission:
    """Tell what somebody may do: one's own rights, or anybody's for an administrator of the repository."""
    if collaborator.casefold() != request.user.name.casefold() and not target.permissions.is_admin:
        raise ApiError(
            403,
            "you may ask for your own permission; an administrator of the repository for everybody's",
        )
    account = person(request, collaborator, 404)
    grants = repositories.grants_of(request.app.database, account, target.repository)
    mode = access.repository_access(Actor(account), target.repository, grants).mode
    return RepoCollaboratorPermission(mode.word, mode.word, user(request, account))
