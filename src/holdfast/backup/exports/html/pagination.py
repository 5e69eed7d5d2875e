"""Divides a chat into pages of bounded size, so that new messages change only the last page.

Pages are numbered from the oldest message and have the same number of messages. If these exceed the maximum size,
because some are very long, the rest goes to pages with a second number: `12.html`, `12-2.html`. A change on one
page never moves messages on other pages.
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

# Messages per page, and maximum size in characters; pages of ordinary messages have half of it.
PAGE_MESSAGES: Final = 500
PAGE_SIZE: Final = 256 << 10
# Later than any message.
MAX_TIME: Final = (1 << 63) - 1
# Recursive query: the first message, and from each page start the one a page further on.
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
    """A day in a chat: the position of its first message, and the number of messages."""

    start: Position
    messages: int = 0


@redacted
@dataclass(slots=True)
class PageBreaks:
    """Start positions and names of the pages of a chat."""

    starts: list[Position]
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.names = [str(n + 1) for n in range(len(self.starts))]

    def split(self, name: str, start: Position) -> str:
        """Split a page at a position, and return the name of the new page."""
        index = self.names.index(name)
        number, _, part = name.partition("-")
        new_name = f"{number}-{int(part or 1) + 1}"
        self.starts.insert(index + 1, start)
        self.names.insert(index + 1, new_name)
        return new_name

    def undo_split(self, name: str, parts: int) -> None:
        """Undo the splits of a page."""
        index = self.names.index(name)
        del self.starts[index + 1 : index + parts], self.names[index + 1 : index + parts]

    def ranges(self) -> list[tuple[str, Position, Position | None]]:
        """List the pages: name, start, and start of the next page."""
        return list(zip(self.names, self.starts, [*self.starts, None][1:], strict=True))

    def page(self, position: Position) -> str:
        """Return the name of the page of a message."""
        return self.names[max(0, bisect_right(self.starts, position) - 1)]

    def after(self, name: str) -> str | None:
        """Return the name of the next page."""
        index = self.names.index(name) + 1
        return self.names[index] if index < len(self.names) else None

    def before(self, name: str) -> str | None:
        """Return the name of the previous page."""
        index = self.names.index(name)
        return self.names[index - 1] if index else None


def find_breaks_and_days(
    archive: Archive, chat: int, choice: ChatSelection, clock: TimeFormatter
) -> tuple[PageBreaks, dict[int, ChatDay]]:
    """Return the page breaks and the days of a chat, from an index-only scan of the archive."""
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
    """Return the page breaks of a chat, without reading the messages between them."""
    rows = archive.connection.execute(
        STARTS,
        (chat, choice.since_ms or 0, MAX_TIME if choice.until_ms is None else choice.until_ms, PAGE_MESSAGES),
    )
    return PageBreaks([Position(*row) for row in rows])
