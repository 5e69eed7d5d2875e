"""Labels on issues; an issue has at most one label of an exclusive scope."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import BigInteger, Connection, bindparam, delete, insert, select, update

from holdfast.hosting.errors import Outdated
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_transactions import Issue, IssueTransaction, issue_transaction
from holdfast.hosting.store.labels import COLUMNS, Label, one_per_scope
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import issue_labels, issues, labels

__all__ = [
    "COPIED",
    "LabelChange",
    "add_labels",
    "add_rows",
    "change_labels",
    "labels_on",
    "move_label",
    "record_label_change",
    "relabel",
    "remove_labels",
    "replace_labels",
    "set_labels",
    "set_state",
    "write_labels",
]

# Columns of issues that the rows have too.
COPIED: Final = ("repository_id", "is_pull", "is_closed", "created_at")
ADD_ROW = Statement(
    insert(issue_labels).from_select(
        ["issue_id", "label_id", *COPIED],
        select(issues.c.id, bindparam("label_id", type_=BigInteger), *(issues.c[name] for name in COPIED)).where(
            issues.c.id == bindparam("issue_id")
        ),
    )
)
SET_STATE = Statement(
    update(issue_labels)
    .where(issue_labels.c.issue_id == bindparam("number"))
    .values(is_closed=bindparam("is_closed"))
)


@dataclass(frozen=True, slots=True)
class LabelChange:
    """Labels added to and removed from an issue."""

    added: Sequence[Label]
    removed: Sequence[Label]
    is_cleared: bool
    """Whether no labels are left."""


def labels_on(connection: Connection, issue: Issue) -> tuple[Label, ...]:
    """Return the labels of an issue, by name."""
    statement = (
        select(*COLUMNS)
        .join(issue_labels, issue_labels.c.label_id == labels.c.id)
        .where(issue_labels.c.issue_id == issue.id)
        .order_by(labels.c.name, labels.c.id)
    )
    return tuple(Label(*row) for row in connection.execute(statement))


def add_labels(
    database: Database, repository: Repository, issue: Issue, actor: Account, more: Iterable[Label]
) -> None:
    """Add labels to an issue."""
    with issue_transaction(database, repository, actor) as change:
        before = labels_on(change.connection, issue)
        relabel(change, issue, before, one_per_scope([*before, *more]))


def replace_labels(
    database: Database, repository: Repository, issue: Issue, actor: Account, labels: Iterable[Label]
) -> None:
    """Replace the labels of an issue."""
    with issue_transaction(database, repository, actor) as change:
        set_labels(change, issue, labels)


def set_labels(change: IssueTransaction, issue: Issue, labels: Iterable[Label]) -> None:
    """Replace the labels of an issue, in an open transaction."""
    relabel(change, issue, labels_on(change.connection, issue), one_per_scope(labels))


def remove_labels(
    database: Database, repository: Repository, issue: Issue, actor: Account, less: Iterable[Label]
) -> None:
    """Remove labels from an issue; labels it does not have are ignored."""
    gone = {label.id for label in less}
    with issue_transaction(database, repository, actor) as change:
        before = labels_on(change.connection, issue)
        relabel(change, issue, before, tuple(label for label in before if label.id not in gone))


def change_labels(
    database: Database,
    repository: Repository,
    issue: Issue,
    actor: Account,
    *,
    more: Iterable[Label],
    less: Collection[int],
) -> None:
    """Add labels to an issue and remove others, by their ids; its other labels stay."""
    with issue_transaction(database, repository, actor) as change:
        before = labels_on(change.connection, issue)
        kept = [label for label in before if label.id not in less]
        relabel(change, issue, before, one_per_scope([*kept, *more]))


def move_label(
    database: Database,
    repository: Repository,
    issue: Issue,
    actor: Account,
    *,
    less: Label | None,
    more: Label | None,
) -> None:
    """Remove one label from an issue and add another; None stands for no label.

    Raises `Outdated` if the issue no longer has the first one, or, without a first one, if it has another label of
    an exclusive scope by now.
    """
    with issue_transaction(database, repository, actor) as change:
        before = labels_on(change.connection, issue)
        if less is not None and less not in before:
            raise Outdated(f"the issue does not have the label {less.name} any more")
        scope = "" if more is None or less is not None else more.scope
        if scope and any(label.scope == scope for label in before):
            raise Outdated(f"the issue has a label of {scope} by now")
        kept = [label for label in before if label != less]
        relabel(change, issue, before, one_per_scope(kept if more is None else [*kept, more]))


def relabel(change: IssueTransaction, issue: Issue, before: tuple[Label, ...], after: tuple[Label, ...]) -> None:
    """Change the labels from one set to another, with timeline entries and the event."""
    record_label_change(change, issue, write_labels(change, issue, before, after))


def write_labels(
    change: IssueTransaction, issue: Issue, before: tuple[Label, ...], after: tuple[Label, ...]
) -> LabelChange | None:
    """Change the labels from one set to another, with timeline entries; return the changes, or None."""
    had, has = {label.id for label in before}, {label.id for label in after}
    added = [label for label in after if label.id not in had]
    removed = [label for label in before if label.id not in has]
    if not added and not removed:
        return None
    if removed:
        change.connection.execute(
            delete(issue_labels).where(
                issue_labels.c.issue_id == issue.id, issue_labels.c.label_id.in_([label.id for label in removed])
            )
        )
    if added:
        add_rows(change.connection, [(issue.id, label.id) for label in added])
    # Clients distinguish added from removed by the body alone.
    entries = [("", {"label_id": label.id}) for label in removed] + [
        ("1", {"label_id": label.id}) for label in added
    ]
    change.add_entries(issue, "label", entries)
    return LabelChange(added, removed, is_cleared=not has)


def add_rows(connection: Connection, pairs: Sequence[tuple[int, int]]) -> None:
    """Add labels to issues, by their ids, with what the rows have of the issues."""
    if pairs:
        ADD_ROW.run_many(
            connection, [{"issue_id": issue_id, "label_id": label_id} for issue_id, label_id in pairs]
        )


def set_state(connection: Connection, issue: Issue, *, is_closed: bool) -> None:
    """Update the state of an issue that was closed or reopened in the rows of its labels."""
    SET_STATE.run(connection, number=issue.id, is_closed=is_closed)


def record_label_change(change: IssueTransaction, issue: Issue, change_of_labels: LabelChange | None) -> None:
    """Record the event that labels changed, if they did."""
    if change_of_labels is None:
        return
    action = "label_cleared" if change_of_labels.is_cleared else "label_updated"
    change.record_event(
        issue,
        "label",
        action,
        added_labels=[asdict(label) for label in change_of_labels.added],
        removed_labels=[asdict(label) for label in change_of_labels.removed],
    )
