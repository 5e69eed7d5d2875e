"""Messages for DingTalk: a card with a title, a text without markup, and one link."""

import base64
import hashlib
import hmac
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, cut
from holdfast.hosting.webhooks.chat.summary import plain, summarize

__all__ = ["message", "signed"]

LONGEST_TITLE: Final = 200
LONGEST: Final = 2000


def message(context: MessageContext) -> ChatMessage | None:
    """Build a message for DingTalk."""
    summary = summarize(context.kind, context.payload)
    if summary is None:
        return None
    headline = plain(summary.headline)
    details = "\n".join([*(plain(line) for line in summary.lines), *([summary.body] if summary.body else [])])
    link = {
        "title": cut(headline, LONGEST_TITLE),
        # A card without text is rejected.
        "text": cut(details or headline, LONGEST),
        "messageUrl": address(summary.url),
    }
    url = signed(context.url, context.secret, int(context.now * 1000)) if context.secret else context.url
    return ChatMessage(url, {"msgtype": "link", "link": link})


def signed(url: str, secret: str, timestamp: int) -> str:
    """Add a timestamp (milliseconds) and its signature to a URL, as DingTalk specifies."""
    digest = hmac.new(secret.encode(), f"{timestamp}\n{secret}".encode(), hashlib.sha256).digest()
    proof = f"timestamp={timestamp}&sign={quote(base64.b64encode(digest), safe='')}"
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query=f"{parts.query}&{proof}" if parts.query else proof))
