"""Messages for WeCom (formerly WeChat Work): an article without markup."""

from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, cut_bytes
from holdfast.hosting.webhooks.chat.summary import plain, summarize

__all__ = ["message"]

LONGEST_TITLE: Final = 128
LONGEST: Final = 512


def message(context: MessageContext) -> ChatMessage | None:
    """Build a message for WeCom."""
    summary = summarize(context.kind, context.payload)
    if summary is None:
        return None
    details = "\n".join([*(plain(line) for line in summary.lines), *([summary.body] if summary.body else [])])
    article = {
        "title": cut_bytes(plain(summary.headline), LONGEST_TITLE),
        "description": cut_bytes(details, LONGEST),
        "url": address(summary.url),
    }
    return ChatMessage(context.url, {"msgtype": "news", "news": {"articles": [article]}})
