"""Webhook event names: which events exist, and which of them a name in a request selects."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from holdfast.hosting.errors import EventRefused

__all__ = [
    "EVENTS",
    "KINDS",
    "OPTIONS",
    "event_names",
    "expand_events",
    "unknown_events",
    "unknown_events_message",
]

# In the order of responses. Some are never triggered yet; clients can subscribe to them anyway.
EVENTS: Final = (
    *("create", "delete", "fork", "push"),
    *("issues", "issue_assign", "issue_label", "issue_milestone", "issue_comment"),
    *("pull_request", "pull_request_assign", "pull_request_label", "pull_request_milestone"),
    *("pull_request_comment", "pull_request_review", "pull_request_sync", "pull_request_review_request"),
    *("wiki", "repository", "release", "package", "status", "workflow_run", "workflow_job"),
    *("issue_dependency", "issue_unblocked"),
)
# `pull_request_review` is one option; the kinds it covers cannot be chosen separately.
REVIEWS: Final = ("pull_request_review_approved", "pull_request_review_rejected", "pull_request_review_comment")
KINDS: Final = frozenset({*EVENTS, *REVIEWS})
OPTIONS: Final = dict.fromkeys(REVIEWS, "pull_request_review")
"""The subscription name of events that have no name of their own."""
WIDER: Final = {
    "issues": EVENTS[4:9],
    "issues_only": ("issues",),
    "pull_request": EVENTS[9:17],
    "pull_request_only": ("pull_request",),
    "*": EVENTS,
    **dict.fromkeys(REVIEWS, ()),
}
LONGEST_SHOWN: Final = 100
MOST_SHOWN: Final = 10
ALLOWED: Final = (*EVENTS, "issues_only", "pull_request_only", "*")


# The name of a group, and the name of its first member alone.
GROUPS: Final = (("issues", "issues_only"), ("pull_request", "pull_request_only"))


def expand_events(names: Iterable[str]) -> tuple[str, ...]:
    """Return the events that names select, ordered and unique; no names select pushes.

    Unknown names are dropped unless there are no others; `unknown_events` returns them.
    """
    requested = [name.strip().lower() for name in names] or ["push"]
    events = {event for name in requested for event in events_named(name)}
    if not events:
        raise EventRefused(f"{unknown_events_message(requested)}; allowed are {', '.join(ALLOWED)}")
    return tuple(event for event in EVENTS if event in events)


def events_named(name: str) -> tuple[str, ...]:
    """Return the events a name selects; empty if unknown."""
    return WIDER.get(name, (name,) if name in EVENTS else ())


def unknown_events_message(names: Sequence[str]) -> str:
    """Return the message for unknown names, truncated."""
    if not set(REVIEWS).isdisjoint(names):
        return f"{quote_names(names)}: use pull_request_review"
    return f"unknown event {quote_names(names)}"


def quote_names(names: Sequence[str]) -> str:
    """Quote names: only the first few, and only the beginning of a long one."""
    quoted = ", ".join(ascii(name[:LONGEST_SHOWN]) for name in names[:MOST_SHOWN])
    return quoted if len(names) <= MOST_SHOWN else f"{quoted} and {len(names) - MOST_SHOWN} more"


def unknown_events(names: Iterable[str]) -> list[str]:
    """Return the unknown names, in order and unique."""
    requested = dict.fromkeys(name.strip().lower() for name in names)
    return [name for name in requested if not events_named(name)]


@lru_cache(maxsize=1024)
def event_names(events: str) -> tuple[str, ...]:
    """Return the names for a webhook's events as shown in responses.

    The first event of a group has the group's name, so it is shown as `issues_only` where the rest is missing.
    """
    names = events.split(",")
    alone = {group: only for group, only in GROUPS if not set(WIDER[group]) <= set(names)}
    return tuple(alone.get(name, name) for name in names)
