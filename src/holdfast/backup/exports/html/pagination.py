"""Cuts a chat into pages of bounded size, so that what is appended later changes only the last of them.

Pages are counted from the oldest message. Where so many messages are more than a page should hold, because some
are very long, the rest of them goes to pages of the same number with a second one: `12.html`, `12-2.html`. A
change on one page never moves what stands on others.
"""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archives import Archive, Position
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.html.clock import TimeFormatter
from holdfast.redacted_repr import redacted

__all__ = ["PAGE_MESSAGES", "PAGE_SIZE", "ChatDay", "PageBreaks", "find_breaks_and_days", "find_page_breaks"]

# Of messages on a page, and of signs; pages of ordinary messages are half as large.
PAGE_MESSAGES: Final = 500
PAGE_SIZE: Final = 256 << 10
# After every message.
MAX_TIME: Final = (1 << 63) - 1
# The first message, and from each one found the one so many messages further on.
STARTS: Final = """
WITH RECURSIVE start(ms, n, id) AS (
  SELECT * FROM (SELECT order_ms, order_n, id FROM message WHERE chat_id = ?1 AND order_ms >= ?2 AND order_ms < ?3
    ORDER BY order_ms, order_n, id LIMIT 1)
  UNION ALL
  SELECT m.order_ms, m.order_n, m.id FROM start s CROSS JOIN message m ON m.id = (
    SELECT o.id FROM message o WHERE o.chat_id = ?1 AND (o.order_ms, o.order_n, o.id) >= (s.ms, s.n, s.id)
      AND o.order_ms < ?3 ORDER BY o.order_ms, o.order_n, o.id LIMIT 1 OFFSET ?4)
)
SELECT ms, n, id FROM start
"""


@redacted
@dataclass(slots=True)
class ChatDay:
    """A day in a chat: where it begins, and how many messages it has."""

    start: Position
    messages: int = 0


@redacted
@dataclass(slots=True)
class PageBreaks:
    """Where the pages of a chat begin, and what they are called."""

    starts: list[Position]
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.names = [str(n + 1) for n in range(len(self.starts))]

    def split(self, name: str, start: Position) -> str:
        """Begin a further page inside one that is full, and return its name."""
        index = self.names.index(name)
        number, _, part = name.partition("-")
        new_name = f"{number}-{int(part or 1) + 1}"
        self.starts.insert(index + 1, start)
        self.names.insert(index + 1, new_name)
        return new_name

    def undo_split(self, name: str, parts: int) -> None:
        """Take back that a page was split."""
        index = self.names.index(name)
        del self.starts[index + 1 : index + parts], self.names[index + 1 : index + parts]

    def ranges(self) -> list[tuple[str, Position, Position | None]]:
        """List the pages with where each begins and where the next one does."""
        return list(zip(self.names, self.starts, [*self.starts, None][1:], strict=True))

    def page(self, position: Position) -> str:
        """Name the page a message stands on."""
        return self.names[max(0, bisect_right(self.starts, position) - 1)]

    def after(self, name: str) -> str | None:
        """Name the next page."""
        index = self.names.index(name) + 1
        return self.names[index] if index < len(self.names) else None

    def before(self, name: str) -> str | None:
        """Name the page before."""
        index = self.names.index(name)
        return self.names[index - 1] if index else None


def find_breaks_and_days(
    archive: Archive, chat: int, choice: ChatSelection, clock: TimeFormatter
) -> tuple[PageBreaks, dict[int, ChatDay]]:
    """Find where pages begin, and which days there are, from the index of the archive alone."""
    rows = archive.connection.execute(
        "SELECT order_ms, order_n, id FROM message WHERE chat_id = ?1 AND order_ms >= ?2 "
        "AND (?3 IS NULL OR order_ms < ?3) ORDER BY order_ms, order_n, id",
        (chat, choice.since_ms or 0, choice.until_ms),
    )
    starts: list[Position] = []
    days: dict[int, ChatDay] = {}
    while page := rows.fetchmany(PAGE_MESSAGES):
        starts.append(Position(*page[0]))
        page_days = clock.days([row[0] for row in page])
        firsts = dict(zip(reversed(page_days), reversed(page), strict=True))
        for day, messages in Counter(page_days).items():
            if day not in days:
                days[day] = ChatDay(Position(*firsts[day]))
            days[day].messages += messages
    return PageBreaks(starts), days


def find_page_breaks(archive: Archive, chat: int, choice: ChatSelection) -> PageBreaks:
    """Find where pages begin, without a look at what lies between."""
    rows = archive.connection.execute(
        STARTS,
        (chat, choice.since_ms or 0, MAX_TIME if choice.until_ms is None else choice.until_ms, PAGE_MESSAGES),
    )
    return PageBreaks([Position(*row) for row in rows])
