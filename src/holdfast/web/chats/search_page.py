"""Search: across everything or in one chat, with what was found highlighted."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from markupsafe import Markup, escape

from holdfast.backup.archive import Filters, Hit
from holdfast.backup.archive.query import ALL_KINDS, narrowed, parse_date
from holdfast.backup.archive.searching import CLOSE, OPEN
from holdfast.backup.errors import NotInArchive, QueryRefused
from holdfast.backup.export.html.bubbles import color_of, initials
from holdfast.web.chats.chat_list import line_of, with_mentions
from holdfast.web.chats.view import ConversationRequest, TemplateResult, cut, when, whole_number

__all__ = ["marked", "show_search"]

HITS: Final = 50
LONGEST: Final = 400
FIELDS: Final = ("q", "chat", "from", "kind", "is", "has", "since", "until", "by")


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A hit as the page shows it."""

    address: str
    chat: str
    author: str
    initials: str
    color: int
    when: datetime | None
    text: Markup
    kind: str


def marked(snippet: str) -> Markup:
    """Highlight what was found, by where the search says it is; whatever the text holds stays text."""
    parts: list[Markup] = []
    inside = False
    for piece in snippet.replace(CLOSE, f"{CLOSE}{OPEN}").split(OPEN):
        inside = piece.endswith(CLOSE)
        text = escape(piece.rstrip(CLOSE)[:LONGEST])
        parts.append(Markup("<mark>{}</mark>").format(text) if inside else text)
    return Markup("").join(parts)


def show_search(view: ConversationRequest) -> TemplateResult:
    """Show the form and what was found."""
    typed = {name: view.query.get(name, "")[:500].strip() for name in FIELDS}
    values: dict[str, object] = {
        "typed": typed,
        "kinds": ALL_KINDS,
        "chats": named_chats(view),
        "hits": None,
        "more": "",
        "problem": "",
    }
    status = 200
    if any(value for name, value in typed.items() if name != "by"):
        try:
            values["hits"], values["more"] = look(view, typed)
        except QueryRefused as error:
            values["problem"] = f"{str(error)[:1].upper()}{str(error)[1:]}."
            status = 400
        except NotInArchive:
            values["problem"] = f"There is nobody called {cut(typed['from'])} here."
            status = 400
    return TemplateResult("chats/search.html", f"Search: {typed['q']}" if typed["q"] else "Search", values, status)


def look(view: ConversationRequest, typed: dict[str, str]) -> tuple[list[SearchHit], str]:
    """Search, and say where the next hits are."""
    filters = Filters(
        chat=typed["chat"] or None,
        person=typed["from"] or None,
        since_ms=parse_date(typed["since"]) if typed["since"] else None,
        until_ms=parse_date(typed["until"], end=True) if typed["until"] else None,
    )
    for name in ("kind", "is", "has"):
        if typed[name]:
            filters = narrowed(filters, name, typed[name])
    below = whole_number(view.query["below"]) if view.query.get("below") else None
    order: Literal["date", "rank"] = "rank" if typed["by"] == "rank" else "date"
    found = view.archive.search(typed["q"], filters=filters, order=order, limit=HITS, below=below)
    more = view.address("search", **typed, below=found.more) if found.more is not None else ""
    return [shown(view, hit) for hit in found.hits], more


def shown(view: ConversationRequest, hit: Hit) -> SearchHit:
    """Describe a hit."""
    message = hit.message
    return SearchHit(
        view.address(f"to/{message.id}"),
        cut(message.chat),
        cut(message.author) if message.kind != "update" else "",
        initials(message.author),
        color_of(message.author_id),
        when(message.sent_ms),
        marked(with_mentions(hit.snippet, message)) or escape(line_of(message)),
        "" if message.kind == "message" else message.kind.replace("_", " "),
    )


def named_chats(view: ConversationRequest) -> list[tuple[int, str]]:
    """List the chats to choose from, no more than a form can hold."""
    chats = sorted(view.chats().values(), key=lambda chat: -chat.messages)[:200]
    wanted = view.query.get("chat", "")
    listed = [(chat.id, chat.name[:60]) for chat in chats]
    if wanted and wanted not in {str(number) for number, _ in listed}:
        listed += [(chat.id, chat.name[:60]) for chat in view.chats().values() if str(chat.id) == wanted]
    return sorted(listed, key=lambda one: one[1].casefold())
