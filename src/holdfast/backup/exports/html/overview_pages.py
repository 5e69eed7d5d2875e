"""Overview pages: photos and videos by month, the call log, people, and statistics.

People and statistics cover the whole archive, so an export of a selection has neither.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.backup.archives import Message, Position
from holdfast.backup.archives.gallery import SentAttachment, sent_files
from holdfast.backup.archives.statistics import Statistics
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.html.bubbles import author_elements
from holdfast.backup.exports.html.chat_export import ChatExport, ExportContext
from holdfast.backup.exports.html.clock import is_in_calendar, iso_date
from holdfast.backup.exports.html.files import label, picture
from holdfast.backup.exports.html.markup import escape
from holdfast.backup.exports.html.pages import BACK, page_html
from holdfast.backup.exports.media import display_kind
from holdfast.counts import count_of
from holdfast.redacted_repr import redacted

__all__ = ["write_overview"]

# Maximum number of files or calls per page.
PAGE_ENTRIES: Final = 500
# Maximum number of chats and of people in statistics.
MAX_LISTED: Final = 20
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
BEYOND: Final = "beyond"


@redacted
@dataclass(frozen=True, slots=True)
class OverviewPage:
    """A page: its file name, title and content."""

    name: str
    title: str
    body: str


def write_overview(context: ExportContext, chat_exports: Sequence[ChatExport]) -> list[tuple[str, str]]:
    """Write the pages; return the URL and the title of those that the list of chats links to."""
    overview = Overview(
        context, {chat_export.chat.id: chat_export for chat_export in chat_exports if chat_export.last is not None}
    )
    groups = [overview.media_pages(), overview.call_pages()]
    if context.choice == ChatSelection():
        groups += [[overview.people_page()], [overview.statistics_page()]]
    links: list[tuple[str, str]] = []
    for group in groups:
        for page in group:
            above = ("index.html", "All chats") if page is group[0] else (group[0].name, group[0].title)
            content = page_html(page.title, "", "overview", f"{page_header(page.title, *above)}{page.body}")
            context.folder.put(page.name, content.encode())
        links += [(page.name, page.title) for page in group[:1]]
    return links


def page_header(title: str, above: str, called: str) -> str:
    """Return the header of a page, with a link to its parent."""
    return (
        '<a class="skip" href="#content">Skip to the content</a>\n'
        f'<header class="top"><a class="back" href="{above}" aria-label="{called}">{BACK}</a>'
        f"<h1>{escape(title)}</h1></header>\n"
    )


def main_element(inside: str) -> str:
    """Return the `main` element of a page."""
    return f'<main id="content" tabindex="-1">\n{inside}</main>\n'


@redacted
@dataclass(frozen=True, slots=True)
class Overview:
    """Renders the pages; `chats` are those with messages in the export."""

    context: ExportContext
    chats: Mapping[int, ChatExport]

    def positions(self, numbers: Sequence[int]) -> dict[int, Position]:
        """Return the positions of messages that are in the export."""
        rows = self.context.archive.connection.execute(
            "SELECT id, chat_id, order_ms, order_n FROM message WHERE id IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(numbers).decode(),),
        )
        since, until = self.context.choice.since_ms or 0, self.context.choice.until_ms
        return {
            number: Position(ms, n, number)
            for number, chat, ms, n in rows
            if chat in self.chats and ms >= since and (until is None or ms < until)
        }

    def address(self, chat: int, place: Position) -> str:
        """Return the URL of a message."""
        chat_export = self.chats[chat]
        return f"{quote(chat_export.home)}/{chat_export.breaks.page(place)}.html#m{place.id}"

    def sent_files(self) -> Iterator[tuple[SentAttachment, str, str]]:
        """Yield the photos and videos in the export, latest first, with the path of each and its message's URL."""
        media, below = self.context.media, None
        while media is not None:
            page = sent_files(self.context.archive, "media", below=below, limit=PAGE_ENTRIES)
            places = self.positions([sent_attachment.message_id for sent_attachment in page.files])
            for sent_attachment in page.files:
                if sent_attachment.message_id in places and display_kind(sent_attachment.attachment) in {
                    "image",
                    "video",
                }:
                    name = media.put(sent_attachment.attachment)
                    if name is not None:
                        yield (
                            sent_attachment,
                            name,
                            self.address(sent_attachment.chat_id, places[sent_attachment.message_id]),
                        )
            below = page.more
            if below is None:
                return

    def media_pages(self) -> list[OverviewPage]:
        """Return the pages of photos and videos by month, and their index."""
        clock = self.context.clock
        months: dict[str, list[str]] = {}
        for attachment, name, address in self.sent_files():
            day = clock.day(attachment.sent_ms)
            months.setdefault(iso_date(day)[:7] if is_in_calendar(day) else BEYOND, []).append(
                self.media_cell(attachment, name, address)
            )
        if not months:
            return []
        pages: list[OverviewPage] = []
        rows: list[str] = []
        for month, cells in months.items():
            names = [
                f"media-{month}{f'-{n + 1}' if n else ''}.html" for n in range(-(-len(cells) // PAGE_ENTRIES))
            ]
            files = count_of(len(cells), "file")
            rows.append(f'<li><a href="{names[0]}"><b>{month}</b><span>{files}</span></a></li>\n')
            for n, name in enumerate(names):
                inside = (
                    f'<ul class="gallery">\n{"".join(cells[n * PAGE_ENTRIES : (n + 1) * PAGE_ENTRIES])}</ul>\n'
                )
                pages.append(OverviewPage(name, f"Media of {month}", main_element(f"{inside}{pager(names, n)}")))
        total = count_of(sum(map(len, months.values())), "photo or video", "photos and videos")
        content = main_element(f'<p class="sum">{total}</p>\n<ul class="lines">\n{"".join(rows)}</ul>\n')
        return [OverviewPage("media.html", "Media", content), *pages]

    def media_cell(self, sent_attachment: SentAttachment, name: str, address: str) -> str:
        """Return a photo or video with a link to its message."""
        chat = self.chats[sent_attachment.chat_id].chat.name
        title = f"{sent_attachment.author}, {chat}, {iso_date(self.context.clock.day(sent_attachment.sent_ms))}"
        if display_kind(sent_attachment.attachment) == "image":
            shown = picture(sent_attachment.attachment, quote(name))
        else:
            shown = (
                f'<span class="film"><span aria-hidden="true">▶ </span>{label(sent_attachment.attachment)}</span>'
            )
        return f'<li><a href="{address}" title="{escape(title)}">{shown}</a></li>\n'

    def call_pages(self) -> list[OverviewPage]:
        """Return the pages of the call log, latest call first."""
        archive, clock = self.context.archive, self.context.clock
        rows = archive.connection.execute(
            "SELECT c.message_id FROM call c JOIN message m ON m.id = c.message_id "
            "WHERE m.chat_id IN (SELECT value FROM json_each(?)) ORDER BY m.order_ms DESC, m.order_n DESC",
            (msgspec.json.encode(list(self.chats)).decode(),),
        ).fetchall()
        places = self.positions([number for (number,) in rows])
        wanted = [number for (number,) in rows if number in places]
        names = [f"calls{f'-{n + 1}' if n else ''}.html" for n in range(-(-len(wanted) // PAGE_ENTRIES))]
        pages: list[OverviewPage] = []
        for n, name in enumerate(names):
            lines: list[str] = []
            messages = archive.by_ids(wanted[n * PAGE_ENTRIES : (n + 1) * PAGE_ENTRIES])
            for day, calls in groupby(messages, key=lambda message: clock.day(message.sent_ms)):
                lines.append(f'<h2><time>{iso_date(day)}</time></h2>\n<ul class="lines">\n')
                lines += [self.call_line(call, day) for call in calls]
                lines.append("</ul>\n")
            total = f'<p class="sum">{count_of(len(wanted), "call")}</p>\n'
            pages.append(OverviewPage(name, "Calls", main_element(f"{total}{''.join(lines)}{pager(names, n)}")))
        return pages

    def call_line(self, call: Message, day: int) -> str:
        """Return a call with a link to its place in the chat."""
        return (
            f'<li><a href="{self.address(call.chat_id, call.position)}">'
            f"{self.context.clock.time_element(call.sent_ms, day)}"
            f'<span class="who"><b dir="auto">{escape(call.chat)}</b>'
            f'<span dir="auto">{escape(call.sentence or "Call")}</span></span></a></li>\n'
        )

    def people_page(self) -> OverviewPage:
        """Return the page of all people, by number of messages."""
        rows: list[str] = []
        for person in self.context.archive.people():
            facts = [fact for fact in (person.phone, person.username) if fact]
            facts += ["blocked"] if person.blocked else []
            facts += ["no longer in the latest backup"] if person.vanished else []
            inside = (
                f"{author_elements(person.id, person.name)[0]}"
                f'<span class="who"><b dir="auto">{escape(person.name)}</b>'
                f'<span dir="auto">{escape(", ".join(facts))}</span></span>'
                f'<span class="facts">{count_of(person.messages, "message")}</span>'
            )
            chat = self.chats.get(person.id)
            rows.append(
                f'<li><div class="line">{inside}</div></li>\n'
                if chat is None
                else f'<li><a href="{quote(chat.home)}/{chat.last}.html#end">{inside}</a></li>\n'
            )
        total = f'<p class="sum">{count_of(len(rows), "person", "people")}</p>\n'
        return OverviewPage(
            "people.html", "People", main_element(f'{total}<ul class="lines">\n{"".join(rows)}</ul>\n')
        )

    def statistics_page(self) -> OverviewPage:
        """Return the page with numbers of messages by month, weekday, hour, chat, person, and of files by type."""
        zone = self.context.clock.zone
        statistics: Statistics = self.context.archive.statistics(zone=zone)
        total = count_of(statistics.messages, "message")
        days = [(name, sum(hours)) for name, hours in zip(DAYS, statistics.hours, strict=True)]
        hours = [(f"{n:02}:00", sum(day[n] for day in statistics.hours)) for n in range(24)]
        inside = "".join(
            (
                f'<p class="sum">{total}. Times are {escape(str(zone))}.</p>\n',
                bars("By month", statistics.months),
                bars("By weekday", days),
                bars("By hour", hours),
                bars("By chat", [(count.name, count.messages) for count in statistics.chats[:MAX_LISTED]]),
                bars("By person", [(count.name, count.messages) for count in statistics.people[:MAX_LISTED]]),
                bars(
                    "Files by type",
                    [(file_type_count.type, file_type_count.files) for file_type_count in statistics.media],
                ),
            )
        )
        return OverviewPage("statistics.html", "Statistics", main_element(inside))


def pager(names: Sequence[str], here: int) -> str:
    """Return links to the previous and the next page."""
    if len(names) == 1:
        return ""
    newer = f'<a href="{names[here - 1]}" rel="prev">{BACK} Newer</a>' if here else ""
    older = f'<a href="{names[here + 1]}" rel="next">Older \u203a</a>' if here + 1 < len(names) else ""
    return f'<nav class="pager" aria-label="Pages">{newer}<span class="here">{here + 1}</span>{older}</nav>\n'


def bars(title: str, counts: Sequence[tuple[str, int]]) -> str:
    """Return a bar chart of counts; empty if there are none."""
    if not counts:
        return ""
    most = max(1, *(count for _name, count in counts))
    rows = "".join(
        f'<li><span class="what" dir="auto">{escape(name)}</span>'
        f'<progress max="{most}" value="{count}" aria-hidden="true"></progress><span>{count:,}</span></li>\n'
        for name, count in counts
    )
    return f'<section><h2>{escape(title)}</h2>\n<ul class="bars">\n{rows}</ul></section>\n'
