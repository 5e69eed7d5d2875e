"""Distinguishes messages that one author sent in one chat in the same millisecond, by their original content.

Later changes, such as edits, reactions and receipts, are excluded: they must not change the identity of a message.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

from holdfast.backup.archives.item_rows import fingerprint_of
from holdfast.backup.schema.backup_pb2 import ChatItem, StandardMessage

__all__ = ["content_of", "duplicate_rank"]

RANK_BITS: Final = 31
# Fields that may change without changing the identity of a message, by kind.
MUTABLE_FIELDS: Final = {
    "contactMessage": ("reactions",),
    "stickerMessage": ("reactions",),
    "viewOnceMessage": ("reactions", "attachment"),
    "directStoryReplyMessage": ("reactions",),
    "poll": ("reactions", "hasEnded"),
    "giftBadge": ("state",),
    "paymentNotification": ("transactionDetails",),
}


def content_of(item: ChatItem, people: Mapping[int, int]) -> int:
    """Return a hash of a message's original content; `people` maps ids of the backup to ids of the archive."""
    first = item.revisions[0] if item.revisions else item
    kind = first.WhichOneof("item") or ""
    if kind == "standardMessage":
        return hash_parts(*standard_content(first.standardMessage))
    chat_item = ChatItem()
    if kind:
        content = getattr(chat_item, kind)
        content.CopyFrom(getattr(first, kind))
        for field in MUTABLE_FIELDS.get(kind, ()):
            content.ClearField(field)
    for option in chat_item.poll.options if kind == "poll" else ():
        option.ClearField("votes")
    return fingerprint_of(chat_item.SerializeToString(deterministic=True), dict(people))


def standard_content(standard_message: StandardMessage) -> tuple[object, ...]:
    """Return the identifying content of an ordinary message; file locators change, names and sizes do not."""
    files = [
        (bytes(file.clientUuid) or (file.pointer.fileName, file.pointer.locatorInfo.size))
        for file in standard_message.attachments
    ]
    return standard_message.text.body, standard_message.quote.targetSentTimestamp, files


def duplicate_rank(content: int, n: int) -> int:
    """Return the rank of the nth duplicate with this content in a backup, never 0."""
    return hash_parts(content, n) | 1


def hash_parts(*parts: object) -> int:
    """Return a 31-bit hash of the repr of values."""
    digest = hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - RANK_BITS)
