"""Members of organizations: list and remove them, and publish or hide one's own membership."""

from holdfast.hosting.access import (
    Actor,
    OrganizationAccess,
    is_member_mode,
    require_organization_member,
    require_organization_owner,
    require_organization_read,
    require_own_membership,
)
from holdfast.hosting.app import App
from holdfast.hosting.store import members as store
from holdfast.hosting.store.accounts import Account

__all__ = ["is_member", "list_members", "remove", "set_public"]


def list_members(
    app: App, actor: Actor, organization: OrganizationAccess, *, public_only: bool = False, skip: int, limit: int
) -> tuple[list[Account], int]:
    """Return one page of the members, by name, and the total; non-members see the public ones only."""
    require_organization_read(actor, organization)
    publicly = public_only or not is_member_mode(organization.mode)
    return store.members_of(app.database, organization.account, publicly=publicly, skip=skip, limit=limit)


def is_member(
    app: App, actor: Actor, organization: OrganizationAccess, user: Account, *, public_only: bool = False
) -> bool:
    """Return whether a user is a member that the actor may see."""
    require_organization_read(actor, organization)
    is_self = actor.user is not None and actor.user.id == user.id
    publicly = public_only or not (is_member_mode(organization.mode) or is_self)
    return store.is_member(app.database, organization.account, user, publicly=publicly)


def remove(app: App, actor: Actor, organization: OrganizationAccess, user: Account) -> None:
    """Remove a user from all teams of an organization; raise `LastOwner` if no owner would be left."""
    require_organization_owner(actor, organization)
    store.leave_organization(app.database, organization.account, user)


def set_public(
    app: App, actor: Actor, organization: OrganizationAccess, user: Account, *, is_public: bool
) -> None:
    """Publish or hide the membership of the acting user."""
    require_organization_member(actor, organization)
    require_own_membership(actor, user)
    store.set_publicity(app.database, organization.account, user, publicly=is_public)
