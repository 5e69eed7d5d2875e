"""Messages for Slack: blocks of rich text, in which words are never taken for markup.

`text` is what notifications show, and what services that imitate Slack but know no blocks go by.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext
from holdfast.hosting.webhooks.chat.plain_text import address, unlinked
from holdfast.hosting.webhooks.chat.summary import EventSummary, TextSpan, summarize

__all__ = ["message"]

ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# There is no way to write these as themselves where text is formatted; these look like them.
MARKS: Final = str.maketrans({"*": "\u2217", "_": "\uff3f", "~": "\u223c", "`": "\u02cb", "|": "\u2223"})


def message(wanted: MessageContext) -> ChatMessage | None:
    """Write a message for Slack."""
    told = summarize(wanted.kind, wanted.seen)
    if told is None:
        return None
    content: dict[str, object] = {
        key: value for key in ("channel", "username", "icon_url") if (value := wanted.meta.get(key))
    }
    content |= {
        "text": mrkdwn(told.headline),
        "blocks": [rich_text([section(told.headline)])],
        "unfurl_links": False,
        "unfurl_media": False,
        "link_names": False,
    }
    details = [section(below(told.lines))] if told.lines else []
    details += quoted(told)
    if details:
        color = wanted.meta.get("color") or f"#{told.color}"
        content["attachments"] = [{"color": color, "blocks": [rich_text(details)]}]
    return ChatMessage(wanted.url, content)


def rich_text(elements: Sequence[object]) -> dict[str, object]:
    """Make a block."""
    return {"type": "rich_text", "elements": list(elements)}


def below(lines: Sequence[Sequence[TextSpan]]) -> Iterator[TextSpan]:
    """Put lines below each other."""
    for number, line in enumerate(lines):
        if number:
            yield TextSpan("\n")
        yield from line


def section(pieces: Iterable[TextSpan]) -> dict[str, object]:
    """Make part of a block; an empty text would be refused."""
    return {"type": "rich_text_section", "elements": [element(piece) for piece in pieces if piece.text]}


def element(piece: TextSpan) -> dict[str, object]:
    """Make words, or words that lead somewhere."""
    if piece.url:
        return {"type": "link", "url": address(piece.url), "text": piece.text}
    return {"type": "text", "text": piece.text}


def quoted(told: EventSummary) -> list[dict[str, object]]:
    """Quote what somebody wrote."""
    if not told.body:
        return []
    return [{"type": "rich_text_quote", "elements": [{"type": "text", "text": told.body}]}]


def mrkdwn(pieces: Iterable[TextSpan]) -> str:
    """Write a line with the services' own marks: nothing that people wrote is one."""
    return "".join(f"<{address(piece.url)}|{escaped(piece)}>" if piece.url else escaped(piece) for piece in pieces)


def escaped(piece: TextSpan) -> str:
    """Write words that stay words."""
    text = unlinked(piece.text.translate(MARKS)) if piece.theirs else piece.text
    return text.translate(ENTITIES)
