"""Teams are listed for members of their organization, and changed by its owners."""

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor, Mode, OrganizationAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, LoginRequired, NoSuchTeam
from holdfast.hosting.services import organizations, teams
from holdfast.hosting.services.organizations import NewOrganization
from holdfast.hosting.store import accounts, members
from holdfast.secret import Secret

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


def test_a_team_is_of_one_organization_and_its_owners_add_members(app: App) -> None:
    """Another organization does not find it, and who is no owner adds nobody."""
    ada, ben = (accounts.create_user(app.database, name, Secret("correct horse")) for name in ("ada", "ben"))
    guild, band = (
        OrganizationAccess(organizations.create(app, Actor(ada), ada, NewOrganization(name=name)), Mode.OWNER)
        for name in ("guild", "band")
    )
    ((owners,), total) = teams.list_teams(app, Actor(ada), guild, skip=0, limit=9)
    assert (owners.name, total) == ("Owners", 1)
    assert teams.list_teams(app, Actor(ada), guild, "crew", skip=0, limit=9) == ([], 0)
    assert teams.find(app, Actor(ada), guild, owners.id) == owners
    with pytest.raises(NoSuchTeam):
        teams.find(app, Actor(ada), band, owners.id)
    member, stranger = (OrganizationAccess(guild.account, mode) for mode in (Mode.WRITE, Mode.READ))
    with pytest.raises(Forbidden):
        teams.add_member(app, Actor(ben), member, owners, ben)
    with pytest.raises(Forbidden):
        teams.list_teams(app, Actor(ben), stranger, skip=0, limit=9)
    with pytest.raises(Forbidden):
        teams.find(app, Actor(ben), stranger, owners.id)
    with pytest.raises(LoginRequired):
        teams.add_member(app, ANONYMOUS, guild, owners, ben)
    teams.add_member(app, Actor(ada), guild, owners, ben)
    assert members.is_in_team(app.database, owners.id, ben)
