"""Pinned issues and pull requests."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import (
    administers,
    in_repository,
    not_archived,
    reads_issues,
    sees_issues,
    sees_pulls,
)
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.issues import IssueSchema, issue_list
from holdfast.hosting.schemas.pulls import PullRequest, pull_list
from holdfast.hosting.services import issues, pins

__all__ = [
    "list_pinned_issues",
    "list_pinned_pulls",
    "move_pin",
    "pin_issue",
    "show_new_pin_allowed",
    "unpin_issue",
]

PINNING: Final = (in_repository, reads_issues, administers, not_archived)
REFUSES: Final = (400, 403, 404, 423)


class NewIssuePinsAllowed(msgspec.Struct, frozen=True):
    """Whether one more issue, and one more pull request, can be pinned."""

    issues: bool
    pull_requests: bool


@endpoint("GET /repos/{owner}/{repo}/issues/pinned", scope="issue", guards=(in_repository, sees_issues), slow=True)
def list_pinned_issues(request: RequestContext, target: RepositoryAccess) -> list[IssueSchema]:
    """List the pinned issues of a repository, by position."""
    return issue_list(request, pins.list_pinned(request.app, target, is_pull=False), target.repository)


@endpoint("GET /repos/{owner}/{repo}/pulls/pinned", scope="issue", guards=(in_repository, sees_pulls), slow=True)
def list_pinned_pulls(request: RequestContext, target: RepositoryAccess) -> list[PullRequest]:
    """List the pinned pull requests of a repository, by position."""
    pulls = pins.list_pinned(request.app, target, is_pull=True)
    return pull_list(request, target.repository, target.permissions, pulls)


@endpoint("GET /repos/{owner}/{repo}/new_pin_allowed", scope="issue", guards=(in_repository, reads_issues))
def show_new_pin_allowed(request: RequestContext, target: RepositoryAccess) -> NewIssuePinsAllowed:
    """Show whether one more issue, and one more pull request, can be pinned."""
    return NewIssuePinsAllowed(
        issues=pins.is_pin_allowed(request.app, target, is_pull=False),
        pull_requests=pins.is_pin_allowed(request.app, target, is_pull=True),
    )


@endpoint("POST /repos/{owner}/{repo}/issues/{index}/pin", scope="issue", guards=PINNING, refuses=REFUSES)
def pin_issue(request: RequestContext, target: RepositoryAccess, index: int) -> None:
    """Pin an issue or a pull request; 400 if there are too many."""
    pins.pin(request.app, request.actor, target, issues.find(request.app, target, index))


@endpoint("DELETE /repos/{owner}/{repo}/issues/{index}/pin", scope="issue", guards=PINNING, refuses=REFUSES)
def unpin_issue(request: RequestContext, target: RepositoryAccess, index: int) -> None:
    """Unpin an issue or a pull request."""
    pins.unpin(request.app, request.actor, target, issues.find(request.app, target, index))


@endpoint(
    "PATCH /repos/{owner}/{repo}/issues/{index}/pin/{position}",
    scope="issue",
    guards=PINNING,
    refuses=(*REFUSES, 422),
)
def move_pin(request: RequestContext, target: RepositoryAccess, index: int, position: int) -> None:
    """Move a pinned issue or pull request to a position."""
    pins.move(request.app, request.actor, target, issues.find(request.app, target, index), position)
