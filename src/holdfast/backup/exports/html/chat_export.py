"""Writes a chat: its pages, their calendar, and their texts for the search.

Pages with unchanged inputs are not rendered again, see `sources`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

import msgspec

from holdfast.backup.archives import Archive, Chat, Message, Position
from holdfast.backup.archives.message_loader import QUOTES, MessageParts, Row
from holdfast.backup.archives.model import ArchivedAttachment
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.folder import ExportTarget
from holdfast.backup.exports.html import pages
from holdfast.backup.exports.html.bubbles import GROUP_GAP_MS, author_elements, bubble, day_line, plain_bubble
from holdfast.backup.exports.html.clock import TimeFormatter, iso_date
from holdfast.backup.exports.html.message_text import has_mentions, long_texts, preview_line, searchable_text
from holdfast.backup.exports.html.pagination import PAGE_SIZE, ChatDay, PageBreaks
from holdfast.backup.exports.html.search_index import SearchableMessage, WordIndex, page_script
from holdfast.backup.exports.html.sources import (
    MARKS,
    FileKey,
    PageInputs,
    PageSources,
    RenderedMessages,
    ReusableFiles,
    WrittenPage,
    decode_note,
    row_marks,
)
from holdfast.backup.exports.media import MediaFiles
from holdfast.backup.exports.names import chat_name
from holdfast.backup.exports.stamps import digest
from holdfast.redacted_repr import redacted

__all__ = ["ChatExport", "ChatWriter", "ExportContext", "IndexedPage", "RenderedPage", "write_chat"]


@redacted
class IndexedPage(msgspec.Struct, frozen=True):
    """A page of the search index: its folder and name, its latest text, and whether this run rendered it."""

    home: str
    name: str
    latest: int
    texts: str
    is_new: bool


@redacted
class RenderedPage(msgspec.Struct):
    """The result of a page that a worker rendered.

    Its files with their marks, notes, media files with their sources, and for the search index its pages with
    their words. A page that was split is only valid if no earlier page was split.
    """

    files: list[tuple[str, bytes, str]] = []
    notes: list[tuple[str, bytes]] = []
    placed: list[tuple[str, str, str | None]] = []
    indexed_pages: list[IndexedPage] = []
    words: list[list[str]] = []
    count: int = 0
    latest_ms: int = 0
    preview: str = ""
    is_split: bool = False


@redacted
@dataclass(slots=True)
class ExportContext:
    """State shared by all chats of an export; `indexed_pages` are in the order of their numbers.

    `parallel` is false if no other processes may render pages.
    """

    archive: Archive
    folder: ExportTarget
    choice: ChatSelection
    clock: TimeFormatter
    media: MediaFiles | None
    index: WordIndex | None
    sources: PageSources
    parallel: bool = True
    indexed_pages: list[IndexedPage] = field(default_factory=list)


@redacted
@dataclass(frozen=True, slots=True)
class ChatExport:
    """A chat that was written: its folder, last page, data for the list of chats, and page breaks."""

    chat: Chat
    home: str
    last: str | None
    messages: int
    latest_ms: int
    preview: str
    breaks: PageBreaks


@redacted
@dataclass(slots=True)
class PageAddresses:
    """URLs relative to the pages of a chat; `requested` has the files that the pages show."""

    media_files: MediaFiles | None
    breaks: PageBreaks
    targets: dict[int, Position] = field(default_factory=dict)
    requested: dict[FileKey, str | None] = field(default_factory=dict)

    def media(self, attachment: ArchivedAttachment) -> str | None:
        """Add a file to the export and return its URL."""
        if self.media_files is None or attachment.media_name is None:
            return None
        name = self.media_files.put(attachment)
        self.requested[attachment.media_name, attachment.content_type, attachment.file_name] = name
        return None if name is None else f"../../{quote(name)}"

    def thumbnail(self, attachment: ArchivedAttachment, address: str) -> str:  # noqa: ARG002  # none is made for exports
        """Return the image itself: exports have no thumbnails."""
        return address

    def placeholder(self, attachment: ArchivedAttachment) -> str:  # noqa: ARG002  # files of an export are at hand
        """Return an empty string: local files need no placeholder."""
        return ""

    def message(self, number: int | None) -> str | None:
        """Return the URL of a message of this chat."""
        place = None if number is None else self.targets.get(number)
        return None if place is None else f"{self.breaks.page(place)}.html#m{number}"


@redacted
@dataclass(slots=True)
class PageBuilder:
    """A page while it is rendered: its start, first and last day, and items.

    `texts` are its searchable texts, `authors` their authors with the numbers used there.
    """

    start: Position
    first_day: int
    last_day: int = 0
    items: list[str] = field(default_factory=list)
    texts: list[SearchableMessage] = field(default_factory=list)
    authors: dict[str, int] = field(default_factory=dict)


def position_of(row: Row) -> Position:
    """Return the position of a message."""
    return Position(row[8], row[9], row[0])


def write_chat(
    writer: "ChatWriter", rendered_pages: Iterator[RenderedPage | None], advance: Callable[[int], None]
) -> ChatExport:
    """Write the pages of a chat, using the results of workers where they are valid."""
    ranges = writer.breaks.ranges()
    for (name, start, end), rendered in zip(ranges, rendered_pages, strict=False):
        is_usable = rendered is not None and not rendered.is_split and len(writer.breaks.names) == len(ranges)
        advance(
            writer.write_rendered(rendered)
            if rendered is not None and is_usable
            else writer.write(name, start, end)
        )
    return writer.finish()


class ChatWriter:
    """Writes the pages of a chat."""

    def __init__(
        self, context: ExportContext, chat: Chat, breaks: PageBreaks, days: Mapping[int, ChatDay]
    ) -> None:
        self.context = context
        self.chat = chat
        self.home = f"chats/{chat_name(chat.name, chat.id)}"
        self.breaks = breaks
        self.days = days
        self.links = PageAddresses(context.media, breaks)
        self.base_digest = digest(context.sources.base_digest, chat.id, chat.account_id, chat.name, chat.kind)
        self.preview = ""
        self.latest_ms = 0
        self.count = 0

    def write(self, name: str, start: Position, end: Position | None) -> int:
        """Write the messages between two positions, unless they are unchanged; return their number."""
        context, key = self.context, f"{self.home}/{name}"
        page_range = (self.chat.id, start, end, context.choice.until_ms)
        rendered = decode_note(context.folder.read_note(key), RenderedMessages)
        rows = None if rendered is None else context.archive.rows_between(*page_range, MARKS)
        if rendered is None or rows is None or not self.keep_unchanged(name, rendered, rows):
            full_rows = context.archive.rows_between(*page_range)
            rows = list(map(row_marks, full_rows))
            rendered = self.render(name, full_rows, rows)
        if rendered is not None:
            context.folder.write_note(key, msgspec.json.encode(rendered))
        if rows:
            self.count += len(rows)
            self.latest_ms = rows[-1][2]
        return len(rows)

    def write_rendered(self, rendered: RenderedPage) -> int:
        """Write messages that a worker rendered; return their number."""
        context = self.context
        for name, source, identity in rendered.placed:
            file = None if context.folder.has(name) else context.archive.kept_file(source)
            if file is not None:
                context.folder.place(name, file, identity)
        for name, content, mark in rendered.files:
            context.folder.put(name, content, mark)
        for key, value in rendered.notes:
            context.folder.write_note(key, value)
        if context.index is not None:
            for page, words in zip(rendered.indexed_pages, rendered.words, strict=True):
                context.index.add_words(len(context.indexed_pages), words)
                context.indexed_pages.append(page)
        if rendered.count:
            self.count += rendered.count
            self.latest_ms, self.preview = rendered.latest_ms, rendered.preview
        return rendered.count

    def keep_unchanged(self, name: str, rendered: RenderedMessages, rows: Sequence[Row]) -> bool:
        """Keep existing pages if their inputs are unchanged; return whether they were kept."""
        context, requested = self.context, rendered.requested
        names = [name]
        for part in rendered.parts[1:]:
            names.append(self.breaks.split(names[-1], Position(*part.start)))
        media = context.sources.attachments(requested.files)
        files = [context.media.find(attachment) if context.media else None for attachment in media]
        places = [f"{self.home}/{page_name}" for page_name in names]
        if self.stamp(
            names, rows, requested, self.addresses(requested.replies), files
        ) != rendered.stamp or not all(
            context.folder.keep(f"{place}.html", part.page)
            and (part.texts is None or context.folder.keep(f"{place}.js", part.texts))
            for place, part in zip(places, rendered.parts, strict=True)
        ):
            self.breaks.undo_split(name, len(names))
            return False
        for attachment in media:
            self.links.media(attachment)
        self.preview = rendered.preview
        if context.index is not None:
            context.indexed_pages += [
                IndexedPage(self.home, page_name, part.latest, part.texts or "", is_new=False)
                for page_name, part in zip(names, rendered.parts, strict=True)
            ]
        return True

    def stamp(
        self,
        names: Sequence[str],
        rows: Sequence[Row],
        requested: PageInputs,
        addresses: Sequence[str | None],
        files: Sequence[str | None],
    ) -> str:
        """Return a digest of all inputs of pages."""
        sources, breaks = self.context.sources, self.breaks
        return digest(
            self.base_digest,
            (breaks.before(names[0]), breaks.after(names[-1])),
            rows,
            sources.people(self.chat.account_id, requested.people),
            sources.seen(requested.first, requested.last),
            sources.mentioned(requested.mentions),
            addresses,
            files,
            sources.texts(requested.texts),
        )

    def addresses(self, replies: Sequence[int]) -> list[str | None]:
        """Return the URLs of the messages that replies quote."""
        if not replies:
            return []
        quotes = self.context.archive.rows_by_message(QUOTES, msgspec.json.encode(replies).decode())
        targets = [quotes[number][0][4] if number in quotes else None for number in replies]
        self.links.targets = self.find(targets)
        return [self.links.message(number) for number in targets]

    def render(self, name: str, full_rows: Sequence[Row], rows: Sequence[Row]) -> RenderedMessages | None:
        """Render messages on a page, or on several if they exceed its size.

        Returns their inputs, None if there are no messages.
        """
        if not full_rows:
            return None
        archive, links = self.context.archive, self.links
        with archive.names.track() as used:
            message_parts = archive.load_parts(full_rows)
            # Most messages are plain text, and are rendered from their rows.
            special = {
                row[0]: archive.build_message(row, message_parts)
                for row in full_rows
                if not message_parts.is_plain(row)
            }
            last = special.get(full_rows[-1][0]) or archive.build_message(full_rows[-1], message_parts)
        messages = list(special.values())
        replies = [
            message
            for message in messages
            if message.quote is not None and message.quote.target_sent_ms is not None
        ]
        targets = [message.quote.target_id if message.quote else None for message in replies]
        links.targets, links.requested = self.find(targets), {}
        names, parts = self.render_pages(name, full_rows, message_parts, special)
        self.preview = preview_line(last)
        requested = PageInputs(
            tuple(sorted(used, key=str)),
            tuple(sorted({row[4] for row in rows})),
            tuple(sorted({row[5] for row in rows if row[5] is not None})),
            tuple(
                [
                    message.id
                    for message in messages
                    if (message.ranges or message.quote_ranges) and has_mentions(message)
                ]
            ),
            tuple([message.id for message in replies]),
            tuple(links.requested),
            tuple(
                dict.fromkeys(
                    [text for message in messages if message.attachments for text in long_texts(message)]
                )
            ),
        )
        addresses = [links.message(number) for number in targets]
        stamp = self.stamp(names, rows, requested, addresses, list(links.requested.values()))
        return RenderedMessages(stamp, requested, tuple(parts), self.preview)

    def render_pages(
        self, name: str, rows: Sequence[Row], parts: MessageParts, special: Mapping[int, Message]
    ) -> tuple[list[str], list[WrittenPage]]:
        """Render messages and write their pages; return the names and the written pages.

        `special` has all messages that are not plain text.
        """
        clock, links, search = self.context.clock, self.links, self.context.index is not None
        days = clock.days([row[8] for row in rows])
        author_names, states = parts.authors, parts.states
        elements = {author: author_elements(author, name) for author, name in author_names.items()}
        names, written_pages = [name], list[WrittenPage]()
        builder, size = PageBuilder(position_of(rows[0]), days[0]), 0
        items, texts, authors = builder.items, builder.texts, builder.authors
        previous: tuple[int, str] | None = None
        shown_day: int | None = None
        previous_ms = 0
        for row, day in zip(rows, days, strict=True):
            number, author, direction, text, order = row[0], row[2], row[3], row[5], row[8]
            if size > PAGE_SIZE:
                new_name = self.breaks.split(name, position_of(row))
                written_pages.append(self.put(name, builder))
                name, builder, size, shown_day = new_name, PageBuilder(position_of(row), day), 0, None
                items, texts, authors = builder.items, builder.texts, builder.authors
                names.append(name)
            if day != shown_day:
                items.append(day_line(day))
                shown_day = builder.last_day = day
                previous = None
            follows = previous == (author, direction) and order - previous_ms < GROUP_GAP_MS
            message = special.get(number)
            if message is None:
                stamp, state = clock.time_element(row[6], day), states.get(number)
                item = plain_bubble(
                    number, text, elements[author], stamp, state, is_own=direction == "outgoing", follows=follows
                )
            else:
                item = bubble(message, links, clock, day=day, follows=follows)
                text = searchable_text(message) if search else ""
            if search and text:
                texts.append(
                    (number, authors.setdefault(author_names[author], len(authors)), clock.local_ms(row[6]), text)
                )
            items.append(item)
            size += len(item)
            previous, previous_ms = None if row[4] == "update" else (author, direction), order
        written_pages.append(self.put(name, builder))
        return names, written_pages

    def find(self, wanted: Sequence[int | None]) -> dict[int, Position]:
        """Return the positions of quoted messages that are in the export."""
        numbers = [number for number in wanted if number is not None]
        if not numbers:
            return {}
        rows = self.context.archive.connection.execute(
            "SELECT order_ms, order_n, id FROM message "
            "WHERE id IN (SELECT value FROM json_each(?1)) AND +chat_id = ?2",
            (msgspec.json.encode(numbers).decode(), self.chat.id),
        )
        choice = self.context.choice
        since, until = choice.since_ms or 0, choice.until_ms
        return {row[2]: Position(*row) for row in rows if row[0] >= since and (until is None or row[0] < until)}

    def put(self, name: str, builder: PageBuilder) -> WrittenPage:
        """Write a page, and its texts for the search."""
        context = self.context
        page = pages.chat_page(
            self.chat,
            name,
            builder.items,
            (builder.first_day, builder.last_day),
            older=self.breaks.before(name),
            newer=self.breaks.after(name),
            search=context.index is not None,
        )
        start = (builder.start.ms, builder.start.n, builder.start.id)
        mark = context.folder.put(f"{self.home}/{name}.html", page)
        if context.index is None:
            return WrittenPage(start, mark, None, 0)
        latest = max([entry[2] for entry in builder.texts], default=0)
        script = page_script(f"{self.home}/{name}", list(builder.authors), builder.texts)
        part = WrittenPage(start, mark, context.folder.put(f"{self.home}/{name}.js", script), latest)
        context.index.add(len(context.indexed_pages), [entry[3] for entry in builder.texts])
        context.indexed_pages.append(IndexedPage(self.home, name, latest, part.texts or "", is_new=True))
        return part

    def finish(self) -> ChatExport:
        """Write calendar, redirect and dates of the chat, unless they are unchanged."""
        folder, breaks, key = self.context.folder, self.breaks, f"{self.home}/index"
        last = breaks.names[-1] if self.count else None
        if last is not None:
            days = [(day, breaks.page(chat_day.start), chat_day.messages) for day, chat_day in self.days.items()]
            stamp = digest(self.base_digest, days, self.count, breaks.names[0], last)
            reusable_files = decode_note(folder.read_note(key), ReusableFiles)
            if (
                reusable_files is None
                or reusable_files.stamp != stamp
                or not all(folder.keep(*file) for file in reusable_files.files)
            ):
                reusable_files = ReusableFiles(
                    stamp, tuple((name, folder.put(name, text)) for name, text in self.index_files(days, last))
                )
            folder.write_note(key, msgspec.json.encode(reusable_files))
        return ChatExport(self.chat, self.home, last, self.count, self.latest_ms, self.preview, breaks)

    def index_files(self, days: Sequence[pages.CalendarDay], last: str) -> Iterator[tuple[str, bytes]]:
        """Yield calendar, redirect and dates of the chat."""
        search = self.context.index is not None
        index = pages.calendar_page(self.chat, days, self.breaks, self.count, search=search)
        yield f"{self.home}/index.html", index.encode()
        if len(self.breaks.names) > 1:
            yield f"{self.home}/latest.html", pages.latest_page(self.chat, last).encode()
            dates = [(iso_date(day), page) for day, page, _messages in days]
            yield f"{self.home}/dates.js", b"holdfast.dates(%s);\n" % msgspec.json.encode(dates)
