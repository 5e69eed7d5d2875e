"""Tells messages apart that one author sent in one chat in the same millisecond: by what they said at first.

What comes later, such as edits, reactions and receipts, must not count, or a message would become another one.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

from holdfast.backup.archives.item_rows import fingerprint_of
from holdfast.backup.schema.backup_pb2 import ChatItem, StandardMessage

__all__ = ["content_of", "duplicate_rank"]

RANK_BITS: Final = 31
# What may change of a message of any kind without its being another one.
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
    """Make a number of what a message said at first; `people` leads from the ids of its file to the archive's."""
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
    """List what an ordinary message says: where a file lies changes, what it is does not."""
    files = [
        (bytes(file.clientUuid) or (file.pointer.fileName, file.pointer.locatorInfo.size))
        for file in standard_message.attachments
    ]
    return standard_message.text.body, standard_message.quote.targetSentTimestamp, files


def duplicate_rank(content: int, n: int) -> int:
    """Make the rank of the nth duplicate in a file that says this, never 0."""
    return hash_parts(content, n) | 1


def hash_parts(*parts: object) -> int:
    """Make a number of anything that has a text."""
    digest = hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - RANK_BITS)
