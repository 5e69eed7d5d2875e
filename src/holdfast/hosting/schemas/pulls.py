"""Schemas of pull requests."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from holdfast.hosting.access import Permissions
from holdfast.hosting.schemas.issues import IssueSchema, LabelSchema, MilestoneSchema, issue, visible_parts
from holdfast.hosting.schemas.organizations import TeamSchema, team
from holdfast.hosting.schemas.repositories import RepositorySchema, repository, repository_list
from holdfast.hosting.schemas.times import Time
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store import issues
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.pulls import CLEAN, Pull, PullParts, pull_parts
from holdfast.hosting.store.reviews import PullReviewParts, pull_review_parts

__all__ = ["PRBranchInfo", "PullRequest", "pull_list", "pull_request"]

# The repository id of a head whose repository was deleted.
NO_REPOSITORY: Final = -1


class PRBranchInfo(msgspec.Struct, frozen=True):
    """One of the two branches of a pull request."""

    label: str
    ref: str
    sha: str
    repo_id: int
    repo: RepositorySchema | None


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
    requested_reviewers_teams: list[TeamSchema]
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
    *,
    parts: PullParts,
    heads: Mapping[int, RepositorySchema],
    reviews: PullReviewParts | None = None,
) -> PullRequest:
    """Encode a pull request from its issue's schema and its stored rows; `heads` are the visible repositories."""
    pull = parts.pulls.get(stored.id) or Pull(stored.id, "", "", "", "", "[]", 0, 0, 0, None, "", "", False, "")
    merger = parts.mergers.get(pull.merged_by_id or 0)
    is_merged = stored.merged_at > 0
    base_sha = stored.base_sha if stored.is_closed else pull.base_tip or stored.base_sha
    reviews = reviews or pull_review_parts(viewer.app.database, [stored.id])
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
        requested_reviewers=[user(viewer, account) for account in reviews.requested.get(stored.id, ())],
        requested_reviewers_teams=[
            team(viewer, stored_team, reviews.organizations[stored_team.organization_id])
            for stored_team in reviews.requested_teams.get(stored.id, ())
        ],
        state=schema.state,
        draft=stored.is_draft,
        is_locked=schema.is_locked,
        comments=schema.comments,
        review_comments=reviews.comment_counts.get(stored.id, 0),
        additions=pull.additions,
        deletions=pull.deletions,
        changed_files=pull.changed_files,
        html_url=schema.html_url,
        diff_url=f"{schema.html_url}.diff",
        patch_url=f"{schema.html_url}.patch",
        mergeable=is_mergeable(stored, pull),
        merged=is_merged,
        merged_at=None if schema.pull_request is None else schema.pull_request.merged_at,
        merge_commit_sha=pull.merge_commit_sha or None if is_merged else None,
        merged_by=user(viewer, merger) if is_merged and merger is not None else None,
        allow_maintainer_edit=pull.allow_maintainer_edit,
        base=PRBranchInfo(stored.base_branch, stored.base_branch, base_sha, home.id, home),
        head=head_of(stored, pull, home, heads),
        merge_base=pull.merge_base or stored.base_sha,
        due_date=schema.due_date,
        created_at=schema.created_at,
        updated_at=schema.updated_at,
        closed_at=schema.closed_at,
        pin_order=schema.pin_order,
        content_version=schema.content_version,
    )


def is_mergeable(stored: issues.Issue, pull: Pull) -> bool:
    """Return whether an open pull request merges without conflicts, by the stored comparison of its head."""
    return not stored.is_closed and pull.mergeability == CLEAN and pull.checked_head == stored.head_sha


def head_of(
    stored: issues.Issue, pull: Pull, home: RepositorySchema, heads: Mapping[int, RepositorySchema]
) -> PRBranchInfo:
    """Encode the head; if its branch is deleted, its ref is `refs/pull/N/head`."""
    ref = f"refs/pull/{stored.number}/head" if pull.head_tip is None else stored.head_branch
    if stored.head_repository_id is None:
        return PRBranchInfo(stored.head_branch, ref, stored.head_sha, NO_REPOSITORY, None)
    number = stored.head_repository_id
    repository_schema = home if number == home.id else heads.get(number)
    return PRBranchInfo(stored.head_branch, ref, stored.head_sha, number, repository_schema)


def pull_list(
    viewer: Viewer, kept_in: store.Repository, may: Permissions, page: Sequence[issues.Issue]
) -> list[PullRequest]:
    """Encode a page of pull requests of one repository, from the stored rows alone."""
    database = viewer.app.database
    issue_rows, pull_rows = visible_parts(viewer, page, kept_in), pull_parts(database, page, kept_in)
    home = repository(viewer, kept_in, may)
    reviews = pull_review_parts(database, [stored.id for stored in page])
    others = [head for head in pull_rows.heads.values() if head.id != kept_in.id]
    # A fork that the viewer may not read is left out.
    heads = (
        {
            repository_schema.id: repository_schema
            for repository_schema in repository_list(viewer, others)
            if repository_schema.permissions.pull
        }
        if others
        else {}
    )
    return [
        pull_request(
            viewer, home, stored, issue(viewer, stored, issue_rows), parts=pull_rows, heads=heads, reviews=reviews
        )
        for stored in page
    ]
