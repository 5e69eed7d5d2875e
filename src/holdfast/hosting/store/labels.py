"""Labels of a repository, or of an organization and thereby of all its repositories."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    case,
    delete,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from holdfast.hosting.errors import ColorRefused, InvalidReference, NoSuchLabel, Outdated
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hashed_versions import hashed_version
from holdfast.hosting.store.issue_transactions import lock_graph
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import labels

__all__ = [
    "Label",
    "add_label",
    "add_labels_to",
    "change_label",
    "check_color",
    "copy_labels",
    "delete_label",
    "find_label",
    "labels_named",
    "labels_of",
    "labels_usable",
    "one_per_scope",
]

COLOR: Final = re.compile(r"#?([0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})")
INT64: Final = range(2**63)


@dataclass(frozen=True, slots=True)
class Label:
    """A label; the fields are the columns of the table, in this order."""

    id: int
    repository_id: int | None
    organization_id: int | None
    name: str
    color: str
    description: str
    is_exclusive: bool
    archived_at: int

    @property
    def scope(self) -> str:
        """The part before the last slash if the label is exclusive; otherwise empty."""
        before, slash, after = self.name.rpartition("/")
        return before if self.is_exclusive and slash and after else ""

    @property
    def version(self) -> str:
        """The version of what an edit can change, for optimistic locking."""
        return hashed_version(self.name, self.color, self.description, self.is_exclusive, self.archived_at > 0)


COLUMNS: Final = tuple(labels.c[name] for name in Label.__dataclass_fields__)


def check_color(color: str) -> str:
    """Return a colour as six hexadecimal digits; raise `ColorRefused` if it is invalid."""
    match = COLOR.fullmatch(color.strip())
    if match is None:
        raise ColorRefused("[Color]: must be 3 or 6 hexadecimal digits, with or without a # before them")
    digits = match[1].lower()
    return digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)


def belongs_to_owner(keeper: Repository | Account) -> ColumnElement[bool]:
    """Return the condition that a label belongs to a repository or an organization."""
    if isinstance(keeper, Repository):
        return labels.c.repository_id == keeper.id
    return labels.c.organization_id == keeper.id


def usable_in(repository: Repository) -> ColumnElement[bool]:
    """Return the condition that a label can be used in a repository."""
    return or_(labels.c.repository_id == repository.id, labels.c.organization_id == repository.owner.id)


def labels_of(
    database: Database, keeper: Repository | Account, *, skip: int, limit: int
) -> tuple[list[Label], int]:
    """Return one page of the labels of a repository or an organization, by name, and the total."""
    of_owner = belongs_to_owner(keeper)
    statement = select(*COLUMNS).where(of_owner).order_by(labels.c.name, labels.c.id).offset(skip).limit(limit)
    with database.read() as connection:
        rows = connection.execute(statement).all()
        total = connection.execute(select(func.count()).select_from(labels).where(of_owner)).scalar_one()
    return [Label(*row) for row in rows], total


def labels_usable(
    database: Database, repository: Repository, *, limit: int, used: Collection[int] = ()
) -> list[Label]:
    """Return the labels that can be used in a repository, including its owner's, by name.

    The labels with the ids `used` come first, also archived ones.
    """
    is_used = labels.c.id.in_(used)
    statement = select(*COLUMNS).where(usable_in(repository), or_(labels.c.archived_at == 0, is_used))
    ordered = statement.order_by(case((is_used, 0), else_=1), labels.c.name, labels.c.id)
    with database.read() as connection:
        return [Label(*row) for row in connection.execute(ordered.limit(limit))]


def find_label(database: Database, keeper: Repository | Account, number: int) -> Label:
    """Return the label with this id."""
    with database.read() as connection:
        row = connection.execute(
            select(*COLUMNS).where(belongs_to_owner(keeper), labels.c.id == number)
        ).one_or_none()
    if row is None:
        raise NoSuchLabel(f"label does not exist [label_id: {number}]")
    return Label(*row)


def labels_named(database: Database, repository: Repository, keys: Sequence[int | str]) -> tuple[Label, ...]:
    """Return labels by id or name, in that order; a repository's takes precedence over its owner's."""
    if not keys:
        return ()
    ids = {number for key in keys if (number := as_id(key)) is not None}
    names = {key for key in keys if isinstance(key, str)}
    statement = select(*COLUMNS).where(
        usable_in(repository),
        or_(labels.c.id.in_(ids) if ids else false(), labels.c.name.in_(names) if names else false()),
    )
    ordered = statement.order_by(labels.c.repository_id.is_(None).desc(), labels.c.id.desc())
    with database.read() as connection:
        candidates = [Label(*row) for row in connection.execute(ordered)]
    by_id, by_name = {label.id: label for label in candidates}, {label.name: label for label in candidates}
    chosen: list[Label] = []
    for key in keys:
        label = by_name.get(key) if isinstance(key, str) else None
        number = as_id(key)
        if label is None and number is not None:
            label = by_id.get(number)
        if label is None:
            raise InvalidReference("Labels", f"the repository has no label {key}")
        chosen.append(label)
    return tuple(dict.fromkeys(chosen))


def as_id(key: int | str) -> int | None:
    """Parse the id of a label; forms and paths can only send it as text."""
    if isinstance(key, str):
        if not (key.isascii() and key.isdigit() and len(key) <= 19):
            return None
        key = int(key)
    return key if key in INT64 else None


def one_per_scope(chosen: Iterable[Label]) -> tuple[Label, ...]:
    """Drop each label that a later one of the same exclusive scope replaces."""
    by_scope: dict[object, Label] = {}
    for label in chosen:
        key = (label.scope,) if label.scope else label.id
        by_scope.pop(key, None)
        by_scope[key] = label
    return tuple(by_scope.values())


def add_label(
    database: Database,
    keeper: Repository | Account,
    name: str,
    color: str,
    *,
    description: str = "",
    is_exclusive: bool = False,
    archived_at: int = 0,
) -> Label:
    """Add a label to a repository or an organization."""
    row = {
        "repository_id": keeper.id if isinstance(keeper, Repository) else None,
        "organization_id": None if isinstance(keeper, Repository) else keeper.id,
        "name": name,
        "color": check_color(color),
        "description": description,
        "is_exclusive": is_exclusive,
        "archived_at": archived_at,
    }
    with database.write() as connection:
        return Label(*connection.execute(insert(labels).returning(*COLUMNS), row).one())


def add_labels_to(connection: Connection, repository_id: int, new: Iterable[tuple[str, str, str, bool]]) -> None:
    """Add labels to a new repository: tuples of name, colour, description and whether it is exclusive."""
    columns = ("name", "color", "description", "is_exclusive")
    rows = [{"repository_id": repository_id, **dict(zip(columns, values, strict=True))} for values in new]
    if rows:
        connection.execute(insert(labels), rows)


def copy_labels(connection: Connection, source_id: int, repository_id: int) -> None:
    """Copy the labels of a repository to a new one."""
    copied = ("name", "color", "description", "is_exclusive", "archived_at")
    rows = select(literal(repository_id), *(labels.c[name] for name in copied)).where(
        labels.c.repository_id == source_id
    )
    connection.execute(insert(labels).from_select(["repository_id", *copied], rows.order_by(labels.c.id)))


def change_label(
    database: Database,
    keeper: Repository | Account,
    number: int,
    *,
    version: str = "",
    **columns: str | bool | int,
) -> Label:
    """Change a label; its colour is checked. Raises `Outdated` if it is not of the given version any more."""
    if "color" in columns:
        columns["color"] = check_color(str(columns["color"]))
    if not columns:
        return find_label(database, keeper, number)
    is_label = and_(belongs_to_owner(keeper), labels.c.id == number)
    with database.write() as connection:
        before = connection.execute(select(*COLUMNS).where(is_label).with_for_update()).one_or_none()
        if before is None:
            raise NoSuchLabel(f"label does not exist [label_id: {number}]")
        if version not in {"", Label(*before).version}:
            raise Outdated("the label was changed in the meantime")
        changed = update(labels).where(labels.c.id == number).values(**columns)
        return Label(*connection.execute(changed.returning(*COLUMNS)).one())


def delete_label(database: Database, keeper: Repository | Account, number: int) -> None:
    """Delete a label and remove it from its issues."""
    with database.write() as connection:
        # Closing several issues locks their rows of the label in another order, under this lock.
        lock_graph(connection)
        gone = connection.execute(delete(labels).where(belongs_to_owner(keeper), labels.c.id == number))
    if gone.rowcount == 0:
        raise NoSuchLabel(f"label does not exist [label_id: {number}]")
