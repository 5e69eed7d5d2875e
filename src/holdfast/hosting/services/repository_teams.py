"""Teams with access to an organization's repository: list, add and remove them."""

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    NoSuchTeam,
    NoTeams,
    Permission,
    TeamHasRepository,
    TeamLacksRepository,
)
from holdfast.hosting.services import organizations
from holdfast.hosting.store import teams as store
from holdfast.hosting.store.teams import Team

__all__ = ["add", "find", "list_teams", "remove"]


def require_member(app: App, actor: Actor, target: RepositoryAccess) -> None:
    """Raise an error unless the owner is an organization whose teams the actor may see."""
    access.require_login(actor)
    owner = target.repository.owner
    if not owner.is_organization:
        raise NoTeams(target.repository.full_name)
    organization = organizations.access_in(app, actor, owner)
    if not access.is_member_mode(organization.mode) and not target.permissions.is_admin:
        raise NoSuchTeam("not found")


def require_change(app: App, actor: Actor, target: RepositoryAccess) -> None:
    """Raise an error unless the actor may change which teams have access to the repository."""
    require_member(app, actor, target)
    owner = target.repository.owner
    mode = organizations.access_in(app, actor, owner).mode
    if not access.may_manage_team_repositories(owner, mode, target.permissions):
        raise Forbidden(Permission.TEAM_REPOSITORIES)


def list_teams(
    app: App, actor: Actor, target: RepositoryAccess, *, skip: int, limit: int
) -> tuple[list[Team], int]:
    """Return one page of the teams with access to a repository, and the total; only for organization members."""
    require_member(app, actor, target)
    repository = target.repository
    return store.teams_with_repository(app.database, repository.owner, repository.id, skip=skip, limit=limit)


def find(app: App, actor: Actor, target: RepositoryAccess, name: str) -> Team:
    """Return a team with access to a repository by name."""
    require_member(app, actor, target)
    team = store.team_named(app.database, target.repository.owner, name)
    if not store.has_repository(app.database, team, target.repository.id):
        raise NoSuchTeam(f"team does not exist [name: {name}]")
    return team


def add(app: App, actor: Actor, target: RepositoryAccess, name: str) -> None:
    """Give a team of the organization access to a repository; raise `TeamHasRepository` if it already has it."""
    require_change(app, actor, target)
    team = store.team_named(app.database, target.repository.owner, name)
    if store.has_repository(app.database, team, target.repository.id):
        raise TeamHasRepository(team.name)
    store.give_repository(app.database, team, target.repository.id)


def remove(app: App, actor: Actor, target: RepositoryAccess, name: str) -> None:
    """Remove a team's access to a repository; raise `TeamLacksRepository` if it has none."""
    require_change(app, actor, target)
    team = store.team_named(app.database, target.repository.owner, name)
    if not store.has_repository(app.database, team, target.repository.id):
        raise TeamLacksRepository(team.name)
    store.take_repository(app.database, team, target.repository.id)
