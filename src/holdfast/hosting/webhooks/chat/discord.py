"""Messages for Discord: one embed, without mentions."""

import re
from collections.abc import Iterable
from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, cut
from holdfast.hosting.webhooks.chat.summary import TextSpan, summarize

__all__ = ["message"]

LONGEST: Final = 4096
MARKS: Final = re.compile(r"([\\*_~`|>#\-\[\]()<!@:.])")


def message(context: MessageContext) -> ChatMessage | None:
    """Build a message for Discord."""
    summary = summarize(context.kind, context.payload)
    if summary is None:
        return None
    parts = [markdown(summary.headline), *(markdown(line) for line in summary.lines)]
    if summary.body:
        parts.append("\n".join(f"> {escaped(line)}" for line in summary.body.split("\n")))
    embed: dict[str, object] = {
        "description": joined(parts, LONGEST),
        "color": int(summary.color, 16),
    }
    if summary.author:
        embed["author"] = {
            "name": cut(summary.author, 256),
            "url": address(summary.author_url),
            "icon_url": address(summary.avatar_url),
        }
    content: dict[str, object] = {
        key: value
        for key, name in (("username", "username"), ("avatar_url", "icon_url"))
        if (value := context.meta.get(name))
    }
    return ChatMessage(context.url, {**content, "embeds": [embed], "allowed_mentions": {"parse": []}})


def joined(parts: Iterable[str], longest: int) -> str:
    """Join lines up to a maximum length; lines are never cut, which could break their escapes."""
    lines: list[str] = []
    remaining = longest - 2
    for part in parts:
        for line in part.split("\n"):
            if len(line) + 1 > remaining:
                return "\n".join([*lines, "…"])
            lines.append(line)
            remaining -= len(line) + 1
    return "\n".join(lines)


def markdown(pieces: Iterable[TextSpan]) -> str:
    """Format spans as Markdown."""
    return "".join(
        f"[{escaped(piece.text)}]({address(piece.url)})" if piece.url else escaped(piece.text) for piece in pieces
    )


def escaped(text: str) -> str:
    """Escape Markdown characters."""
    return MARKS.sub(r"\\\1", text)
