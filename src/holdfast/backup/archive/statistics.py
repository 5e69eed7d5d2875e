"""Counts what an archive holds: by month, hour, weekday, chat and person; how fast people answer; media."""

from dataclasses import dataclass
from typing import Any, Final

from holdfast.backup.archive.reading import Reader

__all__ = ["Count", "Media", "Reply", "Statistics", "statistics"]

# An answer after longer than this begins a new conversation.
ANSWER_MS: Final = 12 * 3_600_000
TOP: Final = 50


@dataclass(frozen=True, slots=True)
class Count:
    """How many messages something has."""

    id: int | None
    name: str
    messages: int
    words: int


@dataclass(frozen=True, slots=True)
class Reply:
    """How fast somebody answers, in seconds: the middle one of all answers in one-to-one chats."""

    id: int
    name: str
    answers: int
    median_s: int


@dataclass(frozen=True, slots=True)
class Media:
    """Files of one type."""

    type: str
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """All counts. `hours` is by weekday, Monday first, then by hour of the day in UTC."""

    messages: int
    first_ms: int | None
    last_ms: int | None
    months: tuple[tuple[str, int], ...]
    hours: tuple[tuple[int, ...], ...]
    kinds: tuple[tuple[str, int], ...]
    chats: tuple[Count, ...]
    people: tuple[Count, ...]
    replies: tuple[Reply, ...]
    media: tuple[Media, ...]


def statistics(reader: Reader, chat: int | None = None) -> Statistics:
    """Count, of all chats or of one."""
    where, values = ("WHERE m.chat_id = ?", (chat,)) if chat is not None else ("", ())

    def rows(query: str) -> list[tuple[Any, ...]]:
        return reader.connection.execute(query.format(where=where), values).fetchall()

    ((messages, first, last),) = rows("SELECT count(*), min(m.sent_ms), max(m.sent_ms) FROM message m {where}")
    # One pass for everything that is counted by time.
    hours = [[0] * 24 for _ in range(7)]
    months: dict[str, int] = {}
    for month, day, hour, count in rows(
        "SELECT strftime('%Y-%m', h * 3600, 'unixepoch'), strftime('%w', h * 3600, 'unixepoch'), h % 24, "
        "sum(n) FROM "
        "(SELECT m.sent_ms / 3600000 AS h, count(*) AS n FROM message m {where} GROUP BY 1) GROUP BY 1, 2, 3"
    ):
        if month is not None:
            months[month] = months.get(month, 0) + count
            hours[(int(day) + 6) % 7][hour] += count
    words = "sum(CASE WHEN m.text IS NULL THEN 0 ELSE length(m.text) - length(replace(m.text, ' ', '')) + 1 END)"
    name = reader.names.name

    def counts(column: str) -> tuple[Count, ...]:
        found = rows(
            f"SELECT m.{column}, count(*), {words} FROM message m {{where}} GROUP BY 1 ORDER BY 2 DESC, 1 "
            f"LIMIT {TOP}"
        )
        return tuple(Count(number, name(number), count, said) for number, count, said in found)

    kinds = rows("SELECT m.kind, count(*) FROM message m {where} GROUP BY 1 ORDER BY 2 DESC, 1")
    media = rows(
        "SELECT coalesce(substr(a.content_type, 1, instr(a.content_type || '/', '/') - 1), 'unknown'), count(*), "
        "sum(a.size) FROM attachment a JOIN message m ON m.id = a.message_id {where} "
        + ("AND" if where else "WHERE")
        + " a.role = 'attachment' AND a.revision = 0 GROUP BY 1 ORDER BY 3 DESC, 1"
    )
    return Statistics(
        messages,
        first,
        last,
        tuple(sorted(months.items())),
        tuple(tuple(day) for day in hours),
        tuple((kind, count) for kind, count in kinds),
        counts("chat_id"),
        counts("author_id"),
        replies(reader, where, values),
        tuple(Media(*row) for row in media),
    )


def replies(reader: Reader, where: str, values: tuple[Any, ...]) -> tuple[Reply, ...]:
    """Measure how long people take to answer: from the other's last message to their first one after it."""
    only = f"{where} {'AND' if where else 'WHERE'}"
    found = reader.connection.execute(
        "WITH turns AS (SELECT m.author_id AS who, m.sent_ms AS at, "
        "lag(m.author_id) OVER talk AS other, lag(m.sent_ms) OVER talk AS asked FROM message m "
        f"JOIN recipient r ON r.id = m.chat_id {only} r.kind = 'contact' AND m.direction <> 'none' "
        "WINDOW talk AS (PARTITION BY m.chat_id ORDER BY m.order_ms, m.order_n)), "
        "answers AS (SELECT who, at - asked AS took, row_number() OVER (PARTITION BY who ORDER BY at - "
        "asked) AS n, "
        "count(*) OVER (PARTITION BY who) AS all_of FROM turns "
        f"WHERE other <> who AND at - asked BETWEEN 0 AND {ANSWER_MS}) "
        "SELECT who, all_of, took / 1000 FROM answers WHERE n = (all_of + 1) / 2 ORDER BY all_of DESC, "
        "who LIMIT 50",
        values,
    )
    return tuple(Reply(who, reader.names.name(who), count, median) for who, count, median in found)
