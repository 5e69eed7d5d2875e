"""Permissions of every role in every kind of repository, compared with a table, and their invariants."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import delete, insert, select

from holdfast.hosting import access
from holdfast.hosting.access import (
    ANONYMOUS,
    NOTHING,
    Actor,
    Mode,
    OrganizationAccess,
    Permissions,
    RepositoryAccess,
    Unit,
    WebhookOwner,
)
from holdfast.hosting.errors import (
    Forbidden,
    HostingError,
    IssueLocked,
    LoginRequired,
    NoSuchOrganization,
    PasswordRequired,
    Permission,
    RepositoryArchived,
    RepositoryReadOnly,
    SessionRequired,
)
from holdfast.hosting.store import accounts, members, organizations, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hooks import HookOwner
from holdfast.hosting.store.issue_transactions import Issue
from holdfast.hosting.store.repositories import Grant, Repository
from holdfast.hosting.store.tables import collaborators, team_members, team_repositories, team_units, teams, users
from holdfast.hosting.store.tables import members as members_table
from holdfast.hosting.store.tables import repositories as repositories_table
from holdfast.hosting.store.tokens import Token
from tests.examples import examples

OWNER_ID, SOMEBODY_ID = 1, 2
VISIBILITIES = ("public", "limited", "private")
SWITCHES = {
    Unit.CODE: "has_code",
    Unit.ISSUES: "has_issues",
    Unit.PULLS: "has_pulls",
    Unit.RELEASES: "has_releases",
    Unit.WIKI: "has_wiki",
    Unit.PROJECTS: "has_projects",
    Unit.PACKAGES: "has_packages",
    Unit.ACTIONS: "has_actions",
}


def account(number: int, **columns: object) -> Account:
    """Make an account that is in no database."""
    plain = Account(
        id=number,
        name=f"account{number}",
        full_name="",
        is_admin=False,
        created_at=0,
        is_organization=False,
        email="",
        description="",
        website="",
        location="",
        language="",
        visibility="public",
        hides_email=False,
        is_restricted=False,
        is_active=True,
        may_not_log_in=False,
        must_change_password=False,
        may_create_organizations=True,
        repository_admins_change_teams=False,
        last_login_at=0,
        updated_at=0,
    )
    return replace(plain, **columns)


def repository(owner: Account, *, is_private: bool = False, without: frozenset[Unit] = frozenset()) -> Repository:
    """Make a repository that is in no database, with all units enabled but some."""
    values = dict.fromkeys(Repository.__struct_fields__, 0)
    return Repository(
        **{  # type: ignore[arg-type]  # fields of several types
            **values,
            "owner": owner,
            "id": 7,
            "name": "notes",
            "is_private": is_private,
            "fork_of": None,
            **{name: unit not in without for unit, name in SWITCHES.items()},
        }
    )


def public_only(user: Account) -> Actor:
    """Make an actor whose token is for public content only."""
    return Actor(user, Token(1, user.id, "t", "", ("all", "public-only"), 0, 0))


def in_team(mode: int, unit: str | None = None, *, covers: bool = True) -> tuple[Grant, ...]:
    """Make the grant of a team."""
    return (Grant(mode, 3, covers, unit),)


PLAIN = account(SOMEBODY_ID)
RESTRICTED = account(SOMEBODY_ID, is_restricted=True)
ADMIN = account(SOMEBODY_ID, is_admin=True)
CLERK = (Grant(2, 3, True, "repo.issues"), Grant(1, 3, True, "repo.code"), Grant(0, 3, True, "repo.wiki"))

# Who they are, why they may do something, and whose repository it can be: a user's, an organization's, or both.
ROLES: dict[str, tuple[Actor, tuple[Grant, ...], str]] = {
    "nobody known": (ANONYMOUS, (), "both"),
    "a restricted user": (Actor(RESTRICTED), (), "both"),
    "a user": (Actor(PLAIN), (), "both"),
    "a reading collaborator": (Actor(PLAIN), (Grant(1),), "both"),
    "a writing collaborator": (Actor(PLAIN), (Grant(2),), "both"),
    "an admin collaborator": (Actor(PLAIN), (Grant(3),), "both"),
    "a restricted collaborator": (Actor(RESTRICTED), (Grant(1),), "both"),
    "in a team without it": (Actor(PLAIN), in_team(2, covers=False), "organization"),
    "restricted, in such a team": (Actor(RESTRICTED), in_team(2, covers=False), "organization"),
    "in a team of nothing": (Actor(PLAIN), in_team(0), "organization"),
    "in a reading team": (Actor(PLAIN), in_team(1), "organization"),
    "in a writing team": (Actor(PLAIN), in_team(2), "organization"),
    "restricted, writing team": (Actor(RESTRICTED), in_team(2), "organization"),
    "in an admin team": (Actor(PLAIN), in_team(3), "organization"),
    "in a team of clerks": (Actor(PLAIN), CLERK, "organization"),
    "admin of one unit": (Actor(PLAIN), in_team(3, "repo.issues"), "organization"),
    "in two teams": (Actor(PLAIN), (*in_team(1), *in_team(2)), "organization"),
    "an owner by team": (Actor(PLAIN), in_team(4), "organization"),
    "the owner": (Actor(account(OWNER_ID)), (), "user"),
    "the owner, restricted": (Actor(account(OWNER_ID, is_restricted=True)), (), "user"),
    "a site admin": (Actor(ADMIN), (), "both"),
    "public-only: a user": (public_only(PLAIN), (), "both"),
    "public-only: restricted": (public_only(RESTRICTED), (), "both"),
    "public-only: writing": (public_only(PLAIN), (Grant(2),), "both"),
    "public-only: owner by team": (public_only(PLAIN), in_team(4), "organization"),
    "public-only: the owner": (public_only(account(OWNER_ID)), (), "user"),
    "public-only: a site admin": (public_only(ADMIN), (), "both"),
}

# What each gets: a public repository of a public, limited, private owner, then a private one of the same three.
TABLE = """
nobody known                read   -      -        -      -      -
a restricted user           -      -      -        -      -      -
a user                      read   read   -        -      -      -
a reading collaborator      read   read   read     read   read   read
a writing collaborator      write  write  write    write  write  write
an admin collaborator       admin  admin  admin    admin  admin  admin
a restricted collaborator   read   read   read     read   read   read
in a team without it        read   read   read     -      -      -
restricted, in such a team  -      -      -        -      -      -
in a team of nothing        read   read   read     -      -      -
in a reading team           read   read   read     read   read   read
in a writing team           write  write  write    write  write  write
restricted, writing team    write  write  write    write  write  write
in an admin team            admin  admin  admin    admin  admin  admin
in a team of clerks         write  write  write    write  write  write
admin of one unit           write  write  write    write  write  write
in two teams                write  write  write    write  write  write
an owner by team            owner  owner  owner    owner  owner  owner
the owner                   owner  owner  owner    owner  owner  owner
the owner, restricted       owner  owner  owner    owner  owner  owner
a site admin                owner  owner  owner    owner  owner  owner
public-only: a user         read   -      -        -      -      -
public-only: restricted     -      -      -        -      -      -
public-only: writing        write  -      -        -      -      -
public-only: owner by team  owner  -      -        -      -      -
public-only: the owner      owner  -      -        -      -      -
public-only: a site admin   owner  -      -        -      -      -
"""
# Those who have different modes in code, issues, wiki and pulls: of a public repository, then of a private one.
UNIT_TABLE = """
in a team of clerks         read   write  read   read      read   write  -      -
admin of one unit           read   admin  read   read      -      admin  -      -
"""


def rows(table: str) -> dict[str, list[Mode]]:
    """Parse a table into the modes of each role."""
    results = {}
    for line in table.strip().splitlines():
        name, cells = line[:28].strip(), line[28:].split()
        results[name] = [Mode.NONE if cell == "-" else Mode[cell.upper()] for cell in cells]
    return results


def owners(role: str, visibility: str) -> list[Account]:
    """Return the kinds of owners for which a role is tested."""
    kind = ROLES[role][2]
    return [
        account(OWNER_ID, is_organization=is_organization, visibility=visibility)
        for is_organization in (False, True)
        if kind in {"both", "organization" if is_organization else "user"}
    ]


def access_for(role: str, stored_repository: Repository) -> Permissions:
    """Return the permissions of a role in a repository."""
    caller, grants, _ = ROLES[role]
    return access.repository_access(caller, stored_repository, grants)


@pytest.mark.parametrize("role", ROLES)
def test_every_role_gets_what_the_table_says(role: str) -> None:
    """In each kind of repository a role has the mode of the table, in all units unless a team has unit modes."""
    cells = iter(rows(TABLE)[role])
    for is_private in (False, True):
        for visibility in VISIBILITIES:
            expected = next(cells)
            for owner in owners(role, visibility):
                permissions = access_for(role, repository(owner, is_private=is_private))
                assert permissions.mode == expected, (is_private, visibility, owner.is_organization)
                assert permissions.is_admin == (expected >= Mode.ADMIN)
                assert permissions.is_owner == (expected == Mode.OWNER)
                if role not in rows(UNIT_TABLE):
                    assert {permissions.units[unit] for unit in SWITCHES} == {expected}
    assert list(cells) == []


@pytest.mark.parametrize("role", rows(UNIT_TABLE))
def test_modes_in_units_stay_in_their_units(role: str) -> None:
    """Unit modes of a team add to public access, and never give admin access to the repository."""
    cells = rows(UNIT_TABLE)[role]
    for is_private, expected in ((False, cells[:4]), (True, cells[4:])):
        (owner,) = owners(role, "public")
        permissions = access_for(role, repository(owner, is_private=is_private))
        assert [permissions.units[unit] for unit in (Unit.CODE, Unit.ISSUES, Unit.WIKI, Unit.PULLS)] == expected
        assert not permissions.is_admin


@pytest.mark.parametrize("unit", SWITCHES)
@pytest.mark.parametrize("role", ROLES)
def test_a_disabled_unit_gives_no_access(role: str, unit: Unit) -> None:
    """Nobody, not even the owner, has access to a disabled unit, and other units do not change."""
    for owner in owners(role, "public"):
        whole = access_for(role, repository(owner))
        permissions = access_for(role, repository(owner, without=frozenset([unit])))
        assert not permissions.may_read(unit)
        assert not permissions.may_write(unit)
        assert permissions.mode == whole.mode
        assert all(permissions.units[other] == whole.units[other] for other in Unit if other != unit)


def test_the_tables_know_every_role() -> None:
    """The tables have a row for each role and each unit, as others would not be tested."""
    assert list(rows(TABLE)) == list(ROLES)
    assert set(SWITCHES) | {Unit.EXTERNAL_ISSUES, Unit.EXTERNAL_WIKI} == set(Unit)


# Who knows of a public, limited and private person, then of such an organization.
VISIBLE = """
nobody known                yes  -    -      yes  -    -
a restricted user           yes  -    -      -    -    -
a user                      yes  yes  -      yes  yes  -
a fellow or member          yes  yes  yes    yes  yes  yes
restricted, a member        yes  yes  yes    yes  yes  yes
a site admin                yes  yes  yes    yes  yes  yes
public-only: a user         yes  -    -      yes  -    -
public-only: a member       yes  -    -      yes  -    -
public-only: a site admin   yes  -    -      yes  -    -
"""
KNOWING = {
    "nobody known": (ANONYMOUS, False),
    "a restricted user": (Actor(RESTRICTED), False),
    "a user": (Actor(PLAIN), False),
    "a fellow or member": (Actor(PLAIN), True),
    "restricted, a member": (Actor(RESTRICTED), True),
    "a site admin": (Actor(ADMIN), False),
    "public-only: a user": (public_only(PLAIN), False),
    "public-only: a member": (public_only(PLAIN), True),
    "public-only: a site admin": (public_only(ADMIN), False),
}


@pytest.mark.parametrize("line", VISIBLE.strip().splitlines(), ids=lambda line: line[:28].strip())
def test_accounts_are_known_to_those_in_the_table(line: str) -> None:
    """Accounts are visible as the table says, and users see themselves unless their token is public-only."""
    caller, is_member = KNOWING[line[:28].strip()]
    cells = iter(line[28:].split())
    for is_organization in (False, True):
        for visibility in VISIBILITIES:
            other = account(OWNER_ID, is_organization=is_organization, visibility=visibility)
            assert access.account_visible(caller, other, is_member=is_member) == (next(cells) == "yes")
            if caller.user is not None and not caller.public_only:
                assert access.account_visible(caller, replace(other, id=SOMEBODY_ID))


@pytest.mark.parametrize(
    ("actor", "visibility", "modes", "expected"),
    [
        (ANONYMOUS, "public", (), Mode.READ),
        (ANONYMOUS, "limited", (), Mode.NONE),
        (ANONYMOUS, "private", (), Mode.NONE),
        (Actor(PLAIN), "limited", (), Mode.READ),
        (Actor(PLAIN), "private", (), Mode.NONE),
        (Actor(PLAIN), "private", (0,), Mode.WRITE),
        (Actor(PLAIN), "private", (3, 1), Mode.WRITE),
        (Actor(PLAIN), "private", (1, 4), Mode.OWNER),
        (Actor(RESTRICTED), "public", (), Mode.NONE),
        (Actor(RESTRICTED), "private", (1,), Mode.WRITE),
        (Actor(ADMIN), "private", (), Mode.OWNER),
        (public_only(PLAIN), "private", (4,), Mode.NONE),
        (public_only(PLAIN), "public", (4,), Mode.OWNER),
        (public_only(ADMIN), "limited", (), Mode.NONE),
    ],
)
def test_organizations_are_administered_by_their_owners(
    actor: Actor, visibility: str, modes: tuple[int, ...], expected: Mode
) -> None:
    """Members of any team are members of the organization, and only the owners' team gives owner access."""
    organization = account(OWNER_ID, is_organization=True, visibility=visibility)
    found_mode = access.organization_access(actor, organization, modes)
    assert found_mode == expected
    assert access.is_member_mode(found_mode) == (expected >= Mode.WRITE)


def test_single_permissions_are_checked() -> None:
    """Seeing a team, changing its repositories, creating organizations and levels in teams are checked."""
    organization = account(OWNER_ID, is_organization=True)
    lenient = replace(organization, repository_admins_change_teams=True)
    admins = access_for("in an admin team", repository(organization))
    writers = access_for("in a writing team", repository(organization))
    assert access.sees_team(Mode.WRITE, in_team=True)
    assert access.sees_team(Mode.OWNER, in_team=False)
    assert not access.sees_team(Mode.WRITE, in_team=False)
    assert access.may_manage_team_repositories(organization, Mode.OWNER, writers)
    assert access.may_manage_team_repositories(lenient, Mode.WRITE, admins)
    assert not access.may_manage_team_repositories(organization, Mode.WRITE, admins)
    assert not access.may_manage_team_repositories(lenient, Mode.WRITE, writers)
    assert access.may_create_organizations(Actor(PLAIN))
    assert not access.may_create_organizations(Actor(replace(PLAIN, may_create_organizations=False)))
    assert access.may_create_organizations(Actor(replace(ADMIN, may_create_organizations=False)))
    assert not access.may_create_organizations(ANONYMOUS)
    assert access.level_in_teams(Mode.READ, ()) == Mode.READ
    assert access.level_in_teams(Mode.WRITE, (0, 3)) == Mode.ADMIN
    assert access.level_in_teams(Mode.OWNER, ()) == Mode.OWNER


callers = st.builds(
    lambda kind, limited, number: (
        ANONYMOUS if kind is None else (public_only if limited else Actor)(replace(kind, id=number))
    ),
    st.sampled_from([None, PLAIN, RESTRICTED, ADMIN]),
    st.booleans(),
    st.sampled_from([OWNER_ID, SOMEBODY_ID]),
)
grants_given = st.builds(
    Grant,
    st.sampled_from([int(mode) for mode in Mode]),
    st.sampled_from([None, 3, 4]),
    st.booleans(),
    st.sampled_from([None, *Unit, "repo.unheard-of"]),
)
kinds = st.builds(
    lambda is_organization, visibility, is_private, without: repository(
        account(OWNER_ID, is_organization=is_organization, visibility=visibility),
        is_private=is_private,
        without=without,
    ),
    st.booleans(),
    st.sampled_from(VISIBILITIES),
    st.booleans(),
    st.frozensets(st.sampled_from(sorted(SWITCHES))),
)
many_grants = st.lists(grants_given, max_size=4).map(tuple)


@given(callers, kinds, many_grants, grants_given)
def test_more_grants_never_give_less(
    actor: Actor, kept: Repository, grants: tuple[Grant, ...], more: Grant
) -> None:
    """One more grant lowers neither the mode of the repository nor that of any unit."""
    before = access.repository_access(actor, kept, grants)
    after = access.repository_access(actor, kept, (*grants, more))
    assert after.mode >= before.mode
    assert all(after.units[unit] >= before.units[unit] for unit in Unit)


@given(callers, kinds, many_grants)
def test_access_has_invariants(actor: Actor, kept: Repository, grants: tuple[Grant, ...]) -> None:
    """The invariants of access hold for any actor, repository and grants."""
    permissions = access.repository_access(actor, kept, grants)
    user = actor.user
    enabled = access.enabled_units(kept)
    assert all(permissions.units[unit] == Mode.NONE for unit in Unit if unit not in enabled)
    assert all(mode <= permissions.mode or not permissions.is_admin for mode in permissions.units.values())
    if any(permissions.units.values()):
        assert permissions.mode >= Mode.READ
    if user is not None and not actor.public_only and (user.is_admin or user.id == kept.owner.id):
        assert permissions.is_owner
    if kept.is_private and not grants and (user is None or not (user.is_admin or user.id == kept.owner.id)):
        assert permissions.mode == Mode.NONE
    if actor.public_only and (kept.is_private or kept.owner.visibility != "public"):
        assert permissions == access.NOTHING
    if actor.public_only and user is not None:
        whole = access.repository_access(Actor(user), kept, grants)
        assert whole.mode >= permissions.mode
    if permissions.is_admin and user is not None and not (user.is_admin or user.id == kept.owner.id):
        assert any(grant.mode >= Mode.ADMIN and grant.unit is None and grant.covers for grant in grants)


@dataclass(frozen=True)
class TeamPlan:
    """A team of a random database."""

    mode: int
    includes_all: bool
    units: dict[str, int]
    people: frozenset[int]
    repositories: frozenset[int]


@dataclass(frozen=True)
class Plan:
    """A random database: four users, the last an administrator, and two organizations with a few teams."""

    visibilities: tuple[str, ...]
    restricted: tuple[bool, ...]
    teams: tuple[tuple[TeamPlan, ...], tuple[TeamPlan, ...]]
    collaborations: dict[tuple[int, int], int]


modes = st.integers(0, 4)
team_plans = st.builds(
    TeamPlan,
    modes,
    st.booleans(),
    st.dictionaries(st.sampled_from([str(unit) for unit in Unit]), st.integers(0, 3), max_size=2),
    st.frozensets(st.integers(0, 3)),
    st.frozensets(st.integers(0, 1)),
)
few_teams = st.lists(team_plans, max_size=3).map(tuple)
plans = st.builds(
    Plan,
    st.tuples(*[st.sampled_from(VISIBILITIES)] * 6),
    st.tuples(*[st.booleans()] * 4),
    st.tuples(few_teams, few_teams),
    st.dictionaries(st.tuples(st.integers(0, 11), st.integers(0, 3)), st.integers(1, 3), max_size=4),
)


def build(database: Database, plan: Plan) -> tuple[list[Account], list[Repository]]:
    """Replace the content of the database."""
    with database.write() as connection:
        connection.execute(delete(users).where(users.c.name.startswith("w-")))
        people = []
        for index, visibility in enumerate(plan.visibilities):
            is_organization = index >= 4
            people.append(
                accounts.add_account(
                    connection,
                    f"w-{index}",
                    visibility=visibility,
                    is_organization=is_organization,
                    is_restricted=not is_organization and plan.restricted[index],
                    is_admin=index == 3,
                )
            )
        owned = [
            connection.execute(
                insert(repositories_table).returning(repositories_table.c.id),
                {
                    "owner_id": owner,
                    "name": f"r{is_private}",
                    "folded_name": f"r{is_private}",
                    "default_branch": "main",
                    "is_private": is_private,
                },
            ).scalar_one()
            for owner in people
            for is_private in (False, True)
        ]
        for index, its_teams in enumerate(plan.teams):
            organization = people[4 + index]
            for number, team in enumerate(its_teams):
                made = connection.execute(
                    insert(teams).returning(teams.c.id),
                    {
                        "organization_id": organization,
                        "name": str(number),
                        "folded_name": str(number),
                        "mode": team.mode,
                        "includes_all_repositories": team.includes_all,
                    },
                ).scalar_one()
                for table, rows_ in (
                    (team_units, [{"team_id": made, "unit": u, "mode": m} for u, m in team.units.items()]),
                    (team_members, [{"team_id": made, "user_id": people[who]} for who in team.people]),
                    (
                        team_repositories,
                        [{"team_id": made, "repository_id": owned[8 + 2 * index + r]} for r in team.repositories],
                    ),
                ):
                    if rows_:
                        connection.execute(insert(table), rows_)
            for who in frozenset().union(*(team.people for team in its_teams)):
                row = {"organization_id": organization, "user_id": people[who], "is_public": False}
                connection.execute(insert(members_table), row)
        for (which, who), mode in plan.collaborations.items():
            row = {"repository_id": owned[which], "user_id": people[who], "mode": mode}
            connection.execute(insert(collaborators), row)
    return (
        [accounts.find_account(database, number) for number in people],
        [repositories.repository_by_id(database, number) for number in owned],
    )


LONE_UNIT = TeamPlan(1, True, {"repo.ext_wiki": 1}, frozenset([0]), frozenset())
NO_UNIT = TeamPlan(1, True, {"repo.code": 0}, frozenset([0]), frozenset())
ONE_REPOSITORY = TeamPlan(1, False, {}, frozenset([0]), frozenset([0]))
ADMIN_TEAM = TeamPlan(3, True, {"repo.code": 0}, frozenset([0]), frozenset())


# A random database is small enough to read; making a failing one smaller takes longer than that.
@settings(
    max_examples=examples(25),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(Plan(("private",) * 6, (True,) * 4, ((LONE_UNIT,), (NO_UNIT,)), {}))
@example(Plan(("public",) * 6, (False,) * 4, ((ADMIN_TEAM,), (ONE_REPOSITORY,)), {}))
@given(plans)
def test_lists_show_exactly_what_can_be_read(database: Database, plan: Plan) -> None:
    """The SQL conditions of lists select the repositories and organizations that `access` allows."""
    everybody, all_repositories = build(database, plan)
    for user in (None, *everybody[:4]):
        grants = {
            repository.id: () if user is None else repositories.grants_of(database, user, repository)
            for repository in all_repositories
        }
        if user is not None:
            at_once = repositories.grants_in(database, user, all_repositories)
            assert {number: set(item) for number, item in at_once.items()} == {
                number: set(item) for number, item in grants.items()
            }
        for limited in (False, True):
            if user is None and limited:
                continue
            caller = Actor(user) if user is None or not limited else public_only(user)
            readable = {
                repository.id
                for repository in all_repositories
                if access.repository_access(caller, repository, grants[repository.id]).mode > Mode.NONE
            }
            listed, total = repositories.list_repositories(
                database, [repositories.readable_by(user, public_only=limited)], skip=0, limit=100
            )
            assert {repository.id for repository in listed} == readable
            assert total == len(readable)
            check_organizations(database, caller, everybody[4:])


def check_organizations(database: Database, actor: Actor, known_accounts: list[Account]) -> None:
    """Compare the list of organizations with the decision about each."""
    user = actor.user
    visible = {
        organization.id
        for organization in known_accounts
        if access.account_visible(
            actor,
            organization,
            is_member=user is not None and members.is_member(database, organization, user),
        )
    }
    shown = organizations.visible_to(user, public_only=actor.public_only)
    with database.read() as connection:
        results = set(connection.execute(select(users.c.id).where(users.c.is_organization, shown)).scalars())
    assert results == visible


def issue(*, is_pull: bool = False, is_locked: bool = False) -> Issue:
    """Make an issue that is in no database."""
    values = dict.fromkeys(Issue.__dataclass_fields__, 0)
    return Issue(**{**values, "is_pull": is_pull, "is_locked": is_locked})  # type: ignore[arg-type]  # fields of several types


def target(mode: Mode, *, only: Unit | None = None, **columns: int) -> RepositoryAccess:
    """Make a repository with a mode in all units, or in one unit with read mode in the others."""
    units = {unit: mode if only in {None, unit} else min(mode, Mode.READ) for unit in Unit}
    return RepositoryAccess(replace(repository(account(OWNER_ID)), **columns), Permissions(mode, units))


def refused(error: type[HostingError] | Permission, ask: Callable[..., object], *arguments: object) -> None:
    """Check that a call raises an error, or that a permission is missing."""
    with pytest.raises(Forbidden if isinstance(error, Permission) else error) as excinfo:
        ask(*arguments)
    if isinstance(error, Permission):
        assert isinstance(excinfo.value, Forbidden)
        assert excinfo.value.permission is error


SOMEBODY = Actor(PLAIN)
WITH_TOKEN = Actor(PLAIN, Token(1, SOMEBODY_ID, "t", "", ("all",), 0, 0))


def test_only_users_are_returned() -> None:
    """Each requirement returns the user who meets it, and raises LoginRequired for an anonymous actor."""
    asked: list[Callable[[Actor], object]] = [
        access.require_login,
        lambda actor: access.require_repository_admin(actor, target(Mode.ADMIN)),
        lambda actor: access.require_repository_owner(actor, target(Mode.OWNER)),
        lambda actor: access.require_issue_management(actor, target(Mode.WRITE)),
        lambda actor: access.require_issue_write(actor, target(Mode.WRITE), issue()),
        lambda actor: access.require_issue_edit(actor, target(Mode.WRITE), issue(), None),
        lambda actor: access.require_comment(actor, target(Mode.READ), issue()),
        lambda actor: access.require_organization_member(actor, OrganizationAccess(PLAIN, Mode.WRITE)),
        lambda actor: access.require_organization_owner(actor, OrganizationAccess(PLAIN, Mode.OWNER)),
        lambda actor: access.require_self(actor, PLAIN),
        access.require_session,
        lambda actor: access.require_webhook_admin(actor, WebhookOwner(target(Mode.ADMIN))),
        lambda actor: access.require_webhook_admin(actor, WebhookOwner(OrganizationAccess(PLAIN, Mode.OWNER))),
        lambda actor: access.require_webhook_admin(actor, WebhookOwner(PLAIN)),
    ]
    for ask in asked:
        assert ask(SOMEBODY) is PLAIN
        refused(LoginRequired, ask, ANONYMOUS)
    refused(LoginRequired, access.require_site_admin, ANONYMOUS)
    refused(LoginRequired, access.require_token_access, ANONYMOUS, PLAIN)


@pytest.mark.parametrize(
    ("least", "permission", "ask"),
    [
        (Mode.READ, Permission.READ, lambda kept: access.require_read(kept, Unit.CODE)),
        (Mode.WRITE, Permission.WRITE, lambda kept: access.require_write(kept, Unit.CODE)),
        (Mode.WRITE, Permission.WRITE_BRANCH, access.require_branch_write),
        (Mode.ADMIN, Permission.ADMIN, lambda kept: access.require_repository_admin(SOMEBODY, kept)),
        (Mode.OWNER, Permission.OWNER, lambda kept: access.require_repository_owner(SOMEBODY, kept)),
        (Mode.WRITE, Permission.WRITE, lambda kept: access.require_issue_management(SOMEBODY, kept)),
        (Mode.WRITE, Permission.WRITE, lambda kept: access.require_issue_write(SOMEBODY, kept, issue())),
        (Mode.WRITE, Permission.AUTHOR, lambda kept: access.require_issue_edit(SOMEBODY, kept, issue(), 9)),
        (Mode.READ, Permission.READ, lambda kept: access.require_comment(SOMEBODY, kept, issue())),
    ],
)
def test_a_mode_below_the_least_is_refused(
    least: Mode, permission: Permission, ask: Callable[[RepositoryAccess], object]
) -> None:
    """Each requirement accepts its lowest mode and all above, and refuses those below."""
    for mode in Mode:
        if mode >= least:
            ask(target(mode))
        else:
            refused(permission, ask, target(mode))


@pytest.mark.parametrize("only", [Unit.ISSUES, Unit.PULLS, Unit.CODE])
def test_issues_and_pull_requests_are_units_of_their_own(only: Unit) -> None:
    """Write access to one of the two units manages labels, but does not write to entries of the other one."""
    kept = target(Mode.WRITE, only=only)
    is_enough = only is not Unit.CODE
    assert access.may_manage_issues(SOMEBODY, kept) is is_enough
    assert access.may_manage_issues(ANONYMOUS, kept) is False
    for is_pull in (False, True):
        is_its_unit = only is (Unit.PULLS if is_pull else Unit.ISSUES)
        assert access.may_write_issue(kept.permissions, issue(is_pull=is_pull)) is is_its_unit
        for is_locked in (False, True):
            may = access.may_comment(kept.permissions, is_pull=is_pull, is_locked=is_locked)
            assert may is (is_its_unit or not is_locked)
            talk = issue(is_pull=is_pull, is_locked=is_locked)
            if may:
                assert access.require_comment(SOMEBODY, kept, talk) is PLAIN
            else:
                refused(IssueLocked, access.require_comment, SOMEBODY, kept, talk)
        for actor, author, expected in (
            (SOMEBODY, SOMEBODY_ID, True),
            (SOMEBODY, OWNER_ID, is_its_unit),
            (SOMEBODY, None, is_its_unit),
            (ANONYMOUS, None, is_its_unit),
        ):
            assert access.may_edit(actor, kept.permissions, is_pull=is_pull, author_id=author) is expected


def test_kinds_of_issues_are_those_that_can_be_read() -> None:
    """Issues and pull requests are listed by the requested kind and by the units that can be read."""
    none, both = target(Mode.NONE).permissions, target(Mode.READ).permissions
    pulls = Permissions(Mode.READ, {**NOTHING.units, Unit.PULLS: Mode.READ})
    for kind, of_both, of_pulls in (
        ("all", (False, True), (True,)),
        ("issues", (False,), ()),
        ("pulls", (True,), (True,)),
    ):
        assert access.issue_kinds(both, kind) == of_both
        assert access.issue_kinds(pulls, kind) == of_pulls
        assert access.issue_kinds(none, kind) == ()


def test_archived_repositories_and_mirrors_are_not_changed() -> None:
    """Issues can be changed in a mirror, but not in an archived repository."""
    plain, archived, mirror = (
        target(Mode.OWNER),
        target(Mode.OWNER, archived_at=1),
        target(Mode.OWNER, is_mirror=True),
    )
    access.require_editable(plain)
    for stored_repository in (archived, mirror):
        refused(RepositoryReadOnly, access.require_editable, stored_repository)
    for ask in (
        access.require_unarchived,
        lambda stored_repository: access.require_issue_management(SOMEBODY, stored_repository),
        lambda stored_repository: access.require_issue_write(SOMEBODY, stored_repository, issue()),
        lambda stored_repository: access.require_issue_edit(SOMEBODY, stored_repository, issue(), SOMEBODY_ID),
        lambda stored_repository: access.require_comment(SOMEBODY, stored_repository, issue()),
    ):
        ask(plain)
        ask(mirror)
        refused(RepositoryArchived, ask, archived)


def test_organizations_are_read_run_and_created() -> None:
    """An organization is read, managed and created by those with the mode for it; site admins may read any."""
    for mode in Mode:
        organization_access = OrganizationAccess(account(9), mode)
        if mode < Mode.READ:
            refused(NoSuchOrganization, access.require_organization_read, SOMEBODY, organization_access)
        else:
            access.require_organization_read(SOMEBODY, organization_access)
        access.require_organization_read(Actor(ADMIN), organization_access)
        if mode < Mode.WRITE:
            refused(
                Permission.ORGANIZATION_MEMBER, access.require_organization_member, SOMEBODY, organization_access
            )
        if mode < Mode.OWNER:
            refused(
                Permission.ORGANIZATION_OWNER, access.require_organization_owner, SOMEBODY, organization_access
            )
    access.require_organization_creator(SOMEBODY, PLAIN)
    access.require_organization_creator(Actor(ADMIN), account(9))
    refused(Permission.SITE_ADMIN, access.require_organization_creator, SOMEBODY, account(9))
    barred = Actor(replace(PLAIN, may_create_organizations=False))
    refused(Permission.CREATE_ORGANIZATIONS, access.require_organization_creator, barred, PLAIN)
    access.require_own_membership(SOMEBODY, PLAIN)
    refused(Permission.OWN_MEMBERSHIP, access.require_own_membership, SOMEBODY, account(9))


def test_webhooks_are_managed_by_administrators_of_their_owner() -> None:
    """A webhook is managed by administrators of its repository, its account or the service."""
    notes = target(Mode.WRITE)
    organization = OrganizationAccess(account(9), Mode.WRITE)
    for owner, stored, permission in (
        (notes, HookOwner("repository", notes.repository.id), Permission.ADMIN),
        (organization, HookOwner("owner", 9), Permission.ORGANIZATION_OWNER),
        (account(9), HookOwner("owner", 9), Permission.SELF),
        (None, HookOwner("service"), Permission.SITE_ADMIN),
    ):
        webhook_owner = WebhookOwner(owner)
        assert webhook_owner.stored == stored
        refused(permission, access.require_webhook_admin, SOMEBODY, webhook_owner)
    assert access.require_webhook_admin(Actor(ADMIN), WebhookOwner(None)) is ADMIN


def test_passwords_sessions_and_tokens_are_for_their_own_user() -> None:
    """Tokens cannot be managed with a token, and sessions not with a token or by impersonation."""
    access.require_password(Actor(PLAIN, by_password=True))
    refused(PasswordRequired, access.require_password, SOMEBODY)
    for actor in (WITH_TOKEN, Actor(PLAIN, impersonated_by=ADMIN)):
        refused(SessionRequired, access.require_session, actor)
    access.require_token_access(SOMEBODY, PLAIN)
    access.require_token_access(Actor(ADMIN), account(9))
    refused(Permission.TOKENS, access.require_token_access, SOMEBODY, account(9))
    refused(PasswordRequired, access.require_token_access, WITH_TOKEN, PLAIN)
    access.require_site_admin(Actor(ADMIN))
    access.require_site_admin(access.OPERATOR)
    refused(Permission.SITE_ADMIN, access.require_site_admin, SOMEBODY)


@pytest.mark.parametrize(
    ("scopes", "reads", "writes"),
    [
        (("all",), True, True),
        ((), False, False),
        (("read:issue",), False, False),
        (("read:issue", "read:repository"), True, False),
        (("write:issue", "read:repository"), True, False),
        (("write:issue", "write:repository"), True, True),
        (("write:user",), False, False),
    ],
)
def test_a_token_needs_every_scope(scopes: tuple[str, ...], *, reads: bool, writes: bool) -> None:
    """A token needs all scopes of an endpoint, a write scope includes reading, and no token needs no scope."""
    actor = Actor(PLAIN, Token(1, SOMEBODY_ID, "t", "", scopes, 0, 0))
    assert access.allows(actor, ("issue", "repository"), write=False) is reads
    assert access.allows(actor, ("issue", "repository"), write=True) is writes
    assert access.allows(SOMEBODY, ("issue", "repository"), write=True) is True


@pytest.mark.parametrize("writes", [False, True])
def test_a_deploy_key_is_for_the_code_alone(*, writes: bool) -> None:
    """A deploy key reads or writes code only, and gives no access where the code unit is disabled."""
    mode = Mode.WRITE if writes else Mode.READ
    notes = repository(account(OWNER_ID))
    assert access.deploy_key_access(notes, writes=writes) == Permissions(
        mode, {unit: mode if unit is Unit.CODE else Mode.NONE for unit in Unit}
    )
    without = repository(account(OWNER_ID), without=frozenset({Unit.CODE}))
    assert access.deploy_key_access(without, writes=writes).units == NOTHING.units
    assert (Mode.READ.word, Mode.OWNER.word) == ("read", "owner")
