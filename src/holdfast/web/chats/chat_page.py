"""The page of a chat: a window of messages, with links to older and newer ones."""

from calendar import Calendar, month_name
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from markupsafe import Markup
from msgspec.structs import replace

from holdfast.backup.archives import Chat, Message, Page, Position, overview
from holdfast.backup.archives.model import ArchivedAttachment
from holdfast.backup.archives.query import parse_date
from holdfast.backup.errors import QueryRefused
from holdfast.backup.exports.html.bubbles import bubble, color_of, continues_group, day_line, initials
from holdfast.backup.exports.html.clock import TimeFormatter
from holdfast.web.chats.blur_hash import placeholder
from holdfast.web.chats.chat_list import chat_pane
from holdfast.web.chats.thumbnails import may_have_thumbnail
from holdfast.web.chats.view import (
    ConversationRequest,
    RedirectResult,
    TemplateResult,
    format_position,
    parse_id,
    parse_position,
    to_datetime,
    truncate,
)

__all__ = ["MessageLinks", "go_to_message", "render_messages", "show_chat", "show_months"]

MESSAGES: Final = 100
# The size limit of a page: 100 usual messages are far below it, 100 long ones are not.
MOST_BYTES: Final = 140_000
LONGEST: Final = 6000
MOST_REVISIONS: Final = 20
# The size limit of one rendered message.
MOST_PIECE: Final = 40_000
MOST_YEARS: Final = 200
FIRST: Final = Position(0, 0, 0)
CLOCK: Final = TimeFormatter()


@dataclass(frozen=True, slots=True)
class MessageLinks:
    """Builds the URLs that the message renderer links to."""

    view: ConversationRequest

    def media(self, attachment: ArchivedAttachment) -> str | None:
        """Return the URL of the file of an attachment, if it is beside the archive or in a phone folder."""
        if attachment.path is not None:
            # In an encrypted archive the file name is not the content hash.
            content = attachment.plaintext_hash or PurePosixPath(attachment.path).stem
            return self.view.address(f"media/{content}")
        media, name = self.view.opened.media, attachment.media_name
        if media is not None and name is not None and media.has(name):
            return self.view.address(f"attachment/{name}")
        return None

    def thumbnail(self, attachment: ArchivedAttachment, address: str) -> str:
        """Return the URL of the thumbnail of a photo, if files of its type and size have one."""
        return f"{address}/thumbnail" if may_have_thumbnail(attachment.content_type, attachment.size) else address

    def placeholder(self, attachment: ArchivedAttachment) -> str:
        """Return the BlurHash placeholder as a `data:` URL."""
        return placeholder(attachment.blur_hash) if attachment.blur_hash else ""

    def message(self, number: int) -> str | None:
        """Return the URL of a message in its chat."""
        return self.view.address(f"to/{number}")

    def detail(self, number: int) -> str:
        """Return the URL of the details page of a message."""
        return self.view.address(f"message/{number}")


def show_chat(view: ConversationRequest, number: str) -> TemplateResult:
    """Show the requested page of a chat; the last page by default."""
    chat = view.chat(number)
    query = view.query
    problem = ""
    target = 0
    keep_last = True
    if "at" in query:
        place = parse_position(query["at"])
        page = overview.at_position(view.archive, chat.id, place, MESSAGES)
        target = place.id
    elif "after" in query:
        page = view.archive.page(chat.id, after=parse_position(query["after"]), limit=MESSAGES)
        keep_last = False
    elif query.get("date"):
        try:
            page = from_date(view, chat, parse_date(query["date"]))
        except QueryRefused as error:
            page, problem = view.archive.page(chat.id, limit=MESSAGES), str(error)
        keep_last = bool(problem)
    elif "first" in query:
        page = from_date(view, chat, 0)
        keep_last = False
    else:
        before = parse_position(query["before"]) if "before" in query else None
        page = view.archive.page(chat.id, before=before, limit=MESSAGES)
    page, inside = fit_page(view, page, target, keep_last=keep_last)
    newest = page.newer is None
    return TemplateResult(
        "chats/chat.html",
        chat.name,
        {
            "chat": chat,
            "initials": initials(chat.name),
            "color": color_of(chat.id),
            "inside": Markup(inside),  # noqa: S704  # the renderer escapes all it is given
            "older": view.address(f"chat/{chat.id}", before=format_position(page.older)) if page.older else "",
            "newer": view.address(f"chat/{chat.id}", after=format_position(page.newer)) if page.newer else "",
            "newest": newest,
            "first_ms": to_datetime(page.messages[0].position.ms) if page.messages else None,
            "date": query.get("date", ""),
            "problem": problem,
            "pane": chat_pane(view, chat),
        },
        400 if problem else 200,
    )


def from_date(view: ConversationRequest, chat: Chat, ms: int) -> Page:
    """Read the messages from a date on; the last ones if there are none after it."""
    page = view.archive.page(chat.id, after=Position(max(ms, 0), -1, 0), limit=MESSAGES)
    return page if page.messages else view.archive.page(chat.id, limit=MESSAGES)


def fit_page(view: ConversationRequest, page: Page, target: int, *, keep_last: bool) -> tuple[Page, str]:
    """Render as many messages as fit into the size limit: around the target, else the last or the first."""
    messages = list(page.messages)
    pieces = render_messages(view, messages)
    size = sum(len(piece.encode()) for piece in pieces)
    older, newer = page.older, page.newer
    while size > MOST_BYTES and len(pieces) > 1:
        at = next((n for n, message in enumerate(messages) if message.id == target), None)
        from_start = keep_last if at is None else at > len(messages) // 2
        size -= len(pieces.pop(0 if from_start else -1).encode())
        messages.pop(0 if from_start else -1)
        if from_start:
            older = messages[0].position
        else:
            newer = messages[-1].position
    return Page(tuple(messages), older, newer), "".join(pieces)


def render_messages(view: ConversationRequest, messages: list[Message]) -> list[str]:
    """Render messages, with a date line at the start of each day."""
    links = MessageLinks(view)
    pieces: list[str] = []
    day: int | None = None
    before: Message | None = None
    for message in messages:
        today = CLOCK.day(message.position.ms)
        line = ""
        if today != day:
            line, before, day = day_line(today), None, today
        excerpt, more = truncate_message(message, links)
        together = continues_group(before, message)
        drawing = bubble(excerpt, links, CLOCK, day=day, follows=together, detail=links.detail(message.id))
        if len(drawing) > MOST_PIECE:
            excerpt, more = strip_message(message), full_message_link(message, links)
            drawing = bubble(excerpt, links, CLOCK, day=day, follows=together, detail=links.detail(message.id))
        pieces.append(line + drawing + more)
        before = message
    return pieces


def truncate_message(message: Message, links: MessageLinks) -> tuple[Message, str]:
    """Truncate a long text, with a link to the full one."""
    text = message.text or ""
    longest = max([len(text), *(len(revision.text or "") for revision in message.revisions)])
    if longest <= LONGEST and len(message.revisions) <= MOST_REVISIONS:
        return message, ""
    revisions = tuple(
        replace(revision, text=f"{revision.text[:LONGEST]}…")
        if revision.text and len(revision.text) > LONGEST
        else revision
        for revision in message.revisions[-MOST_REVISIONS:]
    )
    shorter = f"{text[:LONGEST]}…" if len(text) > LONGEST else message.text
    return replace(message, text=shorter, revisions=revisions), full_message_link(message, links)


def full_message_link(message: Message, links: MessageLinks) -> str:
    """Return the link to the full text of a truncated message."""
    return str(
        Markup('<li class="full-message"><a href="{}">The whole message</a></li>\n').format(
            links.detail(message.id)
        )
    )


def strip_message(message: Message) -> Message:
    """Reduce an oversized message to the beginning of its text: names and reactions can be of any length."""
    return replace(
        message,
        author=truncate(message.author),
        text=truncate(message.text or "", 2000),
        sentence=truncate(message.sentence or "", 500) or None,
        kind="message" if message.kind != "update" else "update",
        attachments=(),
        reactions=(),
        links=(),
        ranges=(),
        revisions=(),
        quote=None,
        poll=None,
        card=None,
    )


def go_to_message(view: ConversationRequest, number: str) -> RedirectResult:
    """Redirect to a message in its chat."""
    message = view.archive.message(parse_id(number))
    place = view.address(f"chat/{message.chat_id}", at=format_position(message.position))
    return RedirectResult(f"{place}#m{message.id}")


def show_months(view: ConversationRequest, number: str) -> TemplateResult:
    """List the months and days of a chat that have messages, each a link to its first one."""
    chat = view.chat(number)
    months = view.opened.cached(("months", chat.id), lambda: overview.months(view.archive, chat.id))
    year = view.query.get("year", "")
    years: dict[str, int] = {}
    for month in months:
        years[month.name[:4]] = years.get(month.name[:4], 0) + month.messages
    if year not in years:
        year = next(iter(years), "")
    shown = [month for month in months if month.name[:4] == year]
    return TemplateResult(
        "chats/months.html",
        f"{chat.name}: calendar",
        {
            "chat": chat,
            "months": shown,
            "weeks": {month.name: calendar_weeks(month) for month in shown},
            "years": dict(list(years.items())[:MOST_YEARS]),
            "year": year,
            "names": month_name,
        },
    )


def calendar_weeks(month: overview.Month) -> list[list[tuple[int, str, int]]]:
    """Return the weeks of a month: day number, date and number of messages of each day; 0 outside of the month."""
    counts = dict(month.days)
    year, number = int(month.name[:4]), int(month.name[5:])
    return [
        [(day, date := f"{month.name}-{day:02d}", counts.get(date, 0)) for day in week]
        for week in Calendar().monthdayscalendar(year, number)
    ]
