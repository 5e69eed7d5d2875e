"""Teams: members of an organization with the same access to the same repositories.

A team has one mode for every unit, or rows in `team_units` with a mode for each. A team with mode admin or owner
has no such rows. With rows, the team's own mode is the lowest of them and is only returned to clients as its
permission.
"""

import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, delete, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import (
    InvalidValue,
    NoSuchTeam,
    Outdated,
    OwnersStay,
    OwnersTeamRequired,
    Refused,
    TeamTaken,
)
from holdfast.hosting.store import members
from holdfast.hosting.store.accounts import COLUMNS, WIDTH, Account, account_from
from holdfast.hosting.store.database import Database, upsert
from holdfast.hosting.store.members import OWNER
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import repositories, team_members, team_repositories, team_units, teams, users

__all__ = [
    "NewTeam",
    "Team",
    "add_team",
    "change_team",
    "check_team_name",
    "create_team",
    "delete_team",
    "find_team",
    "give_repository",
    "give_transferred",
    "has_repository",
    "its_repositories",
    "take_repository",
    "team_named",
    "teams_by_id",
    "teams_of_organization",
    "teams_of_user",
    "teams_with_repository",
]

NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,255}")
WRITE: Final = 2
ADMIN: Final = 3


@dataclass(frozen=True, slots=True)
class Team:
    """A team with its modes per unit; the fields before those are columns of the table."""

    id: int
    organization_id: int
    name: str
    description: str
    mode: int
    includes_all_repositories: bool
    may_create_repositories: bool
    visibility: str
    units: Mapping[str, int]
    """Empty if the team's mode applies to every unit."""

    @property
    def is_owners(self) -> bool:
        """Whether it is the owners' team."""
        return self.mode == OWNER


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTeam:
    """The settings of a team."""

    name: str
    description: str = ""
    mode: int
    units: Mapping[str, int]
    includes_all_repositories: bool = False
    may_create_repositories: bool = False


TEAM: Final = tuple(teams.c[name] for name in Team.__dataclass_fields__ if name != "units")
# Prepared also for webhook payloads, which are rendered in transactions of the raw driver.
BY_ID = Statement(select(*TEAM).where(teams.c.id == bindparam("id")))
UNITS_OF = Statement(
    select(team_units.c.unit, team_units.c.mode)
    .where(team_units.c.team_id == bindparam("id"))
    .order_by(team_units.c.unit)
)


def check_team_name(name: str) -> None:
    """Raise `InvalidValue` for a name that is invalid in URLs or reserved."""
    if not NAME.fullmatch(name):
        raise InvalidValue("Name", "a team name must be 1 to 255 letters, digits, dots, dashes or underscores")
    if name.casefold() in {".", "..", "new", "search"}:
        raise InvalidValue("Name", f"the team name {name} is reserved")


def columns_of(team: NewTeam) -> dict[str, Any]:
    """Return the column values of a team; one with mode admin has no modes per unit."""
    mode = team.mode
    if team.units and mode < ADMIN:
        mode = min((mode for mode in team.units.values() if mode), default=0)
    return {
        "name": team.name,
        "folded_name": team.name.casefold(),
        "description": team.description,
        "mode": mode if team.mode >= ADMIN else min(mode, WRITE),
        "includes_all_repositories": team.includes_all_repositories,
        "may_create_repositories": team.may_create_repositories,
    }


def add_units(connection: Connection, team_id: int, team: NewTeam) -> None:
    """Insert the modes of a team per unit."""
    if team.units and team.mode < ADMIN:
        connection.execute(
            insert(team_units),
            [{"team_id": team_id, "unit": unit, "mode": mode} for unit, mode in team.units.items()],
        )


def add_team(connection: Connection, organization_id: int, team: NewTeam) -> int:
    """Insert a team in a transaction and return its id."""
    row = {"organization_id": organization_id, "created_at": int(time.time()), **columns_of(team)}
    try:
        team_id: int = connection.execute(insert(teams).returning(teams.c.id), row).scalar_one()
    except IntegrityError:
        raise TeamTaken(team.name) from None
    add_units(connection, team_id, team)
    return team_id


def create_team(database: Database, organization: Account, team: NewTeam) -> Team:
    """Add a team to an organization."""
    check_team_name(team.name)
    with database.write() as connection:
        members.lock_organization(connection, organization.id)
        team_id = add_team(connection, organization.id, team)
    return find_team(database, team_id)


def change_team(database: Database, team: Team, new: NewTeam) -> Team:
    """Change a team; name and permission of the owners' team cannot be changed.

    Raise `Outdated` if the team is no longer as it was read: `new` has its other settings too.
    """
    if new.name != team.name:
        check_team_name(new.name)
    if team.is_owners and (new.name != team.name or new.mode != OWNER or not new.includes_all_repositories):
        raise OwnersStay("the owners keep their name, their permission and all repositories")
    try:
        with database.write() as connection:
            current = connection.execute(select(*TEAM).where(teams.c.id == team.id).with_for_update()).all()
            if not current:
                raise NoSuchTeam("the team does not exist")
            if with_units(connection, current) != [team]:
                raise Outdated("the team was changed in the meantime")
            connection.execute(update(teams).where(teams.c.id == team.id).values(columns_of(new)))
            connection.execute(delete(team_units).where(team_units.c.team_id == team.id))
            add_units(connection, team.id, new)
    except IntegrityError:
        raise TeamTaken(new.name) from None
    return find_team(database, team.id)


def delete_team(database: Database, team: Team) -> None:
    """Delete a team; users in no other team leave the organization."""
    if team.is_owners:
        raise OwnersTeamRequired
    with database.write() as connection:
        members.lock_organization(connection, team.organization_id)
        connection.execute(delete(teams).where(teams.c.id == team.id))
        members.forget_strangers(connection, team.organization_id)


def its_repositories(team: Team) -> ColumnElement[bool]:
    """Return the condition that a repository belongs to a team."""
    of_organization = repositories.c.owner_id == team.organization_id
    if team.includes_all_repositories:
        return of_organization
    return of_organization & exists().where(
        team_repositories.c.team_id == team.id, team_repositories.c.repository_id == repositories.c.id
    )


def has_repository(database: Database, team: Team, repository_id: int) -> bool:
    """Return whether a repository belongs to a team."""
    statement = select(repositories.c.id).where(repositories.c.id == repository_id, its_repositories(team))
    with database.read() as connection:
        return connection.execute(statement).first() is not None


def give_repository(database: Database, team: Team, repository_id: int) -> None:
    """Add a repository of the organization to a team; idempotent."""
    row = {"team_id": team.id, "repository_id": repository_id}
    try:
        with database.write() as connection:
            connection.execute(upsert(database, team_repositories).on_conflict_do_nothing(), row)
    except IntegrityError as error:
        raise NoSuchTeam("the team or the repository does not exist") from error


def give_transferred(
    connection: Connection, organization: Account, repository_id: int, ids: Sequence[int]
) -> None:
    """Add a repository that was transferred to an organization to those of these teams that exist."""
    recipients = [
        team for team in teams_by_id(connection, ids).values() if team.organization_id == organization.id
    ]
    rows = [{"team_id": team.id, "repository_id": repository_id} for team in recipients]
    if rows:
        connection.execute(insert(team_repositories), rows)


def take_repository(database: Database, team: Team, repository_id: int) -> None:
    """Remove a repository from a team; does nothing if it does not belong to the team."""
    if team.includes_all_repositories:
        raise Refused(f"the team {team.name} has all repositories; change that first")
    with database.write() as connection:
        connection.execute(
            delete(team_repositories).where(
                team_repositories.c.team_id == team.id, team_repositories.c.repository_id == repository_id
            )
        )


def with_units(connection: Connection, rows: Sequence[Sequence[Any]]) -> list[Team]:
    """Build teams from their columns, loading the units of all in one query."""
    units_by_team: dict[int, dict[str, int]] = {row[0]: {} for row in rows}
    if units_by_team:
        statement = select(team_units).where(team_units.c.team_id.in_(units_by_team)).order_by(team_units.c.unit)
        for row in connection.execute(statement):
            units_by_team[row.team_id][row.unit] = row.mode
    return [Team(*(*row, units_by_team[row[0]])) for row in rows]


def find_team(database: Database, number: int) -> Team:
    """Return the team with this id."""
    row = database.row(BY_ID, id=number)
    if row is None:
        raise NoSuchTeam(f"team does not exist [id: {number}]")
    return Team(*(*row, dict(database.rows(UNITS_OF, id=number))))


def teams_by_id(connection: Connection, ids: Collection[int]) -> dict[int, Team]:
    """Return teams by id; missing ones are left out."""
    if not ids:
        return {}
    rows = connection.execute(select(*TEAM).where(teams.c.id.in_(ids))).all()
    return {team.id: team for team in with_units(connection, rows)}


def teams_of_organization(
    database: Database,
    organization: Account,
    text: str = "",
    *,
    in_description: bool = False,
    skip: int,
    limit: int,
) -> tuple[list[Team], int]:
    """Return one page of an organization's teams whose name contains a text, and the total.

    The owners' team comes first, the others by name.
    """
    matches: ColumnElement[bool] = teams.c.folded_name.contains(text.casefold(), autoescape=True)
    if in_description:
        matches = or_(matches, func.lower(teams.c.description).contains(text.lower(), autoescape=True))
    conditions = (teams.c.organization_id == organization.id, matches)
    order = ((teams.c.mode == OWNER).desc(), teams.c.folded_name)
    with database.read() as connection:
        rows = connection.execute(
            select(*TEAM).where(*conditions).order_by(*order).offset(skip).limit(limit)
        ).all()
        total = connection.execute(select(func.count()).select_from(teams).where(*conditions)).scalar_one()
        return with_units(connection, rows), total


def teams_with_repository(
    database: Database, organization: Account, repository_id: int, *, skip: int, limit: int
) -> tuple[list[Team], int]:
    """Return one page of the teams of an organization that have a repository, and the total; the owners first."""
    is_granted = exists().where(
        team_repositories.c.team_id == teams.c.id, team_repositories.c.repository_id == repository_id
    )
    conditions = (teams.c.organization_id == organization.id, or_(teams.c.includes_all_repositories, is_granted))
    order = ((teams.c.mode == OWNER).desc(), teams.c.folded_name)
    with database.read() as connection:
        rows = connection.execute(
            select(*TEAM).where(*conditions).order_by(*order).offset(skip).limit(limit)
        ).all()
        total = connection.execute(select(func.count()).select_from(teams).where(*conditions)).scalar_one()
        return with_units(connection, rows), total


def team_named(database: Database, organization: Account, name: str) -> Team:
    """Return the team of an organization with this name, case-insensitively."""
    conditions = (teams.c.organization_id == organization.id, teams.c.folded_name == name.casefold())
    with database.read() as connection:
        named_teams = with_units(connection, connection.execute(select(*TEAM).where(*conditions)).all())
    if not named_teams:
        raise NoSuchTeam(f"team does not exist [name: {name}]")
    return named_teams[0]


def teams_of_user(
    database: Database, user: Account, *, publicly: bool, skip: int, limit: int
) -> tuple[list[tuple[Team, Account]], int]:
    """Return one page of a user's teams with their organizations, and the total."""
    conditions = [team_members.c.user_id == user.id]
    if publicly:
        conditions.append(users.c.visibility == "public")
    joined = team_members.join(teams, teams.c.id == team_members.c.team_id).join(
        users, users.c.id == teams.c.organization_id
    )
    statement = (
        select(*COLUMNS, *TEAM)
        .select_from(joined)
        .where(*conditions)
        .order_by(users.c.folded_name, teams.c.folded_name)
        .offset(skip)
        .limit(limit)
    )
    with database.read() as connection:
        rows = connection.execute(statement).all()
        total = connection.execute(select(func.count()).select_from(joined).where(*conditions)).scalar_one()
        page = with_units(connection, [tuple(row)[WIDTH:] for row in rows])
    return [(team, account_from(tuple(row))) for team, row in zip(page, rows, strict=True)], total
