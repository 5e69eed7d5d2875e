"""Writes an archive as a folder of HTML pages."""

from collections.abc import Iterator
from datetime import UTC, tzinfo
from importlib.resources import files
from itertools import repeat, tee
from pathlib import Path
from typing import Final

import msgspec

from holdfast.backup.archives import Archive, Chat
from holdfast.backup.errors import ExportRefused
from holdfast.backup.exports.choice import ChatSelection, selected_chats
from holdfast.backup.exports.folder import ExportSummary, ExportTarget
from holdfast.backup.exports.html import pages
from holdfast.backup.exports.html.chat_export import ChatExport, ChatWriter, ExportContext, write_chat
from holdfast.backup.exports.html.clock import TimeFormatter
from holdfast.backup.exports.html.overview_pages import write_overview
from holdfast.backup.exports.html.pagination import find_breaks_and_days
from holdfast.backup.exports.html.search_index import WordIndex, page_texts
from holdfast.backup.exports.html.sources import PageSources, ReusableFiles, decode_note
from holdfast.backup.exports.html.workers import start_pool
from holdfast.backup.exports.job import Progress
from holdfast.backup.exports.media import MediaFiles
from holdfast.backup.exports.stamps import account_digests, digest
from holdfast.backup.exports.zip_file import ZipTarget, open_target

__all__ = ["Progress", "write_html"]


STATIC: Final = files("holdfast.backup.exports.html") / "static"


def write_html(
    archive: Archive,
    target: Path | ZipTarget,
    choice: ChatSelection,
    *,
    media: bool,
    search: bool,
    progress: Progress | None = None,
    zone: tzinfo = UTC,
    stamp: str = "",
    parallel: bool = True,
    in_memory: bool = False,
) -> ExportSummary:
    """Export to HTML; `zone` is the time zone of times.

    With `parallel` a large export is rendered by several processes. With `in_memory` the search index is sorted
    without temporary files.
    """
    with open_target(target, "html", stamp, account_digests(archive)) as folder:
        if (finish_unchanged := folder.finish_unchanged()) is not None:
            return finish_unchanged
        clock, index = TimeFormatter(zone), WordIndex(in_memory=in_memory) if search else None
        sources = PageSources(archive, clock, media=media, search=search)
        files_of = MediaFiles(archive, folder) if media else None
        try:
            context = ExportContext(archive, folder, choice, clock, files_of, index, sources, parallel)
            write_pages(context, progress)
        finally:
            if index is not None:
                index.close()
        return folder.finish()


def write_pages(context: ExportContext, progress: Progress | None) -> None:
    """Write all chats, the index, overview and search pages, and the assets."""
    folder, index = context.folder, context.index
    chats = selected_chats(context.archive, context.choice)
    total = count(context.archive, chats, context.choice)
    completed = 0

    def advance(messages: int) -> None:
        nonlocal completed
        completed += messages
        if progress is not None:
            progress(completed, total)

    # Lazy, so that the pool computes page breaks only of the chats it is about to render.
    writers, coming = tee(
        ChatWriter(context, chat, *find_breaks_and_days(context.archive, chat.id, context.choice, context.clock))
        for chat in chats
    )
    pool = start_pool(context, total)
    try:
        rendered_pages = repeat(None) if pool is None else pool.render(coming)
        chat_exports = [write_chat(writer, rendered_pages, advance) for writer in writers]
    finally:
        if pool is not None:
            pool.close()
    links = [("search.html", "Search")] if index is not None else []
    links += write_overview(context, chat_exports)
    folder.put("index.html", pages.index_page(chat_exports, context.clock, links).encode())
    names = ["chat.css", "page.css", "page.js"]
    if index is not None:
        names.append("search.js")
        folder.put("search.html", pages.search_page(chat_exports).encode())
        write_search(context, index, chat_exports)
    for name in names:
        folder.put(f"assets/{name}", (STATIC / name).read_bytes())


def count(archive: Archive, chats: list[Chat], choice: ChatSelection) -> int:
    """Count the messages to export."""
    if choice.since_ms is None and choice.until_ms is None:
        return sum(chat.messages for chat in chats)
    row = archive.connection.execute(
        "SELECT count(*) FROM message WHERE chat_id IN (SELECT value FROM json_each(?1)) "
        "AND order_ms >= ?2 AND (?3 IS NULL OR order_ms < ?3)",
        (msgspec.json.encode([chat.id for chat in chats]).decode(), choice.since_ms or 0, choice.until_ms),
    ).fetchone()
    return int(row[0])


def write_search(context: ExportContext, index: WordIndex, chat_exports: list[ChatExport]) -> None:
    """Write the search index, unless it is unchanged."""
    folder = context.folder
    chats = [(chat_export.home, chat_export.chat.name) for chat_export in chat_exports]
    indexed_pages = [
        (indexed_page.home, indexed_page.name, indexed_page.latest, indexed_page.texts)
        for indexed_page in context.indexed_pages
    ]
    stamp = digest(context.sources.base_digest, chats, indexed_pages)
    reusable_files = decode_note(folder.read_note("search"), ReusableFiles)
    if (
        reusable_files is None
        or reusable_files.stamp != stamp
        or not all(folder.keep(*file) for file in reusable_files.files)
    ):
        for number, page in enumerate(context.indexed_pages):
            if not page.is_new:
                index.add(number, read_texts(folder, f"{page.home}/{page.name}.js"))
        reusable_files = ReusableFiles(
            stamp, tuple((name, folder.put(name, text)) for name, text in index_files(context, index, chats))
        )
    folder.write_note("search", msgspec.json.encode(reusable_files))


def read_texts(folder: ExportTarget, name: str) -> list[str]:
    """Read the texts of a page that was not rendered again."""
    try:
        return page_texts(folder.read(name))
    except msgspec.DecodeError:
        raise ExportRefused(f"{folder.path / name} is damaged; remove it and export again") from None


def index_files(
    context: ExportContext, index: WordIndex, chats: list[tuple[str, str]]
) -> Iterator[tuple[str, bytes]]:
    """Yield the shards of the search index, and their index file."""
    firsts: list[str] = []
    for first, rows in index.shards():
        number = len(firsts)
        firsts.append(first)
        yield f"search/{number}.js", f"holdfast.words({number},{{\n{rows}\n}});\n".encode()
    homes = {home: n for n, (home, _name) in enumerate(chats)}
    indexed_pages = [(homes[page.home], page.name, page.latest) for page in context.indexed_pages]
    whole = {"chats": chats, "pages": indexed_pages, "firsts": firsts}
    yield "search/index.js", b"holdfast.index(%s);\n" % msgspec.json.encode(whole)
