"""Organizations: making, finding, changing and removing them, and whose they are."""

from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting import access
from holdfast.hosting.access import Caller, Mode
from holdfast.hosting.errors import NameTaken, StillInUse
from holdfast.hosting.guards import (
    Organization,
    Subject,
    in_organization,
    of_user,
    owns_organization,
    person,
    signed_in,
    site_admin,
)
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import Refusal, answering
from holdfast.hosting.http.pagination import Listed, Page
from holdfast.hosting.schemas import organizations as shapes
from holdfast.hosting.schemas.organizations import Link, Visibility, organization
from holdfast.hosting.store import accounts
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
    "name_taken",
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
    """What to change; a key that is absent keeps its value."""

    full_name: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    email: Annotated[str, Meta(max_length=254)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=255)] | UnsetType = UNSET
    website: Link | UnsetType = UNSET
    location: Annotated[str, Meta(max_length=50)] | UnsetType = UNSET
    visibility: Visibility | UnsetType = UNSET
    repo_admin_change_team_access: bool | UnsetType = UNSET


class RenameOrgOption(msgspec.Struct, frozen=True):
    """Another name."""

    new_name: Annotated[str, Meta(max_length=40), Required] = ""


class OrganizationPermissions(msgspec.Struct, frozen=True):
    """What somebody may do in an organization."""

    is_owner: bool
    is_admin: bool
    can_write: bool
    can_read: bool
    can_create_repository: bool


COLUMNS: Final = {
    "full_name": "full_name",
    "email": "email",
    "description": "description",
    "website": "website",
    "location": "location",
    "visibility": "visibility",
    "repo_admin_change_team_access": "repository_admins_change_teams",
}


def columns_of(body: CreateOrgOption | EditOrgOption) -> dict[str, str | bool]:
    """Return the columns a body sets; an empty visibility sets none."""
    given = {column: getattr(body, field) for field, column in COLUMNS.items()}
    return {
        column: value
        for column, value in given.items()
        if value is not UNSET and not (column == "visibility" and not value)
    }


def name_taken(name: str) -> Refusal:
    """Say that a name is taken, in the words clients look for."""
    return Refusal(422, f"user already exists [name: {name}]")


def make(call: Call, owner: Account, body: CreateOrgOption) -> shapes.Organization:
    """Make an organization for somebody."""
    try:
        made = store.create_organization(call.host.database, owner, body.username, **columns_of(body))
    except NameTaken:
        raise name_taken(body.username) from None
    return organization(call, made)


@endpoint("POST /orgs", scope="organization", guards=(signed_in,), status=201, refuses=(401, 403, 422))
def create_organization(call: Call, body: CreateOrgOption) -> shapes.Organization:
    """Make an organization; the caller is its first owner."""
    if not access.may_create_organizations(call.caller):
        raise Refusal(403, "you may not create organizations; ask an administrator")
    return make(call, call.user, body)


@endpoint(
    "POST /admin/users/{username}/orgs",
    scope="admin",
    guards=(site_admin, of_user, person),
    status=201,
    refuses=(401, 403, 404, 422),
)
def create_organization_for(call: Call, subject: Subject, body: CreateOrgOption) -> shapes.Organization:
    """Make an organization whose first owner is somebody else."""
    return make(call, subject.account, body)


@endpoint("GET /orgs", scope="organization", slow=True)
def list_organizations(call: Call, page: Page) -> Listed[shapes.Organization]:
    """List the organizations the caller may know of."""
    shown = store.visible_to(call.caller.user, public_only=call.caller.public_only)
    found, total = store.list_organizations(call.host.database, shown, skip=page.skip, limit=page.size)
    return Listed([organization(call, account) for account in found], total)


@endpoint("GET /admin/orgs", scope="admin", guards=(site_admin,), refuses=(401, 403), slow=True)
def list_all_organizations(call: Call, page: Page) -> Listed[shapes.Organization]:
    """List every organization."""
    return list_organizations.run(call, page)  # type: ignore[return-value]


@endpoint("GET /user/orgs", scope=("user", "organization"), guards=(signed_in,), refuses=(401,))
def list_my_organizations(call: Call, page: Page) -> Listed[shapes.Organization]:
    """List the organizations the caller belongs to."""
    return belonging(call, call.user, page)


@endpoint("GET /users/{username}/orgs", scope=("user", "organization"), guards=(of_user, person), refuses=(404,))
def list_organizations_of(call: Call, subject: Subject, page: Page) -> Listed[shapes.Organization]:
    """List the organizations somebody belongs to, as far as the caller may know."""
    return belonging(call, subject.account, page)


def belonging(call: Call, user: Account, page: Page) -> Listed[shapes.Organization]:
    """List the organizations somebody belongs to."""
    caller = call.caller
    found, total = store.organizations_of(
        call.host.database,
        user,
        store.visible_to(caller.user, public_only=caller.public_only),
        asking=caller.user,
        skip=page.skip,
        limit=page.size,
    )
    return Listed([organization(call, account) for account in found], total)


@endpoint(
    "GET /users/{username}/orgs/{org}/permissions",
    scope=("user", "organization"),
    guards=(signed_in, of_user, person, in_organization),
    refuses=(401, 403, 404),
)
def show_organization_permissions(
    call: Call, subject: Subject, organization: Organization
) -> OrganizationPermissions:
    """Tell what somebody may do in an organization: the caller's own rights, or anybody's for administrators."""
    if not call.caller.is_admin and subject.account.id != call.user.id:
        raise Refusal(403, "only the user or an administrator may see these permissions")
    account, database = organization.account, call.host.database
    modes = store.team_modes(database, account, subject.account)
    mode = access.organization_access(Caller(subject.account), account, modes)
    if mode == Mode.NONE:
        raise Refusal(404)
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
def show_organization(call: Call, organization: Organization) -> shapes.Organization:
    """Show an organization."""
    return shapes.organization(call, organization.account)


OWNER: Final = (in_organization, owns_organization)


@endpoint("PATCH /orgs/{org}", scope="organization", guards=OWNER, refuses=(401, 403, 404, 422))
def edit_organization(call: Call, organization: Organization, body: EditOrgOption) -> shapes.Organization:
    """Change what an organization says about itself, and who may know of it."""
    changed = accounts.change_account(call.host.database, organization.account, **columns_of(body))
    return shapes.organization(call, changed)


@endpoint("POST /orgs/{org}/rename", scope="organization", guards=OWNER, status=204, refuses=(401, 403, 404, 422))
def rename_organization(call: Call, organization: Organization, body: RenameOrgOption) -> None:
    """Give an organization another name; the old one leads to it until somebody takes it."""
    try:
        accounts.rename_account(call.host.database, organization.account, body.new_name)
    except NameTaken:
        raise name_taken(body.new_name) from None


@endpoint("DELETE /orgs/{org}", scope="organization", guards=OWNER, refuses=(401, 403, 404, 409))
def delete_organization(call: Call, organization: Organization) -> None:
    """Remove an organization; it must own no repositories any more, so that none are lost by the way."""
    with answering(409, StillInUse):
        store.delete_organization(call.host.database, organization.account)
