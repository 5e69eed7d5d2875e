"""The page of one message: receipts, edit history, and its record in the backup as JSON."""

import re
from typing import Final

import msgspec
from markupsafe import Markup

from holdfast.backup.archives import Message
from holdfast.backup.errors import BackupError
from holdfast.backup.wire import frame_to_json
from holdfast.backup.wire.varint import encode_varint
from holdfast.web.chats.chat_page import render_messages
from holdfast.web.chats.view import (
    ConversationRequest,
    TemplateResult,
    format_position,
    parse_id,
    to_datetime,
    truncate,
)

__all__ = ["format_json", "show_message"]

# The tag of `Frame.chatItem`, the field of a frame that contains a message.
CHAT_ITEM: Final = b"\x22"
MOST_RECORD: Final = 40_000
MOST_TEXT: Final = 60_000
MOST_ROWS: Final = 100
# Bidirectional control characters.
TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")


def show_message(view: ConversationRequest, number: str) -> TemplateResult:
    """Show one message."""
    message = view.archive.message(parse_id(number))
    text = message.text or ""
    return TemplateResult(
        "chats/message.html",
        f"Message in {truncate(message.chat)}",
        {
            "message": message,
            "inside": Markup("".join(render_messages(view, [message]))),  # noqa: S704  # the renderer escapes all it is given
            "chat_address": view.address(f"chat/{message.chat_id}", at=format_position(message.position)),
            "sent": to_datetime(message.sent_ms),
            "received": to_datetime(message.received_ms),
            "receipts": [(receipt, to_datetime(receipt.at_ms)) for receipt in message.receipts[:MOST_ROWS]],
            "more_receipts": max(0, len(message.receipts) - MOST_ROWS),
            "changes": [(change, to_datetime(change.seen_ms)) for change in message.changes[:MOST_ROWS]],
            "more_changes": max(0, len(message.changes) - MOST_ROWS),
            "files": [attachment for attachment in message.attachments if attachment.revision == 0][:MOST_ROWS],
            "text": text[:MOST_TEXT] if len(text) > 6000 else "",
            "text_cut": len(text) > MOST_TEXT,
            "record": record_json(view, message),
        },
    )


def record_json(view: ConversationRequest, message: Message) -> str:
    """Return the record a message was read from as JSON."""
    raw = view.archive.record(message.id)
    try:
        return format_json(CHAT_ITEM + encode_varint(len(raw)) + raw)
    except BackupError as error:
        return str(error)


def format_json(frame: bytes) -> str:
    """Format a frame as indented JSON, truncated to what a page can show."""
    text = msgspec.json.format(frame_to_json(frame), indent=2).decode(errors="replace")
    text = TURNING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return (
        text
        if len(text) <= MOST_RECORD
        else f"{text[:MOST_RECORD]}\n… and {len(text) - MOST_RECORD:,} letters more"
    )
