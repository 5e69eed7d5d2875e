"""How clients ask for lists of issues: the words of their queries, and the filter they mean."""

from datetime import datetime
from typing import Final, Literal

import msgspec

from holdfast.hosting.http.errors import ApiError
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
# Words of another service's API that say what to sort by and leave the direction to a second parameter.
DIRECTED: Final = {
    "created": ("newest", "oldest"),
    "updated": ("recentupdate", "leastupdate"),
    "comments": ("mostcomment", "leastcomment"),
    "popularity": ("mostcomment", "leastcomment"),
    "long-running": ("newest", "oldest"),
    "priority": ("newest", "oldest"),
}


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What every list of issues can be asked for."""

    state: State = "open"
    q: str = ""
    since: datetime | None = None
    before: datetime | None = None
    sort: Sort = "newest"
    direction: Literal["asc", "desc"] = "desc"
    ready: bool | None = None


def closed(state: State) -> bool | None:
    """Return whether issues must be closed; None when it does not matter."""
    return None if state == "all" else state == "closed"


def words(text: str, field: str) -> tuple[str, ...]:
    """Split a list that is written with commas."""
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if len(found) > MOST:
        raise ApiError(422, f"[{field}]: names more than {MOST}")
    return found


def order_of(query: ListQuery) -> str:
    """Return the order a list is wanted in."""
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
) -> Filter:
    """Return the filter a query means."""
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
        is_ready=query.ready,
    )
