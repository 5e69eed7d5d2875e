"""Messages for Feishu and Lark: a post without markup, signed if the webhook has a secret."""

import base64
import hashlib
import hmac
from collections.abc import Iterable
from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, cut
from holdfast.hosting.webhooks.chat.summary import TextSpan, plain, summarize

__all__ = ["message", "signature"]

LONGEST_TITLE: Final = 150


def message(context: MessageContext) -> ChatMessage | None:
    """Build a message for Feishu."""
    summary = summarize(context.kind, context.payload)
    if summary is None:
        return None
    lines = [row(summary.headline), *(row(line) for line in summary.lines)]
    lines += [row([TextSpan(line)]) for line in summary.body.split("\n")[:20] if line.strip()]
    post = {"title": cut(plain(summary.headline), LONGEST_TITLE), "content": lines}
    signed: dict[str, str] = {}
    if context.secret:
        timestamp = str(int(context.now))
        signed = {"timestamp": timestamp, "sign": signature(context.secret, timestamp)}
    return ChatMessage(context.url, {**signed, "msg_type": "post", "content": {"post": {"en_us": post}}})


def signature(secret: str, timestamp: str) -> str:
    """Sign a timestamp as Feishu specifies: the key is timestamp and secret, the message is empty."""
    return base64.b64encode(hmac.new(f"{timestamp}\n{secret}".encode(), b"", hashlib.sha256).digest()).decode()


def row(pieces: Iterable[TextSpan]) -> list[dict[str, object]]:
    """Format spans as one line of a post."""
    return [
        {"tag": "a", "text": piece.text, "href": address(piece.url)}
        if piece.url
        else {"tag": "text", "text": piece.text}
        for piece in pieces
        if piece.text
    ]
