"""Members are exactly the people in teams, whatever happens in whatever order."""

import threading
from collections.abc import Callable

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


def person(database: Database, name: str) -> Account:
    """Make somebody who never logs in, without the time a password takes."""
    with database.write() as connection:
        user_id = accounts.add_account(connection, name)
    return accounts.find_account(database, user_id)


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
    """After every step, and somebody always owns the organization."""
    number = len(
        accounts.search_accounts(database, "", organizations=True, visibilities=("public",), skip=0, limit=10_000)[
            0
        ]
    )
    people = [person(database, f"u{number}-{index}") for index in range(3)]
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


def together(*works: Callable[[], object]) -> list[BaseException | None]:
    """Do things at the same moment, and return what each failed with."""
    results: list[BaseException | None] = [None] * len(works)
    barrier = threading.Barrier(len(works))

    def run(index: int) -> None:
        barrier.wait()
        try:
            works[index]()
        except Exception as error:  # noqa: BLE001  # the test looks at whatever it is
            results[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_of_the_last_two_owners_who_leave_at_once_one_stays(database: Database) -> None:
    """One stays, and is told why."""
    for round_ in range(5):
        ada, bob = person(database, f"ada{round_}"), person(database, f"bob{round_}")
        guild = organizations.create_organization(database, ada, f"guild{round_}")
        owners = owners_of(database, guild)
        members.join_team(database, guild.id, owners.id, bob)
        failed = together(
            lambda guild=guild, ada=ada: members.leave_organization(database, guild, ada),  # type: ignore[misc]
            lambda guild=guild, owners=owners, bob=bob: members.leave_team(database, guild.id, owners.id, bob),  # type: ignore[misc]
        )
        assert sorted(type(error).__name__ for error in failed) == ["LastOwner", "NoneType"]
        assert members.members_of(database, guild, publicly=False, skip=0, limit=9)[1] == 1


def test_joining_twice_at_once_is_joining_once(database: Database) -> None:
    """Nobody fails, and the member is counted once."""
    ada = person(database, "ada")
    guild = organizations.create_organization(database, ada, "guild")
    team = teams.create_team(database, guild, NewTeam(name="one", mode=1, units={}))
    bob = person(database, "bob")
    failed = together(*[lambda: members.join_team(database, guild.id, team.id, bob)] * 4)
    assert failed == [None] * 4
    assert members.members_of(database, guild, publicly=False, skip=0, limit=9)[1] == 2


def test_people_belong_together_through_an_organization(database: Database) -> None:
    """A member and the organization, and two members; not a stranger, and not an organization with another."""
    ada, bob, eve = (person(database, name) for name in ("ada", "bob", "eve"))
    guild = organizations.create_organization(database, ada, "guild")
    other = organizations.create_organization(database, eve, "other")
    team = owners_of(database, guild)
    members.join_team(database, guild.id, team.id, bob)
    assert members.belong_together(database, ada, guild)
    assert members.belong_together(database, ada, bob)
    for account in (eve, other):
        assert not members.belong_together(database, ada, account)
    assert not members.belong_together(database, eve, guild)
