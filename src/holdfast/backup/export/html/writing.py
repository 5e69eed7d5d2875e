"""Writes an archive as a folder of pages."""

from datetime import UTC, tzinfo
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from holdfast.backup.archive import Archive, Chat
from holdfast.backup.export.choice import Choice, chosen
from holdfast.backup.export.folder import Folder, Written
from holdfast.backup.export.html import pages
from holdfast.backup.export.html.clock import Clock
from holdfast.backup.export.html.rooms import Room, Shelf, write_room
from holdfast.backup.export.html.words import WordIndex
from holdfast.backup.export.job import Progress
from holdfast.backup.export.media import MediaFiles

__all__ = ["Progress", "write_html"]


STATIC: Final = files("holdfast.backup.export.html") / "static"


def write_html(
    archive: Archive,
    target: Path,
    choice: Choice,
    *,
    media: bool,
    search: bool,
    progress: Progress | None = None,
    zone: tzinfo = UTC,
) -> Written:
    """Write pages that look like a messenger; `zone` is the time zone they tell times in."""
    chats = chosen(archive, choice)
    total = count(archive, chats, choice)
    done = 0
    with Folder(target, "html") as folder:
        index = WordIndex() if search else None
        files_of = MediaFiles(archive, folder) if media else None
        shelf = Shelf(archive, folder, choice, Clock(zone), files_of, index)

        def advance(messages: int) -> None:
            nonlocal done
            done += messages
            if progress is not None:
                progress(done, total)

        try:
            rooms = [write_room(shelf, chat, advance) for chat in chats]
            folder.put("index.html", pages.index_page(rooms, shelf.clock, search=search).encode())
            names = ["chat.css", "page.css", "page.js"]
            if index is not None:
                names.append("search.js")
                folder.put("search.html", pages.search_page(rooms).encode())
                write_index(folder, index, rooms, shelf.listed)
            for name in names:
                folder.put(f"assets/{name}", (STATIC / name).read_bytes())
        finally:
            if index is not None:
                index.close()
        return folder.finish()


def count(archive: Archive, chats: list[Chat], choice: Choice) -> int:
    """Count the messages to write."""
    if choice.since_ms is None and choice.until_ms is None:
        return sum(chat.messages for chat in chats)
    row = archive.connection.execute(
        "SELECT count(*) FROM message WHERE chat_id IN (SELECT value FROM json_each(?1)) "
        "AND order_ms >= ?2 AND (?3 IS NULL OR order_ms < ?3)",
        (msgspec.json.encode([chat.id for chat in chats]).decode(), choice.since_ms or 0, choice.until_ms),
    ).fetchone()
    return int(row[0])


def write_index(folder: Folder, index: WordIndex, rooms: list[Room], listed: list[tuple[str, str, int]]) -> None:
    """Write the index of words, and the list that leads into it."""
    firsts: list[str] = []
    for first, rows in index.shards():
        folder.put(f"search/{len(firsts)}.js", f"holdfast.words({len(firsts)},{{\n{rows}\n}});\n".encode())
        firsts.append(first)
    homes = {room.home: n for n, room in enumerate(rooms)}
    whole = {
        "chats": [(room.home, room.chat.name) for room in rooms],
        "pages": [(homes[home], name, latest) for home, name, latest in listed],
        "firsts": firsts,
    }
    folder.put("search/index.js", b"holdfast.index(%s);\n" % msgspec.json.encode(whole))
