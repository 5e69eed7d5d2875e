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
    viewer: Viewer,
    home: RepositorySchema,
    stored: issues.Issue,
    schema: IssueSchema,
    state: PullState | None = None,
) -> PullRequest:
    """Encode a pull request from its issue's schema; without a state, as it was when it was opened."""
    state = state or PullState(stored.head_sha, stored.base_sha, stored.base_sha)
    return PullRequest(
        id=stored.id,
        url=f"{viewer.api}/repos/{home.full_name}/pulls/{stored.number}",
        number=stored.number,
        user=schema.user,
        title=schema.title,
        body=schema.body,
        labels=schema.labels,
        milestone=schema.milestone,
        assignee=schema.assignee,
        assignees=schema.assignees,
        requested_reviewers=[],
        requested_reviewers_teams=[],
        state=schema.state,
        draft=stored.is_draft,
        is_locked=schema.is_locked,
        comments=schema.comments,
        review_comments=0,
        additions=state.additions,
        deletions=state.deletions,
        changed_files=state.changed_files,
        html_url=schema.html_url,
        diff_url=f"{schema.html_url}.diff",
        patch_url=f"{schema.html_url}.patch",
        mergeable=state.mergeable,
        merged=stored.merged_at > 0,
        merged_at=None if schema.pull_request is None else schema.pull_request.merged_at,
        merge_commit_sha=None,
        merged_by=None,
        allow_maintainer_edit=False,
        base=PRBranchInfo(stored.base_branch, stored.base_branch, state.base_sha, home.id, home),
        head=PRBranchInfo(stored.head_branch, stored.head_branch, state.head_sha, home.id, home),
        merge_base=state.merge_base,
        due_date=schema.due_date,
        created_at=schema.created_at,
        updated_at=schema.updated_at,
        closed_at=schema.closed_at,
        pin_order=schema.pin_order,
        content_version=schema.content_version,
    )


def pull_list(
    viewer: Viewer,
    kept_in: store.Repository,
    may: Permissions,
    page: Sequence[issues.Issue],
    states: Mapping[int, PullState],
) -> list[PullRequest]:
    """Encode a page of pull requests of one repository; states are given by id."""
    parts = visible_parts(viewer, page, kept_in)
    home = repository(viewer, kept_in, may)
    return [pull_request(viewer, home, one, issue(viewer, one, parts), states.get(one.id)) for one in page]
