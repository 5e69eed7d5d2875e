"""Builds message objects from rows, with one query per related table."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from holdfast.backup.archives import model
from holdfast.backup.archives.people import Names
from holdfast.backup.archives.receipts import unpack_receipts
from holdfast.backup.archives.sentences import SENTENCES, sentence
from holdfast.redacted_repr import redacted

__all__ = ["COLUMNS", "MessageLoader", "MessageParts", "Row", "Rows"]

COLUMNS: Final = """
m.id, m.chat_id, m.author_id, m.direction, m.kind, m.text, m.sent_ms, m.received_ms, m.order_ms, m.order_n, m.sms,
m.expires_in_ms, m.pinned_ms, m.first_seen, m.last_seen, m.fingerprint, m.status
"""
# Rows of a table that belong to given messages; lookups one by one are faster than a join over all.
OF_THESE: Final = "FROM json_each(?) these CROSS JOIN"
ATTACHMENTS: Final = f"""
SELECT a.message_id, a.role, a.n, a.revision, a.content_type, a.file_name, a.size, a.width, a.height, a.caption,
  a.flag, a.plaintext_hash, a.media_name, d.path, a.blur_hash
{OF_THESE} attachment a ON a.message_id = these.value LEFT JOIN media d ON d.media_name = a.media_name
"""
REACTIONS: Final = f"""
SELECT r.message_id, r.author_id, r.emoji, r.sent_ms {OF_THESE} reaction r ON r.message_id = these.value
"""
QUOTES: Final = f"""
SELECT q.message_id, q.author_id, q.type, q.text, q.target_sent_ms, (
  SELECT t.id FROM message t JOIN message m ON m.id = q.message_id
  WHERE +t.chat_id = m.chat_id AND +t.author_id = q.author_id AND t.sent_ms = q.target_sent_ms
    AND t.id BETWEEN (q.target_sent_ms / 1000) << 20 AND ((q.target_sent_ms / 1000 + 1) << 20) LIMIT 1)
{OF_THESE} quote q ON q.message_id = these.value AND q.revision = 0
"""
LINKS: Final = f"""
SELECT l.message_id, l.url, l.title, l.description, l.date_ms
{OF_THESE} link_preview l ON l.message_id = these.value AND l.revision = 0
"""
RANGES: Final = f"""
SELECT r.message_id, r.part, r.start, r.length, r.style, r.mention_id
{OF_THESE} text_range r ON r.message_id = these.value AND r.revision = 0
"""
REVISIONS: Final = f"""
SELECT r.message_id, r.n, r.sent_ms, r.text {OF_THESE} revision r ON r.message_id = these.value
"""
RECEIPTS: Final = f"""
SELECT m.id, m.receipts, m.order_ms - m.sent_before
{OF_THESE} stored_message m ON m.id = these.value WHERE m.receipts IS NOT NULL
"""
CHANGES: Final = f"""
SELECT c.message_id, s.made_ms, c.what, c.who_id, c.before, c.after
{OF_THESE} message_change c ON c.message_id = these.value JOIN snapshot s ON s.id = c.seen_in ORDER BY c.n
"""
# The first snapshot without a vanished message; snapshots are ordered by time and digest.
VANISHED: Final = """
SELECT l.id, (SELECT n.made_ms FROM snapshot n
  WHERE n.account_id = l.account_id AND (n.made_ms, n.digest) > (l.made_ms, l.digest)
  ORDER BY n.made_ms, n.digest LIMIT 1) FROM snapshot l WHERE l.id IN (SELECT value FROM json_each(?))
"""

# Queries for the values that sentences contain, by kind of message.
FACTS: Final = {
    "payment": "SELECT message_id, 'payment', status, amount FROM payment",
    "gift_badge": "SELECT message_id, 'giftBadge', state, NULL FROM gift_badge",
    "sticker": "SELECT message_id, 'sticker', NULL, emoji FROM sticker",
    "contact": "SELECT message_id, 'contactCard', NULL, coalesce(name, organization) FROM contact_card",
    "deleted_by_admin": "SELECT message_id, 'deletedByAdmin', NULL, admin_id FROM admin_deletion",
}

# A row of `COLUMNS`.
Row = tuple[Any, ...]
Rows = dict[int, list[Row]]


@redacted
@dataclass(frozen=True, slots=True)
class MessageParts:
    """Related rows of messages, by message id; `with_parts` are the messages that have any, apart from a status.

    Also when each snapshot's vanished messages were first missing, and the names of authors and chats.
    """

    attachments: Rows
    reactions: Rows
    quotes: Rows
    links: Rows
    ranges: Rows
    revisions: Rows
    receipts: Rows
    changes: Rows
    sentences: Mapping[int, str]
    polls: Mapping[int, model.Poll]
    cards: Mapping[int, model.Card]
    states: Mapping[int, str]
    vanished: Mapping[int, int]
    authors: Mapping[int, str]
    chats: Mapping[int, str]
    with_parts: Set[int]

    def is_plain(self, row: Row) -> bool:
        """Return whether a message is text only, apart from its delivery status."""
        return (
            row[0] not in self.with_parts
            and row[4] == "message"
            and bool(row[5])
            and not (row[10] or row[11] or row[12])
            and row[14] is None
        )


@redacted
@dataclass(slots=True)
class MessageLoader:
    """Loads the related rows of messages and the names of people."""

    connection: sqlite3.Connection
    table: Mapping[str, str] = field(default_factory=lambda: SENTENCES)
    _names: Names | None = None

    @property
    def names(self) -> Names:
        """The names of all people, cached."""
        if self._names is None:
            self._names = Names(self.connection)
        return self._names

    def forget_names(self) -> None:
        """Clear the cached names, after an import."""
        self._names = None

    def rows_by_message(self, query: str, ids: str) -> Rows:
        """Run a query for related rows, and group them by message id."""
        grouped: Rows = {}
        for row in self.connection.execute(query, (ids,)).fetchall():
            if row[0] in grouped:
                grouped[row[0]].append(row[1:])
            else:
                grouped[row[0]] = [row[1:]]
        return grouped

    def vanished_times(self, snapshots: set[int]) -> dict[int, int]:
        """Return when the messages last seen in each snapshot were first missing."""
        return dict(self.connection.execute(VANISHED, (json_ids(snapshots),))) if snapshots else {}

    def load_parts(self, rows: Sequence[Row], *, whole: bool = False) -> MessageParts:
        """Load the related rows of messages; `whole` with receipts and changes."""
        ids = json_ids([row[0] for row in rows])
        attachments = self.rows_by_message(ATTACHMENTS, ids)
        reactions = self.rows_by_message(REACTIONS, ids)
        quotes = self.rows_by_message(QUOTES, ids)
        links = self.rows_by_message(LINKS, ids)
        ranges = self.rows_by_message(RANGES, ids)
        revisions = self.rows_by_message(REVISIONS, ids)
        receipts = self.receipts(ids) if whole else {}
        changes = self.rows_by_message(CHANGES, ids) if whole else {}
        sentences, polls, cards = self.sentences(rows), self.polls(rows), self.cards(rows)
        name, is_owner = self.names.name, self.names.is_owner
        return MessageParts(
            attachments,
            reactions,
            quotes,
            links,
            ranges,
            revisions,
            receipts,
            changes,
            sentences,
            polls,
            cards,
            {row[0]: row[16] for row in rows if row[16] is not None},
            self.vanished_times({row[14] for row in rows if row[14] is not None}),
            {number: name(number) for number in {row[2] for row in rows}},
            {
                chat_id: "Note to Self" if is_owner(chat_id) else name(chat_id)
                for chat_id in {row[1] for row in rows}
            },
            set().union(
                attachments,
                reactions,
                quotes,
                links,
                ranges,
                revisions,
                receipts,
                changes,
                sentences,
                polls,
                cards,
            ),
        )

    def build_messages(self, rows: Sequence[Row], *, whole: bool = False) -> list[model.Message]:
        """Convert rows to messages; `whole` with receipts and changes."""
        if not rows:
            return []
        parts = self.load_parts(rows, whole=whole)
        return [self.build_message(row, parts) for row in rows]

    def build_message(self, row: Row, parts: MessageParts) -> model.Message:
        """Convert a row and its related rows to a message."""
        (
            number,
            chat,
            author,
            direction,
            kind,
            text,
            sent,
            received,
            order,
            n,
            sms,
            timer,
            pinned,
            _,
            last,
            _,
            _,
        ) = row
        files: tuple[model.ArchivedAttachment, ...] = ()
        texts: dict[int, str] = {}
        if number in parts.attachments:
            files = tuple([model.ArchivedAttachment(*values) for values in parts.attachments[number]])
            texts = self.long_texts(files)
            text = texts.get(0, text)
        facts = (
            number,
            chat,
            parts.chats[chat],
            author,
            parts.authors[author],
            direction,
            kind,
            text,
            parts.sentences.get(number),
            sent,
            received,
            model.Position(order, n, number),
            sms != 0,
            timer,
            pinned,
            None if last is None else parts.vanished[last],
        )
        if number not in parts.with_parts:
            return model.Message(*facts, status=parts.states.get(number))
        name = self.names.name
        reactions, quoted = parts.reactions.get(number), parts.quotes.get(number)
        links, ranges, revisions = parts.links.get(number), parts.ranges.get(number), parts.revisions.get(number)
        return model.Message(
            *facts,
            files,
            tuple([model.Reaction(values[0], name(values[0]), *values[1:]) for values in reactions])
            if reactions
            else (),
            model.Quote(quoted[0][0], name(quoted[0][0]), *quoted[0][1:]) if quoted else None,
            tuple([model.Link(*values) for values in links]) if links else (),
            tuple([self.text_range(values) for values in ranges if values[0] == "text"]) if ranges else (),
            tuple([self.text_range(values) for values in ranges if values[0] == "quote"]) if ranges else (),
            tuple([model.Revision(n, at, texts.get(n, was)) for n, at, was in revisions]) if revisions else (),
            parts.polls.get(number),
            parts.cards.get(number),
            parts.states.get(number),
            tuple(
                [
                    model.Receipt(recipient, name(recipient), status, at, reason)
                    for recipient, status, at, _, reason in parts.receipts.get(number, ())
                ]
            ),
            tuple(
                [
                    model.Change(values[0], values[1], name(values[2]) if values[2] else None, *values[3:])
                    for values in parts.changes.get(number, ())
                ]
            ),
            0 in texts,
        )

    def long_texts(self, files: Sequence[model.ArchivedAttachment]) -> dict[int, str]:
        """Read the long texts stored as files, by number of revision."""
        texts: dict[int, str] = {}
        for attachment in files:
            text = self.long_text(attachment.path) if attachment.role == "long_text" and attachment.path else None
            if text is not None:
                texts[attachment.revision] = text
        return texts

    def long_text(self, path: str) -> str | None:  # noqa: ARG002  # overridden where media are read
        """Read a long text stored as a file; None if there is none."""
        return None

    def text_range(self, row: Row) -> model.TextRange:
        """Convert a row to a style or mention."""
        _part, start, length, style, mention = row
        return model.TextRange(start, length, style, mention, self.names.name(mention) if mention else None)

    def receipts(self, ids: str) -> Rows:
        """Read receipts, by message id."""
        rows = self.connection.execute(RECEIPTS, (ids,)).fetchall()
        return {number: list(unpack_receipts(packed, sent)) for number, packed, sent in rows}

    def cards(self, rows: Sequence[Row]) -> dict[int, model.Card]:
        """Read contact cards, by message id."""
        ids = json_ids_of_kind(rows, "contact")
        if not ids:
            return {}
        these = "IN (SELECT value FROM json_each(?))"
        lines = self.rows_by_message(
            "SELECT message_id, field, type, label, value FROM contact_card_field "
            f"WHERE message_id {these} ORDER BY field = 'address', field = 'email', n",
            ids,
        )
        cards = self.rows_by_message(
            f"SELECT message_id, name, organization FROM contact_card WHERE message_id {these}", ids
        )
        return {
            number: model.Card(name, work, tuple(model.CardField(*line) for line in lines.get(number, ())))
            for number, ((name, work),) in cards.items()
        }

    def polls(self, rows: Sequence[Row]) -> dict[int, model.Poll]:
        """Read polls with their options and votes, by message id."""
        ids = json_ids_of_kind(rows, "poll")
        if not ids:
            return {}
        these = "IN (SELECT value FROM json_each(?))"
        votes = self.rows_by_message(
            f"SELECT message_id, option, voter_id FROM poll_vote WHERE message_id {these}", ids
        )
        options = self.rows_by_message(
            f"SELECT message_id, n, text FROM poll_option WHERE message_id {these}", ids
        )
        polls = self.rows_by_message(
            f"SELECT message_id, question, allow_multiple, has_ended FROM poll WHERE message_id {these}", ids
        )
        return {
            number: model.Poll(
                question,
                bool(several),
                bool(ended),
                tuple(
                    model.PollOption(
                        text,
                        tuple(self.names.name(voter) for option, voter in votes.get(number, ()) if option == n),
                    )
                    for n, text in options.get(number, ())
                ),
            )
            for number, ((question, several, ended),) in polls.items()
        }

    def sentences(self, rows: Sequence[Row]) -> dict[int, str]:
        """Build the sentences of messages that are more than text, by message id."""
        special = {row[0]: row for row in rows if row[4] != "message"}
        if not special:
            return {}
        ids = json_ids(special)
        these = "IN (SELECT value FROM json_each(?))"
        events = self.rows_by_message(
            f"SELECT message_id, type, details FROM update_event WHERE message_id {these} ORDER BY n", ids
        )
        facts: Rows = {}
        for kind in {row[4] for row in special.values()} & FACTS.keys():
            facts |= self.rows_by_message(f"{FACTS[kind]} WHERE message_id {these}", ids)
        sentences: dict[int, str] = {}
        for number, row in special.items():
            account = self.names.accounts[row[1]]

            def namer(person: object, account: int = account) -> str | None:
                return self.names.name_in_account(account, person)

            parts = [
                sentence(kind, json.loads(details), row[2], namer, self.table)
                for kind, details in events.get(number, ())
            ]
            parts += [self.fact_sentence(row, *fact) for fact in facts.get(number, ())]
            if row[4] in {"deleted", "view_once"}:
                parts.append(self.tombstone(row))
            if parts:
                sentences[number] = " ".join(parts)
        return sentences

    def sentence_by_author(self, key: str, row: Row, **values: object) -> str:
        """Fill the template for the author: its `.you` variant if that is the owner."""
        own = self.names.is_owner(row[2])
        template = self.table.get(f"{key}.you") if own else None
        return (template or self.table[key]).format(who=self.names.name(row[2]), **values)

    def subject_name(self, person: int) -> str:
        """Return the name of a person at the beginning of a sentence."""
        return self.table["you"] if self.names.is_owner(person) else self.names.name(person)

    def fact_sentence(self, row: Row, fact: str, state: str | None, value: Any) -> str:
        """Return the sentence for a payment, gift badge, sticker, contact card or deletion by an admin."""
        if fact == "deletedByAdmin":
            return self.sentence_by_author("deletedByAdmin", row, admin=self.subject_name(value))
        if fact == "payment":
            return self.sentence_by_author(f"payment.{state}", row, amount=value or self.table["payment.money"])
        if fact == "giftBadge":
            return self.sentence_by_author(f"giftBadge.{state}", row, other=self.names.name(row[1]))
        if fact == "sticker":
            return self.table["sticker"].format(emoji=value or "").strip()
        return self.table["contactCard"].format(name=value or self.table["somebody.inside"])

    def tombstone(self, row: Row) -> str:
        """Return the sentence shown instead of a deleted or view-once message."""
        if row[4] == "view_once":
            return self.table["viewOnce"]
        return self.sentence_by_author("deleted", row)


def json_ids(numbers: Iterable[int]) -> str:
    """Encode ids as JSON, for `json_each`."""
    return msgspec.json.encode(list(numbers)).decode()


def json_ids_of_kind(rows: Sequence[Row], kind: str) -> str:
    """Encode the ids of the messages of one kind as JSON; empty if there are none."""
    numbers = [row[0] for row in rows if row[4] == kind]
    return json_ids(numbers) if numbers else ""
