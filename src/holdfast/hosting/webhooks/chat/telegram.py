"""Messages for Telegram, in its HTML.

Telegram looks for names, tags, commands and addresses in every text but that of links and of code. What people
wrote is therefore always one of the two.
"""

from collections.abc import Iterable
from html import escape
from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, cut
from holdfast.hosting.webhooks.chat.summary import TextSpan, plain, summarize

__all__ = ["message"]

# Counted after the markup is taken away.
LONGEST: Final = 4096


def message(wanted: MessageContext) -> ChatMessage | None:
    """Write a message for Telegram."""
    told = summarize(wanted.kind, wanted.seen)
    if told is None:
        return None
    lines, room = [], LONGEST
    for pieces in (told.headline, *told.lines):
        room -= len(plain(pieces)) + 1
        if room < 0:
            break
        lines.append(markup(pieces))
    if told.body and room > 10:
        lines.append(f"<pre>{escape(cut(told.body, room - 1))}</pre>")
    ids = {key: value for key in ("chat_id", "message_thread_id") if (value := wanted.meta.get(key))}
    text = {
        "text": "\n".join(lines),
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
    }
    return ChatMessage(wanted.url, {**ids, **text})


def markup(pieces: Iterable[TextSpan]) -> str:
    """Write a line."""
    return "".join(written(piece) for piece in pieces)


def written(piece: TextSpan) -> str:
    """Write words: a link, code when somebody wrote them, or as they are."""
    text = escape(piece.text)
    if piece.url:
        return f'<a href="{escape(address(piece.url))}">{text}</a>'
    return f"<code>{text}</code>" if piece.theirs and text else text
