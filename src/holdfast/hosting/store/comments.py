"""Comments and the other entries of an issue's timeline."""

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from holdfast.hosting.errors import NoSuchComment, Outdated
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.cross_references import (
    NO_REFERENCES,
    CrossReferences,
    add_references,
    referenced_repositories,
    replace_references,
    shown_to,
)
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hashed_versions import hashed_version
from holdfast.hosting.store.issue_transactions import ISSUE, Issue, IssueTransaction, issue_transaction
from holdfast.hosting.store.list_pages import page_ids
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import comments, issues
from holdfast.hosting.store.visible_issues import Reader

__all__ = [
    "Comment",
    "TimelineDetails",
    "add_comment",
    "body_version",
    "comments_by_id",
    "comments_in",
    "commits_on",
    "delete_comment",
    "edit_comment",
    "entries_before",
    "entries_of",
    "find_comment",
    "find_text",
    "plain_ids",
]


class TimelineDetails(msgspec.Struct, frozen=True):
    """The details of a timeline entry; which fields are set depends on its kind."""

    old_title: str = ""
    new_title: str = ""
    old_ref: str = ""
    new_ref: str = ""
    label_id: int | None = None
    assignee_id: int | None = None
    removed: bool = False
    old_milestone_id: int | None = None
    milestone_id: int | None = None
    old_due_at: int = 0
    due_at: int = 0
    assignee_team_id: int | None = None
    """The team whose review was requested; it may be deleted."""
    review_id: int | None = None
    """The review of the entry, or of the line comment; it may be deleted."""
    dependent_issue_id: int | None = None
    """The other issue of a dependency that was added or removed; it may be deleted or not readable."""
    commit_id: str = ""
    commit_repository_id: int | None = None
    """The repository of the commit that closed, reopened or mentioned the issue; it may not be readable."""
    ref_action: str = "none"
    """What the pull request of a cross-reference does when it is merged: `none`, `closes` or `reopens`."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A timeline entry; the fields are the columns of the table, in this order."""

    id: int
    issue_id: int
    kind: str
    author_id: int | None
    body: str
    details: str
    created_at: int
    updated_at: int
    original_author: str = ""
    """The name of the author elsewhere, if it was migrated."""
    source_issue_id: int | None = None
    """The issue that mentions this one, of a cross-reference."""
    source_comment_id: int | None = None
    """The comment or review of that issue that mentions this one; None if the issue's own text does."""

    @property
    def happening(self) -> TimelineDetails:
        """The decoded details."""
        return decoder.decode(self.details)


decoder = msgspec.json.Decoder(TimelineDetails)
COLUMNS: Final = tuple(comments.c[name] for name in Comment.__dataclass_fields__)
WIDTH: Final = len(COLUMNS)
IS_PLAIN: Final = comments.c.kind == "comment"
# Comments on lines are edited and deleted like others, once their review is submitted.
IS_COMMENT: Final = comments.c.kind.in_(("comment", "code"))
IS_SUBMITTED: Final = comments.c.kind != "pending_code"
ANYBODY: Final = Reader()
# Prepared: building a statement takes longer than running it.
WRITTEN = ("issue_id", "repository_id", "kind", "author_id", "body", "created_at", "updated_at")
ADD = Statement(insert(comments).values({name: bindparam(name) for name in WRITTEN}).returning(*COLUMNS))
RECOUNT = Statement(
    update(issues)
    .where(issues.c.id == bindparam("issue_id"))
    .values(comment_count=issues.c.comment_count + bindparam("by"), updated_at=bindparam("now"))
)


def within(since: int | None, before: int | None) -> list[ColumnElement[bool]]:
    """Return the conditions that an entry was updated within a time range."""
    conditions = []
    if since is not None:
        conditions.append(comments.c.updated_at >= since)
    if before is not None:
        conditions.append(comments.c.updated_at <= before)
    return conditions


def entries_of(
    database: Database,
    issue: Issue,
    *,
    plain: bool,
    reader: Reader = ANYBODY,
    since: int | None = None,
    before: int | None = None,
    skip: int,
    limit: int,
) -> tuple[list[Comment], int]:
    """Return one page of an issue's timeline, or of its plain comments, oldest first, and the total.

    Cross-references are among them as far as the reader may read what mentions the issue.
    """
    conditions = [comments.c.issue_id == issue.id, *within(since, before), IS_PLAIN if plain else IS_SUBMITTED]
    with database.read() as connection:
        total, conditions = count_shown(connection, conditions, reader)
        statement = select(*COLUMNS).where(*conditions).order_by(comments.c.created_at, comments.c.id)
        rows = connection.execute(statement.offset(skip).limit(limit)).all()
    return [Comment(*row) for row in rows], total


def plain_ids(
    database: Database, issue: Issue, *, since: int | None = None, before: int | None = None, skip: int, limit: int
) -> tuple[list[int], int]:
    """Return the ids of one page of an issue's plain comments, oldest first, and the total."""
    conditions = [comments.c.issue_id == issue.id, *within(since, before), IS_PLAIN]
    statement = select(comments.c.id).where(*conditions).order_by(comments.c.created_at, comments.c.id)
    with database.read() as connection:
        total = connection.execute(select(func.count()).select_from(comments).where(*conditions)).scalar_one()
        ids = connection.execute(statement.offset(skip).limit(limit)).scalars().all()
    return list(ids), total


def count_shown(
    connection: Connection, conditions: list[ColumnElement[bool]], reader: Reader
) -> tuple[int, list[ColumnElement[bool]]]:
    """Return the number of entries that a reader is shown, and the conditions that select them.

    Most timelines have no cross-references, and then need no condition on their sources, which is expensive.
    """
    counts = select(func.count(), func.count(comments.c.source_issue_id)).select_from(comments)
    total, references = connection.execute(counts.where(*conditions)).one()
    if references:
        conditions = [*conditions, shown_to(reader)]
        total = connection.execute(select(func.count()).select_from(comments).where(*conditions)).scalar_one()
    return total, conditions


def entries_before(database: Database, comment: Comment, reader: Reader = ANYBODY) -> int:
    """Return the number of timeline entries before a comment, of those that a reader is shown."""
    earlier = or_(
        comments.c.created_at < comment.created_at,
        and_(comments.c.created_at == comment.created_at, comments.c.id < comment.id),
    )
    with database.read() as connection:
        conditions = [comments.c.issue_id == comment.issue_id, earlier, IS_SUBMITTED]
        count, _ = count_shown(connection, conditions, reader)
    return count


def comments_in(
    database: Database,
    repository: Repository,
    *,
    kinds: tuple[bool, ...],
    since: int | None = None,
    before: int | None = None,
    skip: int,
    limit: int,
) -> tuple[list[tuple[Comment, Issue]], int]:
    """Return one page of the plain comments in a repository; `kinds` are the accepted values of `is_pull`."""
    # The second condition is that of the partial index.
    conditions = [comments.c.repository_id == repository.id, comments.c.repository_id > 0, *within(since, before)]
    source: FromClause = comments
    of_kind = [issues.c.is_pull.in_(kinds)]
    if {False, True} <= set(kinds):
        of_kind = []
    else:
        source = comments.join(issues, issues.c.id == comments.c.issue_id)
    counting: Select[Any] = select(func.count()).select_from(source).where(*conditions, *of_kind)
    if since is None and before is None:
        # Issues have a comment counter.
        counted = func.coalesce(func.sum(issues.c.comment_count), 0)
        counting = select(counted).where(
            issues.c.repository_id == repository.id, issues.c.comment_count > 0, *of_kind
        )
    with database.read() as connection:
        total = int(connection.execute(counting).scalar_one())
        ids = page_ids(
            connection,
            select(comments.c.id).select_from(source).where(*conditions, *of_kind),
            comments.c.created_at,
            comments.c.id,
            skip=skip,
            limit=limit,
            total=total,
        )
        joined = select(*COLUMNS, *ISSUE).join_from(comments, issues, issues.c.id == comments.c.issue_id)
        rows = connection.execute(joined.where(comments.c.id.in_(ids))).all() if ids else []
    by_id = {row[0]: (Comment(*row[:WIDTH]), Issue(*row[WIDTH:])) for row in rows}
    return [by_id[number] for number in ids if number in by_id], total


def find_comment(database: Database, repository: Repository, number: int) -> tuple[Comment, Issue]:
    """Return a comment by id, on an issue or on a line of a pull request, and its issue."""
    statement = (
        select(*COLUMNS, *ISSUE)
        .join_from(comments, issues, issues.c.id == comments.c.issue_id)
        .where(comments.c.id == number, issues.c.repository_id == repository.id, IS_COMMENT)
    )
    with database.read() as connection:
        row = connection.execute(statement).one_or_none()
    if row is None:
        raise no_comment(number)
    return Comment(*row[:WIDTH]), Issue(*row[WIDTH:])


def find_text(database: Database, issue: Issue, number: int) -> Comment | None:
    """Return a comment, a line comment or a submitted review of an issue by its id; None if it has none."""
    statement = select(*COLUMNS).where(
        comments.c.id == number, comments.c.issue_id == issue.id, or_(IS_COMMENT, comments.c.kind == "review")
    )
    with database.read() as connection:
        row = connection.execute(statement).one_or_none()
    return None if row is None else Comment(*row)


def comments_by_id(connection: Connection, ids: Collection[int]) -> dict[int, Comment]:
    """Return timeline entries by id; missing ones are left out."""
    if not ids:
        return {}
    rows = connection.execute(select(*COLUMNS).where(comments.c.id.in_(ids)))
    return {comment.id: comment for row in rows for comment in [Comment(*row)]}


def commits_on(
    connection: Connection, issue_ids: Collection[int], commits: Collection[str]
) -> set[tuple[int, str]]:
    """Return which of these commits are already on the timelines of these issues, in any repository."""
    # The JSON details begin with the commit: fields are encoded in the order of `Reason`.
    begins, length = '{"commit_id":"', max(map(len, commits), default=0)
    beginning = func.substr(comments.c.details, len(begins) + 1, length)
    statement = select(comments.c.issue_id, beginning).where(
        comments.c.issue_id.in_(issue_ids),
        comments.c.kind.in_(("commit_ref", "close", "reopen")),
        beginning.in_(commits),
    )
    return {(issue_id, commit) for issue_id, commit in connection.execute(statement)}


def no_comment(number: int) -> NoSuchComment:
    """Return the error for a comment that does not exist."""
    return NoSuchComment(f"comment does not exist [id: {number}, issue_id: 0]")


def recount(change: IssueTransaction, issue: Issue, by: int) -> None:
    """Add to an issue's comment count."""
    RECOUNT.run(change.connection, issue_id=issue.id, by=by, now=change.now)


def add_comment(
    database: Database,
    repository: Repository,
    issue: Issue,
    author: Account,
    body: str,
    *,
    references: CrossReferences = NO_REFERENCES,
) -> Comment:
    """Add a comment to an issue; `references` are the issues it mentions."""
    with issue_transaction(database, repository, author, others=references.repository_ids) as change:
        ((*row,),) = ADD.run(
            change.connection,
            issue_id=issue.id,
            repository_id=repository.id,
            kind="comment",
            author_id=author.id,
            body=body,
            created_at=change.now,
            updated_at=change.now,
        )
        comment = Comment(*row)
        recount(change, issue, +1)
        add_references(change, issue, references, comment.id)
        change.record_event(issue, "comment", "created", comment_id=comment.id)
        return comment


def body_version(body: str) -> str:
    """Return the version of a comment's body, for optimistic locking."""
    return hashed_version(body)


def edit_comment(
    database: Database,
    repository: Repository,
    issue: Issue,
    comment: Comment,
    *,
    actor: Account,
    body: str,
    version: str = "",
    references: CrossReferences = NO_REFERENCES,
) -> Comment:
    """Change the body of a comment; `references` are the issues it mentions now.

    Raises `Outdated` if the body is not of the given version any more.
    """
    if body == comment.body:
        return comment
    others = references.repository_ids | referenced_repositories(database, issue)
    with issue_transaction(database, repository, actor, others=others) as change:
        current_body = select(comments.c.body).where(comments.c.id == comment.id)
        before = change.connection.execute(current_body).scalar_one_or_none()
        if before is None:
            raise no_comment(comment.id)
        if version not in {"", body_version(before)}:
            raise Outdated("the comment was changed in the meantime")
        row = change.connection.execute(
            update(comments)
            .where(comments.c.id == comment.id)
            .values(body=body, updated_at=change.now)
            .returning(*COLUMNS)
        ).one()
        replace_references(change, issue, references, comment.id)
        if before != body:
            change.touch(issue)
            change.record_event(issue, "comment", "edited", comment_id=comment.id, old_body=before)
        return Comment(*row)


def delete_comment(
    database: Database,
    repository: Repository,
    issue: Issue,
    comment: Comment,
    *,
    actor: Account,
    first: Callable[[Connection], None] | None = None,
) -> None:
    """Delete a comment; `first` runs in the same transaction, before the deletion."""
    others = referenced_repositories(database, issue)
    with issue_transaction(database, repository, actor, others=others) as change:
        if first is not None:
            first(change.connection)
        statement = delete(comments).where(comments.c.id == comment.id).returning(*COLUMNS)
        row = change.connection.execute(statement).one_or_none()
        if row is None:
            raise no_comment(comment.id)
        if comment.kind == "comment":
            recount(change, issue, -1)
        else:
            change.touch(issue)
        # The event contains the comment, which cannot be looked up after the deletion.
        change.record_event(issue, "comment", "deleted", comment_id=comment.id, comment=asdict(Comment(*row)))
