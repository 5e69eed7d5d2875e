"""Messages for Matrix: a room event with a transaction id, which makes retries idempotent."""

from collections.abc import Iterable
from html import escape
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, unlinked
from holdfast.hosting.webhooks.chat.summary import TextSpan, plain, summarize

__all__ = ["message"]

# The option value for a message that notifies; any other sends a notice.
NOTIFYING: Final = frozenset({"2", "m.text", "text"})


def message(context: MessageContext) -> ChatMessage | None:
    """Build a message for Matrix."""
    summary = summarize(context.kind, context.payload)
    if summary is None:
        return None
    lines = [summary.headline, *summary.lines]
    plainly = [unlinked(plain(pieces)) for pieces in lines]
    html = "<br>".join(markup(pieces) for pieces in lines)
    if summary.body:
        quoted = unlinked(summary.body)
        plainly += [f"> {line}" for line in quoted.split("\n")]
        html += f"<blockquote>{escape(quoted).replace(chr(10), '<br>')}</blockquote>"
    kind = "m.text" if context.meta.get("message_type", "") in NOTIFYING else "m.notice"
    content = {
        "msgtype": kind,
        "body": "\n".join(plainly),
        "format": "org.matrix.custom.html",
        "formatted_body": html,
        # An empty `m.mentions`: no names in the text are pinged.
        "m.mentions": {},
    }
    return ChatMessage(with_id(context.url, context.uuid), content, "PUT")


def with_id(url: str, number: str) -> str:
    """Append the transaction id to the URL of a room."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{quote(number, safe='')}"))


def markup(pieces: Iterable[TextSpan]) -> str:
    """Format spans as HTML."""
    return "".join(
        f'<a href="{escape(address(piece.url))}">{escape(piece.text)}</a>'
        if piece.url
        else escape(unlinked(piece.text) if piece.theirs else piece.text)
        for piece in pieces
    )
