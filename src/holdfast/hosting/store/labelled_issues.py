"""The issues of a repository that have a label: counted, and listed by date, in one covering index.

Rows of `issue_labels` have the repository, kind, state and date of their issue (denormalized), so neither reads
`issues`. The index is ix_issue_labels_label_id_repository_id_created_at.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, exists, func, or_, select

from holdfast.hosting.store.list_pages import page_ids
from holdfast.hosting.store.tables import issue_labels, issues, labels, repositories

__all__ = ["LabelledIssues", "only_label"]


@dataclass(frozen=True, slots=True)
class LabelledIssues:
    """The issues of a repository with a label."""

    label_id: int
    repository_id: int
    kinds: Collection[bool]
    """The accepted values of `is_pull`."""
    is_closed: bool | None

    @property
    def rows(self) -> list[ColumnElement[bool]]:
        """The conditions on `issue_labels`."""
        conditions = [issue_labels.c.label_id == self.label_id, issue_labels.c.repository_id == self.repository_id]
        if not {False, True} <= set(self.kinds):
            conditions.append(issue_labels.c.is_pull.in_(self.kinds))
        if self.is_closed is not None:
            conditions.append(issue_labels.c.is_closed == self.is_closed)
        return conditions

    def count(self, connection: Connection) -> int:
        """Return the number of issues."""
        statement = select(func.count()).select_from(issue_labels).where(*self.rows)
        total: int = connection.execute(statement).scalar_one()
        return total

    def ids_by_date(
        self, connection: Connection, *, descending: bool, skip: int, limit: int, total: int
    ) -> list[int]:
        """Return the ids of a page sorted by date of creation."""
        return page_ids(
            connection,
            select(issue_labels.c.issue_id).where(*self.rows),
            issue_labels.c.created_at,
            issue_labels.c.issue_id,
            descending=descending,
            skip=skip,
            limit=limit,
            total=total,
        )

    def conditions(self, *, few: bool) -> list[ColumnElement[bool]]:
        """Return the conditions on `issues`, for other orders.

        Few issues are selected by the index and sorted. Many are read from an index in the order of the list, and
        each is looked up by the primary key of `issue_labels`.
        """
        if few:
            return [issues.c.id.in_(select(issue_labels.c.issue_id).where(*self.rows))]
        conditions = [
            issues.c.repository_id == self.repository_id,
            exists().where(issue_labels.c.issue_id == issues.c.id, issue_labels.c.label_id == self.label_id),
        ]
        if not {False, True} <= set(self.kinds):
            conditions.append(issues.c.is_pull.in_(self.kinds))
        if self.is_closed is not None:
            conditions.append(issues.c.is_closed == self.is_closed)
        return conditions


def only_label(connection: Connection, key: str | int, repository_id: int | None) -> tuple[int, int] | None:
    """Return the id of the only label with a name or an id, and the repository that its issues are in.

    Return None if there is no label, if several have the name, or if the issues of an organization's label are not
    limited to one repository.
    """
    found = select(labels.c.id, labels.c.repository_id)
    found = found.where(labels.c.id == key if isinstance(key, int) else labels.c.name == key)
    if repository_id is not None:
        owner = select(repositories.c.owner_id).where(repositories.c.id == repository_id).scalar_subquery()
        found = found.where(or_(labels.c.repository_id == repository_id, labels.c.organization_id == owner))
    rows = connection.execute(found.limit(2)).all()
    if len(rows) != 1:
        return None
    label_id, place = rows[0]
    place = place if repository_id is None else repository_id
    return None if place is None else (label_id, place)
