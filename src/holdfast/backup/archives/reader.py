"""Reads chats, people and messages of an archive. Keyset pagination: a page costs the same at any depth."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from holdfast.backup.archives import model
from holdfast.backup.archives.integrity import check_types
from holdfast.backup.archives.message_loader import COLUMNS, MessageLoader, Row
from holdfast.backup.archives.records import read_record
from holdfast.backup.errors import NotInArchive
from holdfast.redacted_repr import redacted

__all__ = ["ArchiveReader"]

CHATS: Final = """
SELECT c.id, r.account_id, a.name, r.name, r.kind, coalesce(n.messages, 0),
  (SELECT m.order_ms FROM message m WHERE m.chat_id = c.id ORDER BY m.order_ms DESC, m.order_n DESC LIMIT 1),
  c.archived, c.pinned_order, c.last_seen IS NOT NULL
FROM chat c JOIN recipient r ON r.id = c.id JOIN account a ON a.id = r.account_id
LEFT JOIN (SELECT chat_id, count(*) AS messages FROM message GROUP BY chat_id) n ON n.chat_id = c.id
"""
# Messages per author, from the vocabulary of the full-text index.
MESSAGES_WRITTEN: Final = """
SELECT CAST(substr(term, 2) AS INTEGER) AS author_id, doc AS messages FROM message_term
WHERE term >= 'p0' AND term < 'p:' AND col = 'facets'
"""
# Conditions for vanished and changed messages; the index `message_vanished` serves the first.
ALTERED: Final = {
    "vanished": "m.last_seen IS NOT NULL",
    "edited": (
        "(m.id IN (SELECT message_id FROM revision) "
        "OR m.id IN (SELECT message_id FROM message_change WHERE what = 'edited'))"
    ),
    "deleted": "m.kind IN ('deleted', 'deleted_by_admin')",
}
# More than a person reads on one page.
MAX_LIMIT: Final = 1000
# Greater than any position.
BEYOND: Final = (1 << 63) - 1


@redacted
@dataclass(slots=True)
class ArchiveReader(MessageLoader):
    """Queries of an archive."""

    def snapshots(self) -> list[model.Snapshot]:
        """List the imported backups, the oldest first."""
        rows = self.connection.execute(
            "SELECT s.id, s.account_id, a.name, s.made_ms, s.app_version, s.messages, s.frames, s.digest, "
            "s.source "
            "FROM snapshot s JOIN account a ON a.id = s.account_id ORDER BY s.account_id, s.made_ms, s.digest"
        )
        return [check_types(model.Snapshot(*row)) for row in rows]

    def skipped(self, snapshot: int | None = None) -> Iterator[model.SkippedRecord]:
        """Yield what imports skipped or replaced by defaults."""
        rows = self.connection.execute(
            "SELECT k.snapshot_id, s.source, k.frame, k.record, k.action, k.what, k.times FROM skipped k "
            "JOIN snapshot s ON s.id = k.snapshot_id WHERE ?1 IS NULL OR k.snapshot_id = ?1 "
            "ORDER BY s.made_ms, s.digest, k.frame, k.what",
            (snapshot,),
        )
        return (check_types(model.SkippedRecord(*row)) for row in rows)

    def chats(self) -> list[model.Chat]:
        """List the chats: pinned ones first, then by the latest message."""
        rows = self.connection.execute(
            f"{CHATS} ORDER BY r.account_id, c.pinned_order IS NULL, c.pinned_order, 7 DESC, c.id"
        )
        return [self.chat_of(row) for row in rows]

    def chat_of(self, row: Sequence[Any]) -> model.Chat:
        """Convert a row to a chat."""
        facts = (*row[:7], bool(row[7]), row[8], bool(row[9]))
        return check_types(model.Chat(*facts))

    def chat(self, wanted: int | str) -> model.Chat:
        """Return a chat by id, name or unique part of its name."""
        number = self.chat_id(wanted)
        row = self.connection.execute(
            f"{CHATS.replace('GROUP', 'WHERE chat_id = ?1 GROUP')} WHERE c.id = ?1", (number,)
        )
        return self.chat_of(row.fetchone())

    def chat_id(self, wanted: int | str) -> int:
        """Return the id of a chat, without counting its messages."""
        text = str(wanted).casefold()
        chats = self.connection.execute(
            "SELECT c.id, r.name FROM chat c JOIN recipient r ON r.id = c.id"
        ).fetchall()
        for matches in (
            [chat for chat in chats if str(chat[0]) == text],
            [chat for chat in chats if chat[1] == wanted],
            [chat for chat in chats if chat[1].casefold() == text],
            [chat for chat in chats if chat[1].casefold().startswith(text)],
            [chat for chat in chats if text in chat[1].casefold()],
        ):
            if len(matches) == 1:
                return int(matches[0][0])
            if matches:
                several = ", ".join(f"{name} ({number})" for number, name in matches[:5])
                raise NotInArchive(f"{len(matches)} chats match {wanted}: {several}; use the id of one")
        raise NotInArchive(f"there is no chat {wanted}; `holdfast archive chats` lists them")

    def people(self) -> list[model.Person]:
        """List the people, those with the most messages first."""
        rows = self.connection.execute(
            "SELECT p.id, p.account_id, p.account, p.name, p.kind, p.aci, p.pni, p.phone, p.username, "
            "p.profile_name, "
            "p.blocked, p.avatar_color, coalesce(n.messages, 0), p.vanished FROM people p LEFT JOIN "
            f"({MESSAGES_WRITTEN}) n ON n.author_id = p.id ORDER BY p.account_id, 13 DESC, p.name, p.id"
        )
        people = (
            (*row[:3], self.names.name(row[0]), *row[4:10], bool(row[10]), *row[11:13], bool(row[13]))
            for row in rows
        )
        return [check_types(model.Person(*values)) for values in people]

    def page(
        self,
        chat: int,
        *,
        before: model.Position | None = None,
        after: model.Position | None = None,
        around_ms: int | None = None,
        limit: int = 50,
    ) -> model.Page:
        """Return a page of a chat in its order: the latest messages, or those before, after or around one."""
        limit = max(1, min(limit, MAX_LIMIT))
        if around_ms is not None:
            half = limit // 2
            position = model.Position(around_ms, 0, 0)
            rows = self.rows(chat, "<", position, half)[::-1] + self.rows(chat, ">=", position, limit - half)
        elif after is not None:
            rows = self.rows(chat, ">", after, limit)
        else:
            rows = self.rows(chat, "<", before, limit)[::-1]
        messages = tuple(check_types(message) for message in self.build_messages(rows))
        if not messages:
            return model.Page((), None, None)
        first, last = messages[0].position, messages[-1].position
        older = first if self.rows(chat, "<", first, 1) else None
        newer = last if self.rows(chat, ">", last, 1) else None
        return model.Page(messages, older, newer)

    def rows(
        self,
        chat: int,
        operator: str,
        position: model.Position | None,
        limit: int,
        until_ms: int | None = None,
    ) -> list[Row]:
        """Return rows on one side of a position, the nearest first, before `until_ms`."""
        direction = "ASC" if ">" in operator else "DESC"
        where = "" if position is None else f"AND (m.order_ms, m.order_n, m.id) {operator} (?, ?, ?)"
        values: tuple[int, ...] = () if position is None else (position.ms, position.n, position.id)
        if until_ms is not None:
            where += " AND m.order_ms < ?"
            values += (until_ms,)
        return self.connection.execute(
            f"SELECT {COLUMNS} FROM message m WHERE m.chat_id = ? {where} "  # constant operators
            f"ORDER BY m.order_ms {direction}, m.order_n {direction}, m.id {direction} LIMIT ?",
            (chat, *values, limit),
        ).fetchall()

    def rows_between(
        self,
        chat: int,
        start: model.Position,
        end: model.Position | None = None,
        until_ms: int | None = None,
        columns: str = COLUMNS,
    ) -> list[Row]:
        """Return the rows from a position of a chat up to another, exclusive; `columns` overrides the columns."""
        last = end or model.Position(BEYOND if until_ms is None else until_ms, -1, 0)
        return self.connection.execute(
            f"SELECT {columns} FROM message m WHERE m.chat_id = ? "  # constant columns
            "AND (m.order_ms, m.order_n, m.id) >= (?, ?, ?) AND (m.order_ms, m.order_n, m.id) < (?, ?, ?) "
            "ORDER BY m.order_ms, m.order_n, m.id",
            (chat, start.ms, start.n, start.id, last.ms, last.n, last.id),
        ).fetchall()

    def messages(
        self, chat: int, since_ms: int | None = None, until_ms: int | None = None
    ) -> Iterator[model.Message]:
        """Yield the messages of a chat in its order, in batches of a thousand; `until_ms` is exclusive."""
        position = model.Position(since_ms or 0, -1, 0)
        while True:
            rows = self.rows(chat, ">", position, MAX_LIMIT, until_ms)
            messages = self.build_messages(rows)
            yield from messages
            if len(rows) < MAX_LIMIT:
                return
            position = messages[-1].position

    def message(self, number: int) -> model.Message:
        """Return one message with its receipts and changes."""
        rows = self.connection.execute(
            f"SELECT {COLUMNS} FROM message m WHERE m.id = ?",
            (min(number, (1 << 63) - 1),),
        ).fetchall()
        if not rows:
            raise NotInArchive(f"there is no message {number}")
        return check_types(self.build_messages(rows, whole=True)[0])

    def altered(
        self,
        what: Literal["vanished", "edited", "deleted"],
        *,
        chat: int | None = None,
        authors: Sequence[int] | None = None,
        since_ms: int | None = None,
        until_ms: int | None = None,
        limit: int = 50,
        below: int | None = None,
    ) -> list[model.Message]:
        """List messages that the newest backup lacks, or that were edited or deleted, the latest first.

        Each has its changes. The next page is below the id of the last one.
        """
        conditions = (
            (chat is not None, "m.chat_id = ?", chat),
            (
                authors is not None,
                "m.author_id IN (SELECT value FROM json_each(?))",
                json.dumps(list(authors or ())),
            ),
            (since_ms is not None, "m.sent_ms >= ?", since_ms),
            (until_ms is not None, "m.sent_ms < ?", until_ms),
            (below is not None, "m.id < ?", min(below or 0, BEYOND)),
        )
        where = " AND ".join([ALTERED[what], *(clause for wanted, clause, _ in conditions if wanted)])
        rows = self.connection.execute(
            f"SELECT {COLUMNS} FROM message m WHERE {where} ORDER BY m.id DESC LIMIT ?",
            (*(value for wanted, _, value in conditions if wanted), max(1, min(limit, MAX_LIMIT + 1))),
        ).fetchall()
        return [check_types(message) for message in self.build_messages(rows, whole=True)]

    def by_ids(self, numbers: Sequence[int]) -> list[model.Message]:
        """Return messages by id, in the order of the ids."""
        rows = self.connection.execute(
            f"SELECT {COLUMNS} FROM message m WHERE m.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        ).fetchall()
        by_id = {message.id: check_types(message) for message in self.build_messages(rows)}
        return [by_id[number] for number in numbers if number in by_id]

    def record(self, number: int) -> bytes:
        """Return the serialized chat item of a message, with the ids of its backup."""
        row = self.connection.execute(
            "SELECT block_id, block_at FROM message WHERE id = ?", (min(number, (1 << 63) - 1),)
        ).fetchone()
        if row is None:
            raise NotInArchive(f"there is no message {number}")
        return read_record(self.connection, *row)[1]
