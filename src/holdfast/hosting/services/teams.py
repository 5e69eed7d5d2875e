"""Teams of organizations: list them, find one, and add members."""

from holdfast.hosting.access import (
    Actor,
    OrganizationAccess,
    require_organization_member,
    require_organization_owner,
)
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchTeam
from holdfast.hosting.store import members, teams
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.teams import Team

__all__ = ["add_member", "find", "list_teams"]


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
    """Return one page of the teams of an organization whose name or description has a text, and their number."""
    require_organization_member(actor, organization)
    return teams.teams_of_organization(
        app.database, organization.account, text, in_description=in_description, skip=skip, limit=limit
    )


def find(app: App, actor: Actor, organization: OrganizationAccess, team_id: int) -> Team:
    """Return a team of an organization."""
    require_organization_member(actor, organization)
    team = teams.find_team(app.database, team_id)
    if team.organization_id != organization.account.id:
        raise NoSuchTeam("not found")
    return team


def add_member(app: App, actor: Actor, organization: OrganizationAccess, team: Team, user: Account) -> None:
    """Add a user to a team, and so to its organization."""
    require_organization_owner(actor, organization)
    members.join_team(app.database, team.organization_id, team.id, user)
