"""Members and public members of organizations."""

from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import OrganizationAccess
from holdfast.hosting.guards import (
    UserFromPath,
    in_its_organization,
    in_organization,
    of_user,
    owns_organization,
    person,
    signed_in,
)
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import members

__all__ = [
    "check_member",
    "check_public_member",
    "conceal_membership",
    "list_members",
    "list_public_members",
    "publicize_membership",
    "remove_member",
]

ABOUT_SOMEBODY: Final = (in_organization, signed_in, of_user, person)


def list_people(
    request: RequestContext, organization: OrganizationAccess, page: PageParams, *, publicly: bool
) -> PagedList[UserSchema]:
    """List the members of an organization, or only the public ones."""
    accounts, total = members.list_members(
        request.app, request.actor, organization, public_only=publicly, skip=page.skip, limit=page.size
    )
    return PagedList([user(request, account) for account in accounts], total)


@endpoint("GET /orgs/{org}/members", scope="organization", guards=(in_organization,), refuses=(404,))
def list_members(
    request: RequestContext, organization: OrganizationAccess, page: PageParams
) -> PagedList[UserSchema]:
    """List the members of an organization; non-members see only public members."""
    return list_people(request, organization, page, publicly=False)


@endpoint("GET /orgs/{org}/members/{username}", scope="organization", guards=ABOUT_SOMEBODY, refuses=(401, 404))
def check_member(request: RequestContext, organization: OrganizationAccess, subject: UserFromPath) -> None:
    """Respond with 204 if a user is a member that the caller may see, else 404."""
    if not members.is_member(request.app, request.actor, organization, subject.account):
        raise ApiError(404, "user is not a member of the organization")


@endpoint(
    "DELETE /orgs/{org}/members/{username}",
    scope="organization",
    guards=(in_organization, owns_organization, of_user, person),
    refuses=(401, 403, 404),
)
def remove_member(request: RequestContext, organization: OrganizationAccess, subject: UserFromPath) -> None:
    """Remove a member from an organization and all its teams."""
    members.remove(request.app, request.actor, organization, subject.account)


@endpoint("GET /orgs/{org}/public_members", scope="organization", guards=(in_organization,), refuses=(404,))
def list_public_members(
    request: RequestContext, organization: OrganizationAccess, page: PageParams
) -> PagedList[UserSchema]:
    """List the public members of an organization."""
    return list_people(request, organization, page, publicly=True)


@endpoint(
    "GET /orgs/{org}/public_members/{username}",
    scope="organization",
    guards=(in_organization, of_user, person),
    refuses=(404,),
)
def check_public_member(request: RequestContext, organization: OrganizationAccess, subject: UserFromPath) -> None:
    """Respond with 204 if a user is a public member, else 404."""
    if not members.is_member(request.app, request.actor, organization, subject.account, public_only=True):
        raise ApiError(404, "user is not a public member of the organization")


def only_oneself(request: RequestContext) -> None:
    """Require that the user in the path is the caller."""
    access.require_own_membership(request.actor, request.resolved(UserFromPath).account)


ONESELF: Final = (in_organization, in_its_organization, of_user, person, only_oneself)


@endpoint(
    "PUT /orgs/{org}/public_members/{username}", scope="organization", guards=ONESELF, refuses=(401, 403, 404)
)
def publicize_membership(request: RequestContext, organization: OrganizationAccess, subject: UserFromPath) -> None:
    """Publicize the caller's membership."""
    members.set_public(request.app, request.actor, organization, subject.account, is_public=True)


@endpoint(
    "DELETE /orgs/{org}/public_members/{username}", scope="organization", guards=ONESELF, refuses=(401, 403, 404)
)
def conceal_membership(request: RequestContext, organization: OrganizationAccess, subject: UserFromPath) -> None:
    """Conceal the caller's membership."""
    members.set_public(request.app, request.actor, organization, subject.account, is_public=False)
