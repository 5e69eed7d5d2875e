"""Messages for Feishu and Lark: a post, in which words are never markup, signed when the hook has a secret."""

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


def message(wanted: MessageContext) -> ChatMessage | None:
    """Write a message for Feishu."""
    told = summarize(wanted.kind, wanted.seen)
    if told is None:
        return None
    lines = [row(told.headline), *(row(line) for line in told.lines)]
    lines += [row([TextSpan(line)]) for line in told.body.split("\n")[:20] if line.strip()]
    post = {"title": cut(plain(told.headline), LONGEST_TITLE), "content": lines}
    signed: dict[str, str] = {}
    if wanted.secret:
        moment = str(int(wanted.now))
        signed = {"timestamp": moment, "sign": signature(wanted.secret, moment)}
    return ChatMessage(wanted.url, {**signed, "msg_type": "post", "content": {"post": {"en_us": post}}})


def signature(secret: str, moment: str) -> str:
    """Sign a moment, the way Feishu wants it: the key is both, and nothing is what is signed."""
    return base64.b64encode(hmac.new(f"{moment}\n{secret}".encode(), b"", hashlib.sha256).digest()).decode()


def row(pieces: Iterable[TextSpan]) -> list[dict[str, object]]:
    """Make one line."""
    return [
        {"tag": "a", "text": piece.text, "href": address(piece.url)}
        if piece.url
        else {"tag": "text", "text": piece.text}
        for piece in pieces
        if piece.text
    ]
