"""Messages for Discord: one embed, and nobody is pinged."""

import re
from collections.abc import Iterable
from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, cut
from holdfast.hosting.webhooks.chat.summary import TextSpan, summarize

__all__ = ["message"]

LONGEST: Final = 4096
MARKS: Final = re.compile(r"([\\*_~`|>#\-\[\]()<!@:.])")


def message(wanted: MessageContext) -> ChatMessage | None:
    """Write a message for Discord."""
    told = summarize(wanted.kind, wanted.seen)
    if told is None:
        return None
    parts = [markdown(told.headline), *(markdown(line) for line in told.lines)]
    if told.body:
        parts.append("\n".join(f"> {escaped(line)}" for line in told.body.split("\n")))
    embed: dict[str, object] = {
        "description": joined(parts, LONGEST),
        "color": int(told.color, 16),
    }
    if told.author:
        embed["author"] = {
            "name": cut(told.author, 256),
            "url": address(told.author_url),
            "icon_url": address(told.avatar_url),
        }
    content: dict[str, object] = {
        key: value
        for key, name in (("username", "username"), ("avatar_url", "icon_url"))
        if (value := wanted.meta.get(name))
    }
    return ChatMessage(wanted.url, {**content, "embeds": [embed], "allowed_mentions": {"parse": []}})


def joined(parts: Iterable[str], longest: int) -> str:
    """Put lines together as long as there is room; a line is never cut, which could undo its escapes."""
    kept: list[str] = []
    room = longest - 2
    for part in parts:
        for line in part.split("\n"):
            if len(line) + 1 > room:
                return "\n".join([*kept, "…"])
            kept.append(line)
            room -= len(line) + 1
    return "\n".join(kept)


def markdown(pieces: Iterable[TextSpan]) -> str:
    """Write a line."""
    return "".join(
        f"[{escaped(piece.text)}]({address(piece.url)})" if piece.url else escaped(piece.text) for piece in pieces
    )


def escaped(text: str) -> str:
    """Write words that stay words."""
    return MARKS.sub(r"\\\1", text)
