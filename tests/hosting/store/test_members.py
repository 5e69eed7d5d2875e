"""Members of organizations, derived from the members of teams."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from holdfast.hosting.errors import LastOwner, NoSuchUser
from holdfast.hosting.store import accounts, members, organizations, teams
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import members as table
from holdfast.hosting.store.tables import team_members
from holdfast.hosting.store.teams import NewTeam
from tests.examples import examples
from tests.hosting.repository_helpers import make_people
from tests.hosting.store.concurrency import run_concurrently


def owners_of(database: Database, organization: Account) -> teams.Team:
    """Return the team of the owners."""
    found_teams, _ = teams.teams_of_organization(database, organization, skip=0, limit=1)
    return found_teams[0]


STEPS = st.lists(
    st.tuples(st.sampled_from(["join", "leave", "quit", "delete"]), st.integers(0, 2), st.integers(0, 2)),
    max_size=12,
)


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_members_are_the_people_in_teams(database: Database, steps: list[tuple[str, int, int]]) -> None:
    """After each random step the members are the users in teams, and the organization has an owner."""
    number = len(
        accounts.search_accounts(database, "", organizations=True, visibilities=("public",), skip=0, limit=10_000)[
            0
        ]
    )
    people = make_people(database, *(f"u{number}-{index}" for index in range(3)))
    guild = organizations.create_organization(database, people[0], f"guild{number}")
    wanted = [NewTeam(name=name, mode=1, units={}) for name in ("one", "two")]
    all_teams = [owners_of(database, guild), *(teams.create_team(database, guild, team) for team in wanted)]
    for verb, who, which in steps:
        user, team = people[who], all_teams[which]
        try:
            if verb == "join":
                members.join_team(database, guild.id, team.id, user)
            elif verb == "leave":
                members.leave_team(database, guild.id, team.id, user)
            elif verb == "quit":
                members.leave_organization(database, guild, user)
            elif not team.is_owners:
                teams.delete_team(database, team)
                all_teams[which] = teams.create_team(database, guild, wanted[which - 1])
        except (LastOwner, NoSuchUser):
            pass
        ids = [team.id for team in all_teams]
        with database.read() as connection:
            in_teams = set(
                connection.execute(select(team_members.c.user_id).where(team_members.c.team_id.in_(ids))).scalars()
            )
            stored = set(
                connection.execute(select(table.c.user_id).where(table.c.organization_id == guild.id)).scalars()
            )
        assert stored == in_teams
        assert members.team_members_of(database, ids[0], skip=0, limit=9)[1] >= 1


def test_of_the_last_two_owners_who_leave_at_once_one_stays(database: Database) -> None:
    """Of the last two owners who leave concurrently one is refused with LastOwner."""
    for round_ in range(5):
        ada, bob = make_people(database, f"ada{round_}", f"bob{round_}")
        guild = organizations.create_organization(database, ada, f"guild{round_}")
        owners = owners_of(database, guild)
        members.join_team(database, guild.id, owners.id, bob)
        failed = run_concurrently(
            lambda guild=guild, ada=ada: members.leave_organization(database, guild, ada),  # type: ignore[misc]  # mypy does not infer a lambda with a default value
            lambda guild=guild, owners=owners, bob=bob: members.leave_team(database, guild.id, owners.id, bob),  # type: ignore[misc]  # mypy does not infer a lambda with a default value
        )
        assert sorted(type(error).__name__ for error in failed) == ["LastOwner", "NoneType"]
        assert members.members_of(database, guild, publicly=False, skip=0, limit=9)[1] == 1


def test_joining_twice_at_once_is_joining_once(database: Database) -> None:
    """Four concurrent requests to join succeed, and the member is counted once."""
    (ada,) = make_people(database, "ada")
    guild = organizations.create_organization(database, ada, "guild")
    team = teams.create_team(database, guild, NewTeam(name="one", mode=1, units={}))
    (bob,) = make_people(database, "bob")
    failed = run_concurrently(*[lambda: members.join_team(database, guild.id, team.id, bob)] * 4)
    assert failed == [None] * 4
    assert members.members_of(database, guild, publicly=False, skip=0, limit=9)[1] == 2


def test_people_belong_together_through_an_organization(database: Database) -> None:
    """A member belongs to the organization and to other members; strangers and other organizations do not."""
    ada, bob, eve = make_people(database, "ada", "bob", "eve")
    guild = organizations.create_organization(database, ada, "guild")
    other = organizations.create_organization(database, eve, "other")
    team = owners_of(database, guild)
    members.join_team(database, guild.id, team.id, bob)
    assert members.belong_together(database, ada, guild)
    assert members.belong_together(database, ada, bob)
    for account in (eve, other):
        assert not members.belong_together(database, ada, account)
    assert not members.belong_together(database, eve, guild)
