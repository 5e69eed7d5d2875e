"""What the endpoints of issues share: who may come this far, which issue is meant, and what may be done to it."""

from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Unit
from holdfast.hosting.guards import (
    NO_WRITE,
    Place,
    in_repository,
    not_archived,
    reads_issues,
    signed_in,
    writes_issues,
)
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.errors import Refusal
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


def sees_issues(call: Call) -> None:
    """Ask that issues can be read; otherwise they are not there."""
    if not call.give(Place).access.may_read(Unit.ISSUES):
        raise Refusal(404)


def sees_pulls(call: Call) -> None:
    """Ask that pull requests can be read; otherwise they are not there."""
    if not call.give(Place).access.may_read(Unit.PULLS):
        raise Refusal(404)


def the_issue(call: Call, place: Place, index: int) -> Issue:
    """Return the issue or pull request of a number; one the caller may not read is not there."""
    issue = find_issue(call.host.database, place.repository, index)
    if not place.access.may_read(access.issue_unit(is_pull=issue.is_pull)):
        raise Refusal(404)
    return issue


def may_write(place: Place, issue: Issue) -> bool:
    """Tell whether the caller may change everything about an issue."""
    return place.access.may_write(access.issue_unit(is_pull=issue.is_pull))


def ask_to_write(place: Place, issue: Issue) -> None:
    """Refuse a caller who may not change everything about an issue."""
    if not may_write(place, issue):
        raise Refusal(403, NO_WRITE)


def ask_to_edit(call: Call, place: Place, issue: Issue, author_id: int | None) -> None:
    """Refuse a caller who neither wrote the words in question nor has write access."""
    if not access.may_edit(call.caller, place.access, is_pull=issue.is_pull, author_id=author_id):
        raise Refusal(403, "only the author and people with write access may change this")
