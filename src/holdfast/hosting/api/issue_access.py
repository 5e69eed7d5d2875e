"""What the endpoints of issues share: who may come this far, which issue is meant, and what may be done to it."""

from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.guards import NO_WRITE, in_repository, not_archived, reads_issues, signed_in, writes_issues
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.store.issues import Issue, find_issue

__all__ = [
    "MANAGING",
    "READING",
    "WRITING",
    "ask_to_edit",
    "ask_to_write",
    "may_write",
    "sees_issues",
    "sees_pulls",
    "the_issue",
]

READING: Final = (in_repository, reads_issues)
WRITING: Final = (*READING, signed_in, not_archived)
MANAGING: Final = (*READING, signed_in, writes_issues, not_archived)
"""For what belongs to all issues of a repository: its labels and milestones."""


def sees_issues(request: RequestContext) -> None:
    """Ask that issues can be read; otherwise they are not there."""
    if not request.resolved(RepositoryAccess).permissions.may_read(Unit.ISSUES):
        raise ApiError(404)


def sees_pulls(request: RequestContext) -> None:
    """Ask that pull requests can be read; otherwise they are not there."""
    if not request.resolved(RepositoryAccess).permissions.may_read(Unit.PULLS):
        raise ApiError(404)


def the_issue(request: RequestContext, target: RepositoryAccess, index: int) -> Issue:
    """Return the issue or pull request of a number; one the caller may not read is not there."""
    issue = find_issue(request.app.database, target.repository, index)
    if not target.permissions.may_read(access.issue_unit(is_pull=issue.is_pull)):
        raise ApiError(404)
    return issue


def may_write(target: RepositoryAccess, issue: Issue) -> bool:
    """Tell whether the caller may change everything about an issue."""
    return target.permissions.may_write(access.issue_unit(is_pull=issue.is_pull))


def ask_to_write(target: RepositoryAccess, issue: Issue) -> None:
    """Refuse a caller who may not change everything about an issue."""
    if not may_write(target, issue):
        raise ApiError(403, NO_WRITE)


def ask_to_edit(request: RequestContext, target: RepositoryAccess, issue: Issue, author_id: int | None) -> None:
    """Refuse a caller who neither wrote the words in question nor has write access."""
    if not access.may_edit(request.actor, target.permissions, is_pull=issue.is_pull, author_id=author_id):
        raise ApiError(403, "only the author and people with write access may change this")
