"""Assignees of issues, and the users who can be assigned."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, literal, or_, select, union

from holdfast.hosting.errors import InvalidReference
from holdfast.hosting.store.accounts import COLUMNS, Account, account_from
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_transactions import Issue, IssueTransaction, issue_transaction
from holdfast.hosting.store.repositories import UNITS_COUNT, Repository
from holdfast.hosting.store.tables import (
    collaborators,
    issue_assignees,
    team_members,
    team_repositories,
    team_units,
    teams,
    users,
)

__all__ = [
    "add_assignees",
    "assignable",
    "assignable_users",
    "can_be_assigned",
    "change_assignees",
    "has_grant",
    "record_assigned",
    "remove_assignees",
    "set_assignees",
    "write_assignees",
]

administrator = users.alias("administrator")
WRITE = 2
UNITS = ("repo.issues", "repo.pulls")


def can_be_assigned(repository: Repository) -> ColumnElement[bool]:
    """Return the SQL condition that a user may write to a repository's issues or pull requests.

    `access.py` makes the same decision for one user; a test compares the two.
    """
    return has_grant(repository, UNITS, WRITE)


def has_grant(repository: Repository, units: Sequence[str], mode: int) -> ColumnElement[bool]:
    """Return the SQL condition that a user was granted at least a mode in one of a repository's units.

    Grants are those of owners, collaborators, members of teams and administrators of the service. That everybody
    may read a public repository is not a grant. Users with grants are few, so they are read by index.
    """
    administrators = select(administrator.c.id).where(administrator.c.is_admin)
    shared = select(collaborators.c.user_id).where(
        collaborators.c.repository_id == repository.id, collaborators.c.mode >= mode
    )
    by_unit = exists().where(UNITS_COUNT, team_units.c.unit.in_(units), team_units.c.mode >= mode)
    as_a_whole = and_(teams.c.mode >= mode, ~exists().where(UNITS_COUNT))
    in_teams = select(team_members.c.user_id).where(
        team_members.c.team_id == teams.c.id,
        teams.c.organization_id == repository.owner.id,
        or_(
            teams.c.includes_all_repositories,
            exists().where(
                team_repositories.c.team_id == teams.c.id, team_repositories.c.repository_id == repository.id
            ),
        ),
        or_(as_a_whole, by_unit),
    )
    granted = union(select(literal(repository.owner.id)), administrators, shared, in_teams)
    return and_(~users.c.is_organization, users.c.id.in_(granted))


def assignable(database: Database, repository: Repository, *, skip: int, limit: int) -> tuple[list[Account], int]:
    """Return one page of the users who can be assigned, by name, and the total."""
    may = can_be_assigned(repository)
    statement = select(*COLUMNS).where(may).order_by(users.c.folded_name).offset(skip).limit(limit)
    with database.read() as connection:
        rows = connection.execute(statement).all()
        total = connection.execute(select(func.count()).select_from(users).where(may)).scalar_one()
    return [account_from(tuple(row)) for row in rows], total


def assignable_users(database: Database, repository: Repository, names: Sequence[str]) -> tuple[Account, ...]:
    """Return the users with these names, in this order; raise an error for one who cannot be assigned."""
    folded = dict.fromkeys(name.casefold() for name in names)
    if not folded:
        return ()
    statement = select(*COLUMNS).where(users.c.folded_name.in_(list(folded)), can_be_assigned(repository))
    with database.read() as connection:
        users_by_name = {
            account.name.casefold(): account
            for row in connection.execute(statement)
            for account in [account_from(tuple(row))]
        }
    for name in names:
        if name.casefold() not in users_by_name:
            raise InvalidReference("Assignees", f"{name} is not a user with write access to this repository")
    return tuple(users_by_name[name] for name in folded)


def assignee_ids(change: IssueTransaction, issue: Issue) -> list[int]:
    """Return the ids of an issue's assignees."""
    statement = select(issue_assignees.c.user_id).where(issue_assignees.c.issue_id == issue.id)
    return list(change.connection.execute(statement).scalars())


def add_assignees(
    database: Database, repository: Repository, issue: Issue, actor: Account, people: Sequence[Account]
) -> None:
    """Add assignees to an issue."""
    with issue_transaction(database, repository, actor) as change:
        before = assignee_ids(change, issue)
        reassign(change, issue, before, [*before, *(person.id for person in people)])


def remove_assignees(
    database: Database, repository: Repository, issue: Issue, actor: Account, names: Sequence[str]
) -> None:
    """Remove assignees from an issue; names that are not assigned are ignored."""
    gone = select(users.c.id).where(users.c.folded_name.in_([name.casefold() for name in names]))
    with issue_transaction(database, repository, actor) as change:
        before = assignee_ids(change, issue)
        less = set(change.connection.execute(gone).scalars())
        reassign(change, issue, before, [number for number in before if number not in less])


def change_assignees(
    database: Database,
    repository: Repository,
    issue: Issue,
    actor: Account,
    *,
    more: Sequence[Account],
    less: Sequence[str],
) -> None:
    """Add assignees to an issue and remove others, by their names; its other assignees stay."""
    gone = select(users.c.id).where(users.c.folded_name.in_([name.casefold() for name in less]))
    with issue_transaction(database, repository, actor) as change:
        before = assignee_ids(change, issue)
        removed = set(change.connection.execute(gone).scalars())
        kept = [number for number in before if number not in removed]
        reassign(change, issue, before, [*kept, *(person.id for person in more)])


def set_assignees(change: IssueTransaction, issue: Issue, people: Sequence[Account]) -> None:
    """Replace the assignees of an issue, in an open transaction."""
    reassign(change, issue, assignee_ids(change, issue), [person.id for person in people])


def reassign(change: IssueTransaction, issue: Issue, before: Sequence[int], after: Sequence[int]) -> None:
    """Change the assignees from one set to another, with timeline entries."""
    added = [number for number in dict.fromkeys(after) if number not in set(before)]
    removed = [number for number in before if number not in set(after)]
    if removed:
        change.connection.execute(
            delete(issue_assignees).where(
                issue_assignees.c.issue_id == issue.id, issue_assignees.c.user_id.in_(removed)
            )
        )
        change.add_entries(
            issue, "assignees", [("", {"assignee_id": number, "removed": True}) for number in removed]
        )
        change.record_event(issue, "assign", "unassigned", assignee_ids=removed)
    if added:
        write_assignees(change, issue, added)
        record_assigned(change, issue, added)


def write_assignees(change: IssueTransaction, issue: Issue, added: Sequence[int]) -> None:
    """Add assignees with timeline entries."""
    rows = [{"issue_id": issue.id, "user_id": number} for number in added]
    change.connection.execute(insert(issue_assignees), rows)
    change.add_entries(issue, "assignees", [("", {"assignee_id": number}) for number in added])


def record_assigned(change: IssueTransaction, issue: Issue, added: Sequence[int]) -> None:
    """Record the event that an issue was assigned."""
    change.record_event(issue, "assign", "assigned", assignee_ids=list(added))
