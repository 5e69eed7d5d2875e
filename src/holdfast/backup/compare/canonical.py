"""Compares two versions of a message.

The order of receipts, reactions, votes and styles, and the sort numbers of reactions, vary between exporters and
are no difference. Both versions must use the same recipient and chat ids.
"""

from collections.abc import Callable, MutableSequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal, cast

from google.protobuf.message import Message

from holdfast.backup.media import FILE_POINTERS
from holdfast.backup.schema.backup_pb2 import (
    BodyRange,
    ChatItem,
    FilePointer,
    Frame,
    Poll,
    Reaction,
    SendStatus,
)
from holdfast.backup.wire.collect import name_of
from holdfast.redacted_repr import redacted

__all__ = [
    "TOMBSTONES",
    "Aspect",
    "canonicalize",
    "differing_aspects",
    "file_pointers",
    "message_summary",
    "parse_item",
    "reactions_of",
]

SIDES: Final[tuple[Literal["incoming", "outgoing"], ...]] = ("incoming", "outgoing")
TOMBSTONES: Final = ("remoteDeletedMessage", "adminDeletedMessage")
LABELS: Final = {
    "contactMessage": "a contact",
    "stickerMessage": "a sticker",
    "remoteDeletedMessage": "deleted",
    "adminDeletedMessage": "deleted by an admin",
    "paymentNotification": "a payment",
    "giftBadge": "a badge",
    "viewOnceMessage": "a view-once message",
}


class Aspect(StrEnum):
    """An aspect in which two versions of a message can differ."""

    EDITED = "edited"
    DELETED = "deleted"
    REACTIONS = "reactions"
    VOTES = "votes"
    RECEIPTS = "receipts"
    MEDIA = "media"
    PIN = "pin"
    TIMER = "timer"
    OTHER = "other"


# Aspects that can change without an edit of the message.
INDEPENDENT: Final = (Aspect.REACTIONS, Aspect.VOTES, Aspect.RECEIPTS, Aspect.MEDIA, Aspect.PIN, Aspect.TIMER)


def parse_item(raw: bytes) -> ChatItem:
    """Parse the message of a frame."""
    return Frame.FromString(raw).chatItem


def canonicalize(item: ChatItem) -> ChatItem:
    """Sort the unordered lists of a message and clear fields without meaning, in place."""
    for reaction in reactions_of(item):
        reaction.sortOrder = 0
    sort_in_place(reactions_of(item), by_reaction)
    sort_in_place(item.outgoing.sendStatus if item.HasField("outgoing") else [], by_status)
    if item.HasField("poll"):
        for option in item.poll.options:
            sort_in_place(option.votes, by_vote)
    if item.HasField("standardMessage"):
        message = item.standardMessage
        sort_in_place(message.text.bodyRanges if message.HasField("text") else [], by_range)
        for attachment in message.attachments:
            attachment.wasDownloaded = False
        if message.HasField("quote"):
            sort_in_place(message.quote.text.bodyRanges if message.quote.HasField("text") else [], by_range)
            for quoted in message.quote.attachments:
                if quoted.HasField("thumbnail"):
                    quoted.thumbnail.wasDownloaded = False
    for revision in item.revisions:
        canonicalize(revision)
        revision.chatId = item.chatId
    return item


def sort_in_place(values: MutableSequence[Any], key: Callable[[Any], Any]) -> None:
    """Sort a repeated field in place."""
    if len(values) > 1:
        cast("Any", values).sort(key=key)


def by_reaction(reaction: Reaction) -> tuple[int, str, int]:
    """Return the sort key of a reaction: its author first."""
    return reaction.authorId, reaction.emoji, reaction.sentTimestamp


def by_status(status: SendStatus) -> tuple[int, int, bytes]:
    """Return the sort key of a receipt: its recipient first."""
    return status.recipientId, status.timestamp, status.SerializeToString(deterministic=True)


def by_vote(vote: Poll.PollOption.PollVote) -> tuple[int, int]:
    """Return the sort key of a vote: its voter first."""
    return vote.voterId, vote.voteCount


def by_range(body_range: BodyRange) -> tuple[int, int, bytes, int]:
    """Return the sort key of a style or mention: its position first."""
    return body_range.start, body_range.length, body_range.mentionAci, body_range.style


def reactions_of(item: ChatItem) -> MutableSequence[Reaction]:
    """Return the reactions of a message; a detached empty list if its kind has none."""
    kind = item.WhichOneof("item")
    body = None if kind is None else getattr(item, kind)
    return cast("MutableSequence[Reaction]", getattr(body, "reactions", []))


@redacted
@dataclass(frozen=True, slots=True)
class ChatItemParts:
    """The parts of a message that can change independently."""

    deleted: bool
    kind: str | None
    reactions: bytes
    votes: bytes
    receipts: bytes
    pin: bytes
    timer: tuple[int, int]
    media: bytes
    rest: bytes


def split_item(item: ChatItem) -> ChatItemParts:
    """Split a canonical message into its parts; the message is modified."""
    kind = item.WhichOneof("item")
    reactions = serialize_list(reactions_of(item))
    del reactions_of(item)[:]
    votes = b""
    if item.HasField("poll"):
        votes = bytes([item.poll.hasEnded]) + b"|".join(
            serialize_list(option.votes) for option in item.poll.options
        )
        item.poll.hasEnded = False
        for option in item.poll.options:
            del option.votes[:]
    receipts = b""
    for side in SIDES:
        if item.HasField(side):
            receipts += serialize(getattr(item, side))
            getattr(item, side).Clear()
    pin = serialize(item.pinDetails) if item.HasField("pinDetails") else b""
    item.ClearField("pinDetails")
    timer = item.expireStartDate, item.expiresInMs
    item.ClearField("expireStartDate")
    item.ClearField("expiresInMs")
    media = b""
    for pointer in file_pointers(item):
        media += serialize(pointer)
        pointer.Clear()
    for revision in item.revisions:
        for side in SIDES:
            if revision.HasField(side):
                getattr(revision, side).Clear()
    return ChatItemParts(kind in TOMBSTONES, kind, reactions, votes, receipts, pin, timer, media, serialize(item))


def serialize(message: Message) -> bytes:
    """Serialize a message deterministically, so that equal messages have equal bytes."""
    return message.SerializeToString(deterministic=True)


def serialize_list(values: MutableSequence[Any]) -> bytes:
    """Serialize a list of messages, each with its length."""
    return b"".join(len(raw).to_bytes(4) + raw for raw in map(serialize, values))


def file_pointers(message: Message) -> list[FilePointer]:
    """List all file pointers of a record, at any depth."""
    pointers: list[FilePointer] = []
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for child in value if field.is_repeated else (value,):
            if name_of(field) in FILE_POINTERS:
                pointers.append(child)
            else:
                pointers += file_pointers(child)
    return pointers


def differing_aspects(before: ChatItem, after: ChatItem) -> tuple[Aspect, ...]:
    """Return the aspects in which two versions of a message differ; both are modified."""
    canonicalize(before)
    canonicalize(after)
    if before == after:
        return ()
    old, new = split_item(before), split_item(after)
    differences: list[Aspect] = []
    if new.deleted and not old.deleted:
        return (Aspect.DELETED,)
    if old.rest != new.rest:
        differences.append(Aspect.EDITED)
    differences += [aspect for aspect in INDEPENDENT if getattr(old, aspect.value) != getattr(new, aspect.value)]
    return tuple(differences) or (Aspect.OTHER,)


def message_summary(item: ChatItem) -> str:
    """Return the text of a message, or a short description of one without text."""
    kind = item.WhichOneof("item")
    if kind == "standardMessage":
        message = item.standardMessage
        return message.text.body or f"{len(message.attachments)} attachment{'s' * (len(message.attachments) != 1)}"
    if kind == "directStoryReplyMessage":
        return item.directStoryReplyMessage.textReply.text.body or item.directStoryReplyMessage.emoji
    if kind == "poll":
        return f"poll: {item.poll.question}"
    if kind == "updateMessage":
        update = item.updateMessage.WhichOneof("update") or "nothing"
        label = "".join(f" {sign.lower()}" if sign.isupper() else sign for sign in update)
        return f"update: {label}"
    return LABELS.get(kind or "", "an empty message")
