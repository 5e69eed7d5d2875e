"""Organizations: accounts that own repositories, and whose teams grant access."""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import ColumnElement, bindparam, exists, func, or_, select, true

from holdfast.hosting.errors import OrganizationInUse
from holdfast.hosting.store import members as membership
from holdfast.hosting.store import teams as team_store
from holdfast.hosting.store.accounts import (
    COLUMNS,
    Account,
    account_from,
    add_account,
    delete_account,
    find_account,
)
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import members, repositories, team_members, teams, users

__all__ = [
    "OWNERS",
    "create_organization",
    "delete_organization",
    "list_organizations",
    "may_create_repositories",
    "open_to",
    "organizations_of",
    "team_modes",
    "team_names",
    "teams_by_names",
    "visible_to",
]

OWNERS: Final = "Owners"
TEAM_MODES = Statement(
    select(teams.c.mode)
    .join(team_members, team_members.c.team_id == teams.c.id)
    .where(team_members.c.user_id == bindparam("user_id"), teams.c.organization_id == bindparam("organization_id"))
)


MAY_CREATE = Statement(
    select(teams.c.id)
    .join(team_members, team_members.c.team_id == teams.c.id)
    .where(
        team_members.c.user_id == bindparam("user_id"),
        teams.c.organization_id == bindparam("organization_id"),
        teams.c.may_create_repositories,
    )
)


def may_create_repositories(database: Database, organization: Account, user: Account) -> bool:
    """Return whether one of a user's teams may create repositories in an organization."""
    return bool(database.rows(MAY_CREATE, user_id=user.id, organization_id=organization.id))


def open_to(database: Database, user: Account) -> list[Account]:
    """Return the organizations in which a user may create repositories, by name."""
    through_team = exists().where(
        teams.c.organization_id == users.c.id,
        teams.c.may_create_repositories,
        team_members.c.team_id == teams.c.id,
        team_members.c.user_id == user.id,
    )
    statement = select(*COLUMNS).where(users.c.is_organization, through_team).order_by(users.c.folded_name)
    with database.read() as connection:
        return [account_from(tuple(row)) for row in connection.execute(statement)]


def team_modes(database: Database, organization: Account, user: Account) -> tuple[int, ...]:
    """Return the modes of a user's teams in an organization; empty for non-members."""
    rows = database.rows(TEAM_MODES, user_id=user.id, organization_id=organization.id)
    return tuple(mode for (mode,) in rows)


def create_organization(database: Database, owner: Account, name: str, **columns: str | bool) -> Account:
    """Create an organization and its owners' team, with its first owner."""
    owners = team_store.NewTeam(
        name=OWNERS,
        mode=membership.OWNER,
        units={},
        includes_all_repositories=True,
        may_create_repositories=True,
    )
    with database.write() as connection:
        organization_id = add_account(connection, name, is_organization=True, **columns)  # type: ignore[arg-type]  # columns by name
        team = team_store.add_team(connection, organization_id, owners)
        membership.join(connection, organization_id, team, owner.id)
    return find_account(database, organization_id)


def delete_organization(database: Database, organization: Account) -> None:
    """Delete an organization and its teams; raise `StillInUse` if it owns repositories."""
    with database.write() as connection:
        # A repository that is being created concurrently waits for this lock, or is counted already.
        membership.lock_organization(connection, organization.id)
        owned = connection.execute(
            select(func.count()).select_from(repositories).where(repositories.c.owner_id == organization.id)
        ).scalar_one()
        if owned:
            owned_repositories = "a repository" if owned == 1 else f"{owned} repositories"
            raise OrganizationInUse(
                f"{organization.name} still owns {owned_repositories}; delete or transfer them first"
            )
        delete_account(connection, organization.id)


def visible_to(user: Account | None, *, public_only: bool = False) -> ColumnElement[bool]:
    """Return the SQL condition that a list may show an organization to a user.

    `access.py` makes the same decision for one organization; a test compares the two.
    """
    is_public = users.c.visibility == "public"
    if user is None or public_only:
        return is_public
    if user.is_admin:
        return true()
    member = exists().where(members.c.organization_id == users.c.id, members.c.user_id == user.id)
    return member if user.is_restricted else or_(users.c.visibility.in_(("public", "limited")), member)


def list_organizations(
    database: Database, shown: ColumnElement[bool], *, skip: int, limit: int
) -> tuple[list[Account], int]:
    """Return one page of the visible organizations, by name, and the total."""
    conditions = (users.c.is_organization, shown)
    statement = select(*COLUMNS).where(*conditions).order_by(users.c.folded_name).offset(skip).limit(limit)
    with database.read() as connection:
        rows = connection.execute(statement).all()
        total = connection.execute(select(func.count()).select_from(users).where(*conditions)).scalar_one()
    return [account_from(tuple(row)) for row in rows], total


def organizations_of(
    database: Database,
    user: Account,
    shown: ColumnElement[bool],
    *,
    asking: Account | None,
    skip: int,
    limit: int,
) -> tuple[list[Account], int]:
    """Return one page of a user's organizations that `asking` may see, and the total."""
    joined = select(members.c.organization_id).where(members.c.user_id == user.id)
    if asking is None or not (asking.is_admin or asking.id == user.id):
        is_visible: ColumnElement[bool] = members.c.is_public
        if asking is not None:
            other_members = members.alias("other")
            is_visible = or_(
                is_visible,
                exists().where(
                    other_members.c.organization_id == members.c.organization_id,
                    other_members.c.user_id == asking.id,
                ),
            )
        joined = joined.where(is_visible)
    return list_organizations(database, users.c.id.in_(joined) & shown, skip=skip, limit=limit)


def team_names(database: Database, numbers: Iterable[int]) -> dict[int, str]:
    """Return team names by id."""
    statement = select(teams.c.id, teams.c.name).where(teams.c.id.in_(list(numbers)))
    with database.read() as connection:
        return {row.id: row.name for row in connection.execute(statement)}


def teams_by_names(database: Database, organization: Account, names: Iterable[str]) -> dict[str, int]:
    """Return the ids of an organization's teams by casefolded name."""
    statement = select(teams.c.id, teams.c.folded_name).where(
        teams.c.organization_id == organization.id,
        teams.c.folded_name.in_([name.casefold() for name in names]),
    )
    with database.read() as connection:
        return {row.folded_name: row.id for row in connection.execute(statement)}
