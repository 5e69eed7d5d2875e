"""Milestones, with their counts of open and closed issues."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, case, delete, func, insert, or_, select, update

from holdfast.hosting.errors import InvalidReference, NoSuchMilestone, Outdated
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hashed_versions import hashed_version
from holdfast.hosting.store.issue_transactions import issue_transaction
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import issues, milestones

__all__ = [
    "Milestone",
    "add_milestone",
    "change_milestone",
    "check_milestone",
    "delete_milestone",
    "find_milestone",
    "milestones_by_id",
    "milestones_of",
]


@dataclass(frozen=True, slots=True)
class Milestone:
    """A milestone; the fields but the last two are columns of the table, in this order."""

    id: int
    repository_id: int
    title: str
    description: str
    is_closed: bool
    due_at: int
    closed_at: int
    created_at: int
    updated_at: int
    open_issues: int
    closed_issues: int

    @property
    def version(self) -> str:
        """The version of title, description and due date, for optimistic locking."""
        return hashed_version(self.title, self.description, self.due_at)


def counted(condition: ColumnElement[bool]) -> ColumnElement[int]:
    """Return the subquery that counts a milestone's issues matching a condition."""
    return select(func.count()).where(issues.c.milestone_id == milestones.c.id, condition).scalar_subquery()


OWN: Final = tuple(milestones.c[name] for name in list(Milestone.__dataclass_fields__)[:-2])
WHOLE: Final = select(*OWN, counted(~issues.c.is_closed), counted(issues.c.is_closed))


def milestones_of(
    database: Database, repository: Repository, *, is_closed: bool | None, name: str, skip: int, limit: int
) -> tuple[list[Milestone], int]:
    """Return one page of a repository's milestones, by due date, and the total."""
    conditions = [milestones.c.repository_id == repository.id]
    if is_closed is not None:
        conditions.append(milestones.c.is_closed == is_closed)
    if name:
        conditions.append(milestones.c.title.icontains(name, autoescape=True))
    without_date_last = case((milestones.c.due_at == 0, 1), else_=0)
    statement = WHOLE.where(*conditions).order_by(without_date_last, milestones.c.due_at, milestones.c.id)
    with database.read() as connection:
        rows = connection.execute(statement.offset(skip).limit(limit)).all()
        total = connection.execute(select(func.count()).select_from(milestones).where(*conditions)).scalar_one()
    return [Milestone(*row) for row in rows], total


def milestones_by_id(connection: Connection, ids: Collection[int]) -> dict[int, Milestone]:
    """Return the milestones with these ids; missing ones are left out."""
    if not ids:
        return {}
    rows = connection.execute(WHOLE.where(milestones.c.id.in_(ids)))
    return {milestone.id: milestone for row in rows for milestone in [Milestone(*row)]}


def find_milestone(database: Database, repository: Repository, key: int | str) -> Milestone:
    """Return a milestone by id, otherwise by title."""
    number = int(key) if isinstance(key, int) or (key.isascii() and key.isdigit() and len(key) < 19) else 0
    has_id = milestones.c.id == number
    statement = (
        WHOLE.where(milestones.c.repository_id == repository.id, or_(has_id, milestones.c.title == str(key)))
        .order_by(case((has_id, 0), else_=1), milestones.c.id)
        .limit(1)
    )
    with database.read() as connection:
        row = connection.execute(statement).one_or_none()
    if row is None:
        raise NoSuchMilestone(f"milestone does not exist [id: {key}, repo_id: {repository.id}]")
    return Milestone(*row)


def check_milestone(database: Database, repository: Repository, number: int) -> None:
    """Raise `InvalidReference` for a milestone the repository does not have; 0 means none."""
    if number:
        statement = select(milestones.c.id).where(
            milestones.c.id == number, milestones.c.repository_id == repository.id
        )
        with database.read() as connection:
            if connection.execute(statement).one_or_none() is None:
                raise InvalidReference("Milestone", f"the repository has no milestone {number}")


def add_milestone(
    database: Database,
    repository: Repository,
    actor: Account,
    title: str,
    *,
    description: str = "",
    due_at: int = 0,
    is_closed: bool = False,
) -> Milestone:
    """Add a milestone."""
    with issue_transaction(database, repository, actor) as change:
        row = {
            "repository_id": repository.id,
            "title": title,
            "description": description,
            "due_at": due_at,
            "is_closed": is_closed,
            "closed_at": change.now if is_closed else 0,
            "created_at": change.now,
            "updated_at": change.now,
        }
        created = change.connection.execute(insert(milestones).returning(milestones.c.id), row).scalar_one()
        return milestones_by_id(change.connection, [created])[created]


def change_milestone(
    database: Database,
    repository: Repository,
    actor: Account,
    milestone: Milestone,
    *,
    version: str = "",
    **columns: str | bool | int,
) -> Milestone:
    """Change a milestone; closing it sets the time. Raises `Outdated` if it is not of the given version."""
    with issue_transaction(database, repository, actor) as change:
        before = milestones_by_id(change.connection, [milestone.id]).get(milestone.id)
        if before is None:
            raise NoSuchMilestone(f"milestone does not exist [id: {milestone.id}, repo_id: {repository.id}]")
        if version not in {"", before.version}:
            raise Outdated("the milestone was changed in the meantime")
        if "is_closed" in columns and columns["is_closed"] != before.is_closed:
            columns["closed_at"] = change.now if columns["is_closed"] else 0
        change.connection.execute(
            update(milestones).where(milestones.c.id == milestone.id).values(updated_at=change.now, **columns)
        )
        return milestones_by_id(change.connection, [milestone.id])[milestone.id]


def delete_milestone(database: Database, repository: Repository, actor: Account, milestone: Milestone) -> None:
    """Delete a milestone; its issues are kept, without a milestone."""
    with issue_transaction(database, repository, actor) as change:
        change.connection.execute(delete(milestones).where(milestones.c.id == milestone.id))
