"""Messages for Microsoft Teams: an adaptive card whose words are never taken for markup.

Both the workflows of Teams and its older incoming webhooks take this form.
"""

from collections.abc import Iterable
from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, cut
from holdfast.hosting.webhooks.chat.summary import TextSpan, plain, summarize

__all__ = ["message"]

LONGEST: Final = 250
CARD: Final = "application/vnd.microsoft.card.adaptive"


def message(wanted: MessageContext) -> ChatMessage | None:
    """Write a message for Teams."""
    told = summarize(wanted.kind, wanted.seen)
    if told is None:
        return None
    blocks = [rich_text(told.headline, weight="Bolder"), *(rich_text(line) for line in told.lines)]
    if told.body:
        inside = [rich_text([TextSpan(line)]) for line in told.body.split("\n")[:20] if line.strip()]
        blocks.append({"type": "Container", "style": "emphasis", "items": inside})
    card: dict[str, object] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "fallbackText": cut(plain(told.headline), LONGEST),
        "msteams": {"width": "Full"},
        "body": blocks,
    }
    if told.url:
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Open", "url": address(told.url)}]
    attachment = {"contentType": CARD, "contentUrl": None, "content": card}
    return ChatMessage(wanted.url, {"type": "message", "attachments": [attachment]})


def rich_text(pieces: Iterable[TextSpan], **look: str) -> dict[str, object]:
    """Make one line; a piece that leads somewhere can be clicked."""
    inlines = []
    for piece in pieces:
        run: dict[str, object] = {"type": "TextRun", "text": piece.text, **look}
        if piece.url:
            run["selectAction"] = {"type": "Action.OpenUrl", "url": address(piece.url)}
        inlines.append(run)
    return {"type": "RichTextBlock", "inlines": inlines}
