"""Schemas of issues, labels and milestones."""

from collections.abc import Sequence
from functools import partial

import msgspec

from holdfast.hosting.schemas.attachments import AttachmentSchema, attachment
from holdfast.hosting.schemas.times import Time, moment, moment_or_none
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store import issues, labels, milestones
from holdfast.hosting.store.issue_lists import visible_to
from holdfast.hosting.store.issue_relations import IssueParts, issue_parts
from holdfast.hosting.store.repositories import Repository

__all__ = [
    "IssueSchema",
    "LabelSchema",
    "MilestoneSchema",
    "PullRequestMeta",
    "RepositoryMeta",
    "issue",
    "issue_list",
    "issue_page",
    "label",
    "label_in",
    "milestone",
    "one_issue",
    "state",
    "visible_parts",
]


class LabelSchema(msgspec.Struct, frozen=True):
    """A label; its colour is six hexadecimal digits."""

    id: int
    name: str
    exclusive: bool
    is_archived: bool
    color: str
    description: str
    url: str


class MilestoneSchema(msgspec.Struct, frozen=True):
    """A milestone, and the numbers of its open and closed issues."""

    id: int
    title: str
    description: str
    state: str
    open_issues: int
    closed_issues: int
    created_at: Time
    updated_at: Time
    closed_at: Time | None
    due_on: Time | None


class PullRequestMeta(msgspec.Struct, frozen=True):
    """The pull request part of an issue."""

    merged: bool
    merged_at: Time | None
    draft: bool
    html_url: str


class RepositoryMeta(msgspec.Struct, frozen=True):
    """The repository of an issue."""

    id: int
    name: str
    owner: str
    full_name: str


class IssueSchema(msgspec.Struct, frozen=True):
    """An issue or a pull request; the last two keys count its open blockers and the open issues it blocks."""

    id: int
    url: str
    html_url: str
    number: int
    user: UserSchema | None
    original_author: str
    original_author_id: int
    title: str
    body: str
    ref: str
    assets: list[AttachmentSchema]
    labels: list[LabelSchema] | None
    milestone: MilestoneSchema | None
    projects: list[int] | None
    assignee: UserSchema | None
    assignees: list[UserSchema] | None
    state: str
    is_locked: bool
    comments: int
    created_at: Time
    updated_at: Time
    closed_at: Time | None
    due_date: Time | None
    time_estimate: int
    pull_request: PullRequestMeta | None
    repository: RepositoryMeta | None
    pin_order: int
    content_version: int
    blocked_by_count: int
    blocking_count: int


def state(*, is_closed: bool) -> str:
    """Return `open` or `closed`."""
    return "closed" if is_closed else "open"


def label(viewer: Viewer, stored: labels.Label, keeper: str) -> LabelSchema:
    """Encode a label; `keeper` is the path of its repository or organization, such as `orgs/acme`."""
    return LabelSchema(
        id=stored.id,
        name=stored.name,
        exclusive=stored.is_exclusive,
        is_archived=stored.archived_at > 0,
        color=stored.color,
        description=stored.description,
        url=f"{viewer.api}/{keeper}/labels/{stored.id}",
    )


def label_in(viewer: Viewer, stored: labels.Label, repository: Repository) -> LabelSchema:
    """Encode a label used in a repository, which may belong to its owner."""
    own = stored.repository_id is not None
    return label(viewer, stored, f"repos/{repository.full_name}" if own else f"orgs/{repository.owner.name}")


def milestone(stored: milestones.Milestone) -> MilestoneSchema:
    """Encode a milestone."""
    return MilestoneSchema(
        id=stored.id,
        title=stored.title,
        description=stored.description,
        state=state(is_closed=stored.is_closed),
        open_issues=stored.open_issues,
        closed_issues=stored.closed_issues,
        created_at=moment(stored.created_at),
        updated_at=moment(stored.updated_at),
        closed_at=moment_or_none(stored.closed_at),
        due_on=moment_or_none(stored.due_at),
    )


def issue_page(viewer: Viewer, repository: Repository, issue: issues.Issue) -> str:
    """Return the web URL of an issue."""
    return f"{viewer.root}/{repository.full_name}/{'pulls' if issue.is_pull else 'issues'}/{issue.number}"


def issue(viewer: Viewer, stored: issues.Issue, parts: IssueParts) -> IssueSchema:
    """Encode an issue from the loaded parts of a page."""
    repository = parts.repositories[stored.repository_id]
    page = issue_page(viewer, repository, stored)
    people = [user(viewer, account) for account in parts.assignees.get(stored.id, [])]
    reached = parts.milestones.get(stored.milestone_id or 0)
    pull = None
    if stored.is_pull:
        pull = PullRequestMeta(stored.merged_at > 0, moment_or_none(stored.merged_at), stored.is_draft, page)
    return IssueSchema(
        id=stored.id,
        url=f"{viewer.api}/repos/{repository.full_name}/issues/{stored.number}",
        html_url=page,
        number=stored.number,
        user=user(viewer, parts.authors.get(stored.author_id or 0)),
        original_author=stored.original_author,
        original_author_id=0,
        title=stored.title,
        body=stored.body,
        ref=stored.ref,
        assets=[
            attachment(viewer, stored_attachment) for stored_attachment in parts.attachments.get(stored.id, [])
        ],
        labels=[label_in(viewer, stored_label, repository) for stored_label in parts.labels.get(stored.id, [])],
        milestone=None if reached is None else milestone(reached),
        projects=None,
        assignee=people[0] if people else None,
        assignees=people or None,
        state=state(is_closed=stored.is_closed),
        is_locked=stored.is_locked,
        comments=stored.comment_count,
        created_at=moment(stored.created_at),
        updated_at=moment(stored.updated_at),
        closed_at=moment_or_none(stored.closed_at),
        due_date=moment_or_none(stored.due_at),
        time_estimate=stored.time_estimate,
        pull_request=pull,
        repository=RepositoryMeta(repository.id, repository.name, repository.owner.name, repository.full_name),
        pin_order=stored.pin_order,
        content_version=stored.content_version,
        blocked_by_count=parts.blockers.get(stored.id, 0) if repository.allows_dependencies else 0,
        blocking_count=parts.blocked.get(stored.id, 0),
    )


def visible_parts(viewer: Viewer, page: Sequence[issues.Issue], *loaded_repositories: Repository) -> IssueParts:
    """Load the related rows of issues, counting only dependencies the viewer may read."""
    readable = partial(visible_to, viewer.actor.user, public_only=viewer.actor.public_only)
    return issue_parts(viewer.app.database, page, *loaded_repositories, readable=readable)


def issue_list(
    viewer: Viewer, page: Sequence[issues.Issue], repository: Repository | None = None
) -> list[IssueSchema]:
    """Encode a page of issues; `repository` is given if all belong to one.

    Issues of a concurrently deleted repository are left out.
    """
    parts = visible_parts(viewer, page, *([] if repository is None else [repository]))
    return [issue(viewer, stored, parts) for stored in page if stored.repository_id in parts.repositories]


def one_issue(viewer: Viewer, repository: Repository, stored: issues.Issue) -> IssueSchema:
    """Encode an issue."""
    return issue_list(viewer, [stored], repository)[0]
