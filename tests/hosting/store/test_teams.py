"""Teams in the database."""

import pytest

from holdfast.hosting.errors import InvalidValue, NoSuchTeam, NoSuchUser, OwnersStay, TeamTaken
from holdfast.hosting.store import accounts, members, organizations, teams
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.teams import NewTeam


@pytest.fixture
def guild(database: Database) -> Account:
    """Make an organization."""
    return organizations.create_organization(database, accounts.find_user(database, "admin"), "guild")


def test_a_team_is_stored_with_its_units(database: Database, guild: Account) -> None:
    """The mode of a team with modes in units is the lowest of those that are more than none."""
    team = teams.create_team(
        database, guild, NewTeam(name="One", mode=2, units={"repo.code": 2, "repo.wiki": 0, "repo.issues": 1})
    )
    assert (team.mode, dict(team.units)) == (1, {"repo.code": 2, "repo.issues": 1, "repo.wiki": 0})
    assert teams.find_team(database, team.id) == team


def test_a_team_that_looks_after_repositories_has_no_modes_in_units(database: Database, guild: Account) -> None:
    """A team in admin mode has no units, and admin mode in a unit gives write mode at most."""
    admins = teams.create_team(database, guild, NewTeam(name="admins", mode=3, units={"repo.code": 1}))
    assert (admins.mode, dict(admins.units)) == (3, {})
    clerks = teams.create_team(database, guild, NewTeam(name="clerks", mode=1, units={"repo.code": 3}))
    assert (clerks.mode, dict(clerks.units)) == (2, {"repo.code": 3})


def test_names_differ_by_more_than_case(database: Database, guild: Account) -> None:
    """A team cannot be created or renamed with a name of its organization in another case."""
    team = teams.create_team(database, guild, NewTeam(name="one", mode=1, units={}))
    with pytest.raises(TeamTaken, match="already exists"):
        teams.create_team(database, guild, NewTeam(name="ONE", mode=1, units={}))
    with pytest.raises(TeamTaken):
        teams.change_team(database, team, NewTeam(name="owners", mode=1, units={}))
    with pytest.raises(InvalidValue, match="a team name must be"):
        teams.change_team(database, team, NewTeam(name="", mode=1, units={}))
    other = organizations.create_organization(database, accounts.find_user(database, "admin"), "other")
    assert teams.create_team(database, other, NewTeam(name="one", mode=1, units={})).name == "one"


def test_a_deleted_team_is_not_found(database: Database, guild: Account) -> None:
    """A deleted team can be neither found, changed nor joined, also with an object that was read before."""
    admin = accounts.find_user(database, "admin")
    team = teams.create_team(database, guild, NewTeam(name="one", mode=1, units={}))
    teams.delete_team(database, team)
    with pytest.raises(NoSuchTeam):
        teams.find_team(database, team.id)
    with pytest.raises(NoSuchTeam):
        teams.change_team(database, team, NewTeam(name="two", mode=1, units={"repo.code": 1}))
    with pytest.raises(NoSuchTeam):
        teams.give_repository(database, team, 1)
    with pytest.raises(NoSuchUser):
        members.join_team(database, guild.id, team.id, admin)
    organizations.delete_organization(database, guild)
    with pytest.raises(NoSuchUser):
        teams.create_team(database, guild, NewTeam(name="two", mode=1, units={}))


def test_the_owners_cannot_be_deleted(database: Database, guild: Account) -> None:
    """The owners' team cannot be deleted, as the organization would have no owner."""
    (owners,), _ = teams.teams_of_organization(database, guild, skip=0, limit=1)
    with pytest.raises(OwnersStay):
        teams.delete_team(database, owners)
    assert teams.find_team(database, owners.id) == owners
