"""Schemas of dependent issues, in full or reduced to the fields the viewer may see."""

from collections.abc import Sequence
from typing import Final

import msgspec

from holdfast.hosting.schemas.issues import (
    IssueSchema,
    PullRequestMeta,
    RepositoryMeta,
    issue,
    issue_page,
    state,
    visible_parts,
)
from holdfast.hosting.schemas.times import EPOCH
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store.visible_issues import Reader, VisibleIssue

__all__ = [
    "HIDDEN",
    "DependencyEdge",
    "DependencyGraph",
    "DependencyNode",
    "dependent_issues",
    "full_name",
    "hidden_issue",
    "node",
    "reader",
]

# The placeholder of an unreadable issue.
HIDDEN: Final = IssueSchema(
    id=0,
    url="",
    html_url="",
    number=0,
    user=None,
    original_author="",
    original_author_id=0,
    title="HIDDEN",
    body="",
    ref="",
    assets=[],
    labels=None,
    milestone=None,
    projects=None,
    assignee=None,
    assignees=None,
    state="open",
    is_locked=False,
    comments=0,
    created_at=EPOCH,
    updated_at=EPOCH,
    closed_at=None,
    due_date=None,
    time_estimate=0,
    pull_request=None,
    repository=None,
    pin_order=0,
    content_version=0,
    blocked_by_count=0,
    blocking_count=0,
)
A_PULL: Final = PullRequestMeta(merged=False, merged_at=None, draft=False, html_url="")


class DependencyNode(msgspec.Struct, frozen=True):
    """An issue in a graph; `depth` is its distance, positive towards blockers and negative away from them."""

    key: int
    hidden: bool
    depth: int
    repository: str
    number: int
    title: str
    state: str
    is_pull: bool
    html_url: str


class DependencyEdge(msgspec.Struct, frozen=True):
    """A dependency between two nodes, by their keys."""

    issue: int
    blocker: int


class DependencyGraph(msgspec.Struct, frozen=True):
    """The transitive blockers of an issue and the issues it blocks; the issue itself is the first node."""

    nodes: list[DependencyNode]
    edges: list[DependencyEdge]
    truncated: bool


def reader(viewer: Viewer) -> Reader:
    """Return the viewer as a reader of issues."""
    return Reader(viewer.actor.user, viewer.actor.public_only)


def hidden_issue(visible_issue: VisibleIssue) -> IssueSchema:
    """Encode an issue for a user who may know that it is a blocker, but not read it."""
    place = visible_issue.repository
    return msgspec.structs.replace(
        HIDDEN,
        number=visible_issue.issue.number,
        title=visible_issue.issue.title,
        state=state(is_closed=visible_issue.issue.is_closed),
        pull_request=A_PULL if visible_issue.issue.is_pull else None,
        repository=RepositoryMeta(place.id, place.name, place.owner.name, place.full_name),
    )


def dependent_issues(viewer: Viewer, issues: Sequence[VisibleIssue], *, writes: bool = False) -> list[IssueSchema]:
    """Encode issues; unreadable ones are hidden, or with `writes` (write access to the other issue) reduced."""
    readable = [visible_issue.issue for visible_issue in issues if visible_issue.is_readable]
    parts = visible_parts(
        viewer, readable, *(visible_issue.repository for visible_issue in issues if visible_issue.is_readable)
    )
    return [
        issue(viewer, visible_issue.issue, parts)
        if visible_issue.is_readable
        else hidden_issue(visible_issue)
        if writes
        else HIDDEN
        for visible_issue in issues
    ]


def full_name(visible_issue: VisibleIssue | None) -> str:
    """Return `owner/name#number`, if the viewer may read the issue."""
    readable = visible_issue is not None and visible_issue.is_readable
    return (
        f"{visible_issue.repository.full_name}#{visible_issue.issue.number}"
        if visible_issue is not None and readable
        else HIDDEN.title
    )


def node(viewer: Viewer, visible_issue: VisibleIssue, *, key: int, depth: int) -> DependencyNode:
    """Encode a node of the graph."""
    if not visible_issue.is_readable:
        return DependencyNode(
            key=key,
            hidden=True,
            depth=depth,
            repository="",
            number=0,
            title=HIDDEN.title,
            state=HIDDEN.state,
            is_pull=False,
            html_url="",
        )
    stored = visible_issue.issue
    return DependencyNode(
        key=key,
        hidden=False,
        depth=depth,
        repository=visible_issue.repository.full_name,
        number=stored.number,
        title=stored.title,
        state=state(is_closed=stored.is_closed),
        is_pull=stored.is_pull,
        html_url=issue_page(viewer, visible_issue.repository, stored),
    )
