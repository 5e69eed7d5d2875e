"""Reads chats, people and messages from an archive; pages of a chat cost the same at any depth."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast.backup.archive import model
from holdfast.backup.archive.people import Names
from holdfast.backup.archive.records import read_record
from holdfast.backup.archive.sentences import SENTENCES, sentence
from holdfast.backup.errors import NotInArchive

__all__ = ["Reader"]

CHATS: Final = """
SELECT c.id, r.account_id, a.name, r.name, r.kind, coalesce(n.messages, 0),
  (SELECT m.order_ms FROM message m WHERE m.chat_id = c.id ORDER BY m.order_ms DESC, m.order_n DESC LIMIT 1),
  c.archived, c.pinned_order, c.last_seen IS NOT NULL
FROM chat c JOIN recipient r ON r.id = c.id JOIN account a ON a.id = r.account_id
LEFT JOIN (SELECT chat_id, count(*) AS messages FROM message GROUP BY chat_id) n ON n.chat_id = c.id
"""
COLUMNS: Final = """
m.id, m.chat_id, m.author_id, m.direction, m.kind, m.text, m.sent_ms, m.received_ms, m.order_ms, m.order_n, m.sms,
m.expires_in_ms, m.pinned_ms, CASE WHEN m.last_seen IS NULL THEN NULL ELSE (
  SELECT n.made_ms FROM snapshot l
  JOIN snapshot n ON n.account_id = l.account_id AND (n.made_ms, n.digest) > (l.made_ms, l.digest)
  WHERE l.id = m.last_seen ORDER BY n.made_ms, n.digest LIMIT 1) END
"""
# Beyond this a page is no longer read by a person.
MOST: Final = 1000

# How far a message got, from nowhere to seen; a failure outweighs what others got.
STATES: Final = ("skipped", "pending", "sent", "delivered", "read", "viewed", "failed")
RANK: Final = " ".join(f"WHEN '{name}' THEN {n}" for n, name in enumerate(STATES))

# What besides its text the sentence of a message is made of, by its kind.
FACTS: Final = {
    "payment": "SELECT message_id, 'payment', status, amount FROM payment",
    "gift_badge": "SELECT message_id, 'giftBadge', state, NULL FROM gift_badge",
    "sticker": "SELECT message_id, 'sticker', NULL, emoji FROM sticker",
    "contact": "SELECT message_id, 'contactCard', NULL, coalesce(name, organization) FROM contact_card",
    "deleted_by_admin": "SELECT message_id, 'deletedByAdmin', NULL, admin_id FROM admin_deletion",
}

Rows = dict[int, list[tuple[Any, ...]]]


@dataclass(slots=True)
class Reader:
    """Answers questions about an archive."""

    connection: sqlite3.Connection
    table: Mapping[str, str] = field(default_factory=lambda: SENTENCES)
    _names: Names | None = None

    @property
    def names(self) -> Names:
        """Everybody's names."""
        if self._names is None:
            self._names = Names(self.connection)
        return self._names

    def forget(self) -> None:
        """Read names anew, after an import."""
        self._names = None

    def snapshots(self) -> list[model.Snapshot]:
        """List the backups that were imported, the oldest first."""
        rows = self.connection.execute(
            "SELECT s.id, s.account_id, a.name, s.made_ms, s.app_version, s.messages, s.frames, s.digest, "
            "s.source "
            "FROM snapshot s JOIN account a ON a.id = s.account_id ORDER BY s.account_id, s.made_ms, s.digest"
        )
        return [model.Snapshot(*row) for row in rows]

    def skipped(self, snapshot: int | None = None) -> Iterator[model.Skipped]:
        """Yield what imports left out or read as something else."""
        rows = self.connection.execute(
            "SELECT k.snapshot_id, s.source, k.frame, k.record, k.action, k.what, k.times FROM skipped k "
            "JOIN snapshot s ON s.id = k.snapshot_id WHERE ?1 IS NULL OR k.snapshot_id = ?1 "
            "ORDER BY s.made_ms, s.digest, k.frame, k.what",
            (snapshot,),
        )
        return (model.Skipped(*row) for row in rows)

    def chats(self) -> list[model.Chat]:
        """List the chats: pinned ones first, then by the latest message."""
        rows = self.connection.execute(
            f"{CHATS} ORDER BY r.account_id, c.pinned_order IS NULL, c.pinned_order, 7 DESC, c.id"
        )
        return [self.chat_of(row) for row in rows]

    def chat_of(self, row: Sequence[Any]) -> model.Chat:
        """Make a chat of a row."""
        facts = (*row[:7], bool(row[7]), row[8], bool(row[9]))
        return model.Chat(*facts)

    def chat(self, wanted: int | str) -> model.Chat:
        """Find a chat by its id, its name, or how its name begins."""
        number = self.chat_id(wanted)
        row = self.connection.execute(
            f"{CHATS.replace('GROUP', 'WHERE chat_id = ?1 GROUP')} WHERE c.id = ?1", (number,)
        )
        return self.chat_of(row.fetchone())

    def chat_id(self, wanted: int | str) -> int:
        """Find the id of a chat, without counting what is in it."""
        text = str(wanted).casefold()
        chats = self.connection.execute(
            "SELECT c.id, r.name FROM chat c JOIN recipient r ON r.id = c.id"
        ).fetchall()
        for fits in (
            [chat for chat in chats if str(chat[0]) == text],
            [chat for chat in chats if chat[1] == wanted],
            [chat for chat in chats if chat[1].casefold() == text],
            [chat for chat in chats if chat[1].casefold().startswith(text)],
            [chat for chat in chats if text in chat[1].casefold()],
        ):
            if len(fits) == 1:
                return int(fits[0][0])
            if fits:
                several = ", ".join(f"{name} ({number})" for number, name in fits[:5])
                raise NotInArchive(f"{len(fits)} chats fit {wanted}: {several}; say which by its number")
        raise NotInArchive(f"there is no chat {wanted}; `holdfast archive chats` lists them")

    def people(self) -> list[model.Person]:
        """List everybody, those who wrote most first."""
        rows = self.connection.execute(
            "SELECT p.id, p.account_id, p.account, p.name, p.kind, p.aci, p.pni, p.phone, p.username, "
            "p.profile_name, "
            "p.blocked, p.avatar_color, coalesce(n.messages, 0), p.vanished FROM people p LEFT JOIN "
            "(SELECT author_id, count(*) AS messages FROM message GROUP BY author_id) n ON n.author_id = p.id "
            "ORDER BY p.account_id, 13 DESC, p.name, p.id"
        )
        people = (
            (*row[:3], self.names.name(row[0]), *row[4:10], bool(row[10]), *row[11:13], bool(row[13]))
            for row in rows
        )
        return [model.Person(*one) for one in people]

    def page(
        self,
        chat: int,
        *,
        before: model.Position | None = None,
        after: model.Position | None = None,
        around_ms: int | None = None,
        limit: int = 50,
    ) -> model.Page:
        """Read some messages of a chat in their order: the last ones, or those before, after or around a place."""
        limit = max(1, min(limit, MOST))
        if around_ms is not None:
            half = limit // 2
            place = model.Position(around_ms, 0, 0)
            rows = self.rows(chat, "<", place, half)[::-1] + self.rows(chat, ">=", place, limit - half)
        elif after is not None:
            rows = self.rows(chat, ">", after, limit)
        else:
            rows = self.rows(chat, "<", before, limit)[::-1]
        messages = tuple(self.complete(rows))
        if not messages:
            return model.Page((), None, None)
        first, last = messages[0].position, messages[-1].position
        older = first if self.rows(chat, "<", first, 1) else None
        newer = last if self.rows(chat, ">", last, 1) else None
        return model.Page(messages, older, newer)

    def rows(
        self,
        chat: int,
        sign: str,
        place: model.Position | None,
        limit: int,
        until_ms: int | None = None,
    ) -> list[tuple[Any, ...]]:
        """Read rows on one side of a place, the nearest first, none from `until_ms` on."""
        way = "ASC" if ">" in sign else "DESC"
        where = "" if place is None else f"AND (m.order_ms, m.order_n, m.id) {sign} (?, ?, ?)"
        values: tuple[int, ...] = () if place is None else (place.ms, place.n, place.id)
        if until_ms is not None:
            where += " AND m.order_ms < ?"
            values += (until_ms,)
        return self.connection.execute(
            f"SELECT {COLUMNS} FROM message m WHERE m.chat_id = ? {where} "  # signs of ours
            f"ORDER BY m.order_ms {way}, m.order_n {way}, m.id {way} LIMIT ?",
            (chat, *values, limit),
        ).fetchall()

    def messages(
        self, chat: int, since_ms: int | None = None, until_ms: int | None = None
    ) -> Iterator[model.Message]:
        """Yield the messages of a chat in their order, a thousand at a time; `until_ms` itself is not included."""
        place = model.Position(since_ms or 0, -1, 0)
        while True:
            rows = self.rows(chat, ">", place, MOST, until_ms)
            for message in self.complete(rows):
                yield message
                place = message.position
            if len(rows) < MOST:
                return

    def message(self, number: int) -> model.Message:
        """Read one message with its receipts and what changed about it."""
        rows = self.connection.execute(
            f"SELECT {COLUMNS} FROM message m WHERE m.id = ?",
            (min(number, (1 << 63) - 1),),
        ).fetchall()
        if not rows:
            raise NotInArchive(f"there is no message {number}")
        return next(iter(self.complete(rows, whole=True)))

    def by_ids(self, numbers: Sequence[int]) -> list[model.Message]:
        """Read messages by their ids, in the order of these."""
        rows = self.connection.execute(
            f"SELECT {COLUMNS} FROM message m WHERE m.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        ).fetchall()
        found = {message.id: message for message in self.complete(rows)}
        return [found[number] for number in numbers if number in found]

    def record(self, number: int) -> bytes:
        """Return the bytes of the chat item a message was read from, with the ids of its file."""
        row = self.connection.execute(
            "SELECT block_id, block_at FROM message WHERE id = ?", (min(number, (1 << 63) - 1),)
        ).fetchone()
        if row is None:
            raise NotInArchive(f"there is no message {number}")
        return read_record(self.connection, *row)[1]

    def gather(self, query: str, ids: str) -> Rows:
        """Read rows that belong to messages, by message."""
        found: Rows = {}
        for row in self.connection.execute(query, (ids,)):
            found.setdefault(row[0], []).append(row[1:])
        return found

    def complete(self, rows: Sequence[tuple[Any, ...]], *, whole: bool = False) -> Iterator[model.Message]:
        """Make messages of their rows with everything that belongs to them, a table at a time."""
        if not rows:
            return
        ids = json.dumps([row[0] for row in rows])
        these = "IN (SELECT value FROM json_each(?))"
        attachments = self.gather(
            "SELECT a.message_id, a.role, a.n, a.revision, a.content_type, a.file_name, a.size, a.width, "
            "a.height, "
            "a.caption, a.flag, a.plaintext_hash, a.media_name, d.path FROM attachment a "
            f"LEFT JOIN media d ON d.media_name = a.media_name WHERE a.message_id {these}",
            ids,
        )
        reactions = self.gather(
            f"SELECT message_id, author_id, emoji, sent_ms FROM reaction WHERE message_id {these}", ids
        )
        quotes = self.gather(
            "SELECT q.message_id, q.author_id, q.type, q.text, q.target_sent_ms, (SELECT t.id FROM message t "
            "JOIN message m ON m.id = q.message_id WHERE +t.chat_id = m.chat_id AND +t.author_id = q.author_id "
            "AND t.sent_ms = q.target_sent_ms AND t.id BETWEEN (q.target_sent_ms / 1000) << 20 AND "
            "((q.target_sent_ms / 1000 + 1) << 20) LIMIT 1) "
            f"FROM quote q WHERE q.revision = 0 AND q.message_id {these}",
            ids,
        )
        links = self.gather(
            f"SELECT message_id, url, title, description, date_ms FROM link_preview WHERE revision = 0 AND "
            f"message_id {these}",
            ids,
        )
        ranges = self.gather(
            f"SELECT message_id, part, start, length, style, mention_id FROM text_range WHERE revision = 0 "
            f"AND message_id {these}",
            ids,
        )
        revisions = self.gather(f"SELECT message_id, n, sent_ms, text FROM revision WHERE message_id {these}", ids)
        said = self.sentences(rows)
        polls = self.polls(rows)
        cards = self.cards(rows)
        states = self.states(rows)
        receipts: Rows = {}
        changes: Rows = {}
        if whole:
            receipts = self.gather(
                f"SELECT message_id, recipient_id, status, at_ms, reason FROM send_status WHERE message_id "
                f"{these}",
                ids,
            )
            changes = self.gather(
                f"SELECT c.message_id, s.made_ms, c.what, c.who_id, c.before, c.after FROM message_change "
                f"c JOIN snapshot s ON s.id = c.seen_in WHERE c.message_id {these} ORDER BY c.n",
                ids,
            )
        name, owners = self.names.name, self.names.owners
        called = {chat: "Note to Self" if chat in owners else name(chat) for chat in {row[1] for row in rows}}
        for row in rows:
            number, chat, author, direction, kind, text, sent, received, order, n, sms, timer, pinned, vanished = (
                row
            )
            marks = ranges.get(number)
            quoted = quotes.get(number)
            # Most messages have none of these: what is not there costs nothing.
            yield model.Message(
                number,
                chat,
                called[chat],
                author,
                name(author),
                direction,
                kind,
                text,
                said.get(number),
                sent,
                received,
                model.Position(order, n, number),
                bool(sms),
                timer,
                pinned,
                vanished,
                tuple([model.Attachment(*one) for one in attachments[number]]) if number in attachments else (),
                tuple([model.Reaction(one[0], name(one[0]), *one[1:]) for one in reactions[number]])
                if number in reactions
                else (),
                model.Quote(quoted[0][0], name(quoted[0][0]), *quoted[0][1:]) if quoted else None,
                tuple([model.Link(*one) for one in links[number]]) if number in links else (),
                tuple([self.text_range(one) for one in marks if one[0] == "text"]) if marks else (),
                tuple([self.text_range(one) for one in marks if one[0] == "quote"]) if marks else (),
                tuple([model.Revision(*one) for one in revisions[number]]) if number in revisions else (),
                polls.get(number),
                cards.get(number),
                states.get(number),
                tuple(model.Receipt(one[0], name(one[0]), *one[1:]) for one in receipts.get(number, ())),
                tuple(
                    model.Change(one[0], one[1], name(one[2]) if one[2] else None, *one[3:])
                    for one in changes.get(number, ())
                ),
            )

    def text_range(self, row: tuple[Any, ...]) -> model.TextRange:
        """Make a style or mention of a row."""
        _part, start, length, style, mention = row
        return model.TextRange(start, length, style, mention, self.names.name(mention) if mention else None)

    def states(self, rows: Sequence[tuple[Any, ...]]) -> dict[int, str]:
        """Say of outgoing messages how far they got with anybody, or that they failed with somebody."""
        sent = [row[0] for row in rows if row[3] == "outgoing"]
        found = self.connection.execute(
            f"SELECT message_id, max(CASE status {RANK} END) FROM send_status WHERE message_id "
            "IN (SELECT value FROM json_each(?)) GROUP BY message_id",
            (json.dumps(sent),),
        )
        return {number: STATES[rank] for number, rank in found if rank is not None}

    def cards(self, rows: Sequence[tuple[Any, ...]]) -> dict[int, model.Card]:
        """Read the contact cards that were sent."""
        ids = numbers_of(rows, "contact")
        if not ids:
            return {}
        these = "IN (SELECT value FROM json_each(?))"
        lines = self.gather(
            "SELECT message_id, field, type, label, value FROM contact_card_field "
            f"WHERE message_id {these} ORDER BY field = 'address', field = 'email', n",
            ids,
        )
        cards = self.gather(
            f"SELECT message_id, name, organization FROM contact_card WHERE message_id {these}", ids
        )
        return {
            number: model.Card(name, work, tuple(model.CardField(*line) for line in lines.get(number, ())))
            for number, ((name, work),) in cards.items()
        }

    def polls(self, rows: Sequence[tuple[Any, ...]]) -> dict[int, model.Poll]:
        """Read polls with their options and votes."""
        ids = numbers_of(rows, "poll")
        if not ids:
            return {}
        these = "IN (SELECT value FROM json_each(?))"
        votes = self.gather(f"SELECT message_id, option, voter_id FROM poll_vote WHERE message_id {these}", ids)
        options = self.gather(f"SELECT message_id, n, text FROM poll_option WHERE message_id {these}", ids)
        polls = self.gather(
            f"SELECT message_id, question, allow_multiple, has_ended FROM poll WHERE message_id {these}", ids
        )
        return {
            number: model.Poll(
                question,
                bool(several),
                bool(ended),
                tuple(
                    model.PollOption(
                        text, tuple(self.names.name(who) for option, who in votes.get(number, ()) if option == n)
                    )
                    for n, text in options.get(number, ())
                ),
            )
            for number, ((question, several, ended),) in polls.items()
        }

    def sentences(self, rows: Sequence[tuple[Any, ...]]) -> dict[int, str]:
        """Say in words what is more than text."""
        special = {row[0]: row for row in rows if row[4] != "message"}
        if not special:
            return {}
        ids = json.dumps(list(special))
        these = "IN (SELECT value FROM json_each(?))"
        events = self.gather(
            f"SELECT message_id, type, details FROM update_event WHERE message_id {these} ORDER BY n", ids
        )
        facts: Rows = {}
        for kind in {row[4] for row in special.values()} & FACTS.keys():
            facts |= self.gather(f"{FACTS[kind]} WHERE message_id {these}", ids)
        said: dict[int, str] = {}
        for number, row in special.items():
            account = self.names.accounts[row[1]]

            def namer(whom: object, account: int = account) -> str | None:
                return self.names.within(account, whom)

            parts = [
                sentence(kind, json.loads(details), row[2], namer, self.table)
                for kind, details in events.get(number, ())
            ]
            parts += [self.fact(row, *fact) for fact in facts.get(number, ())]
            if row[4] in {"deleted", "view_once"}:
                parts.append(self.tombstone(row))
            if parts:
                said[number] = " ".join(parts)
        return said

    def by(self, key: str, row: tuple[Any, ...], **values: object) -> str:
        """Choose a sentence by whether the owner is the author."""
        own = row[2] in self.names.owners
        template = self.table.get(f"{key}.you") if own else None
        return (template or self.table[key]).format(who=self.names.name(row[2]), **values)

    def called(self, whom: int) -> str:
        """Name somebody at the beginning of a sentence."""
        return self.table["you"] if whom in self.names.owners else self.names.name(whom)

    def fact(self, row: tuple[Any, ...], what: str, state: str | None, value: Any) -> str:
        """Say what a payment, a badge, a sticker or a card is, and who deleted a message."""
        if what == "deletedByAdmin":
            return self.by("deletedByAdmin", row, admin=self.called(value))
        if what == "payment":
            return self.by(f"payment.{state}", row, amount=value or self.table["payment.money"])
        if what == "giftBadge":
            return self.by(f"giftBadge.{state}", row, other=self.names.name(row[1]))
        if what == "sticker":
            return self.table["sticker"].format(emoji=value or "").strip()
        return self.table["contactCard"].format(name=value or self.table["somebody.inside"])

    def tombstone(self, row: tuple[Any, ...]) -> str:
        """Say what stands in the place of a message that is gone."""
        if row[4] == "view_once":
            return self.table["viewOnce"]
        return self.by("deleted", row)


def numbers_of(rows: Sequence[tuple[Any, ...]], kind: str) -> str:
    """List the ids of messages of one kind as statements take them; empty when there are none."""
    numbers = [row[0] for row in rows if row[4] == kind]
    return json.dumps(numbers) if numbers else ""
