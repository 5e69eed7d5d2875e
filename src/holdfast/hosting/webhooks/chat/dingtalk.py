"""Messages for DingTalk: a card with a title, some text and one address, none of which it takes for markup."""

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


def message(wanted: MessageContext) -> ChatMessage | None:
    """Write a message for DingTalk."""
    told = summarize(wanted.kind, wanted.seen)
    if told is None:
        return None
    headline = plain(told.headline)
    details = "\n".join([*(plain(line) for line in told.lines), *([told.body] if told.body else [])])
    link = {
        "title": cut(headline, LONGEST_TITLE),
        # A card without text would be refused.
        "text": cut(details or headline, LONGEST),
        "messageUrl": address(told.url),
    }
    url = signed(wanted.url, wanted.secret, int(wanted.now * 1000)) if wanted.secret else wanted.url
    return ChatMessage(url, {"msgtype": "link", "link": link})


def signed(url: str, secret: str, moment: int) -> str:
    """Add the moment (in milliseconds) and its signature to an address, the way DingTalk wants it."""
    digest = hmac.new(secret.encode(), f"{moment}\n{secret}".encode(), hashlib.sha256).digest()
    proof = f"timestamp={moment}&sign={quote(base64.b64encode(digest), safe='')}"
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query=f"{parts.query}&{proof}" if parts.query else proof))
