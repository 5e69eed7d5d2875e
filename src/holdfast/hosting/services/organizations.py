"""Organizations: list, create, edit, rename and delete them."""

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict
from sqlalchemy import Connection

from holdfast.hosting.access import (
    Actor,
    OrganizationAccess,
    organization_access,
    require_organization_creator,
    require_organization_owner,
)
from holdfast.hosting.app import App
from holdfast.hosting.services.fields import check_required
from holdfast.hosting.services.users import check_profile
from holdfast.hosting.store import accounts
from holdfast.hosting.store import organizations as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.forks import hide_forks_of_owner

__all__ = [
    "NewOrganization",
    "OrganizationEdit",
    "access_in",
    "create",
    "delete",
    "edit",
    "list_of_user",
    "list_organizations",
    "rename",
]


class OrganizationEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to an organization; UNSET and an empty visibility keep the value."""

    full_name: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    website: str | UnsetType = UNSET
    location: str | UnsetType = UNSET
    visibility: str | UnsetType = UNSET
    repository_admins_change_teams: bool | UnsetType = UNSET


class NewOrganization(OrganizationEdit, frozen=True, kw_only=True):
    """An organization to create."""

    name: str


def access_in(app: App, actor: Actor, account: Account) -> OrganizationAccess:
    """Return an organization with the actor's permissions."""
    modes = () if actor.user is None else store.team_modes(app.database, account, actor.user)
    return OrganizationAccess(account, organization_access(actor, account, modes))


def list_organizations(app: App, actor: Actor, *, skip: int, limit: int) -> tuple[list[Account], int]:
    """Return one page of the organizations the actor may see, by name, and the total."""
    visible = store.visible_to(actor.user, public_only=actor.public_only)
    return store.list_organizations(app.database, visible, skip=skip, limit=limit)


def list_of_user(app: App, actor: Actor, user: Account, *, skip: int, limit: int) -> tuple[list[Account], int]:
    """Return one page of a user's organizations that are visible to the actor, and the total."""
    visible = store.visible_to(actor.user, public_only=actor.public_only)
    return store.organizations_of(app.database, user, visible, asking=actor.user, skip=skip, limit=limit)


def create(app: App, actor: Actor, owner: Account, new_organization: NewOrganization) -> Account:
    """Create an organization with its first owner; only site administrators may create one for another user."""
    require_organization_creator(actor, owner)
    check_required(new_organization.name, "UserName")
    return store.create_organization(
        app.database, owner, new_organization.name, **checked_columns(new_organization)
    )


def edit(app: App, actor: Actor, organization: OrganizationAccess, changes: OrganizationEdit) -> Account:
    """Edit the profile of an organization."""
    require_organization_owner(actor, organization)
    columns = checked_columns(changes)

    def hide_forks(connection: Connection) -> None:
        if columns.get("visibility") == "private":
            hide_forks_of_owner(connection, organization.account)

    return accounts.change_account(app.database, organization.account, within=hide_forks, **columns)


def rename(app: App, actor: Actor, organization: OrganizationAccess, name: str) -> Account:
    """Rename an organization; the old name redirects to the new one until it is taken."""
    require_organization_owner(actor, organization)
    check_required(name, "NewName")
    return accounts.rename_account(app.database, organization.account, name)


def delete(app: App, actor: Actor, organization: OrganizationAccess) -> None:
    """Delete an organization with its teams; raise `OrganizationInUse` while it owns repositories."""
    require_organization_owner(actor, organization)
    store.delete_organization(app.database, organization.account)


def checked_columns(organization_edit: OrganizationEdit) -> dict[str, str | bool]:
    """Check the profile of an organization, and return the columns it sets."""
    columns = {
        name: value for name, value in asdict(organization_edit).items() if value is not UNSET and name != "name"
    }
    if not columns.get("visibility"):
        columns.pop("visibility", None)
    check_profile(columns)
    return columns
