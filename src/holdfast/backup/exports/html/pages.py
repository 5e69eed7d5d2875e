"""HTML of pages: common head, chat pages, list of chats, calendar and search."""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from holdfast.backup.archives import Chat
from holdfast.backup.bidi import isolated
from holdfast.backup.exports.html.bubbles import color_of, initials
from holdfast.backup.exports.html.clock import FIRST, TimeFormatter, day_label, is_in_calendar, iso_date
from holdfast.backup.exports.html.markup import escape
from holdfast.backup.exports.html.pagination import PageBreaks
from holdfast.counts import count_of

if TYPE_CHECKING:
    from holdfast.backup.exports.html.chat_export import ChatExport

__all__ = [
    "END",
    "CalendarDay",
    "avatar",
    "calendar_page",
    "chat_page",
    "index_page",
    "latest_page",
    "search_page",
]

# Not all browsers match 'self' for local files; `file:` covers the others.
SELF: Final = "'self' file:"
POLICY: Final = (
    f"default-src 'none'; script-src {SELF}; style-src {SELF}; img-src {SELF}; media-src {SELF}; "
    "base-uri 'none'; form-action 'none'"
)
BACK, ON, DASH = "\u2039", "\u203a", "\u2013"
# A day of a chat, the page of its first message, and the number of messages.
CalendarDay = tuple[int, str, int]
END: Final = "</body>\n</html>\n"
CHAT_KINDS: Final = {"group": "Group", "self": "Notes", "releaseNotes": "Release notes", "callLink": "Call link"}


def page_html(
    title: str, root: str, kind: str, body: str, *, scripts: Sequence[str] = (), head_extra: str = ""
) -> str:
    """Return a whole page."""
    return f"{page_start(title, root, kind, scripts=scripts, head_extra=head_extra)}{body}{END}"


def page_start(title: str, root: str, kind: str, *, scripts: Sequence[str] = (), head_extra: str = "") -> str:
    """Return the start of a page, up to its body."""
    loaded = "".join(f'<script src="{root}assets/{name}" defer></script>\n' for name in scripts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(isolated(title))}</title>\n{head_extra}"
        f'<link rel="stylesheet" href="{root}assets/chat.css">\n'
        f'<link rel="stylesheet" href="{root}assets/page.css">\n{loaded}</head>\n'
        f'<body class="{kind}">\n'
    )


def avatar(chat: Chat) -> str:
    """Return the avatar of a chat: its initials."""
    return f'<span class="av c{color_of(chat.id)}" aria-hidden="true">{escape(initials(chat.name))}</span>'


def chat_header(chat: Chat, *, search: bool, current: str, many: bool) -> str:
    """Return the header of the pages of a chat; with `many` pages, a script adds a date picker."""
    dates = "" if current == "dates" else '<a href="index.html">Dates</a>'
    jump = " data-jump" if many else ""
    search_link = f'<a href="../../search.html#chat={chat.id}">Search</a>' if search else ""
    return (
        '<a class="skip" href="#log">Skip to the content</a>\n'
        f'<header class="top"><a class="back" href="../../index.html" aria-label="All chats">{BACK}</a>'
        f'{avatar(chat)}<h1 dir="auto">{escape(chat.name)}</h1>'
        f'<nav aria-label="This chat"{jump}>{dates}{search_link}</nav></header>\n'
    )


def span_label(days: tuple[int, int]) -> str:
    """Return the date range of a page."""
    first, last = iso_date(days[0]), iso_date(days[1])
    return first if first == last else f"{first} {DASH} {last}"


def pager_link(label: str, url: str | None, rel: str) -> str:
    """Return a link to another page, disabled if there is none."""
    if url is None:
        return f'<span aria-disabled="true">{label}</span>'
    return f'<a href="{url}" rel="{rel}">{label}</a>'


def pager(span: tuple[int, int], older: str | None, newer: str | None) -> str:
    """Return the links to other pages; `latest.html` redirects to the last one, so that old pages never change."""
    return (
        '<nav class="pager" aria-label="Pages">'
        + pager_link("« First", "1.html" if older else None, "start")
        + pager_link(f"{BACK} Older", f"{older}.html#end" if older else None, "prev")
        + f'<span class="here">{span_label(span)}</span>'
        + pager_link(f"Newer {ON}", f"{newer}.html" if newer else None, "next")
        + pager_link("Latest »", "latest.html" if newer else None, "last")
        + "</nav>\n"
    )


def chat_page(
    chat: Chat,
    name: str,
    parts: Sequence[str],
    span: tuple[int, int],
    *,
    older: str | None,
    newer: str | None,
    search: bool,
) -> bytes:
    """Return a page of messages."""
    links = pager(span, older, newer)
    # In a chat of two, author names are hidden.
    kind = "log" if chat.kind == "group" else "log two"
    head = (
        f"{page_start(f'{chat.name}, {span_label(span)}', '../../', 'chat', scripts=['page.js'])}"
        f"{chat_header(chat, search=search, current=name, many=bool(older or newer))}{links}"
        f'<main id="log" tabindex="-1">\n<ol class="{kind}" lang="">\n'
    )
    tail = f'</ol>\n</main>\n<div id="end">{links}</div>\n{END}'
    # A single emoji makes a Python string four bytes per character, so parts are encoded separately.
    return b"".join([part.encode() for part in (head, *parts, tail)])


def latest_page(chat: Chat, last: str) -> str:
    """Return the page that redirects to the last one."""
    body = f'<main><p><a href="{last}.html#end">The latest messages</a></p></main>\n'
    head_extra = f'<meta http-equiv="refresh" content="0; url={last}.html#end">\n'
    return page_html(chat.name, "../../", "plain", body, head_extra=head_extra)


def calendar_page(
    chat: Chat, days: Sequence[CalendarDay], breaks: PageBreaks, messages: int, *, search: bool
) -> str:
    """Return the calendar of a chat, with links on days with messages."""
    busiest = max((count for _day, _page, count in days), default=1)
    months: dict[tuple[int, int], dict[int, str]] = {}
    undated: list[str] = []
    for day, page, count in days:
        url = f"{page}.html#d{iso_date(day)}"
        if not is_in_calendar(day):
            undated.append(f'<p><a href="{url}">{day_label(day)}</a></p>')
            continue
        calendar_date = date.fromordinal(FIRST + day)
        heat = min(4, 1 + int(4 * (count / busiest) ** 0.5))
        title = count_of(count, "message")
        cell = f'<a class="h{heat}" href="{url}" title="{title}">{calendar_date.day}</a>'
        months.setdefault((calendar_date.year, calendar_date.month), {})[calendar_date.day] = cell
    years: dict[int, str] = {}
    for (year, month), cells in sorted(months.items()):
        years[year] = f"{years.get(year, '')}{month_block(year, month, cells)}"
    jumps = "".join(f'<a href="#y{year}">{year}</a>' for year in years) if len(years) > 1 else ""
    blocks = "".join(
        f'<section class="year" id="y{year}"><h2>{year}</h2><div class="months">{months_html}</div></section>\n'
        for year, months_html in years.items()
    )
    header = chat_header(chat, search=search, current="dates", many=len(breaks.names) > 1)
    body = (
        f'{header}<main id="log" class="dates">\n'
        f'<p class="sum">{count_of(messages, "message")} on {count_of(len(days), "day")}</p>\n'
        f'<p class="ways"><a href="{breaks.names[0]}.html">Oldest</a>'
        f'<a href="{breaks.names[-1]}.html#end">Latest</a></p>\n'
        f'<nav class="years" aria-label="Years">{jumps}</nav>\n{blocks}{"".join(undated)}</main>\n'
    )
    return page_html(f"{chat.name}, dates", "../../", "chat", body, scripts=["page.js"])


@cache
def empty_month(year: int, month: int) -> tuple[str, list[str]]:
    """Return a month without messages: its head, and the cells of its days."""
    begins, length = monthrange(year, month)
    head = f'<section class="month"><h3>{date(year, month, 1):%B}</h3><div class="cal">{"<i></i>" * begins}'
    return head, [f"<span>{n}</span>" for n in range(1, length + 1)]


def month_block(year: int, month: int, links: Mapping[int, str]) -> str:
    """Return a month, with links on days with messages."""
    head, cells = empty_month(year, month)
    shown = cells.copy()
    for day, cell in links.items():
        shown[day - 1] = cell
    return f"{head}{''.join(shown)}</div></section>\n"


def index_page(
    chat_exports: Sequence["ChatExport"], clock: TimeFormatter, links: Sequence[tuple[str, str]]
) -> str:
    """Return the list of chats, with links to other pages."""
    accounts = list(dict.fromkeys((exported.chat.account_id, exported.chat.account) for exported in chat_exports))
    link_list = "".join(f'<a href="{address}">{escape(label)}</a>' for address, label in links)
    owner = accounts[0][1] if len(accounts) == 1 else ""
    blocks: list[str] = []
    for number, account in accounts:
        account_chats = [exported for exported in chat_exports if exported.chat.account_id == number]
        heading = f'<h2 dir="auto">{escape(account or "Account")}</h2>\n' if len(accounts) > 1 else ""
        active = [exported for exported in account_chats if not exported.chat.archived]
        archived = [exported for exported in account_chats if exported.chat.archived]
        blocks.append(f"{heading}{chat_list(active, clock)}")
        if archived:
            blocks.append(f'<h2 class="sub">Archived</h2>\n{chat_list(archived, clock)}')
    total = sum(exported.messages for exported in chat_exports)
    title = f"Chats of {owner}" if owner else "Chats"
    body = (
        '<a class="skip" href="#chats">Skip to the chats</a>\n'
        f'<header class="top"><h1 dir="auto">{escape(title)}</h1>'
        f'<nav aria-label="Export">{link_list}</nav></header>\n'
        f'<main id="chats" tabindex="-1">\n<p class="sum">{count_of(len(chat_exports), "chat")}, '
        f"{count_of(total, 'message')}. "
        f"Times are {escape(zone_name(clock))}.</p>\n"
        '<p class="filter" hidden><input type="search" aria-label="Show chats by name" '
        'placeholder="Find a chat"></p>\n'
        f"{''.join(blocks)}</main>\n"
    )
    return page_html(title, "", "list", body, scripts=["page.js"])


def zone_name(clock: TimeFormatter) -> str:
    """Return the name of the time zone."""
    return str(clock.zone)


def chat_list(chat_exports: Sequence["ChatExport"], clock: TimeFormatter) -> str:
    """Return chats as a list with avatar, name, preview and date."""
    rows: list[str] = []
    for exported in chat_exports:
        chat = exported.chat
        notes = [CHAT_KINDS[chat.kind]] if chat.kind in CHAT_KINDS else []
        notes += ["pinned"] if chat.pinned_order is not None else []
        notes += ["no longer in the latest backup"] if chat.vanished else []
        when = ""
        if exported.last is not None and is_in_calendar(clock.day(exported.latest_ms)):
            when = f"<time>{iso_date(clock.day(exported.latest_ms))}</time>"
        amount = count_of(exported.messages, "message")
        inside = (
            f'{avatar(chat)}<span class="who"><b dir="auto">{escape(chat.name)}</b>'
            f'<span class="last" dir="auto">{escape(exported.preview)}</span></span>'
            f'<span class="facts">{when}<span>{amount}</span><span>{", ".join(notes)}</span></span>'
        )
        rows.append(
            f'<li><a href="{quote(exported.home)}/{exported.last}.html#end">{inside}</a></li>\n'
            if exported.last is not None
            else f'<li><div class="none">{inside}</div></li>\n'
        )
    return f'<ul class="chats">\n{"".join(rows)}</ul>\n'


def search_page(chat_exports: Sequence["ChatExport"]) -> str:
    """Return the search page; the search runs in its script."""
    options = "".join(
        f'<option value="{exported.chat.id}" data-home="{escape(exported.home)}">'
        f"{escape(exported.chat.name)}</option>\n"
        for exported in chat_exports
        if exported.last is not None
    )
    body = (
        f'<header class="top"><a class="back" href="index.html" aria-label="All chats">{BACK}</a>'
        "<h1>Search</h1></header>\n<main>\n"
        '<p class="sum" id="needs">The search needs JavaScript; all else does not. '
        '<a href="index.html">All chats</a></p>\n'
        '<form class="find" role="search" hidden><input type="search" name="q" aria-label="Words to find" '
        'placeholder="Words, or &quot;a phrase&quot;" autofocus>'
        f'<select name="chat" aria-label="Chat"><option value="">All chats</option>\n{options}</select>'
        "<button>Search</button></form>\n"
        '<p class="sum" id="state" role="status"></p>\n<ol class="hits" lang=""></ol>\n'
        '<p class="more" hidden><button type="button">More</button></p>\n</main>\n'
    )
    return page_html("Search", "", "search", body, scripts=["search.js"])
