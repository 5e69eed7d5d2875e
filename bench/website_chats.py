"""Pages of conversations: a chat at any depth of a million messages, and how large pages are."""

import random
import statistics
import time
from pathlib import Path

from bench.archive import imported
from bench.harness import Figure
from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.open_archive import OpenArchive, open_archive_file
from holdfast.web.chats.single_archive import render_page
from holdfast.web.chats.view import TemplateResult

MANY = 1_000_000
PAGES = 150


def drawn(room: OpenArchive, path: str, query: dict[str, str]) -> tuple[float, int]:
    """Draw a page; return the seconds it took and its size."""
    started = time.perf_counter()
    found = respond(room, "", path, query)
    assert isinstance(found, TemplateResult)
    page = render_page(room.name, found)
    return time.perf_counter() - started, len(page.body)


def measured(place: Path) -> list[Figure]:
    """Go through an archive."""
    room = open_archive_file(place, place.name)
    dice = random.Random(1)
    with room.reading() as archive:
        chat = max(archive.chats(), key=lambda one: one.messages)
        (low, high) = archive.connection.execute(
            "SELECT min(order_ms), max(order_ms) FROM message WHERE chat_id = ?", (chat.id,)
        ).fetchone()
    path = f"chat/{chat.id}"
    first, _ = drawn(room, "", {})
    drawn(room, path, {})
    last = [drawn(room, path, {}) for _ in range(PAGES)]
    deep = [drawn(room, path, {"before": f"{dice.randint(low, high)}.0.0"}) for _ in range(PAGES)]
    lists = [drawn(room, "", {}) for _ in range(10)]
    counting, _ = drawn(room, "statistics", {})
    times = sorted(seconds for seconds, _ in last + deep)
    depth = statistics.median(seconds for seconds, _ in deep) / statistics.median(seconds for seconds, _ in last)
    largest = max(size for _, size in last + deep + lists)
    return [
        Figure("a page of a chat, 95 of 100 within", 1000 * times[len(times) * 95 // 100], "ms", most=40),
        Figure("a page anywhere in a chat against the last one", depth, "times", most=2.5),
        Figure("messages in that chat", chat.messages, "messages"),
        Figure("the list of chats, the first time", 1000 * first, "ms"),
        Figure("the list of chats, after that", 1000 * statistics.median(seconds for seconds, _ in lists), "ms"),
        Figure("statistics, the first time", 1000 * counting, "ms"),
        Figure("the largest page", largest / 1000, "kB", most=200),
    ]


def figures() -> list[Figure]:
    """Measure."""
    place, _import = imported(MANY)
    return measured(place)
