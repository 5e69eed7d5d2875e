"""Messages for WeCom (once WeChat Work): an article, whose title and text are never taken for markup."""

from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, cut_bytes
from holdfast.hosting.webhooks.chat.summary import plain, summarize

__all__ = ["message"]

LONGEST_TITLE: Final = 128
LONGEST: Final = 512


def message(wanted: MessageContext) -> ChatMessage | None:
    """Write a message for WeCom."""
    told = summarize(wanted.kind, wanted.seen)
    if told is None:
        return None
    details = "\n".join([*(plain(line) for line in told.lines), *([told.body] if told.body else [])])
    article = {
        "title": cut_bytes(plain(told.headline), LONGEST_TITLE),
        "description": cut_bytes(details, LONGEST),
        "url": address(told.url),
    }
    return ChatMessage(wanted.url, {"msgtype": "news", "news": {"articles": [article]}})
