"""Schemas of pull requests."""

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.hosting.access import Permissions
from holdfast.hosting.schemas.issues import IssueSchema, LabelSchema, MilestoneSchema, issue, visible_parts
from holdfast.hosting.schemas.repositories import RepositorySchema, repository
from holdfast.hosting.schemas.times import Time
from holdfast.hosting.schemas.users import UserSchema
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store import issues
from holdfast.hosting.store import repositories as store

__all__ = ["PRBranchInfo", "PullRequest", "PullState", "pull_list", "pull_request"]


class PRBranchInfo(msgspec.Struct, frozen=True):
    """One of the two branches of a pull request."""

    label: str
    ref: str
    sha: str
    repo_id: int
    repo: RepositorySchema | None


class PullState(msgspec.Struct, frozen=True):
    """The compared branches of a pull request: tips, merge base, and what is between."""

    head_sha: str
    base_sha: str
    merge_base: str
    mergeable: bool = False
    additions: int = 0
    deletions: int = 0
    changed_files: int = 0


class PullRequest(msgspec.Struct, frozen=True):
    """A pull request; `mergeable` is whether its branches merge without conflicts."""

    id: int
    url: str
    number: int
    user: UserSchema | None
    title: str
    body: str
    labels: list[LabelSchema] | None
    milestone: MilestoneSchema | None
    assignee: UserSchema | None
    assignees: list[UserSchema] | None
    requested_reviewers: list[UserSchema]
    requested_reviewers_teams: list[int]
    state: str
    draft: bool
    is_locked: bool
    comments: int
    review_comments: int
    additions: int
    deletions: int
    changed_files: int
    html_url: str
    diff_url: str
    patch_url: str
    mergeable: bool
    merged: bool
    merged_at: Time | None
    merge_commit_sha: str | None
    merged_by: UserSchema | None
    allow_maintainer_edit: bool
    base: PRBranchInfo
    head: PRBranchInfo
    merge_base: str
    due_date: Time | None
    created_at: Time
    updated_at: Time
    closed_at: Time | None
    pin_order: int
    content_version: int


def pull_request(
    viewer: Viewer, home: RepositorySchema, kept: issues.Issue, whole: IssueSchema, state: PullState | None = None
) -> PullRequest:
    """Encode a pull request from its issue's schema; without a state, as it was when it was opened."""
    state = state or PullState(kept.head_sha, kept.base_sha, kept.base_sha)
    return PullRequest(
        id=kept.id,
        url=f"{viewer.api}/repos/{home.full_name}/pulls/{kept.number}",
        number=kept.number,
        user=whole.user,
        title=whole.title,
        body=whole.body,
        labels=whole.labels,
        milestone=whole.milestone,
        assignee=whole.assignee,
        assignees=whole.assignees,
        requested_reviewers=[],
        requested_reviewers_teams=[],
        state=whole.state,
        draft=kept.is_draft,
        is_locked=whole.is_locked,
        comments=whole.comments,
        review_comments=0,
        additions=state.additions,
        deletions=state.deletions,
        changed_files=state.changed_files,
        html_url=whole.html_url,
        diff_url=f"{whole.html_url}.diff",
        patch_url=f"{whole.html_url}.patch",
        mergeable=state.mergeable,
        merged=kept.merged_at > 0,
        merged_at=None if whole.pull_request is None else whole.pull_request.merged_at,
        merge_commit_sha=None,
        merged_by=None,
        allow_maintainer_edit=False,
        base=PRBranchInfo(kept.base_branch, kept.base_branch, state.base_sha, home.id, home),
        head=PRBranchInfo(kept.head_branch, kept.head_branch, state.head_sha, home.id, home),
        merge_base=state.merge_base,
        due_date=whole.due_date,
        created_at=whole.created_at,
        updated_at=whole.updated_at,
        closed_at=whole.closed_at,
        pin_order=whole.pin_order,
        content_version=whole.content_version,
    )


def pull_list(
    viewer: Viewer,
    kept_in: store.Repository,
    may: Permissions,
    kept: Sequence[issues.Issue],
    states: Mapping[int, PullState],
) -> list[PullRequest]:
    """Encode a page of pull requests of one repository; states are given by id."""
    parts = visible_parts(viewer, kept, kept_in)
    home = repository(viewer, kept_in, may)
    return [pull_request(viewer, home, one, issue(viewer, one, parts), states.get(one.id)) for one in kept]
