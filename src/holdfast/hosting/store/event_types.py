"""The events a webhook can ask for, and what the names clients send stand for."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from holdfast.hosting.errors import EventRefused

__all__ = ["EVENTS", "KINDS", "answered", "dropped", "expanded", "no_event"]

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
LONGEST_SHOWN: Final = 100
MOST_SHOWN: Final = 10
ALLOWED: Final = (*EVENTS, "issues_only", "pull_request_only", "*")


# A name that stands for a group, and the one that stands for its first member alone.
GROUPS: Final = (("issues", "issues_only"), ("pull_request", "pull_request_only"))


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """Return the events some names stand for, in order and each once; no names stand for pushes.

    Names that stand for nothing are dropped, unless no others are left: `dropped` returns them.
    """
    given = [name.strip().lower() for name in names] or ["push"]
    wanted = {event for name in given for event in stands_for(name)}
    if not wanted:
        raise EventRefused(f"{no_event(given)}; allowed are {', '.join(ALLOWED)}")
    return tuple(event for event in EVENTS if event in wanted)


def stands_for(name: str) -> tuple[str, ...]:
    """Return the events a name stands for; none when nobody knows it."""
    return WIDER.get(name, (name,) if name in EVENTS else ())


def no_event(names: Sequence[str]) -> str:
    """Say why names stand for nothing; of many, or of a long one, as much as anybody would read."""
    if not set(REVIEWS).isdisjoint(names):
        return f"{shortened(names)}: ask for pull_request_review"
    return f"unknown event {shortened(names)}"


def shortened(names: Sequence[str]) -> str:
    """Write names in quotes: of many the first ones, of a long one the beginning."""
    said = ", ".join(ascii(name[:LONGEST_SHOWN]) for name in names[:MOST_SHOWN])
    return said if len(names) <= MOST_SHOWN else f"{said} and {len(names) - MOST_SHOWN} more"


def dropped(names: Iterable[str]) -> list[str]:
    """Return the names that stand for nothing, in order and each once."""
    given = dict.fromkeys(name.strip().lower() for name in names)
    return [name for name in given if not stands_for(name)]


@lru_cache(maxsize=1024)
def answered(events: str) -> tuple[str, ...]:
    """Return the names a client is answered for the events of a hook: names that stand for exactly these.

    The first event of a group has the group's name, so it is answered as `issues_only` where the rest is missing.
    """
    names = events.split(",")
    alone = {group: only for group, only in GROUPS if not set(WIDER[group]) <= set(names)}
    return tuple(alone.get(name, name) for name in names)
