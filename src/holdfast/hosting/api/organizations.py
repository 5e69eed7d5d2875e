"""Organizations."""

from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Mode, OrganizationAccess
from holdfast.hosting.guards import (
    UserFromPath,
    in_organization,
    of_user,
    owns_organization,
    person,
    signed_in,
    site_admin,
)
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas import organizations as schemas
from holdfast.hosting.schemas.organizations import Link, Visibility
from holdfast.hosting.services import organizations
from holdfast.hosting.store import organizations as store
from holdfast.hosting.store.accounts import Account

__all__ = [
    "create_organization",
    "create_organization_for",
    "delete_organization",
    "edit_organization",
    "list_all_organizations",
    "list_my_organizations",
    "list_organizations",
    "list_organizations_of",
    "rename_organization",
    "show_organization",
    "show_organization_permissions",
]


class CreateOrgOption(msgspec.Struct, frozen=True):
    """A new organization."""

    username: Annotated[str, Meta(max_length=40, title="UserName"), Required] = ""
    full_name: Annotated[str, Meta(max_length=100)] = ""
    email: Annotated[str, Meta(max_length=254)] = ""
    description: Annotated[str, Meta(max_length=255)] = ""
    website: Link = ""
    location: Annotated[str, Meta(max_length=50)] = ""
    visibility: Visibility = ""
    repo_admin_change_team_access: bool = False


class EditOrgOption(msgspec.Struct, frozen=True):
    """Changes; an absent key keeps the value."""

    full_name: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    email: Annotated[str, Meta(max_length=254)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=255)] | UnsetType = UNSET
    website: Link | UnsetType = UNSET
    location: Annotated[str, Meta(max_length=50)] | UnsetType = UNSET
    visibility: Visibility | UnsetType = UNSET
    repo_admin_change_team_access: bool | UnsetType = UNSET


class RenameOrgOption(msgspec.Struct, frozen=True):
    """The new name of an organization."""

    new_name: Annotated[str, Meta(max_length=40), Required] = ""


class OrganizationPermissions(msgspec.Struct, frozen=True):
    """The permissions of a user in an organization."""

    is_owner: bool
    is_admin: bool
    can_write: bool
    can_read: bool
    can_create_repository: bool


def make(request: RequestContext, owner: Account, body: CreateOrgOption) -> schemas.OrganizationSchema:
    """Create an organization with its first owner."""
    new_organization = organizations.NewOrganization(
        name=body.username,
        full_name=body.full_name,
        email=body.email,
        description=body.description,
        website=body.website,
        location=body.location,
        visibility=body.visibility,
        repository_admins_change_teams=body.repo_admin_change_team_access,
    )
    return schemas.organization(request, organizations.create(request.app, request.actor, owner, new_organization))


@endpoint("POST /orgs", scope="organization", guards=(signed_in,), status=201, refuses=(401, 403, 422))
def create_organization(request: RequestContext, body: CreateOrgOption) -> schemas.OrganizationSchema:
    """Create an organization, owned by the authenticated user."""
    return make(request, request.user, body)


@endpoint(
    "POST /admin/users/{username}/orgs",
    scope="admin",
    guards=(site_admin, of_user, person),
    status=201,
    refuses=(401, 403, 404, 422),
)
def create_organization_for(
    request: RequestContext, subject: UserFromPath, body: CreateOrgOption
) -> schemas.OrganizationSchema:
    """Create an organization owned by another user."""
    return make(request, subject.account, body)


@endpoint("GET /orgs", scope="organization", slow=True)
def list_organizations(request: RequestContext, page: PageParams) -> PagedList[schemas.OrganizationSchema]:
    """List the organizations that the caller may see."""
    return visible(request, page)


@endpoint("GET /admin/orgs", scope="admin", guards=(site_admin,), refuses=(401, 403), slow=True)
def list_all_organizations(request: RequestContext, page: PageParams) -> PagedList[schemas.OrganizationSchema]:
    """List all organizations."""
    return visible(request, page)


def visible(request: RequestContext, page: PageParams) -> PagedList[schemas.OrganizationSchema]:
    """List the organizations that the actor may see."""
    accounts, total = organizations.list_organizations(request.app, request.actor, skip=page.skip, limit=page.size)
    return PagedList([schemas.organization(request, account) for account in accounts], total)


@endpoint("GET /user/orgs", scope=("user", "organization"), guards=(signed_in,), refuses=(401,))
def list_my_organizations(request: RequestContext, page: PageParams) -> PagedList[schemas.OrganizationSchema]:
    """List the organizations of the authenticated user."""
    return belonging(request, request.user, page)


@endpoint("GET /users/{username}/orgs", scope=("user", "organization"), guards=(of_user, person), refuses=(404,))
def list_organizations_of(
    request: RequestContext, subject: UserFromPath, page: PageParams
) -> PagedList[schemas.OrganizationSchema]:
    """List the organizations of a user that the caller may see."""
    return belonging(request, subject.account, page)


def belonging(request: RequestContext, user: Account, page: PageParams) -> PagedList[schemas.OrganizationSchema]:
    """List the organizations a user belongs to."""
    accounts, total = organizations.list_of_user(request.app, request.actor, user, skip=page.skip, limit=page.size)
    return PagedList([schemas.organization(request, account) for account in accounts], total)


@endpoint(
    "GET /users/{username}/orgs/{org}/permissions",
    scope=("user", "organization"),
    guards=(signed_in, of_user, person, in_organization),
    refuses=(401, 403, 404),
)
def show_organization_permissions(
    request: RequestContext, subject: UserFromPath, organization: OrganizationAccess
) -> OrganizationPermissions:
    """Show the permissions of a user in an organization: one's own, or anybody's for site administrators."""
    if not request.actor.is_admin and subject.account.id != request.user.id:
        raise ApiError(403, "only the user or an administrator may see these permissions")
    account, database = organization.account, request.app.database
    modes = store.team_modes(database, account, subject.account)
    mode = access.organization_access(Actor(subject.account), account, modes)
    if mode == Mode.NONE:
        raise ApiError(404)
    level = access.level_in_teams(mode, modes)
    return OrganizationPermissions(
        is_owner=level >= Mode.OWNER,
        is_admin=level >= Mode.ADMIN,
        can_write=level >= Mode.WRITE,
        can_read=level >= Mode.READ,
        can_create_repository=level >= Mode.OWNER
        or store.may_create_repositories(database, account, subject.account),
    )


@endpoint("GET /orgs/{org}", scope="organization", guards=(in_organization,), refuses=(404,))
def show_organization(request: RequestContext, organization: OrganizationAccess) -> schemas.OrganizationSchema:
    """Show an organization."""
    return schemas.organization(request, organization.account)


OWNER: Final = (in_organization, owns_organization)


@endpoint("PATCH /orgs/{org}", scope="organization", guards=OWNER, refuses=(401, 403, 404, 422))
def edit_organization(
    request: RequestContext, organization: OrganizationAccess, body: EditOrgOption
) -> schemas.OrganizationSchema:
    """Edit the profile and visibility of an organization."""
    changes = organizations.OrganizationEdit(
        full_name=body.full_name,
        email=body.email,
        description=body.description,
        website=body.website,
        location=body.location,
        visibility=body.visibility,
        repository_admins_change_teams=body.repo_admin_change_team_access,
    )
    return schemas.organization(request, organizations.edit(request.app, request.actor, organization, changes))


@endpoint("POST /orgs/{org}/rename", scope="organization", guards=OWNER, status=204, refuses=(401, 403, 404, 422))
def rename_organization(request: RequestContext, organization: OrganizationAccess, body: RenameOrgOption) -> None:
    """Rename an organization; the old name redirects to the new one until it is taken."""
    organizations.rename(request.app, request.actor, organization, body.new_name)


@endpoint("DELETE /orgs/{org}", scope="organization", guards=OWNER, refuses=(401, 403, 404, 409))
def delete_organization(request: RequestContext, organization: OrganizationAccess) -> None:
    """Delete an organization; it must not own repositories, so that none is lost."""
    organizations.delete(request.app, request.actor, organization)
