"""Teams: permissions, validation and repositories."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from msgspec import UNSET

from holdfast.hosting.access import ANONYMOUS, Actor, Mode, OrganizationAccess, TeamAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidValue,
    LastOwner,
    LoginRequired,
    NoSuchRepository,
    NoSuchTeam,
    OwnersStay,
    OwnersTeamRequired,
    Permission,
    TeamTaken,
    Violation,
)
from holdfast.hosting.services import organizations, repositories, teams
from holdfast.hosting.services.organizations import NewOrganization
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.teams import TeamSettings
from holdfast.hosting.store import accounts, members
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@dataclass(frozen=True, slots=True)
class Guild:
    """An organization of ada's with the team "crew", in which ben is; eve belongs to another organization."""

    app: App
    account: Account
    ada: Actor
    ben: Actor
    eve: Actor
    crew_id: int

    @property
    def organization(self) -> OrganizationAccess:
        """The organization as its owner sees it."""
        return organizations.access_in(self.app, self.ada, self.account)

    def crew(self, actor: Actor) -> TeamAccess:
        """Return the team as a member of the organization sees it."""
        return teams.find(self.app, actor, self.crew_id)


@pytest.fixture
def guild(app: App) -> Guild:
    """Create the users, the organization and its team."""
    ada, ben, eve = (
        accounts.create_user(app.database, name, Secret("correct horse")) for name in ("ada", "ben", "eve")
    )
    account = organizations.create(app, Actor(ada), ada, NewOrganization(name="guild"))
    organization = organizations.access_in(app, Actor(ada), account)
    crew = teams.create(app, Actor(ada), organization, TeamSettings(name="crew", units={Unit.CODE: Mode.WRITE}))
    teams.add_member(app, Actor(ada), TeamAccess(crew, organization), ben)
    return Guild(app, account, Actor(ada), Actor(ben), Actor(eve), crew.id)


def test_only_owners_of_the_organization_change_a_team(guild: Guild) -> None:
    """Members of the team do not change it, and anonymous users have to log in."""
    app, crew, user = guild.app, guild.crew(guild.ben), guild.eve.user
    assert user is not None
    refused: tuple[Callable[[Actor], object], ...] = (
        lambda actor: teams.create(app, actor, crew.organization, TeamSettings(name="deck")),
        lambda actor: teams.edit(app, actor, crew, TeamSettings(mode=Mode.ADMIN)),
        lambda actor: teams.delete(app, actor, crew),
        lambda actor: teams.add_member(app, actor, crew, user),
        lambda actor: teams.remove_member(app, actor, crew, user),
    )
    for call in refused:
        with pytest.raises(LoginRequired):
            call(ANONYMOUS)
        with pytest.raises(Forbidden) as excinfo:
            call(guild.ben)
        assert excinfo.value.permission == Permission.ORGANIZATION_OWNER
    assert guild.crew(guild.ada).team == crew.team


def test_a_team_is_found_by_members_of_its_organization(guild: Guild) -> None:
    """Other users do not find the team, and members of the organization see only members of their own teams."""
    app = guild.app
    with pytest.raises(LoginRequired):
        teams.find(app, ANONYMOUS, guild.crew_id)
    with pytest.raises(NoSuchTeam):
        guild.crew(guild.eve)
    ((owners, _), total) = teams.list_teams(app, guild.ben, guild.organization, skip=0, limit=9)
    assert (owners.name, total) == ("Owners", 2)
    assert teams.list_teams(app, guild.ada, guild.organization, "dock", skip=0, limit=9) == ([], 0)
    stranger = OrganizationAccess(guild.account, Mode.READ)
    with pytest.raises(Forbidden):
        teams.list_teams(app, guild.eve, stranger, skip=0, limit=9)
    with pytest.raises(Forbidden) as excinfo:
        teams.list_members(app, guild.ben, teams.find(app, guild.ben, owners.id), skip=0, limit=9)
    assert excinfo.value.permission == Permission.TEAM_MEMBER
    listed, _ = teams.list_members(app, guild.ben, guild.crew(guild.ben), skip=0, limit=9)
    assert [person.name for person in listed] == ["ben"]
    (((own, account),), _) = teams.list_own(app, guild.ben, skip=0, limit=9)
    assert (own.id, account) == (guild.crew_id, guild.account)


def test_the_settings_of_a_team_are_checked(guild: Guild) -> None:
    """Invalid settings are refused and change nothing, and the team of the owners cannot be edited or deleted."""
    app, crew = guild.app, guild.crew(guild.ada)
    for settings, error in (
        (TeamSettings(name="OWNERS"), TeamTaken),
        (TeamSettings(name="a b"), InvalidValue),
        (TeamSettings(description="x" * 256), InvalidField),
        (TeamSettings(mode=Mode.OWNER), InvalidValue),
        (TeamSettings(units={Unit.CODE: Mode.OWNER}), InvalidValue),
    ):
        with pytest.raises(error):
            teams.edit(app, guild.ada, crew, settings)
        with pytest.raises((error, InvalidField)):
            teams.create(app, guild.ada, crew.organization, settings)
    for name in ("", UNSET):
        with pytest.raises(InvalidField) as excinfo:
            teams.create(app, guild.ada, crew.organization, TeamSettings(name=name))
        assert (excinfo.value.field, excinfo.value.violation) == ("Name", Violation.REQUIRED)
    assert guild.crew(guild.ada) == crew
    ((owners, _), _) = teams.list_teams(app, guild.ada, guild.organization, skip=0, limit=9)
    with pytest.raises(OwnersStay):
        teams.edit(app, guild.ada, TeamAccess(owners, guild.organization), TeamSettings(mode=Mode.WRITE))
    with pytest.raises(OwnersTeamRequired):
        teams.delete(app, guild.ada, TeamAccess(owners, guild.organization))


def test_an_edit_changes_what_is_given(guild: Guild) -> None:
    """A mode without units applies to the units that the team has.

    Deleting the team ends the membership of a user who is in no other one.
    """
    app, crew = guild.app, guild.crew(guild.ada)
    edited = teams.edit(app, guild.ada, crew, TeamSettings(description="On board"))
    assert (edited.name, edited.description, edited.units) == ("crew", "On board", {"repo.code": Mode.WRITE})
    assert teams.edit(app, guild.ada, guild.crew(guild.ada), TeamSettings(mode=Mode.READ)).units == {
        "repo.code": Mode.READ
    }
    teams.delete(app, guild.ada, guild.crew(guild.ada))
    assert guild.ben.user is not None
    assert not members.is_member(app.database, guild.account, guild.ben.user)


def test_an_edit_keeps_what_another_request_has_changed(guild: Guild) -> None:
    """A team that lost write access does not get it back by an edit of its description."""
    app, crew = guild.app, guild.crew(guild.ada)
    teams.edit(app, guild.ada, crew, TeamSettings(mode=Mode.READ, may_create_repositories=True))
    edited = teams.edit(app, guild.ada, crew, TeamSettings(description="On board"))
    assert (edited.description, edited.may_create_repositories) == ("On board", True)
    assert edited.units == {"repo.code": Mode.READ}
    teams.delete(app, guild.ada, crew)
    with pytest.raises(NoSuchTeam):
        teams.edit(app, guild.ada, crew, TeamSettings(description="Ashore"))


def test_a_team_is_not_shown_to_members_of_other_teams(guild: Guild) -> None:
    """Neither its members nor its repositories are, and nobody learns whether something is among them."""
    app = guild.app
    assert guild.ada.user is not None
    repositories.create(app, guild.account, guild.ada.user, NewRepository(name="ship"))
    ((owners, _), _) = teams.list_teams(app, guild.ben, guild.organization, skip=0, limit=9)
    team = teams.find(app, guild.ben, owners.id)
    ship, ada = teams.find_repository(app, guild.ben, team, "ship"), guild.ada.user
    calls: tuple[Callable[[Actor], object], ...] = (
        lambda actor: teams.is_member(app, actor, team, ada),
        lambda actor: teams.has_repository(app, actor, team, ship),
        lambda actor: teams.list_repositories(app, actor, team, skip=0, limit=9).total,
    )
    for call in calls:
        with pytest.raises(Forbidden) as excinfo:
            call(guild.ben)
        assert excinfo.value.permission == Permission.TEAM_MEMBER
        assert call(Actor(ada))


def test_a_removed_member_leaves_the_organization_with_the_last_team(guild: Guild) -> None:
    """A user who is in another team stays a member, and the last owner stays an owner."""
    app, crew, user = guild.app, guild.crew(guild.ada), guild.ben.user
    assert user is not None
    assert guild.ada.user is not None
    deck = teams.create(
        app, guild.ada, guild.organization, TeamSettings(name="deck", units={Unit.CODE: Mode.READ})
    )
    teams.add_member(app, guild.ada, TeamAccess(deck, guild.organization), user)
    teams.remove_member(app, guild.ada, crew, user)
    assert not teams.is_member(app, guild.ada, crew, user)
    assert members.is_member(app.database, guild.account, user)
    teams.remove_member(app, guild.ada, TeamAccess(deck, guild.organization), user)
    assert not members.is_member(app.database, guild.account, user)
    ((owners, *_), _) = teams.list_teams(app, guild.ada, guild.organization, skip=0, limit=9)
    with pytest.raises(LastOwner):
        teams.remove_member(app, guild.ada, TeamAccess(owners, guild.organization), guild.ada.user)


def test_owners_choose_the_repositories_of_a_team(guild: Guild) -> None:
    """Members of the team neither add nor remove repositories."""
    app, crew = guild.app, guild.crew(guild.ben)
    assert guild.ada.user is not None
    repositories.create(app, guild.account, guild.ada.user, NewRepository(name="ship", is_private=True))
    diary = repositories.create(app, guild.ada.user, guild.ada.user, NewRepository(name="diary"))
    with pytest.raises(NoSuchRepository):
        teams.find_repository(app, guild.ben, crew, "ship")
    ship = teams.find_repository(app, guild.ada, crew, "ship")
    teams.add_repository(app, guild.ada, guild.crew(guild.ada), ship)
    assert teams.has_repository(app, guild.ben, crew, ship)
    assert teams.list_repositories(app, guild.ben, crew, skip=0, limit=9).total == 1
    for change in (teams.add_repository, teams.remove_repository):
        with pytest.raises(LoginRequired):
            change(app, ANONYMOUS, crew, ship)
        with pytest.raises(Forbidden) as excinfo:
            change(app, guild.ben, crew, teams.find_repository(app, guild.ben, crew, "ship"))
        assert excinfo.value.permission == Permission.TEAM_REPOSITORIES
    with pytest.raises(NoSuchRepository):
        teams.add_repository(app, guild.ada, guild.crew(guild.ada), repositories.show(app, guild.ada, diary.id))
    teams.remove_repository(app, guild.ada, guild.crew(guild.ada), ship)
    assert not teams.has_repository(app, guild.ben, crew, ship)
