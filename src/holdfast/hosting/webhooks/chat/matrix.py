"""Messages for Matrix: an event of a room, put there under an id of ours, so that it is never there twice."""

from collections.abc import Iterable
from html import escape
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, unlinked
from holdfast.hosting.webhooks.chat.summary import TextSpan, plain, summarize

__all__ = ["message"]

# What the rooms' hooks say for a message that notifies; all else does not.
NOTIFYING: Final = frozenset({"2", "m.text", "text"})


def message(wanted: MessageContext) -> ChatMessage | None:
    """Write a message for Matrix."""
    told = summarize(wanted.kind, wanted.seen)
    if told is None:
        return None
    lines = [told.headline, *told.lines]
    plainly = [unlinked(plain(pieces)) for pieces in lines]
    html = "<br>".join(markup(pieces) for pieces in lines)
    if told.body:
        quoted = unlinked(told.body)
        plainly += [f"> {line}" for line in quoted.split("\n")]
        html += f"<blockquote>{escape(quoted).replace(chr(10), '<br>')}</blockquote>"
    kind = "m.text" if wanted.meta.get("message_type", "") in NOTIFYING else "m.notice"
    content = {
        "msgtype": kind,
        "body": "\n".join(plainly),
        "format": "org.matrix.custom.html",
        "formatted_body": html,
        # Says that nobody is meant, whatever names stand in the text.
        "m.mentions": {},
    }
    return ChatMessage(with_id(wanted.url, wanted.uuid), content, "PUT")


def with_id(url: str, number: str) -> str:
    """Append the id of a message to the address of a room."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{quote(number, safe='')}"))


def markup(pieces: Iterable[TextSpan]) -> str:
    """Write a line."""
    return "".join(
        f'<a href="{escape(address(piece.url))}">{escape(piece.text)}</a>'
        if piece.url
        else escape(unlinked(piece.text) if piece.theirs else piece.text)
        for piece in pieces
    )
