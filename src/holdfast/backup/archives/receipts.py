"""Decodes the receipts of a message, which are packed into one column of its row.

A receipt is the recipient id as a varint, one byte (the status in the lowest four bits, then the sealed sender
flag, then the reason of a failure), and the time relative to that of the message as a zigzag varint.
`pack_receipts` encodes them.
"""

from typing import NamedTuple

from holdfast.backup.archives.item_rows import REASONS, STATUSES
from holdfast.backup.errors import ArchiveError
from holdfast.backup.wire.varint import encode_varint
from holdfast.redacted_repr import redacted

__all__ = ["StoredReceipt", "recipient_bytes", "unpack_receipts"]

FAILED = STATUSES.index("failed")


@redacted
class StoredReceipt(NamedTuple):
    """The delivery status of a message for one recipient."""

    recipient_id: int
    status: str
    at_ms: int
    sealed_sender: bool | None
    reason: str | None


def unpack_receipts(packed: bytes, sent_ms: int) -> list[StoredReceipt]:
    """Decode the receipts of a message that was sent at `sent_ms`."""
    receipts: list[StoredReceipt] = []
    offset = 0
    try:
        while offset < len(packed):
            recipient, offset = read_varint(packed, offset)
            flags = packed[offset]
            delta, offset = read_varint(packed, offset + 1)
            status = flags & 15
            receipts.append(
                StoredReceipt(
                    recipient,
                    STATUSES[status] or "pending",
                    sent_ms + (-(delta + 1 >> 1) if delta & 1 else delta >> 1),
                    bool(flags & 16) if STATUSES.index("sent") <= status <= STATUSES.index("viewed") else None,
                    REASONS[flags >> 5] if status == FAILED else None,
                )
            )
    except (IndexError, TypeError):
        raise ArchiveError("the archive is damaged: the receipts of a message cannot be read") from None
    return receipts


def read_varint(packed: bytes, offset: int) -> tuple[int, int]:
    """Decode a varint; return it and the offset after it."""
    number = shift = 0
    while packed[offset] & 0x80:
        number |= (packed[offset] & 0x7F) << shift
        shift += 7
        offset += 1
    return number | packed[offset] << shift, offset + 1


def recipient_bytes(recipient: int) -> bytes:
    """Return the bytes that a recipient's receipts begin with; a search for them can have false positives."""
    return encode_varint(recipient)
