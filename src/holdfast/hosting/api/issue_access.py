"""What the endpoints of issues share: who may come this far, which issue is meant, and what may be done to it."""

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import NO_WRITE
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.store.issues import Issue, find_issue

__all__ = [
    "ask_to_edit",
    "ask_to_write",
    "may_write",
    "the_issue",
]


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
