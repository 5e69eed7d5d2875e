"""The events a webhook can ask for, and what the names clients send stand for."""

from collections.abc import Iterable
from typing import Final

from holdfast.hosting.errors import EventRefused

__all__ = ["EVENTS", "KINDS", "expanded"]

# In the order answers list them. Some never happen here yet; clients ask for them all the same.
EVENTS: Final = (
    *("create", "delete", "fork", "push"),
    *("issues", "issue_assign", "issue_label", "issue_milestone", "issue_comment"),
    *("pull_request", "pull_request_assign", "pull_request_label", "pull_request_milestone"),
    *("pull_request_comment", "pull_request_review", "pull_request_sync", "pull_request_review_request"),
    *("wiki", "repository", "release", "package", "status", "workflow_run", "workflow_job"),
    *("issue_dependency", "issue_unblocked"),
)
# `pull_request_review` is one switch; the kinds it covers cannot be asked for one by one.
REVIEWS: Final = ("pull_request_review_approved", "pull_request_review_rejected", "pull_request_review_comment")
KINDS: Final = frozenset({*EVENTS, *REVIEWS})
WIDER: Final = {
    "issues": EVENTS[4:9],
    "issues_only": ("issues",),
    "pull_request": EVENTS[9:17],
    "pull_request_only": ("pull_request",),
    "*": EVENTS,
    **dict.fromkeys(REVIEWS, ()),
}
ALLOWED: Final = (*EVENTS, "issues_only", "pull_request_only", "*")


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """Return the events some names stand for, in order and each once; no names stand for pushes."""
    given = [name.strip().lower() for name in names] or ["push"]
    wanted: set[str] = set()
    for name in given:
        if name not in WIDER and name not in EVENTS:
            raise EventRefused(f"unknown event {name[:100]!r}; allowed are {', '.join(ALLOWED)}")
        wanted.update(WIDER.get(name, (name,)))
    if not wanted:
        raise EventRefused(f"{', '.join(given)}: ask for pull_request_review; allowed are {', '.join(ALLOWED)}")
    return tuple(event for event in EVENTS if event in wanted)
