"""Pagination of lists: the ids of a page are read from a sorted index first, and then its rows."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select

__all__ = ["page_ids"]


def page_ids(
    connection: Connection,
    ids: Select[Any],
    key: ColumnElement[Any],
    tie_breaker: ColumnElement[Any],
    *,
    descending: bool = False,
    skip: int,
    limit: int,
    total: int | None = None,
) -> list[int]:
    """Return the ids of one page of a list sorted by a key, and by the tie breaker in the same direction.

    With the total of the list, a page in its second half is read backwards from the end.
    """
    from_end = total is not None and skip > total // 2
    if total is not None and from_end:
        limit = min(limit, total - skip)
        if limit <= 0:
            return []
        skip = total - skip - limit
    order = (key.desc(), tie_breaker.desc()) if descending != from_end else (key, tie_breaker)
    page = list(connection.execute(ids.order_by(*order).offset(skip).limit(limit)).scalars())
    return page[::-1] if from_end else page
