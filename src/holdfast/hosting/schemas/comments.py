"""Schemas of comments and timeline entries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from holdfast.hosting.schemas.attachments import AttachmentSchema, attachment
from holdfast.hosting.schemas.dependencies import dependent_issues, reader
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
from holdfast.hosting.store.visible_issues import VisibleIssue, visible_issues_by_id

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


@dataclass(frozen=True, slots=True)
class RelatedIssues:
    """The other issues that the entries of a timeline name."""

    visible: Mapping[int, VisibleIssue]
    encoded: Mapping[int, IssueSchema]
    """Those that the viewer may not read say no more than that."""
    comments: Mapping[int, CommentSchema]
    """The comments that mention the issue, by id."""

    def readable(self, issue_id: int | None) -> VisibleIssue | None:
        """Return an issue that the viewer may read."""
        visible_issue = self.visible.get(issue_id or 0)
        return visible_issue if visible_issue is not None and visible_issue.is_readable else None


def comment_list(
    viewer: Viewer, repository: Repository, pairs: Sequence[tuple[comments.Comment, issues.Issue]]
) -> list[CommentSchema]:
    """Encode a page of comments with their issues."""
    return comment_shapes(viewer, [(comment, issue, repository) for comment, issue in pairs])


def comment_shapes(
    viewer: Viewer, located: Sequence[tuple[comments.Comment, issues.Issue, Repository]]
) -> list[CommentSchema]:
    """Encode comments with their issues and repositories."""
    parts = timeline_parts(viewer.app.database, [comment for comment, _, _ in located])
    with viewer.app.database.read() as connection:
        files = stored_attachments(connection, "comment_id", [comment.id for comment, _, _ in located])
    return [
        comment_shape(
            viewer, repository, issue, comment, parts.people.get(comment.author_id or 0), files=files[comment.id]
        )
        for comment, issue, repository in located
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
    others = related_issues(viewer, entries)
    resolved = conversation_resolvers(viewer, entries)
    return [
        timeline_entry(viewer, repository, issue, entry, parts=parts, others=others, resolved=resolved)
        for entry in entries
    ]


def related_issues(viewer: Viewer, entries: Sequence[comments.Comment]) -> RelatedIssues:
    """Load the other issues that entries name: of dependencies, and of cross-references with their comments."""
    named = {entry.happening.dependent_issue_id for entry in entries}
    named |= {entry.source_issue_id for entry in entries}
    ids = {number for number in named if number is not None}
    if not ids:
        return RelatedIssues({}, {}, {})
    comment_ids = {entry.source_comment_id for entry in entries if entry.source_comment_id is not None}
    with viewer.app.database.read() as connection:
        visible = visible_issues_by_id(connection, ids, reader(viewer))
        mentioning = comments.comments_by_id(connection, comment_ids)
    located = [
        (comment, visible[comment.issue_id].issue, visible[comment.issue_id].repository)
        for comment in mentioning.values()
        if comment.issue_id in visible and visible[comment.issue_id].is_readable
    ]
    return RelatedIssues(
        visible,
        dict(zip(visible, dependent_issues(viewer, list(visible.values())), strict=True)),
        {shape.id: shape for shape in comment_shapes(viewer, located)} if located else {},
    )


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
    others: RelatedIssues,
    resolved: Mapping[int, UserSchema],
) -> TimelineComment:
    """Encode a timeline entry; `others` are the issues that entries name, `resolved` by comment id."""
    page = issue_page(viewer, repository, issue)
    details = entry.happening
    old, new = parts.milestones.get(details.old_milestone_id or 0), parts.milestones.get(details.milestone_id or 0)
    label = parts.labels.get(details.label_id or 0)
    asked = parts.teams.get(details.assignee_team_id or 0)
    source = others.readable(entry.source_issue_id)
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
        ref_issue=None if source is None else others.encoded[source.issue.id],
        ref_comment=others.comments.get(entry.source_comment_id or 0),
        ref_action=details.ref_action if source is not None and source.closes_issues else "none",
        ref_commit_sha=details.commit_id,
        review_id=details.review_id or 0,
        label=None if label is None else label_in(viewer, label, repository),
        assignee=None if details.assignee_id is None else user(viewer, parts.people.get(details.assignee_id)),
        assignee_team=None if asked is None else team(viewer, asked, repository.owner),
        removed_assignee=details.removed,
        resolve_doer=resolved.get(entry.id),
        dependent_issue=others.encoded.get(details.dependent_issue_id or 0),
    )


def deadline(details: comments.TimelineDetails) -> str:
    """Return the due date, with the former one if there was one."""
    return "|".join(moment(when)[:10] for when in (details.due_at, details.old_due_at) if when)
