"""Messages for Telegram, in its HTML subset.

Telegram detects mentions, hashtags, commands and URLs in plain text, but not in links and code. So text by users
is always one of the two.
"""

from collections.abc import Iterable
from html import escape
from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, cut
from holdfast.hosting.webhooks.chat.summary import TextSpan, plain, summarize

__all__ = ["message"]

# Counted without markup.
LONGEST: Final = 4096


def message(context: MessageContext) -> ChatMessage | None:
    """Build a message for Telegram."""
    summary = summarize(context.kind, context.payload)
    if summary is None:
        return None
    lines, remaining = [], LONGEST
    for pieces in (summary.headline, *summary.lines):
        remaining -= len(plain(pieces)) + 1
        if remaining < 0:
            break
        lines.append(markup(pieces))
    if summary.body and remaining > 10:
        lines.append(f"<pre>{escape(cut(summary.body, remaining - 1))}</pre>")
    ids = {key: value for key in ("chat_id", "message_thread_id") if (value := context.meta.get(key))}
    text = {
        "text": "\n".join(lines),
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
    }
    return ChatMessage(context.url, {**ids, **text})


def markup(pieces: Iterable[TextSpan]) -> str:
    """Format spans as HTML."""
    return "".join(written(piece) for piece in pieces)


def written(piece: TextSpan) -> str:
    """Format a span: a link, code if written by a user, or plain."""
    text = escape(piece.text)
    if piece.url:
        return f'<a href="{escape(address(piece.url))}">{text}</a>'
    return f"<code>{text}</code>" if piece.theirs and text else text
