"""Collaborators of a repository, and the permissions of users."""

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.error_responses import error_status
from holdfast.hosting.errors import NoSuchAccount
from holdfast.hosting.guards import administers, in_repository, signed_in
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import collaborators

__all__ = [
    "add_collaborator",
    "check_collaborator",
    "list_collaborators",
    "remove_collaborator",
    "show_permission",
]


class AddCollaboratorOption(msgspec.Struct, frozen=True):
    """The permission of a collaborator: read, write or admin."""

    permission: str = ""


class RepoCollaboratorPermission(msgspec.Struct, frozen=True):
    """The permission of a user in a repository."""

    permission: str
    role_name: str
    user: UserSchema


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
    collaborator_page = collaborators.list_all(request.app, request.actor, target, skip=page.skip, limit=page.size)
    return PagedList([user(request, account) for account in collaborator_page.accounts], collaborator_page.total)


@endpoint(
    "GET /repos/{owner}/{repo}/collaborators/{collaborator}",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403, 404, 422),
)
def check_collaborator(request: RequestContext, target: RepositoryAccess, collaborator: str) -> None:
    """Respond with 204 if a user is a collaborator, else 404."""
    with error_status(422, NoSuchAccount):
        if not collaborators.is_collaborator(request.app, request.actor, target, collaborator):
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
    """Add a collaborator, or change their permission."""
    with error_status(422, NoSuchAccount):
        collaborators.add(request.app, request.actor, target, collaborator, body.permission)


@endpoint(
    "DELETE /repos/{owner}/{repo}/collaborators/{collaborator}",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403, 404, 422),
)
def remove_collaborator(request: RequestContext, target: RepositoryAccess, collaborator: str) -> None:
    """Remove a collaborator."""
    with error_status(422, NoSuchAccount):
        collaborators.remove(request.app, request.actor, target, collaborator)


@endpoint(
    "GET /repos/{owner}/{repo}/collaborators/{collaborator}/permission",
    scope="repository",
    guards=(in_repository, signed_in),
    refuses=(401, 403, 404),
)
def show_permission(
    request: RequestContext, target: RepositoryAccess, collaborator: str
) -> RepoCollaboratorPermission:
    """Show the permission of a user; only administrators of the repository may see that of others."""
    account, mode = collaborators.permission_of(request.app, request.actor, target, collaborator)
    return RepoCollaboratorPermission(mode.word, mode.word, user(request, account))
