"""Partitions the messages of chats by year, and large years by month, day and hour.

Periods are calendar periods in UTC. A later snapshot changes only the last file of a chat.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from holdfast.backup.archives import Archive
from holdfast.backup.dates import END, HOUR_MS, moment
from holdfast.backup.exports.choice import ChatSelection

__all__ = ["Period", "periods", "years"]

LEVELS: Final = ("%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%d-%H")
UNDATED: Final = "undated"


@dataclass(frozen=True, slots=True)
class Period:
    """A period of a chat: its name as a date, its start, its exclusive end, and the number of messages."""

    name: str
    since_ms: int
    until_ms: int | None
    messages: int


# Hours since 1970, each with its number of messages.
Hours = Sequence[tuple[int, int]]


def periods(archive: Archive, chat: int, choice: ChatSelection, limit: int) -> list[Period]:
    """Split a chat into non-empty periods of at most `limit` messages; an hour is never split."""
    return list(split_hours(count_by_hour(archive, chat, choice), choice, limit, 0))


def years(archive: Archive, chats: Iterable[int], choice: ChatSelection) -> dict[str, list[tuple[int, Period]]]:
    """Return the years in order, each with the chats that have messages in it."""
    by_year: dict[str, list[tuple[int, Period]]] = {}
    for chat in chats:
        for period in split_hours(count_by_hour(archive, chat, choice), choice, None, 0):
            by_year.setdefault(period.name, []).append((chat, period))
    return dict(sorted(by_year.items()))


def count_by_hour(archive: Archive, chat: int, choice: ChatSelection) -> Hours:
    """Count the messages of a chat by hour."""
    return archive.connection.execute(
        "SELECT min(order_ms, ?4) / 3600000, count(*) FROM message WHERE chat_id = ?1 "
        "AND (?2 IS NULL OR order_ms >= ?2) AND (?3 IS NULL OR order_ms < ?3) GROUP BY 1 ORDER BY 1",
        (chat, choice.since_ms, choice.until_ms, END),
    ).fetchall()


def split_hours(hour_counts: Hours, choice: ChatSelection, limit: int | None, level: int) -> Iterator[Period]:
    """Group hours by a calendar level, and groups above the limit by the next one."""
    for name, group in groupby(hour_counts, key=lambda hour: period_name(hour[0], level)):
        period_hours = list(group)
        total = sum(count for _, count in period_hours)
        if limit is not None and total > limit and level + 1 < len(LEVELS) and name != UNDATED:
            yield from split_hours(period_hours, choice, limit, level + 1)
        else:
            until = None if name == UNDATED else (period_hours[-1][0] + 1) * HOUR_MS
            if choice.until_ms is not None:
                until = choice.until_ms if until is None else min(until, choice.until_ms)
            yield Period(name, max(period_hours[0][0] * HOUR_MS, choice.since_ms or 0), until, total)


def period_name(hour: int, level: int) -> str:
    """Return the name of the period of an hour."""
    date = moment(hour * HOUR_MS)
    return UNDATED if date is None else date.strftime(LEVELS[level])
