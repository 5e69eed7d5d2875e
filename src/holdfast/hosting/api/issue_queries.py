"""Query parameters of issue lists, and their conversion to filters."""

from datetime import datetime
from typing import Final, Literal

import msgspec

from holdfast.hosting.http.errors import FieldError
from holdfast.hosting.schemas.times import seconds
from holdfast.hosting.store.issue_lists import Filter

__all__ = ["ListQuery", "State", "closed", "filter_of", "order_of", "words"]

State = Literal["open", "closed", "all"]
Sort = Literal[
    "newest",
    "oldest",
    "recentupdate",
    "leastupdate",
    "recentclose",
    "mostcomment",
    "leastcomment",
    "nearduedate",
    "farduedate",
    "priority",
    "created",
    "updated",
    "comments",
    "popularity",
    "long-running",
]
MOST: Final = 100
# GitHub's names of sort fields, where a second parameter is the direction.
DIRECTED: Final = {
    "created": ("newest", "oldest"),
    "updated": ("recentupdate", "leastupdate"),
    "comments": ("mostcomment", "leastcomment"),
    "popularity": ("mostcomment", "leastcomment"),
    "long-running": ("newest", "oldest"),
    "priority": ("newest", "oldest"),
}


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query parameters of every issue list."""

    state: State = "open"
    q: str = ""
    since: datetime | None = None
    before: datetime | None = None
    sort: Sort = "newest"
    direction: Literal["asc", "desc"] = "desc"
    ready: bool | None = None


def closed(state: State) -> bool | None:
    """Return whether issues must be closed; None for any state."""
    return None if state == "all" else state == "closed"


def words(text: str, field: str) -> tuple[str, ...]:
    """Split a comma-separated list."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if len(names) > MOST:
        raise FieldError(field, f"names more than {MOST}")
    return names


def order_of(query: ListQuery) -> str:
    """Return the sort order of a query."""
    descending, ascending = DIRECTED.get(query.sort, (query.sort, query.sort))
    return ascending if query.direction == "asc" else descending


def filter_of(
    query: ListQuery,
    *,
    labels: str = "",
    label_ids: tuple[int, ...] = (),
    milestones: str = "",
    author: str = "",
    assignee: str = "",
    mentioned: str = "",
    review_requested_from: str = "",
    reviewed_by: str = "",
) -> Filter:
    """Return the filter of a query."""
    return Filter(
        is_closed=closed(query.state),
        text=query.q.strip(),
        labels=words(labels, "Labels"),
        label_ids=label_ids,
        milestones=words(milestones, "Milestones"),
        since=seconds(query.since),
        before=seconds(query.before),
        author=author,
        assignee=assignee,
        mentioned=mentioned,
        review_requested_from=review_requested_from,
        reviewed_by=reviewed_by,
        is_ready=query.ready,
    )
