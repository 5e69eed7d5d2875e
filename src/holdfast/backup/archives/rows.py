"""Converts messages to database rows.

The compiled readers convert what most messages consist of; rich messages are converted from protobuf here.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archives.identity import uuid_text
from holdfast.backup.archives.item_rows import (
    HAS_LINK,
    HAS_MEDIA,
    HAS_TEXT,
    KINDS,
    STRANGER,
    Item,
    Row,
    pack_receipts,
)
from holdfast.backup.archives.statements import CHILDREN
from holdfast.backup.archives.tolerance import Notes, enum_name
from holdfast.backup.archives.updates import events_of
from holdfast.backup.media import attachment_of
from holdfast.backup.names import joined
from holdfast.backup.schema import backup_pb2 as pb
from holdfast.redacted_repr import redacted

__all__ = ["Rows", "is_ignored", "text_of"]

LATEST: Final = (1 << 63) - 1
SIMPLE: Final = pb.SimpleChatUpdate.Type.DESCRIPTOR

# Indexes of the flags, receipts, reactions and row of an item.
FLAGS, STATUSES, REACTIONS, ROW = 2, 3, 4, 6
# Indexes of columns of a message row.
SENT, LOOK, EXTRA, PINNED = 3, 9, 11, 14
MESSAGE: Final = KINDS.index("message")


def ms(value: int) -> int:
    """Clamp a time to what SQLite can store."""
    return min(value, LATEST)


@redacted
@dataclass(slots=True)
class Rows:
    """A buffer of rows by table; `people` maps ids of the backup to ids of the archive.

    `placeholder` returns the id of the placeholder for recipients that are not in the backup.
    """

    people: Mapping[int, int]
    by_aci: Mapping[str, int]
    notes: Notes
    placeholder: Callable[[], int]
    tables: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in CHILDREN})
    messages: list[Row] = field(default_factory=list)

    def add(self, item: Item, parsed: pb.ChatItem | None, tail: Row) -> None:
        """Add a message with its related rows; `tail` has the columns of its sightings and its record."""
        flags, statuses, reactions, row = item[FLAGS], item[STATUSES], item[REACTIONS], item[ROW]
        if parsed is not None:
            row = self.add_rich(row, parsed)
            if row[LOOK] >> 4 & 31 != MESSAGE:
                reactions = self.reaction_rows(row[0], parsed)
        if flags & STRANGER:
            statuses = [(recipient or self.missing_recipient(), *rest) for recipient, *rest in statuses or ()]
            reactions = [
                (*reaction[:2], reaction[2] or self.missing_recipient(), *reaction[3:])
                for reaction in reactions or ()
            ]
        if reactions:
            self.tables["reaction"] += reactions
        self.messages.append((*row, *tail, pack_receipts(statuses or [], row[SENT])))

    def clear(self) -> None:
        """Clear the buffer."""
        self.messages.clear()
        for rows in self.tables.values():
            rows.clear()

    def add_rich(self, row: Row, parsed: pb.ChatItem) -> Row:
        """Add the related rows of a rich message, and return its completed row."""
        number, extra = row[0], list[str]()
        self.add_content(number, parsed, extra)
        text = text_of(parsed)
        look = row[LOOK] & ~HAS_TEXT
        if text is not None:
            look |= HAS_TEXT
        if self.add_attachments(number, 0, parsed):
            look |= HAS_MEDIA
        if parsed.standardMessage.linkPreview:
            look |= HAS_LINK
        for n, revision in enumerate(parsed.revisions, 1):
            self.add_revision(number, n, revision)
        pinned = pinned_until = -1
        if parsed.HasField("pinDetails"):
            pinned = ms(parsed.pinDetails.pinnedAtTimestamp)
            if parsed.pinDetails.WhichOneof("pinExpiry") == "pinExpiresAtTimestamp":
                pinned_until = ms(parsed.pinDetails.pinExpiresAtTimestamp)
        return (
            *row[:LOOK],
            look,
            text or "",
            "\n".join(extra),
            *row[EXTRA + 1 : PINNED],
            pinned,
            pinned_until,
            *row[PINNED + 2 :],
        )

    def missing_recipient(self) -> int:
        """Record a missing recipient, and return the id of the placeholder."""
        self.notes.default("names somebody who is not in the file, kept as Unknown")
        return self.placeholder()

    def recipient_id(self, local: int) -> int:
        """Map a recipient id of the backup to an id of the archive."""
        return self.people.get(local) or self.missing_recipient()

    def add_content(self, number: int, item: pb.ChatItem, extra: list[str]) -> None:
        """Add the rows that depend on the kind of message, except attachments."""
        kind = item.WhichOneof("item")
        if kind == "standardMessage":
            self.add_standard(number, 0, item.standardMessage)
            extra += [part for preview in item.standardMessage.linkPreview for part in (preview.title,) if part]
            for attached in item.standardMessage.attachments:
                extra += [part for part in (attached.pointer.fileName, attached.pointer.caption) if part]
        elif kind == "updateMessage":
            self.add_update(number, item.updateMessage)
        elif kind == "stickerMessage":
            sticker = item.stickerMessage.sticker
            emoji = sticker.emoji or None
            self.tables["sticker"].append(
                (number, sticker.packId.hex(), sticker.packKey, sticker.stickerId, emoji)
            )
            extra += [sticker.emoji] if emoji else []
        elif kind == "poll":
            self.add_poll(number, item.poll)
            extra += [option.option for option in item.poll.options]
        elif kind == "paymentNotification":
            self.add_payment(number, item.paymentNotification)
        elif kind == "giftBadge":
            badge = item.giftBadge
            self.tables["gift_badge"].append(
                (number, self.notes.enum(badge, "state"), badge.receiptCredentialPresentation)
            )
        elif kind == "adminDeletedMessage":
            self.tables["admin_deletion"].append((number, self.recipient_id(item.adminDeletedMessage.adminId)))
        elif kind == "contactMessage":
            extra += self.add_card(number, item.contactMessage.contact)
        elif kind == "directStoryReplyMessage":
            reply = item.directStoryReplyMessage
            self.add_ranges(number, 0, "text", reply.textReply.text.bodyRanges)

    def add_standard(self, number: int, revision: int, standard_message: pb.StandardMessage) -> None:
        """Add the quote, body ranges and link previews of an ordinary message."""
        self.add_ranges(number, revision, "text", standard_message.text.bodyRanges)
        if standard_message.HasField("quote"):
            quote = standard_message.quote
            self.tables["quote"].append(
                (
                    number,
                    revision,
                    ms(quote.targetSentTimestamp) if quote.HasField("targetSentTimestamp") else None,
                    self.recipient_id(quote.authorId),
                    self.notes.enum(quote, "type"),
                    quote.text.body if quote.HasField("text") else None,
                )
            )
            self.add_ranges(number, revision, "quote", quote.text.bodyRanges)
        self.tables["link_preview"] += [
            (
                number,
                revision,
                n,
                preview.url,
                preview.title or None,
                preview.description or None,
                ms(preview.date) if preview.HasField("date") else None,
            )
            for n, preview in enumerate(standard_message.linkPreview)
        ]

    def add_ranges(self, number: int, revision: int, part: str, ranges: Iterable[pb.BodyRange]) -> None:
        """Add the styles and mentions of a text."""
        rows: list[tuple[int, int, str | None, str | None, int | None]] = []
        for body_range in ranges:
            value = body_range.WhichOneof("associatedValue")
            if value == "mentionAci":
                aci = uuid_text(body_range.mentionAci)
                rows.append((body_range.start, body_range.length, None, aci, self.by_aci.get(aci or "")))
            elif value == "style" and body_range.style:
                rows.append(
                    (body_range.start, body_range.length, self.notes.enum(body_range, "style") or None, None, None)
                )
            else:
                self.notes.skip("BodyRange without a style or mention")
        rows.sort(key=lambda row: (row[0], row[1], row[2] or "", row[3] or ""))
        self.tables["text_range"] += [(number, revision, part, n, *row) for n, row in enumerate(rows)]

    def add_revision(self, number: int, n: int, item: pb.ChatItem) -> None:
        """Add an earlier revision."""
        received = item.incoming.dateReceived or item.outgoing.dateReceived
        row = (number, n, ms(item.dateSent), ms(received) if received else None, text_of(item))
        self.tables["revision"].append(row)
        self.add_attachments(number, n, item)
        if item.WhichOneof("item") == "standardMessage":
            self.add_standard(number, n, item.standardMessage)

    def reaction_rows(self, number: int, item: pb.ChatItem) -> list[Row]:
        """Return the rows of the reactions to a message that is not an ordinary one."""
        kind = item.WhichOneof("item")
        content = None if kind is None else getattr(item, kind)
        ordered = sorted(
            (
                ms(reaction.sortOrder),
                ms(reaction.sentTimestamp),
                self.recipient_id(reaction.authorId),
                reaction.emoji,
            )
            for reaction in getattr(content, "reactions", ())
        )
        return [(number, n, author, emoji, at, order) for n, (order, at, author, emoji) in enumerate(ordered)]

    def add_attachments(self, number: int, revision: int, item: pb.ChatItem) -> bool:
        """Add all files of a message; return whether it has media of its own."""
        kind = item.WhichOneof("item")
        has_media = False
        if kind == "standardMessage":
            standard_message = item.standardMessage
            for n, attached in enumerate(standard_message.attachments):
                self.add_attachment(number, revision, "attachment", n, attached.pointer, attached=attached)
                has_media = True
            if standard_message.HasField("longText"):
                self.add_attachment(number, revision, "long_text", 0, standard_message.longText)
            for n, preview in enumerate(standard_message.linkPreview):
                if preview.HasField("image"):
                    self.add_attachment(number, revision, "link_image", n, preview.image)
            for n, quoted in enumerate(standard_message.quote.attachments):
                self.add_quoted(number, revision, n, quoted)
        elif kind == "stickerMessage":
            self.add_attachment(number, revision, "sticker", 0, item.stickerMessage.sticker.data)
        elif kind == "viewOnceMessage":
            if item.viewOnceMessage.HasField("attachment"):
                attached = item.viewOnceMessage.attachment
                self.add_attachment(number, revision, "attachment", 0, attached.pointer, attached=attached)
                has_media = True
        elif kind == "contactMessage":
            if item.contactMessage.contact.HasField("avatar"):
                self.add_attachment(number, revision, "avatar", 0, item.contactMessage.contact.avatar)
        elif kind == "directStoryReplyMessage" and item.directStoryReplyMessage.textReply.HasField("longText"):
            self.add_attachment(number, revision, "long_text", 0, item.directStoryReplyMessage.textReply.longText)
        return has_media

    def add_quoted(self, number: int, revision: int, n: int, quoted_attachment: pb.Quote.QuotedAttachment) -> None:
        """Add the attachment that a quote shows."""
        pointer = pb.FilePointer()
        pointer.CopyFrom(quoted_attachment.thumbnail.pointer)
        if quoted_attachment.HasField("contentType"):
            pointer.contentType = quoted_attachment.contentType
        if quoted_attachment.HasField("fileName"):
            pointer.fileName = quoted_attachment.fileName
        attached = quoted_attachment.thumbnail if quoted_attachment.HasField("thumbnail") else None
        self.add_attachment(number, revision, "quoted", n, pointer, attached=attached)

    def add_attachment(
        self,
        number: int,
        revision: int,
        role: str,
        n: int,
        pointer: pb.FilePointer,
        *,
        attached: pb.MessageAttachment | None = None,
    ) -> None:
        """Add one file."""
        locator = pointer.locatorInfo
        attachment_key = attachment_of(locator)
        self.tables["attachment"].append(
            (
                number,
                revision,
                role,
                n,
                pointer.contentType,
                pointer.fileName,
                locator.size,
                pointer.width if pointer.HasField("width") else -1,
                pointer.height if pointer.HasField("height") else -1,
                pointer.caption,
                pointer.blurHash,
                self.notes.enum(attached, "flag") if attached else "",
                locator.plaintextHash.hex(),
                attachment_key.name if attachment_key else "",
                bytearray(locator.localKey),
            )
        )

    def add_update(self, number: int, update: pb.ChatUpdateMessage) -> None:
        """Add the events of an update, and the call."""
        events = events_of(update, self.people, self.notes)
        self.tables["update_event"] += [
            (number, n, kind, json.dumps(details, ensure_ascii=False, sort_keys=True))
            for n, (kind, details) in enumerate(events)
        ]
        kind = update.WhichOneof("update")
        if kind == "individualCall":
            individual_call = update.individualCall
            self.tables["call"].append(
                (
                    number,
                    "individual",
                    str(individual_call.callId) if individual_call.HasField("callId") else None,
                    self.notes.enum(individual_call, "type"),
                    self.notes.enum(individual_call, "direction"),
                    self.notes.enum(individual_call, "state"),
                    ms(individual_call.startedCallTimestamp) or None,
                    None,
                    None,
                    None,
                    individual_call.read,
                )
            )
        elif kind == "groupCall":
            group = update.groupCall
            self.tables["call"].append(
                (
                    number,
                    "group",
                    str(group.callId) if group.HasField("callId") else None,
                    None,
                    None,
                    self.notes.enum(group, "state"),
                    ms(group.startedCallTimestamp) or None,
                    ms(group.endedCallTimestamp) if group.HasField("endedCallTimestamp") else None,
                    self.recipient_id(group.ringerRecipientId) if group.HasField("ringerRecipientId") else None,
                    self.recipient_id(group.startedCallRecipientId)
                    if group.HasField("startedCallRecipientId")
                    else None,
                    group.read,
                )
            )

    def add_poll(self, number: int, poll: pb.Poll) -> None:
        """Add a poll with its votes."""
        self.tables["poll"].append((number, poll.question, poll.allowMultiple, poll.hasEnded))
        for n, option in enumerate(poll.options):
            self.tables["poll_option"].append((number, n, option.option))
            votes = sorted((self.recipient_id(vote.voterId), vote.voteCount) for vote in option.votes)
            self.tables["poll_vote"] += [(number, n, position, *vote) for position, vote in enumerate(votes)]

    def add_payment(self, number: int, payment: pb.PaymentNotification) -> None:
        """Add a payment; one without transaction details was successful."""
        details = payment.transactionDetails
        kind = details.WhichOneof("payment")
        status, reason, transaction = "SUCCESSFUL", None, details.transaction
        if kind == "failedTransaction":
            status, reason = "FAILED", self.notes.enum(details.failedTransaction, "reason")
        elif kind == "transaction":
            status = self.notes.enum(transaction, "status")
        else:
            self.notes.default("TransactionDetails.payment not set, read as successful")
        self.tables["payment"].append(
            (
                number,
                payment.amountCoin if payment.HasField("amountCoin") else None,
                payment.feeCoin if payment.HasField("feeCoin") else None,
                payment.note if payment.HasField("note") else None,
                status,
                reason,
                ms(transaction.timestamp) if transaction.HasField("timestamp") else None,
                ms(transaction.blockIndex) if transaction.HasField("blockIndex") else None,
                ms(transaction.blockTimestamp) if transaction.HasField("blockTimestamp") else None,
            )
        )

    def add_card(self, number: int, card: pb.ContactAttachment) -> list[str]:
        """Add a contact card and return its searchable texts."""
        name = card.name
        full = joined(name.prefix, name.givenName, name.middleName, name.familyName, name.suffix) or name.nickname
        parts = (name.givenName, name.familyName, name.prefix, name.suffix, name.middleName, name.nickname)
        self.tables["contact_card"].append(
            (number, full or None, *(part or None for part in parts), card.organization or None)
        )
        fields: list[tuple[str, int, str, str | None, str]] = []
        for n, phone in enumerate(card.number):
            fields.append(("phone", n, self.notes.enum(phone, "type"), phone.label or None, phone.value))
        for n, email in enumerate(card.email):
            fields.append(("email", n, self.notes.enum(email, "type"), email.label or None, email.value))
        for n, address in enumerate(card.address):
            lines = (
                address.street,
                address.pobox,
                address.neighborhood,
                address.postcode,
                address.city,
                address.region,
            )
            value = ", ".join(line for line in (*lines, address.country) if line)
            fields.append(("address", n, self.notes.enum(address, "type"), address.label or None, value))
        self.tables["contact_card_field"] += [(number, *values) for values in fields]
        return [
            part for part in (full, name.nickname, card.organization, *(values[4] for values in fields)) if part
        ]


def is_ignored(item: pb.ChatItem, notes: Notes) -> bool:
    """Return whether the format says to ignore a message, and record it as skipped."""
    kind = item.WhichOneof("item")
    if kind == "updateMessage":
        update = item.updateMessage.WhichOneof("update")
        if update is None:
            notes.skip("ChatUpdateMessage.update not set")
        elif update == "simpleUpdate" and not enum_name(SIMPLE, item.updateMessage.simpleUpdate.type):
            notes.skip("SimpleChatUpdate.type UNKNOWN")
        else:
            return False
        return True
    if kind == "directStoryReplyMessage" and item.directStoryReplyMessage.WhichOneof("reply") is None:
        notes.skip("DirectStoryReplyMessage.reply not set")
        return True
    return False


def text_of(item: pb.ChatItem) -> str | None:
    """Return the text of a message."""
    kind = item.WhichOneof("item")
    if kind == "standardMessage":
        return item.standardMessage.text.body if item.standardMessage.HasField("text") else None
    if kind == "poll":
        return item.poll.question
    if kind == "paymentNotification":
        return item.paymentNotification.note if item.paymentNotification.HasField("note") else None
    if kind == "directStoryReplyMessage":
        reply = item.directStoryReplyMessage
        return reply.emoji if reply.WhichOneof("reply") == "emoji" else reply.textReply.text.body
    return None
