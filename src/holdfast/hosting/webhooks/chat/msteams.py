"""Messages for Microsoft Teams: an adaptive card without markup.

Accepted both by Teams workflows and by the older incoming webhooks.
"""

from collections.abc import Iterable
from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, cut
from holdfast.hosting.webhooks.chat.summary import TextSpan, plain, summarize

__all__ = ["message"]

LONGEST: Final = 250
CARD: Final = "application/vnd.microsoft.card.adaptive"


def message(context: MessageContext) -> ChatMessage | None:
    """Build a message for Teams."""
    summary = summarize(context.kind, context.payload)
    if summary is None:
        return None
    blocks = [rich_text(summary.headline, weight="Bolder"), *(rich_text(line) for line in summary.lines)]
    if summary.body:
        inside = [rich_text([TextSpan(line)]) for line in summary.body.split("\n")[:20] if line.strip()]
        blocks.append({"type": "Container", "style": "emphasis", "items": inside})
    card: dict[str, object] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "fallbackText": cut(plain(summary.headline), LONGEST),
        "msteams": {"width": "Full"},
        "body": blocks,
    }
    if summary.url:
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Open", "url": address(summary.url)}]
    attachment = {"contentType": CARD, "contentUrl": None, "content": card}
    return ChatMessage(context.url, {"type": "message", "attachments": [attachment]})


def rich_text(pieces: Iterable[TextSpan], **style: str) -> dict[str, object]:
    """Format spans as a rich text block, with links."""
    inlines = []
    for piece in pieces:
        run: dict[str, object] = {"type": "TextRun", "text": piece.text, **style}
        if piece.url:
            run["selectAction"] = {"type": "Action.OpenUrl", "url": address(piece.url)}
        inlines.append(run)
    return {"type": "RichTextBlock", "inlines": inlines}
