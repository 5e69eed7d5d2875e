"""Reads messages with all their data from an archive, as the records of exports."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from holdfast.backup.archives import Archive, Message, model
from holdfast.backup.archives.message_loader import Rows
from holdfast.backup.dates import spelled
from holdfast.backup.exports import schemas
from holdfast.redacted_repr import redacted

__all__ = ["MediaName", "iso_time", "messages"]

# Adds the file of an attachment to the export and returns its path there.
MediaName = Callable[[model.ArchivedAttachment], str | None]

BATCH: Final = 1000
IN_IDS: Final = "IN (SELECT value FROM json_each(?))"
# Queries for all messages.
COMMON_QUERIES: Final = {
    "more": "SELECT m.id, m.first_sent_ms, m.server_sent_ms, m.read, m.sealed_sender, m.expire_start_ms, "
    "m.pinned_until_ms, s.made_ms FROM message m JOIN snapshot s ON s.id = m.first_seen WHERE m.id",
    "changes": "SELECT c.message_id, s.made_ms, c.what, c.who_id, c.before, c.after FROM message_change c "
    "JOIN snapshot s ON s.id = c.seen_in WHERE c.message_id",
    "ranges": "SELECT message_id, revision, part, start, length, style, mention_id, mention_aci FROM text_range "
    "WHERE message_id",
    "received": "SELECT message_id, n, received_ms FROM revision WHERE message_id",
    "blurs": "SELECT message_id, revision, role, n, blur_hash FROM attachment WHERE blur_hash IS NOT NULL "
    "AND message_id",
}
# Queries for edited messages.
REVISION_QUERIES: Final = {
    "quotes": "SELECT message_id, revision, author_id, type, text, target_sent_ms FROM quote WHERE revision > 0 "
    "AND message_id",
    "links": "SELECT message_id, revision, url, title, description, date_ms FROM link_preview WHERE revision > 0 "
    "AND message_id",
}
# Queries by kind of message.
KIND_QUERIES: Final = {
    "poll": {
        "options": "SELECT message_id, n, text FROM poll_option WHERE message_id",
        "votes": "SELECT message_id, option, voter_id, votes FROM poll_vote WHERE message_id",
    },
    "sticker": {"sticker": "SELECT message_id, pack_id, sticker_id, emoji FROM sticker WHERE message_id"},
    "payment": {
        "payment": "SELECT message_id, status, amount, fee, note, reason, at_ms, block_index, block_ms "
        "FROM payment WHERE message_id"
    },
    "gift_badge": {"gift_badge": "SELECT message_id, state FROM gift_badge WHERE message_id"},
    "contact": {
        "card": "SELECT message_id, name, given_name, family_name, prefix, suffix, middle_name, nickname, "
        "organization FROM contact_card WHERE message_id",
        "fields": "SELECT message_id, field, type, value, label FROM contact_card_field WHERE message_id",
    },
    "deleted_by_admin": {"admin": "SELECT message_id, admin_id FROM admin_deletion WHERE message_id"},
    "update": {
        "events": "SELECT message_id, type, details FROM update_event WHERE message_id",
        "call": "SELECT message_id, kind, state, read, call_id, type, direction, started_ms, ended_ms, ringer_id, "
        "starter_id FROM call WHERE message_id",
    },
}


def iso_time(ms: int | None) -> str | None:
    """Format a time in UTC as ISO 8601; None for a time outside of the calendar."""
    text = None if ms is None else spelled(ms, "T")
    return None if ms is None or text is None else f"{text}.{ms % 1000:03}Z"


def no_media(_attachment: model.ArchivedAttachment) -> None:
    """Add no file."""


def messages(
    archive: Archive,
    chat: int,
    since_ms: int | None = None,
    until_ms: int | None = None,
    *,
    media: MediaName = no_media,
) -> Iterator[schemas.ExportedMessage]:
    """Yield the messages of a chat in order with all their data, read in batches of a thousand."""
    archived_messages = archive.messages(chat, since_ms, until_ms)
    while batch := list(islice(archived_messages, BATCH)):
        yield from MessageBatch(archive, batch, media).records()


def optional_bool(value: int | None) -> bool | None:
    """Convert an integer of SQLite to a boolean; None stays None."""
    return None if value is None else bool(value)


@redacted
@dataclass(slots=True)
class MessageBatch:
    """A batch of messages with the rows of their related tables."""

    archive: Archive
    batch: Sequence[Message]
    media: MediaName
    rows_by_query: dict[str, Rows] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.load_rows(COMMON_QUERIES, self.batch)
        self.rows_by_query["receipts"] = self.archive.receipts(json.dumps([message.id for message in self.batch]))
        self.load_rows(REVISION_QUERIES, [message for message in self.batch if message.revisions])
        for kind, queries in KIND_QUERIES.items():
            self.load_rows(queries, [message for message in self.batch if message.kind == kind])

    def load_rows(self, queries: dict[str, str], batch: Sequence[Message]) -> None:
        """Run queries for some of the messages."""
        if batch:
            ids = json.dumps([message.id for message in batch])
            for name, query in queries.items():
                self.rows_by_query[name] = self.archive.rows_by_message(f"{query} {IN_IDS}", ids)

    def rows(self, name: str, number: int) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a query for a message."""
        return self.rows_by_query.get(name, {}).get(number, ())

    def records(self) -> Iterator[schemas.ExportedMessage]:
        """Yield the records of the messages."""
        accounts = self.archive.names.accounts
        for message in self.batch:
            ((first_sent, server, read, sealed, expiring, pinned_until, first_seen),) = self.rows(
                "more", message.id
            )
            ranges = self.rows("ranges", message.id)
            # Most messages are plain, and skip what only other kinds have.
            kind_fields = self.kind_fields(message) if message.kind != "message" else {}
            yield schemas.ExportedMessage(
                id=message.id,
                account_id=accounts[message.chat_id],
                chat_id=message.chat_id,
                chat=message.chat,
                author_id=message.author_id,
                author=message.author,
                direction=message.direction,  # type: ignore[arg-type]  # the archive knows these three
                kind=message.kind,
                text=message.text,
                sentence=message.sentence,
                sent=iso_time(message.sent_ms),
                sent_ms=message.sent_ms,
                first_sent_ms=first_sent,
                received_ms=message.received_ms,
                server_sent_ms=server,
                order_ms=message.position.ms,
                order_n=message.position.n,
                read=optional_bool(read),
                sealed_sender=optional_bool(sealed),
                sms=message.sms,
                expire_start_ms=expiring,
                expires_in_ms=message.expires_in_ms,
                pinned_ms=message.pinned_ms,
                pinned_until_ms=pinned_until,
                first_seen_ms=first_seen,
                vanished_ms=message.vanished_ms,
                ranges=self.ranges(ranges, 0, "text") if ranges else (),
                attachments=self.attachments(message, 0) if message.attachments else (),
                reactions=tuple(
                    [
                        schemas.ExportedReaction(
                            reaction.author_id, reaction.author, reaction.emoji, reaction.sent_ms
                        )
                        for reaction in message.reactions
                    ]
                ),
                quote=self.quote(message.quote, ranges) if message.quote else None,
                links=tuple(
                    [
                        schemas.ExportedLink(link.url, link.title, link.description, link.date_ms)
                        for link in message.links
                    ]
                ),
                revisions=tuple([self.revision(message, revision, ranges) for revision in message.revisions]),
                receipts=self.receipts(message.id),
                changes=self.changes(message.id),
                **kind_fields,
            )

    def kind_fields(self, message: Message) -> dict[str, Any]:
        """Return the fields that only messages of some kinds have."""
        admin_id = next((row[0] for row in self.rows("admin", message.id)), None)
        calls = (
            schemas.ExportedCall(row[0], row[1], bool(row[2]), *row[3:]) for row in self.rows("call", message.id)
        )
        return {
            "poll": self.poll(message),
            "sticker": next((schemas.ExportedSticker(*row) for row in self.rows("sticker", message.id)), None),
            "payment": next((schemas.ExportedPayment(*row) for row in self.rows("payment", message.id)), None),
            "gift_badge": next(
                (schemas.ExportedGiftBadge(*row) for row in self.rows("gift_badge", message.id)), None
            ),
            "contact_card": self.card(message.id),
            "deleted_by_id": admin_id,
            "deleted_by": self.archive.names.name(admin_id) if admin_id else None,
            "events": tuple(
                schemas.ExportedEvent(row[0], json.loads(row[1])) for row in self.rows("events", message.id)
            ),
            "call": next(calls, None),
        }

    def receipts(self, number: int) -> tuple[schemas.ExportedReceipt, ...]:
        """Return the receipts of a message."""
        name = self.archive.names.name
        return tuple(
            [
                schemas.ExportedReceipt(row[0], name(row[0]), row[1], row[2], optional_bool(row[3]), row[4])
                for row in self.rows("receipts", number)
            ]
        )

    def changes(self, number: int) -> tuple[schemas.ExportedChange, ...]:
        """Return the changes of a message in later backups."""
        name = self.archive.names.name
        return tuple(
            [
                schemas.ExportedChange(row[0], row[1], row[2], name(row[2]) if row[2] else None, row[3], row[4])
                for row in self.rows("changes", number)
            ]
        )

    def ranges(
        self, rows: Sequence[tuple[Any, ...]], revision: int, part: str
    ) -> tuple[schemas.ExportedTextRange, ...]:
        """Return the styles and mentions of a text."""
        name = self.archive.names.name
        return tuple(
            schemas.ExportedTextRange(start, length, style, person_id, name(person_id) if person_id else None, aci)
            for text_revision, text_part, start, length, style, person_id, aci in rows
            if text_revision == revision and text_part == part
        )

    def attachments(self, message: Message, revision: int) -> tuple[schemas.ExportedAttachment, ...]:
        """Return the attachments of one version of a message."""
        blurs = {row[:3]: row[3] for row in self.rows("blurs", message.id)}
        return tuple(
            schemas.ExportedAttachment(
                role=attachment.role,
                n=attachment.n,
                size=attachment.size,
                content_type=attachment.content_type,
                file_name=attachment.file_name,
                width=attachment.width,
                height=attachment.height,
                caption=attachment.caption,
                flag=None if attachment.flag == "NONE" else attachment.flag,
                blur_hash=blurs.get((revision, attachment.role, attachment.n)),
                plaintext_hash=attachment.plaintext_hash,
                media_name=attachment.media_name,
                file=self.media(attachment),
            )
            for attachment in message.attachments
            if attachment.revision == revision
        )

    def quote(self, quote: model.Quote, ranges: Sequence[tuple[Any, ...]]) -> schemas.ExportedQuote:
        """Return the quote of a message."""
        return schemas.ExportedQuote(
            quote.author_id,
            quote.author,
            quote.type,
            quote.text,
            self.ranges(ranges, 0, "quote"),
            quote.target_sent_ms,
            quote.target_id,
        )

    def revision(
        self, message: Message, revision: model.Revision, ranges: Sequence[tuple[Any, ...]]
    ) -> schemas.ExportedRevision:
        """Return an earlier version of a message."""
        n, name = revision.n, self.archive.names.name
        return schemas.ExportedRevision(
            n,
            revision.sent_ms,
            next((row[1] for row in self.rows("received", message.id) if row[0] == n), None),
            revision.text,
            self.ranges(ranges, n, "text"),
            next(
                (
                    schemas.ExportedQuote(
                        row[1], name(row[1]), row[2], row[3], self.ranges(ranges, n, "quote"), row[4]
                    )
                    for row in self.rows("quotes", message.id)
                    if row[0] == n
                ),
                None,
            ),
            tuple(schemas.ExportedLink(*row[1:]) for row in self.rows("links", message.id) if row[0] == n),
            self.attachments(message, n),
        )

    def poll(self, message: Message) -> schemas.ExportedPoll | None:
        """Return the poll of a message."""
        if message.poll is None:
            return None
        name = self.archive.names.name
        votes = self.rows("votes", message.id)
        return schemas.ExportedPoll(
            message.poll.question,
            message.poll.allow_multiple,
            message.poll.has_ended,
            tuple(
                schemas.ExportedPollOption(
                    text,
                    tuple(
                        schemas.ExportedPollVote(voter, name(voter), count)
                        for option, voter, count in votes
                        if option == n
                    ),
                )
                for n, text in self.rows("options", message.id)
            ),
        )

    def card(self, number: int) -> schemas.ExportedContactCard | None:
        """Return the contact card of a message."""
        fields = tuple(schemas.ExportedContactField(*row) for row in self.rows("fields", number))
        names = "name", "given_name", "family_name", "prefix", "suffix", "middle_name", "nickname", "organization"
        cards = (dict(zip(names, row, strict=True)) for row in self.rows("card", number))
        return next((schemas.ExportedContactCard(**row, fields=fields) for row in cards), None)
