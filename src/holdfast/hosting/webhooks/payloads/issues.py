"""Payloads of issue, pull request and comment events."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import bindparam, select

from holdfast.hosting.schemas.comments import CommentSchema, comment_shape
from holdfast.hosting.schemas.issues import IssueSchema, LabelSchema, issue, label_in
from holdfast.hosting.schemas.pulls import PullRequest, pull_request
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.users import UserSchema
from holdfast.hosting.store import comments as stored_comments
from holdfast.hosting.store import issue_transactions, labels
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account, account_by_id, accounts_by_id
from holdfast.hosting.store.comments import COLUMNS as COMMENT
from holdfast.hosting.store.issue_relations import IssueParts, issue_parts
from holdfast.hosting.store.issue_transactions import ISSUE
from holdfast.hosting.store.milestones import milestones_by_id
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import comments, issues
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
    "comment_event",
    "issue_event",
    "pull_event",
    "stored_issues",
]

# Every event of an issue that somebody listens to runs these; building a statement takes longer than running it.
ISSUE_BY_ID = Statement(select(*ISSUE).where(issues.c.id == bindparam("id")))
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


class PullRequestPayload(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of a pull request event."""

    action: str
    number: int
    pull_request: PullRequest | None
    requested_reviewer: None
    repository: RepositorySchema | None
    sender: UserSchema
    commit_id: str
    review: None
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


def stored_issues(happened: EventContext, *numbers: int) -> dict[int, issue_transactions.Issue]:
    """Return the issues of these ids that are still there."""
    database = happened.viewer.app.database
    found = [
        issue_transactions.Issue(*row) for number in set(numbers) for row in database.rows(ISSUE_BY_ID, id=number)
    ]
    return {one.id: one for one in found}


def parts_of(
    happened: EventContext, home: store.Repository, kept: issue_transactions.Issue, *, gone: bool
) -> IssueParts:
    """Load what belongs to an issue; what one that is gone had was written down."""
    database = happened.viewer.app.database
    if not gone:
        return issue_parts(database, [kept], home)
    facts = happened.facts
    with database.read() as connection:
        people = accounts_by_id(connection, {*facts.assignee_ids, kept.author_id or 0})
        goals = milestones_by_id(connection, [kept.milestone_id or 0])
    assigned = [people[number] for number in facts.assignee_ids if number in people]
    return IssueParts(
        {home.id: home},
        people,
        goals,
        {kept.id: list(facts.labels)},
        {kept.id: sorted(assigned, key=lambda account: account.name.casefold())},
    )


def load_issue(happened: EventContext) -> tuple[issue_transactions.Issue | None, IssueSchema | None]:
    """Return the issue an event is about, as it is kept and as its shape."""
    facts = happened.facts
    kept = stored_issues(happened, facts.issue_id).get(facts.issue_id)
    gone = kept is None
    if kept is None:
        kept = deleted_row(facts, issue_transactions.Issue)
    home = happened.repository
    if kept is None or home is None:
        return None, None
    return kept, issue(happened.viewer, kept, parts_of(happened, home, kept, gone=gone))


def pull_request_schema(
    happened: EventContext, kept: issue_transactions.Issue | None, shape: IssueSchema | None
) -> PullRequest | None:
    """Make the shape of a pull request from that of the issue it is."""
    home = happened.place
    if home is None or kept is None or shape is None:
        return None
    return pull_request(happened.viewer, home, kept, shape)


def changes_of(happened: EventContext) -> ChangesPayload | UnsetType:
    """Say what was there before."""
    facts = happened.facts
    made = ChangesPayload(
        title=from_payload(facts.old_title),
        body=from_payload(facts.old_body),
        ref=from_payload(old_ref(facts)),
        added_labels=label_schemas(happened, facts.added_labels),
        removed_labels=label_schemas(happened, facts.removed_labels),
    )
    return UNSET if made == ChangesPayload() else made


def label_schemas(happened: EventContext, kept: Sequence[labels.Label]) -> list[LabelSchema] | UnsetType:
    """Make the shapes of labels that were put on or taken off."""
    home = happened.repository
    return [label_in(happened.viewer, one, home) for one in kept] if kept and home is not None else UNSET


def old_ref(facts: EventDetails) -> str | None:
    """Return the branch or tag that is no longer meant."""
    return facts.old_ref if facts.old_base_branch is None else facts.old_base_branch


def from_payload(text: str | None) -> ChangesFromPayload | UnsetType:
    """Make the shape of what was there before."""
    return UNSET if text is None else ChangesFromPayload(text)


def issue_event(happened: EventContext) -> IssuePayload:
    """Tell what happened to an issue."""
    _, shape = load_issue(happened)
    return IssuePayload(
        action=happened.facts.action,
        number=happened.facts.number,
        issue=shape,
        repository=happened.place,
        sender=happened.sender,
        commit_id=happened.facts.commit_id,
        changes=changes_of(happened),
    )


def pull_event(happened: EventContext) -> PullRequestPayload:
    """Tell what happened to a pull request."""
    return PullRequestPayload(
        action=happened.facts.action,
        number=happened.facts.number,
        pull_request=pull_request_schema(happened, *load_issue(happened)),
        requested_reviewer=None,
        repository=happened.place,
        sender=happened.sender,
        commit_id="",
        review=None,
        changes=changes_of(happened),
    )


def comment_event(happened: EventContext) -> CommentPayload:
    """Tell what somebody said."""
    facts = happened.facts
    kept, shape = load_issue(happened)
    said = facts.comment or find_comment(happened)
    comment = None
    if kept is not None and said is not None and happened.repository is not None:
        comment = comment_shape(happened.viewer, happened.repository, kept, said, author_of(happened, said))
    return CommentPayload(
        action=facts.action,
        issue=shape,
        comment=comment,
        changes=changes_of(happened),
        repository=happened.place,
        sender=happened.sender,
        is_pull=facts.is_pull,
        pull_request=pull_request_schema(happened, kept, shape) if facts.is_pull else UNSET,
    )


def author_of(happened: EventContext, said: stored_comments.Comment) -> Account | None:
    """Return who wrote a comment, while they are there."""
    if said.author_id is None:
        return None
    if happened.actor is not None and happened.actor.id == said.author_id:
        return happened.actor
    return account_by_id(happened.viewer.app.database, said.author_id)


def find_comment(happened: EventContext) -> stored_comments.Comment | None:
    """Return the comment an event is about, while it is there."""
    row = happened.viewer.app.database.row(COMMENT_BY_ID, id=happened.facts.comment_id)
    return None if row is None else stored_comments.Comment(*row)
