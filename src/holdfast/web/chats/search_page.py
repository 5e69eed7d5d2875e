"""The search page: full-text search in all chats or one, with highlighted snippets."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from markupsafe import Markup, escape

from holdfast.backup.archives import Filters, Hit
from holdfast.backup.archives.query import ALL_KINDS, add_filter, parse_date
from holdfast.backup.archives.search import CLOSE, OPEN
from holdfast.backup.errors import NotInArchive, QueryRefused
from holdfast.backup.exports.html.bubbles import color_of, initials
from holdfast.web.chats.chat_list import insert_mentions, preview_line
from holdfast.web.chats.view import ConversationRequest, TemplateResult, parse_id, to_datetime, truncate

__all__ = ["chat_choices", "highlight_snippet", "show_search"]

HITS: Final = 50
LONGEST: Final = 400
FIELDS: Final = ("q", "chat", "from", "kind", "is", "has", "since", "until", "by")


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A search hit as the page shows it."""

    address: str
    chat: str
    author: str
    initials: str
    color: int
    when: datetime | None
    text: Markup
    kind: str


def highlight_snippet(snippet: str) -> Markup:
    """Return a snippet as HTML with the marked matches highlighted; the text is escaped."""
    parts: list[Markup] = []
    inside = False
    for piece in snippet.replace(CLOSE, f"{CLOSE}{OPEN}").split(OPEN):
        inside = piece.endswith(CLOSE)
        text = escape(piece.rstrip(CLOSE)[:LONGEST])
        parts.append(Markup("<mark>{}</mark>").format(text) if inside else text)
    return Markup("").join(parts)


def show_search(view: ConversationRequest) -> TemplateResult:
    """Show the search form and the hits."""
    typed = {name: view.query.get(name, "")[:500].strip() for name in FIELDS}
    values: dict[str, object] = {
        "typed": typed,
        "kinds": ALL_KINDS,
        "chats": chat_choices(view),
        "hits": None,
        "more": "",
        "problem": "",
    }
    status = 200
    if any(value for name, value in typed.items() if name != "by"):
        try:
            values["hits"], values["more"] = run_search(view, typed)
        except QueryRefused as error:
            values["problem"] = f"{str(error)[:1].upper()}{str(error)[1:]}."
            status = 400
        except NotInArchive:
            values["problem"] = f"There is no person named {truncate(typed['from'])} here."
            status = 400
    return TemplateResult("chats/search.html", f"Search: {typed['q']}" if typed["q"] else "Search", values, status)


def run_search(view: ConversationRequest, typed: dict[str, str]) -> tuple[list[SearchHit], str]:
    """Search, and return the URL of the next page."""
    filters = Filters(
        chat=typed["chat"] or None,
        person=typed["from"] or None,
        since_ms=parse_date(typed["since"]) if typed["since"] else None,
        until_ms=parse_date(typed["until"], end=True) if typed["until"] else None,
    )
    for name in ("kind", "is", "has"):
        if typed[name]:
            filters = add_filter(filters, name, typed[name])
    below = parse_id(view.query["below"]) if view.query.get("below") else None
    order: Literal["date", "rank"] = "rank" if typed["by"] == "rank" else "date"
    results = view.archive.search(typed["q"], filters=filters, order=order, limit=HITS, below=below)
    more = view.address("search", **typed, below=results.more) if results.more is not None else ""
    return [make_hit(view, hit) for hit in results.hits], more


def make_hit(view: ConversationRequest, hit: Hit) -> SearchHit:
    """Return a hit as the page shows it."""
    message = hit.message
    return SearchHit(
        view.address(f"to/{message.id}"),
        truncate(message.chat),
        truncate(message.author) if message.kind != "update" else "",
        initials(message.author),
        color_of(message.author_id),
        to_datetime(message.sent_ms),
        highlight_snippet(insert_mentions(hit.snippet, message)) or escape(preview_line(message)),
        "" if message.kind == "message" else message.kind.replace("_", " "),
    )


def chat_choices(view: ConversationRequest) -> list[tuple[int, str]]:
    """Return the chats to choose from, up to a limit."""
    chats = sorted(view.chats().values(), key=lambda chat: -chat.messages)[:200]
    wanted = view.query.get("chat", "")
    choices = [(chat.id, chat.name[:60]) for chat in chats]
    if wanted and wanted not in {str(number) for number, _ in choices}:
        choices += [(chat.id, chat.name[:60]) for chat in view.chats().values() if str(chat.id) == wanted]
    return sorted(choices, key=lambda choice: choice[1].casefold())
