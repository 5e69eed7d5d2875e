"""Teams of organizations: create, edit and delete them, and change their members and repositories."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Mode, OrganizationAccess, RepositoryAccess, TeamAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, InvalidValue, NoSuchRepository, NoSuchTeam, Permission
from holdfast.hosting.services import organizations, repository_search
from holdfast.hosting.services.fields import check_length, check_required
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.services.repository_search import RepositoryPage
from holdfast.hosting.services.retries import retry
from holdfast.hosting.store import accounts, members, repositories
from holdfast.hosting.store import teams as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.teams import NewTeam, Team

__all__ = [
    "TeamSettings",
    "add_member",
    "add_repository",
    "create",
    "delete",
    "edit",
    "find",
    "find_repository",
    "has_repository",
    "is_member",
    "list_members",
    "list_own",
    "list_repositories",
    "list_teams",
    "remove_member",
    "remove_repository",
    "require_read",
]

LONGEST_DESCRIPTION: Final = 255


class TeamSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a team; UNSET keeps the value, or means the default for a new team."""

    name: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mode: Mode | UnsetType = UNSET
    units: Mapping[Unit, Mode] | UnsetType = UNSET
    """The access mode per unit; if empty, `mode` applies to all units."""
    includes_all_repositories: bool | UnsetType = UNSET
    may_create_repositories: bool | UnsetType = UNSET


def list_teams(
    app: App,
    actor: Actor,
    organization: OrganizationAccess,
    text: str = "",
    *,
    in_description: bool = True,
    skip: int,
    limit: int,
) -> tuple[list[Team], int]:
    """Return one page of the teams of an organization whose name or description contains a text, and the total."""
    access.require_organization_member(actor, organization)
    return store.teams_of_organization(
        app.database, organization.account, text, in_description=in_description, skip=skip, limit=limit
    )


def list_own(app: App, actor: Actor, *, skip: int, limit: int) -> tuple[list[tuple[Team, Account]], int]:
    """Return one page of the teams the actor is in, with their organizations, and the total."""
    user = access.require_login(actor)
    return store.teams_of_user(app.database, user, publicly=actor.public_only, skip=skip, limit=limit)


def find(app: App, actor: Actor, team_id: int) -> TeamAccess:
    """Return a team by id; raise `NoSuchTeam` also if the actor does not belong to its organization."""
    access.require_login(actor)
    team = store.find_team(app.database, team_id)
    account = accounts.find_account(app.database, team.organization_id)
    organization = organizations.access_in(app, actor, account)
    if not access.is_member_mode(organization.mode):
        raise NoSuchTeam(f"team does not exist [id: {team_id}]")
    return TeamAccess(team, organization)


def require_read(app: App, actor: Actor, target: TeamAccess) -> None:
    """Raise `Forbidden` unless the actor is in the team or owns its organization."""
    user = access.require_login(actor)
    in_team = members.is_in_team(app.database, target.team.id, user)
    if not access.sees_team(target.organization.mode, in_team=in_team):
        raise Forbidden(Permission.TEAM_MEMBER)


def create(app: App, actor: Actor, organization: OrganizationAccess, settings: TeamSettings) -> Team:
    """Create a team."""
    access.require_organization_owner(actor, organization)
    check_required(settings.name or "", "Name")
    return store.create_team(app.database, organization.account, checked_team(None, settings))


def edit(app: App, actor: Actor, target: TeamAccess, changes: TeamSettings) -> Team:
    """Edit a team; raise `OwnersStay` for a change that the owners' team does not allow.

    The edit is applied to the current settings, so what another request has changed meanwhile is kept.
    """
    access.require_organization_owner(actor, target.organization)
    team = target.team

    def try_to_edit() -> Team:
        return store.change_team(app.database, team, checked_team(team, changes))

    def read_again() -> None:
        nonlocal team
        team = store.find_team(app.database, team.id)

    return retry(try_to_edit, before_next=read_again)


def checked_team(team: Team | None, settings: TeamSettings) -> NewTeam:
    """Validate settings, and return the team with them."""
    current = team or NewTeam(name="", mode=Mode.READ, units={})
    is_owners = team is not None and team.is_owners
    mode = current.mode if settings.mode is UNSET else settings.mode
    if mode == Mode.OWNER and not is_owners:
        raise InvalidValue("Permission", "only the team of the owners can have the permission owner")
    units = current.units
    if is_owners:
        units = {}
    elif settings.units:
        if Mode.OWNER in settings.units.values():
            raise InvalidValue("UnitsMap", "only the team of the owners can have the mode owner")
        units = {unit.value: int(unit_mode) for unit, unit_mode in settings.units.items()}
    elif settings.mode is not UNSET:
        units = dict.fromkeys(units, int(mode))
    description = current.description if settings.description is UNSET else settings.description
    check_length(description, "Description", LONGEST_DESCRIPTION)
    has_all, may_create = settings.includes_all_repositories, settings.may_create_repositories
    return NewTeam(
        name=settings.name or current.name,
        description=description,
        mode=mode,
        units=units,
        includes_all_repositories=current.includes_all_repositories if has_all is UNSET else has_all,
        may_create_repositories=current.may_create_repositories if may_create is UNSET else may_create,
    )


def delete(app: App, actor: Actor, target: TeamAccess) -> None:
    """Delete a team; members without another team leave the organization."""
    access.require_organization_owner(actor, target.organization)
    store.delete_team(app.database, target.team)


def list_members(
    app: App, actor: Actor, target: TeamAccess, *, skip: int, limit: int
) -> tuple[list[Account], int]:
    """Return one page of the members of a team, by name, and the total."""
    require_read(app, actor, target)
    return members.team_members_of(app.database, target.team.id, skip=skip, limit=limit)


def is_member(app: App, actor: Actor, target: TeamAccess, user: Account) -> bool:
    """Return whether a user is in a team."""
    require_read(app, actor, target)
    return members.is_in_team(app.database, target.team.id, user)


def add_member(app: App, actor: Actor, target: TeamAccess, user: Account) -> None:
    """Add a user to a team, and so to its organization."""
    access.require_organization_owner(actor, target.organization)
    members.join_team(app.database, target.team.organization_id, target.team.id, user)


def remove_member(app: App, actor: Actor, target: TeamAccess, user: Account) -> None:
    """Remove a user from a team, and from its organization if it was their last team there."""
    access.require_organization_owner(actor, target.organization)
    members.leave_team(app.database, target.team.organization_id, target.team.id, user)


def list_repositories(app: App, actor: Actor, target: TeamAccess, *, skip: int, limit: int) -> RepositoryPage:
    """Return one page of the repositories of a team that the actor may see."""
    require_read(app, actor, target)
    conditions = (store.its_repositories(target.team),)
    return repository_search.list_visible(app, actor, conditions, skip=skip, limit=limit)


def find_repository(app: App, actor: Actor, target: TeamAccess, name: str) -> RepositoryAccess:
    """Return a repository of the team's organization by name; raise `NoSuchRepository` for an invisible one."""
    repository = repositories.find_repository(app.database, target.organization.account.name, name)
    permissions = permissions_in(app, actor, repository)
    if permissions.mode == Mode.NONE:
        raise NoSuchRepository("")
    return RepositoryAccess(repository, permissions)


def has_repository(app: App, actor: Actor, target: TeamAccess, repository: RepositoryAccess) -> bool:
    """Return whether a team has access to a repository."""
    require_read(app, actor, target)
    return store.has_repository(app.database, target.team, repository.repository.id)


def add_repository(app: App, actor: Actor, target: TeamAccess, repository: RepositoryAccess) -> None:
    """Give a team access to a repository of its organization."""
    require_repository_teams(app, actor, target, repository)
    store.give_repository(app.database, target.team, repository.repository.id)


def remove_repository(app: App, actor: Actor, target: TeamAccess, repository: RepositoryAccess) -> None:
    """Remove a team's access to a repository; a team with access to all repositories keeps it."""
    require_repository_teams(app, actor, target, repository)
    store.take_repository(app.database, target.team, repository.repository.id)


def require_repository_teams(app: App, actor: Actor, target: TeamAccess, repository: RepositoryAccess) -> None:
    """Raise an error unless the actor may change which teams have access to the repository."""
    require_read(app, actor, target)
    organization = target.organization
    if repository.repository.owner.id != organization.account.id:
        raise NoSuchRepository("")
    if not access.may_manage_team_repositories(organization.account, organization.mode, repository.permissions):
        raise Forbidden(Permission.TEAM_REPOSITORIES)
