"""Cross-references: timeline entries of issues that other issues, pull requests and comments mention.

Each text that mentions an issue has an entry of its own on the issue's timeline, which names its source: it is
deleted with the text, and with the mention. A reader is shown one entry for each source issue they may read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec
from sqlalchemy import ColumnElement, and_, delete, exists, insert, or_, select, update

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_lists import WITH_PLACE, visible_to
from holdfast.hosting.store.issue_transactions import Issue, IssueTransaction
from holdfast.hosting.store.tables import comments, issues
from holdfast.hosting.store.visible_issues import Reader

__all__ = [
    "NO_REFERENCES",
    "CrossReferences",
    "add_references",
    "referenced_repositories",
    "replace_references",
    "shown_to",
]

earlier = comments.alias("earlier")


@dataclass(frozen=True, slots=True)
class CrossReferences:
    """The issues that a text mentions and that its author may add an entry to."""

    actions: Mapping[int, str] = field(default_factory=dict)
    """What merging the text's pull request does to each, by issue id: `none`, `closes` or `reopens`."""
    repository_ids: frozenset[int] = frozenset()
    """The other repositories that have some of these issues, which the transaction locks."""
    others: frozenset[int] = frozenset()
    """Issues that the text mentions as well, by id: entries that they have stay, and none is added."""


NO_REFERENCES: Final = CrossReferences()


def add_references(
    change: IssueTransaction, source: Issue, references: CrossReferences, comment_id: int | None = None
) -> None:
    """Add the entries of a new text: that of an issue, or of one of its comments.

    Nothing else of the mentioned issues changes, nor the time of their last update: not everybody who reads them
    may read the source.
    """
    mentioned = references.actions.keys() - {source.id}
    if not mentioned:
        return
    # Their repositories are locked, so those that are there now stay.
    existing = change.connection.execute(select(issues.c.id).where(issues.c.id.in_(mentioned))).scalars().all()
    kind = "comment_ref" if comment_id is not None else "pull_ref" if source.is_pull else "issue_ref"
    rows = [
        {
            "issue_id": number,
            "kind": kind,
            "author_id": change.actor.id,
            "details": details_of(references.actions[number]),
            "created_at": change.now,
            "updated_at": change.now,
            "source_issue_id": source.id,
            "source_comment_id": comment_id,
        }
        for number in sorted(existing)
    ]
    if rows:
        change.connection.execute(insert(comments), rows)


def replace_references(
    change: IssueTransaction, source: Issue, references: CrossReferences, comment_id: int | None = None
) -> None:
    """Update the entries of an edited text: add new ones, and delete those of issues it no longer mentions."""
    statement = select(comments.c.id, comments.c.issue_id, comments.c.details).where(
        comments.c.source_issue_id == source.id, comments.c.source_comment_id.is_not_distinct_from(comment_id)
    )
    before = {row.issue_id: row for row in change.connection.execute(statement)}
    actions = references.actions
    gone = [row.id for number, row in before.items() if number not in actions and number not in references.others]
    if gone:
        change.connection.execute(delete(comments).where(comments.c.id.in_(gone)))
    for action in {*actions.values()}:
        details = details_of(action)
        changed = [
            row.id for number, row in before.items() if actions.get(number) == action and row.details != details
        ]
        if changed:
            change.connection.execute(update(comments).where(comments.c.id.in_(changed)).values(details=details))
    added = {number: action for number, action in actions.items() if number not in before}
    add_references(change, source, CrossReferences(added), comment_id)


def referenced_repositories(database: Database, source: Issue) -> set[int]:
    """Return the other repositories in which an issue, or a comment on it, has entries.

    A transaction that edits or deletes such a text locks them, because it deletes entries there.
    """
    statement = (
        select(issues.c.repository_id)
        .join_from(comments, issues, issues.c.id == comments.c.issue_id)
        .where(comments.c.source_issue_id == source.id, issues.c.repository_id != source.repository_id)
        .distinct()
    )
    with database.read() as connection:
        return set(connection.execute(statement).scalars())


def details_of(action: str) -> str:
    """Return the details of an entry as JSON."""
    return msgspec.json.encode({} if action == "none" else {"ref_action": action}).decode()


def shown_to(reader: Reader) -> ColumnElement[bool]:
    """Return the condition that a reader is shown a timeline entry: a cross-reference if they may read its source.

    Of several from one source issue they are shown the one of its own text, or else the oldest, which is looked up
    in ix_comments_issue_id_source_issue_id.
    """
    readable = exists(
        select(issues.c.id)
        .select_from(WITH_PLACE)
        .where(issues.c.id == comments.c.source_issue_id, visible_to(reader.user, public_only=reader.public_only))
    )
    repeats = exists().where(
        comments.c.source_comment_id.is_not(None),
        earlier.c.issue_id == comments.c.issue_id,
        earlier.c.source_issue_id == comments.c.source_issue_id,
        or_(earlier.c.source_comment_id.is_(None), earlier.c.id < comments.c.id),
    )
    return or_(comments.c.source_issue_id.is_(None), and_(readable, ~repeats))
