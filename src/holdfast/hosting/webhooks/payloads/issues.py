"""Payloads of issue, pull request and comment events."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import bindparam, select

from holdfast.hosting.schemas.comments import CommentSchema, comment_shape
from holdfast.hosting.schemas.issues import IssueSchema, LabelSchema, issue, label_in
from holdfast.hosting.schemas.pulls import PullRequest, pull_request
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.store import comments as stored_comments
from holdfast.hosting.store import issue_transactions, labels
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account, account_by_id, accounts_by_id
from holdfast.hosting.store.attachments import Attachment, AttachmentHolder, attachments_of
from holdfast.hosting.store.comments import COLUMNS as COMMENT
from holdfast.hosting.store.issue_relations import IssueParts, issue_parts
from holdfast.hosting.store.issue_transactions import ISSUE
from holdfast.hosting.store.milestones import milestones_by_id
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.pulls import pull_parts
from holdfast.hosting.store.tables import comments, issues, reviews
from holdfast.hosting.webhooks.payloads.event_details import (
    ChangesFromPayload,
    EventContext,
    EventDetails,
    deleted_row,
)

__all__ = [
    "ChangesPayload",
    "CommentPayload",
    "IssuePayload",
    "PullRequestPayload",
    "ReviewPayload",
    "comment_event",
    "issue_event",
    "pull_event",
    "stored_issues",
]

# A prepared statement: compiling it takes longer than running it.
ISSUE_BY_ID = Statement(select(*ISSUE).where(issues.c.id == bindparam("id")))
REVIEW_BODY = Statement(select(reviews.c.body).where(reviews.c.id == bindparam("id")))
COMMENT_BY_ID = Statement(select(*COMMENT).where(comments.c.id == bindparam("id")))


class ChangesPayload(msgspec.Struct, frozen=True, kw_only=True):
    """The previous values of changed fields."""

    title: ChangesFromPayload | UnsetType = UNSET
    body: ChangesFromPayload | UnsetType = UNSET
    ref: ChangesFromPayload | UnsetType = UNSET
    added_labels: list[LabelSchema] | UnsetType = UNSET
    removed_labels: list[LabelSchema] | UnsetType = UNSET


class IssuePayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of an issue event."""

    action: str
    number: int
    issue: IssueSchema | None
    repository: RepositorySchema | None
    sender: UserSchema
    commit_id: str
    changes: ChangesPayload | UnsetType = UNSET


class ReviewPayload(msgspec.Struct, frozen=True):
    """A submitted review: the name of its event, and its text."""

    type: str
    content: str


class PullRequestPayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a pull request event."""

    action: str
    number: int
    pull_request: PullRequest | None
    requested_reviewer: UserSchema | None
    repository: RepositorySchema | None
    sender: UserSchema
    commit_id: str
    review: ReviewPayload | None
    changes: ChangesPayload | UnsetType = UNSET


class CommentPayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a comment that was created, edited or deleted."""

    action: str
    issue: IssueSchema | None
    comment: CommentSchema | None
    changes: ChangesPayload | UnsetType = UNSET
    repository: RepositorySchema | None
    sender: UserSchema
    is_pull: bool
    pull_request: PullRequest | UnsetType | None = UNSET


def stored_issues(context: EventContext, *numbers: int) -> dict[int, issue_transactions.Issue]:
    """Return the issues with these ids that still exist, by id."""
    database = context.viewer.app.database
    rows = [
        issue_transactions.Issue(*row) for number in set(numbers) for row in database.rows(ISSUE_BY_ID, id=number)
    ]
    return {stored.id: stored for stored in rows}


def parts_of(
    context: EventContext, home: store.Repository, row: issue_transactions.Issue, *, is_deleted: bool
) -> IssueParts:
    """Load the related rows of an issue; for a deleted one, those that were recorded."""
    database = context.viewer.app.database
    if not is_deleted:
        return issue_parts(database, [row], home)
    details = context.details
    with database.read() as connection:
        accounts = accounts_by_id(connection, {*details.assignee_ids, row.author_id or 0})
        milestones = milestones_by_id(connection, [row.milestone_id or 0])
    assigned = [accounts[number] for number in details.assignee_ids if number in accounts]
    return IssueParts(
        {home.id: home},
        accounts,
        milestones,
        {row.id: list(details.labels)},
        {row.id: sorted(assigned, key=lambda account: account.name.casefold())},
    )


def load_issue(context: EventContext) -> tuple[issue_transactions.Issue | None, IssueSchema | None]:
    """Return the issue of an event, as row and as schema."""
    details = context.details
    row = stored_issues(context, details.issue_id).get(details.issue_id)
    is_deleted = row is None
    if row is None:
        row = deleted_row(details, issue_transactions.Issue)
    home = context.repository
    if row is None or home is None:
        return None, None
    return row, issue(context.viewer, row, parts_of(context, home, row, is_deleted=is_deleted))


def pull_request_schema(
    context: EventContext, row: issue_transactions.Issue | None, schema: IssueSchema | None
) -> PullRequest | None:
    """Return the schema of a pull request from that of its issue; a fork the owner may not see is left out."""
    home = context.repository_schema
    if home is None or row is None or schema is None:
        return None
    parts = pull_parts(context.viewer.app.database, [row])
    heads = {number: context.schema_of(fork) for number, fork in parts.heads.items() if context.is_shown(fork)}
    return pull_request(context.viewer, home, row, schema, parts=parts, heads=heads)


def changes_of(context: EventContext) -> ChangesPayload | UnsetType:
    """Return the former values."""
    details = context.details
    changes = ChangesPayload(
        title=from_payload(details.old_title),
        body=from_payload(details.old_body),
        ref=from_payload(old_ref(details)),
        added_labels=label_schemas(context, details.added_labels),
        removed_labels=label_schemas(context, details.removed_labels),
    )
    return UNSET if changes == ChangesPayload() else changes


def label_schemas(context: EventContext, changed_labels: Sequence[labels.Label]) -> list[LabelSchema] | UnsetType:
    """Return the schemas of labels that were added or removed."""
    home = context.repository
    return (
        [label_in(context.viewer, label, home) for label in changed_labels]
        if changed_labels and home is not None
        else UNSET
    )


def old_ref(details: EventDetails) -> str | None:
    """Return the former branch or tag."""
    return details.old_ref if details.old_base_branch is None else details.old_base_branch


def from_payload(text: str | None) -> ChangesFromPayload | UnsetType:
    """Return the schema of a former value."""
    return UNSET if text is None else ChangesFromPayload(text)


def issue_event(context: EventContext) -> IssuePayload:
    """Return the payload of an issue event."""
    _, schema = load_issue(context)
    return IssuePayload(
        action=context.details.action,
        number=context.details.number,
        issue=schema,
        repository=context.repository_schema,
        sender=context.sender,
        commit_id=context.details.commit_id,
        changes=changes_of(context),
    )


def pull_event(context: EventContext) -> PullRequestPayload:
    """Return the payload of a pull request event."""
    return PullRequestPayload(
        action=context.details.action,
        number=context.details.number,
        pull_request=pull_request_schema(context, *load_issue(context)),
        requested_reviewer=requested_reviewer(context),
        repository=context.repository_schema,
        sender=context.sender,
        commit_id=context.details.commit_id,
        review=review_payload(context),
        changes=changes_of(context),
    )


def requested_reviewer(context: EventContext) -> UserSchema | None:
    """Return the user whose review was requested or whose request was cancelled; None for a team."""
    if not context.details.reviewer_id:
        return None
    return user(context.viewer, account_by_id(context.viewer.app.database, context.details.reviewer_id))


def review_payload(context: EventContext) -> ReviewPayload | None:
    """Return the submitted review; its text is empty if it was deleted since."""
    if not context.details.review_id:
        return None
    row = context.viewer.app.database.row(REVIEW_BODY, id=context.details.review_id)
    return ReviewPayload(context.event.kind, "" if row is None else row[0])


def comment_event(context: EventContext) -> CommentPayload:
    """Return the payload of a comment event."""
    details = context.details
    row, schema = load_issue(context)
    stored = details.comment or find_comment(context)
    comment = None
    if row is not None and stored is not None and context.repository is not None:
        author = author_of(context, stored)
        files = files_of(context, stored)
        comment = comment_shape(context.viewer, context.repository, row, stored, author, files=files)
    return CommentPayload(
        action=details.action,
        issue=schema,
        comment=comment,
        changes=changes_of(context),
        repository=context.repository_schema,
        sender=context.sender,
        is_pull=details.is_pull,
        pull_request=pull_request_schema(context, row, schema) if details.is_pull else UNSET,
    )


def files_of(context: EventContext, comment: stored_comments.Comment) -> list[Attachment]:
    """Return the files of a comment; a new one and a deleted one have none."""
    if context.details.action != "edited":
        return []
    return attachments_of(context.viewer.app.database, AttachmentHolder("comment_id", comment.id))


def author_of(context: EventContext, comment: stored_comments.Comment) -> Account | None:
    """Return the author of a comment, if they still exist."""
    if comment.author_id is None:
        return None
    if context.actor is not None and context.actor.id == comment.author_id:
        return context.actor
    return account_by_id(context.viewer.app.database, comment.author_id)


def find_comment(context: EventContext) -> stored_comments.Comment | None:
    """Return the comment of an event, if it still exists."""
    row = context.viewer.app.database.row(COMMENT_BY_ID, id=context.details.comment_id)
    return None if row is None else stored_comments.Comment(*row)
