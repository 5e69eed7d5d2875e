"""Messages for Slack: rich text blocks without markup.

`text` is for notifications, and for services that imitate Slack without blocks.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, unlinked
from holdfast.hosting.webhooks.chat.summary import EventSummary, TextSpan, summarize

__all__ = ["message"]

ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# These cannot be escaped in mrkdwn; replaced by lookalikes.
MARKS: Final = str.maketrans({"*": "\u2217", "_": "\uff3f", "~": "\u223c", "`": "\u02cb", "|": "\u2223"})


def message(context: MessageContext) -> ChatMessage | None:
    """Build a message for Slack."""
    summary = summarize(context.kind, context.payload)
    if summary is None:
        return None
    content: dict[str, object] = {
        key: value for key in ("channel", "username", "icon_url") if (value := context.meta.get(key))
    }
    content |= {
        "text": mrkdwn(summary.headline),
        "blocks": [rich_text([section(summary.headline)])],
        "unfurl_links": False,
        "unfurl_media": False,
        "link_names": False,
    }
    details = [section(below(summary.lines))] if summary.lines else []
    details += quoted(summary)
    if details:
        color = context.meta.get("color") or f"#{summary.color}"
        content["attachments"] = [{"color": color, "blocks": [rich_text(details)]}]
    return ChatMessage(context.url, content)


def rich_text(elements: Sequence[object]) -> dict[str, object]:
    """Return a rich text block."""
    return {"type": "rich_text", "elements": list(elements)}


def below(lines: Sequence[Sequence[TextSpan]]) -> Iterator[TextSpan]:
    """Put lines below each other."""
    for number, line in enumerate(lines):
        if number:
            yield TextSpan("\n")
        yield from line


def section(pieces: Iterable[TextSpan]) -> dict[str, object]:
    """Return a rich text section; an empty text would be rejected."""
    return {"type": "rich_text_section", "elements": [element(piece) for piece in pieces if piece.text]}


def element(piece: TextSpan) -> dict[str, object]:
    """Return a text or link element."""
    if piece.url:
        return {"type": "link", "url": address(piece.url), "text": piece.text}
    return {"type": "text", "text": piece.text}


def quoted(summary: EventSummary) -> list[dict[str, object]]:
    """Return a rich text quote of the body."""
    if not summary.body:
        return []
    return [{"type": "rich_text_quote", "elements": [{"type": "text", "text": summary.body}]}]


def mrkdwn(pieces: Iterable[TextSpan]) -> str:
    """Format spans as mrkdwn; text by users is escaped."""
    return "".join(f"<{address(piece.url)}|{escaped(piece)}>" if piece.url else escaped(piece) for piece in pieces)


def escaped(piece: TextSpan) -> str:
    """Escape mrkdwn."""
    text = unlinked(piece.text.translate(MARKS)) if piece.theirs else piece.text
    return text.translate(ENTITIES)
