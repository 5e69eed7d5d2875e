"""Full-text search of messages, in time independent of the frequency of a word.

Filters are part of the full-text query, so that a rare chat is found among a million hits without a scan. Hits are
ordered by row id, newest first, which FTS5 does without sorting. Ranked search considers only the newest hits: to
rank all hits of a word that half of all messages contain would take seconds.
"""

import sqlite3
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Final, Literal

from holdfast.backup.archives import model
from holdfast.backup.archives.query import Filters, Query, parse_query
from holdfast.backup.archives.reader import ArchiveReader
from holdfast.backup.errors import NotInArchive, QueryRefused
from holdfast.backup.public import public
from holdfast.redacted_repr import redacted

__all__ = ["Hit", "Hits", "search"]

MAX_LIMIT: Final = 500
# How many of the newest hits are ranked.
RANKED: Final = 1000
SECOND: Final = 1 << 20
LAST: Final = (1 << 63) - 1
# The delimiters of `snippet` around matches; no displayed text contains them.
OPEN, CLOSE = "\x02", "\x03"

Order = Literal["date", "rank"]


@public
@redacted
@dataclass(frozen=True, slots=True)
class Hit:
    """A message that matches, with its context; `snippet` delimits matches with U+0002 and U+0003."""

    message: model.Message
    snippet: str
    before: tuple[model.Message, ...]
    after: tuple[model.Message, ...]


@public
@redacted
@dataclass(frozen=True, slots=True)
class Hits:
    """A page of hits; `more` is the value of `below` for the next page, None on the last."""

    hits: tuple[Hit, ...]
    more: int | None


def search(
    reader: ArchiveReader,
    text: str,
    *,
    filters: Filters | None = None,
    order: Order = "date",
    limit: int = 20,
    context: int = 0,
    below: int | None = None,
    beginnings: bool = False,
    zone: tzinfo | None = UTC,
) -> Hits:
    """Search messages; `context` is how many messages before and after each hit to return, see `parse_query`."""
    limit = max(1, min(limit, MAX_LIMIT))
    query = parse_query(text, filters, beginnings=beginnings, zone=zone)
    try:
        matches = match_messages(reader, query, order, limit + 1, below)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise
        # All terms are quoted, so the index is damaged or a term exceeds its limits.
        raise QueryRefused(f"the query cannot be run: {error}") from error
    more = matches[limit - 1][0] if len(matches) > limit and order == "date" else None
    matches = matches[:limit]
    messages = {message.id: message for message in reader.by_ids([number for number, _ in matches])}
    hits = []
    for number, snippet in matches:
        message = messages[number]
        earlier: tuple[model.Message, ...] = ()
        later: tuple[model.Message, ...] = ()
        if context > 0:
            size = min(context, 50)
            rows = reader.rows(message.chat_id, "<", message.position, size)[::-1]
            earlier = tuple(reader.build_messages(rows))
            later = tuple(reader.build_messages(reader.rows(message.chat_id, ">", message.position, size)))
        hits.append(Hit(message, snippet or message.text or message.sentence or "", earlier, later))
    return Hits(tuple(hits), more)


def match_messages(
    reader: ArchiveReader, query: Query, order: Order, limit: int, below: int | None
) -> list[tuple[int, str | None]]:
    """Return the ids and snippets of hits."""
    facets, without = facet_terms(reader, query.filters)
    low = (query.filters.since_ms or 0) // 1000 * SECOND
    until = query.filters.until_ms
    high = LAST if until is None else max(0, -(-until // 1000)) * SECOND - 1
    if below is not None:
        high = min(high, below - 1)
    if not query.match and not facets and not without:
        if query.filters == Filters():
            raise QueryRefused("the query is empty")
        rows = reader.connection.execute(
            "SELECT id, NULL FROM message WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?", (low, high, limit)
        )
        return rows.fetchall()
    parts = [f"({query.match})"] if query.match else []
    parts += facets
    if not parts:
        # NOT needs a left operand: every message has a chat facet.
        parts = ["facets : c *"]
    match = " AND ".join(parts)
    if without:
        match = f"({match}) NOT (facets : ({' OR '.join(without)}))"
    snippet = f"snippet(message_index, 0, '{OPEN}', '{CLOSE}', '…', 24)"
    where = "message_index MATCH ? AND rowid BETWEEN ? AND ?"
    run = reader.connection.execute
    if order == "rank" and query.match:
        newest = run(
            f"SELECT min(rowid) FROM (SELECT rowid FROM message_index WHERE {where} ORDER BY rowid DESC LIMIT ?)",
            (match, low, high, RANKED),
        ).fetchone()[0]
        if newest is None:
            return []
        return run(
            f"SELECT rowid, {snippet} FROM message_index WHERE {where} "
            "ORDER BY bm25(message_index, 4.0, 1.0, 2.0, 0.0), rowid DESC LIMIT ?",
            (match, newest, high, limit),
        ).fetchall()
    return run(
        f"SELECT rowid, {snippet} FROM message_index WHERE {where} ORDER BY rowid DESC LIMIT ?",
        (match, low, high, limit),
    ).fetchall()


def facet_terms(reader: ArchiveReader, filters: Filters) -> tuple[list[str], list[str]]:
    """Convert filters to terms of the index: required and excluded ones."""
    must: list[str] = []
    without: list[str] = []
    if filters.chat is not None:
        must.append(f"facets : c{reader.chat_id(filters.chat)}")
    if filters.person is not None:
        people = " OR ".join(f"p{author}" for author in find_authors(reader, filters.person))
        must.append(f"facets : ({people})")
    if filters.direction == "outgoing":
        must.append("facets : dout")
    elif filters.direction == "none":
        must.append("facets : dnone")
    elif filters.direction == "incoming":
        without += ["dout", "dnone"]
    if filters.kind == "message":
        without.append("kother")
    elif filters.kind:
        # The tokenizer splits at underscores.
        must.append(f'facets : "k{filters.kind}"')
    if filters.has_media:
        must.append("facets : hasmedia")
    if filters.has_link:
        must.append("facets : haslink")
    return must, without


def find_authors(reader: ArchiveReader, wanted: str) -> list[int]:
    """Return the ids of all people with a name; `me` is the owner of each account."""
    names = reader.names
    text = wanted.casefold()
    if text in {"me", "you"}:
        ids = sorted(names.owners)
    elif wanted.isdecimal() and int(wanted) in names.names:
        ids = [int(wanted)]
    else:
        ids = [number for number, name in names.names.items() if name.casefold() == text]
        ids = ids or [number for number, name in names.names.items() if text in name.casefold()]
    if not ids:
        raise NotInArchive(f"there is no person named {wanted}; `holdfast archive people` lists everybody")
    return sorted(ids)[:100]
