"""Organization members: everyone who is in one of its teams.

The table `members` is derived from the teams, with a visibility flag, and is updated in the transaction of each
change. Changes lock the organization first, so that two owners who leave concurrently cannot leave it without an
owner.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Select, and_, bindparam, delete, exists, func, or_, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import LastOwner, NoSuchUser
from holdfast.hosting.store.accounts import COLUMNS, Account, account_from
from holdfast.hosting.store.database import Database, upsert
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import members, team_members, teams, users

__all__ = [
    "OWNER",
    "Membership",
    "belong_together",
    "forget_strangers",
    "is_in_team",
    "is_member",
    "join",
    "join_team",
    "leave_organization",
    "leave_team",
    "lock_organization",
    "members_of",
    "memberships",
    "owners_remain",
    "set_publicity",
    "team_members_of",
    "team_sizes",
    "teams_among",
]

# The mode of the owners' team; each organization has one.
OWNER: Final = 4

theirs = members.alias("theirs")
TOGETHER = Statement(
    select(members.c.organization_id)
    .outerjoin(
        theirs,
        and_(theirs.c.organization_id == members.c.organization_id, theirs.c.user_id == bindparam("account_id")),
    )
    .where(
        members.c.user_id == bindparam("user_id"),
        or_(members.c.organization_id == bindparam("account_id"), theirs.c.user_id.is_not(None)),
    )
    .limit(1)
)
MEMBER = Statement(
    select(members.c.is_public).where(
        members.c.organization_id == bindparam("organization_id"), members.c.user_id == bindparam("user_id")
    )
)
IN_TEAM = Statement(
    select(team_members.c.user_id).where(
        team_members.c.team_id == bindparam("team_id"), team_members.c.user_id == bindparam("user_id")
    )
)


def belong_together(database: Database, user: Account, account: Account) -> bool:
    """Return whether a user is in an organization, or shares one with another user."""
    return database.row(TOGETHER, user_id=user.id, account_id=account.id) is not None


def is_member(database: Database, organization: Account, user: Account, *, publicly: bool = False) -> bool:
    """Return whether a user is a member of an organization, or a public member."""
    row = database.row(MEMBER, organization_id=organization.id, user_id=user.id)
    return row is not None and (not publicly or row[0])


def is_in_team(database: Database, team_id: int, user: Account) -> bool:
    """Return whether a user is in a team."""
    return database.row(IN_TEAM, team_id=team_id, user_id=user.id) is not None


def members_of(
    database: Database, organization: Account, *, publicly: bool, skip: int, limit: int
) -> tuple[list[Account], int]:
    """Return one page of an organization's members by name, and the total."""
    conditions = [members.c.organization_id == organization.id]
    if publicly:
        conditions.append(members.c.is_public)
    joined = select(*COLUMNS).join(members, members.c.user_id == users.c.id).where(*conditions)
    counted = select(func.count()).select_from(members).where(*conditions)
    return page_of_people(database, joined, counted, skip, limit)


@dataclass(frozen=True, slots=True)
class Membership:
    """A user's membership in an organization."""

    is_public: bool
    teams: tuple[str, ...]


def memberships(database: Database, organization: Account, people: Collection[int]) -> dict[int, Membership]:
    """Return memberships in an organization by user id; the owners' team comes first."""
    query = select(members.c.user_id, members.c.is_public).where(
        members.c.organization_id == organization.id, members.c.user_id.in_(people)
    )
    through = (
        select(team_members.c.user_id, teams.c.name)
        .join(teams, teams.c.id == team_members.c.team_id)
        .where(teams.c.organization_id == organization.id, team_members.c.user_id.in_(people))
        .order_by((teams.c.mode == OWNER).desc(), teams.c.folded_name)
    )
    with database.read() as connection:
        public = {row.user_id: row.is_public for row in connection.execute(query)}
        names: dict[int, list[str]] = {number: [] for number in public}
        for number, name in connection.execute(through):
            names.setdefault(number, []).append(name)
    return {number: Membership(is_public, tuple(names[number])) for number, is_public in public.items()}


def team_sizes(database: Database, team_ids: Collection[int]) -> dict[int, int]:
    """Return the number of members per team; empty teams are left out."""
    statement = (
        select(team_members.c.team_id, func.count().label("people"))
        .where(team_members.c.team_id.in_(team_ids))
        .group_by(team_members.c.team_id)
    )
    with database.read() as connection:
        return {row.team_id: row.people for row in connection.execute(statement)}


def teams_among(database: Database, team_ids: Collection[int], user: Account) -> set[int]:
    """Return which of these teams a user is in."""
    statement = select(team_members.c.team_id).where(
        team_members.c.team_id.in_(team_ids), team_members.c.user_id == user.id
    )
    with database.read() as connection:
        return set(connection.execute(statement).scalars())


def team_members_of(database: Database, team_id: int, *, skip: int, limit: int) -> tuple[list[Account], int]:
    """Return one page of a team's members by name, and the total."""
    of_team = team_members.c.team_id == team_id
    joined = select(*COLUMNS).join(team_members, team_members.c.user_id == users.c.id).where(of_team)
    counted = select(func.count()).select_from(team_members).where(of_team)
    return page_of_people(database, joined, counted, skip, limit)


def page_of_people(
    database: Database,
    joined: Select[*tuple[object, ...]],
    counted: Select[*tuple[int]],
    skip: int,
    limit: int,
) -> tuple[list[Account], int]:
    """Run a list query and its count in one transaction."""
    with database.read() as connection:
        rows = connection.execute(joined.order_by(users.c.folded_name).offset(skip).limit(limit)).all()
        total = connection.execute(counted).scalar_one()
    return [account_from(tuple(row)) for row in rows], total


def set_publicity(database: Database, organization: Account, user: Account, *, publicly: bool) -> None:
    """Make a membership public, or visible only to other members."""
    with database.write() as connection:
        changed = connection.execute(
            update(members)
            .where(members.c.organization_id == organization.id, members.c.user_id == user.id)
            .values(is_public=publicly)
        )
        if not changed.rowcount:
            raise NoSuchUser(f"{user.name} is not a member of {organization.name}")


def lock_organization(connection: Connection, organization_id: int) -> None:
    """Lock an organization's row until the transaction ends."""
    row = connection.execute(select(users.c.id).where(users.c.id == organization_id).with_for_update())
    if row.one_or_none() is None:
        raise NoSuchUser("the organization does not exist")


def join_team(database: Database, organization_id: int, team_id: int, user: Account) -> None:
    """Add a user to a team and thereby to its organization; idempotent."""
    with database.write() as connection:
        lock_organization(connection, organization_id)
        join(connection, organization_id, team_id, user.id)


def join(connection: Connection, organization_id: int, team_id: int, user_id: int) -> None:
    """Add a user to a team, in a transaction."""
    team = {"team_id": team_id, "user_id": user_id}
    organization = {"organization_id": organization_id, "user_id": user_id}
    try:
        connection.execute(upsert(connection, team_members).on_conflict_do_nothing(), team)
        connection.execute(upsert(connection, members).on_conflict_do_nothing(), organization)
    except IntegrityError as error:
        raise NoSuchUser("the user or the team does not exist") from error


def leave_team(database: Database, organization_id: int, team_id: int, user: Account) -> None:
    """Remove a user from a team; leaving the last one ends the membership in the organization."""
    with database.write() as connection:
        lock_organization(connection, organization_id)
        connection.execute(
            delete(team_members).where(team_members.c.team_id == team_id, team_members.c.user_id == user.id)
        )
        owners_remain(connection, organization_id)
        forget_strangers(connection, organization_id)


def leave_organization(database: Database, organization: Account, user: Account) -> None:
    """Remove a user from every team of an organization."""
    its_teams = select(teams.c.id).where(teams.c.organization_id == organization.id)
    with database.write() as connection:
        lock_organization(connection, organization.id)
        left = connection.execute(
            delete(team_members).where(
                team_members.c.user_id == user.id, team_members.c.team_id.in_(its_teams.scalar_subquery())
            )
        )
        if not left.rowcount:
            raise NoSuchUser(f"{user.name} is not a member of {organization.name}")
        owners_remain(connection, organization.id)
        forget_strangers(connection, organization.id)


def owners_remain(connection: Connection, organization_id: int) -> None:
    """Raise `LastOwner` if an organization has no owner left."""
    owners = (
        select(team_members.c.user_id)
        .join(teams, teams.c.id == team_members.c.team_id)
        .where(teams.c.organization_id == organization_id, teams.c.mode == OWNER)
        .limit(1)
    )
    if connection.execute(owners).first() is None:
        raise LastOwner("the last owner of an organization cannot leave it; add another owner first")


def forget_strangers(connection: Connection, organization_id: int) -> None:
    """Delete the members who are in none of an organization's teams."""
    in_a_team = exists().where(
        team_members.c.user_id == members.c.user_id,
        team_members.c.team_id == teams.c.id,
        teams.c.organization_id == organization_id,
    )
    connection.execute(delete(members).where(members.c.organization_id == organization_id, ~in_a_team))
