"""Issues with their labels and milestones, as clients know them."""

from collections.abc import Sequence
from functools import partial

import msgspec

from holdfast.hosting.schemas.times import Time, moment, moment_or_none
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store import issues, labels, milestones
from holdfast.hosting.store.issue_lists import visible_to
from holdfast.hosting.store.issue_relations import IssueParts, issue_parts
from holdfast.hosting.store.repositories import Repository

__all__ = [
    "Attachment",
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


class Attachment(msgspec.Struct, frozen=True):
    """A file that was attached."""

    id: int
    name: str
    size: int
    download_count: int
    created_at: Time
    uuid: str
    browser_download_url: str


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
    """A milestone, and how many of its issues are open and closed."""

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
    """What an issue that is a pull request says about that."""

    merged: bool
    merged_at: Time | None
    draft: bool
    html_url: str


class RepositoryMeta(msgspec.Struct, frozen=True):
    """Which repository an issue is in."""

    id: int
    name: str
    owner: str
    full_name: str


class IssueSchema(msgspec.Struct, frozen=True):
    """An issue or a pull request; the last two keys count the open ones it waits for and that wait for it."""

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
    assets: list[Attachment]
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
    """Return the word for whether something is closed."""
    return "closed" if is_closed else "open"


def label(viewer: Viewer, kept: labels.Label, keeper: str) -> LabelSchema:
    """Make the shape; `keeper` is the path of the repository or organization, such as `orgs/acme`."""
    return LabelSchema(
        id=kept.id,
        name=kept.name,
        exclusive=kept.is_exclusive,
        is_archived=kept.archived_at > 0,
        color=kept.color,
        description=kept.description,
        url=f"{viewer.api}/{keeper}/labels/{kept.id}",
    )


def label_in(viewer: Viewer, kept: labels.Label, repository: Repository) -> LabelSchema:
    """Make the shape of a label that is used in a repository, which may be its owner's."""
    own = kept.repository_id is not None
    return label(viewer, kept, f"repos/{repository.full_name}" if own else f"orgs/{repository.owner.name}")


def milestone(kept: milestones.Milestone) -> MilestoneSchema:
    """Make the shape."""
    return MilestoneSchema(
        id=kept.id,
        title=kept.title,
        description=kept.description,
        state=state(is_closed=kept.is_closed),
        open_issues=kept.open_issues,
        closed_issues=kept.closed_issues,
        created_at=moment(kept.created_at),
        updated_at=moment(kept.updated_at),
        closed_at=moment_or_none(kept.closed_at),
        due_on=moment_or_none(kept.due_at),
    )


def issue_page(viewer: Viewer, repository: Repository, kept: issues.Issue) -> str:
    """Return the address of the page people read an issue at."""
    return f"{viewer.root}/{repository.full_name}/{'pulls' if kept.is_pull else 'issues'}/{kept.number}"


def issue(viewer: Viewer, kept: issues.Issue, parts: IssueParts) -> IssueSchema:
    """Make the shape of one issue from what was loaded for a page of them."""
    repository = parts.repositories[kept.repository_id]
    page = issue_page(viewer, repository, kept)
    people = [user(viewer, account) for account in parts.assignees.get(kept.id, [])]
    reached = parts.milestones.get(kept.milestone_id or 0)
    pull = None
    if kept.is_pull:
        pull = PullRequestMeta(kept.merged_at > 0, moment_or_none(kept.merged_at), kept.is_draft, page)
    return IssueSchema(
        id=kept.id,
        url=f"{viewer.api}/repos/{repository.full_name}/issues/{kept.number}",
        html_url=page,
        number=kept.number,
        user=user(viewer, parts.authors.get(kept.author_id or 0)),
        original_author="",
        original_author_id=0,
        title=kept.title,
        body=kept.body,
        ref=kept.ref,
        assets=[],
        labels=[label_in(viewer, one, repository) for one in parts.labels.get(kept.id, [])],
        milestone=None if reached is None else milestone(reached),
        projects=None,
        assignee=people[0] if people else None,
        assignees=people or None,
        state=state(is_closed=kept.is_closed),
        is_locked=kept.is_locked,
        comments=kept.comment_count,
        created_at=moment(kept.created_at),
        updated_at=moment(kept.updated_at),
        closed_at=moment_or_none(kept.closed_at),
        due_date=moment_or_none(kept.due_at),
        time_estimate=kept.time_estimate,
        pull_request=pull,
        repository=RepositoryMeta(repository.id, repository.name, repository.owner.name, repository.full_name),
        pin_order=kept.pin_order,
        content_version=kept.content_version,
        blocked_by_count=parts.blockers.get(kept.id, 0) if repository.allows_dependencies else 0,
        blocking_count=parts.blocked.get(kept.id, 0),
    )


def visible_parts(viewer: Viewer, kept: Sequence[issues.Issue], *known: Repository) -> IssueParts:
    """Load what belongs to issues, counting only what the viewer may read."""
    readable = partial(visible_to, viewer.actor.user, public_only=viewer.actor.public_only)
    return issue_parts(viewer.app.database, kept, *known, readable=readable)


def issue_list(viewer: Viewer, kept: Sequence[issues.Issue], known: Repository | None = None) -> list[IssueSchema]:
    """Make the shapes of a page of issues; `known` is the repository when they are all in one.

    A repository that was deleted while the page was read takes its issues with it.
    """
    parts = visible_parts(viewer, kept, *([] if known is None else [known]))
    return [issue(viewer, one, parts) for one in kept if one.repository_id in parts.repositories]


def one_issue(viewer: Viewer, repository: Repository, kept: issues.Issue) -> IssueSchema:
    """Make the shape of one issue."""
    return issue_list(viewer, [kept], repository)[0]
