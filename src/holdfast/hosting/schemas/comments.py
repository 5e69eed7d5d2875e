"""Schemas of comments and timeline entries."""

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.hosting.schemas.attachments import AttachmentSchema, attachment
from holdfast.hosting.schemas.dependencies import shown_by_id
from holdfast.hosting.schemas.issues import (
    IssueSchema,
    LabelSchema,
    MilestoneSchema,
    issue_page,
    label_in,
    milestone,
)
from holdfast.hosting.schemas.organizations import TeamSchema, team
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store import comments, issues
from holdfast.hosting.store.accounts import Account, accounts_by_id
from holdfast.hosting.store.attachments import Attachment, stored_attachments
from holdfast.hosting.store.issue_relations import TimelineParts, timeline_parts
from holdfast.hosting.store.line_comments import resolvers
from holdfast.hosting.store.repositories import Repository

__all__ = ["CommentSchema", "TimelineComment", "comment_list", "comment_shape", "one_comment", "timeline"]


class CommentSchema(msgspec.Struct, frozen=True):
    """A comment on an issue or a pull request."""

    id: int
    html_url: str
    pull_request_url: str
    issue_url: str
    user: UserSchema | None
    original_author: str
    original_author_id: int
    body: str
    assets: list[AttachmentSchema]
    created_at: Time
    updated_at: Time


class TimelineComment(msgspec.Struct, frozen=True):
    """A timeline entry; `type` is its kind, which decides which keys are used."""

    id: int
    type: str
    html_url: str
    pull_request_url: str
    issue_url: str
    user: UserSchema | None
    body: str
    created_at: Time
    updated_at: Time
    old_project_id: int
    project_id: int
    old_milestone: MilestoneSchema | None
    milestone: MilestoneSchema | None
    tracked_time: None
    old_title: str
    new_title: str
    old_ref: str
    new_ref: str
    ref_issue: IssueSchema | None
    ref_comment: CommentSchema | None
    ref_action: str
    ref_commit_sha: str
    review_id: int
    label: LabelSchema | None
    assignee: UserSchema | None
    assignee_team: TeamSchema | None
    removed_assignee: bool
    resolve_doer: UserSchema | None
    dependent_issue: IssueSchema | None


def comment_list(
    viewer: Viewer, repository: Repository, pairs: Sequence[tuple[comments.Comment, issues.Issue]]
) -> list[CommentSchema]:
    """Encode a page of comments with their issues."""
    parts = timeline_parts(viewer.app.database, [comment for comment, _ in pairs])
    with viewer.app.database.read() as connection:
        files = stored_attachments(connection, "comment_id", [comment.id for comment, _ in pairs])
    return [
        comment_shape(
            viewer, repository, issue, comment, parts.people.get(comment.author_id or 0), files=files[comment.id]
        )
        for comment, issue in pairs
    ]


def comment_shape(
    viewer: Viewer,
    repository: Repository,
    issue: issues.Issue,
    comment: comments.Comment,
    author: Account | None,
    *,
    files: Sequence[Attachment] = (),
) -> CommentSchema:
    """Encode a comment whose author and files are loaded."""
    page = issue_page(viewer, repository, issue)
    return CommentSchema(
        id=comment.id,
        html_url=f"{page}#issuecomment-{comment.id}",
        pull_request_url=page if issue.is_pull else "",
        issue_url="" if issue.is_pull else page,
        user=user(viewer, author),
        original_author=comment.original_author,
        original_author_id=0,
        body=comment.body,
        assets=[attachment(viewer, stored) for stored in files],
        created_at=moment(comment.created_at),
        updated_at=moment(comment.updated_at),
    )


def one_comment(
    viewer: Viewer, repository: Repository, issue: issues.Issue, comment: comments.Comment
) -> CommentSchema:
    """Encode a comment."""
    return comment_list(viewer, repository, [(comment, issue)])[0]


def timeline(
    viewer: Viewer, repository: Repository, issue: issues.Issue, entries: Sequence[comments.Comment]
) -> list[TimelineComment]:
    """Encode a page of a timeline."""
    parts = timeline_parts(viewer.app.database, entries)
    named = {entry.happening.dependent_issue_id for entry in entries}
    others = shown_by_id(viewer, {number for number in named if number is not None})
    resolved = conversation_resolvers(viewer, entries)
    return [
        timeline_entry(viewer, repository, issue, entry, parts=parts, others=others, resolved=resolved)
        for entry in entries
    ]


def conversation_resolvers(viewer: Viewer, entries: Sequence[comments.Comment]) -> dict[int, UserSchema]:
    """Return the users who resolved the conversations of line comments, by comment id."""
    database = viewer.app.database
    resolver_ids = resolvers(database, [entry.id for entry in entries if entry.kind == "code"])
    if not resolver_ids:
        return {}
    with database.read() as connection:
        people = accounts_by_id(connection, {number for number in resolver_ids.values() if number is not None})
    return {comment: user(viewer, people.get(number or 0)) for comment, number in resolver_ids.items()}


def timeline_entry(
    viewer: Viewer,
    repository: Repository,
    issue: issues.Issue,
    entry: comments.Comment,
    *,
    parts: TimelineParts,
    others: Mapping[int, IssueSchema],
    resolved: Mapping[int, UserSchema],
) -> TimelineComment:
    """Encode a timeline entry; `others` are the issues that dependencies refer to, `resolved` by comment id."""
    page = issue_page(viewer, repository, issue)
    details = entry.happening
    old, new = parts.milestones.get(details.old_milestone_id or 0), parts.milestones.get(details.milestone_id or 0)
    label = parts.labels.get(details.label_id or 0)
    asked = parts.teams.get(details.assignee_team_id or 0)
    return TimelineComment(
        id=entry.id,
        type=entry.kind,
        html_url=f"{page}#issuecomment-{entry.id}",
        pull_request_url=page if issue.is_pull else "",
        issue_url="" if issue.is_pull else page,
        user=user(viewer, parts.people.get(entry.author_id or 0)),
        body=deadline(details) if entry.kind.endswith("_deadline") else entry.body,
        created_at=moment(entry.created_at),
        updated_at=moment(entry.updated_at),
        old_project_id=0,
        project_id=0,
        old_milestone=None if old is None else milestone(old),
        milestone=None if new is None else milestone(new),
        tracked_time=None,
        old_title=details.old_title,
        new_title=details.new_title,
        old_ref=details.old_ref,
        new_ref=details.new_ref,
        ref_issue=None,
        ref_comment=None,
        ref_action="none",
        ref_commit_sha=details.commit_id,
        review_id=details.review_id or 0,
        label=None if label is None else label_in(viewer, label, repository),
        assignee=None if details.assignee_id is None else user(viewer, parts.people.get(details.assignee_id)),
        assignee_team=None if asked is None else team(viewer, asked, repository.owner),
        removed_assignee=details.removed,
        resolve_doer=resolved.get(entry.id),
        dependent_issue=others.get(details.dependent_issue_id or 0),
    )


def deadline(details: comments.TimelineDetails) -> str:
    """Return the due date, with the former one if there was one."""
    return "|".join(moment(when)[:10] for when in (details.due_at, details.old_due_at) if when)
