"""Renders the pages of a large export in a pool of processes.

Each worker opens the archive and renders every n-th page, as `chat_export` does, but returns the files instead of
writing them. The main process receives the pages in order and writes them. Its read transaction keeps the archive
unchanged, so all processes see the same data. The main process renders pages that a worker cannot render, or whose
result depends on splits of earlier pages, and all pages if there is no pool.
"""

import gc
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, tzinfo
from itertools import cycle
from typing import IO, Any, Final, Self
from zoneinfo import ZoneInfo

import msgspec

from holdfast.backup.archives import Archive, Position
from holdfast.backup.archives import open as open_archive
from holdfast.backup.archives.media_files import KeptFile
from holdfast.backup.archives.passphrases import ArchiveKey
from holdfast.backup.errors import AttachmentDamaged
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.folder import DIGEST
from holdfast.backup.exports.html.chat_export import ChatWriter, ExportContext, RenderedPage
from holdfast.backup.exports.html.clock import TimeFormatter
from holdfast.backup.exports.html.pagination import find_page_breaks
from holdfast.backup.exports.html.search_index import words_of
from holdfast.backup.exports.html.sources import PageSources
from holdfast.backup.exports.media import MediaFiles
from holdfast.redacted_repr import redacted

__all__ = ["RenderPool", "start_pool"]

# With fewer messages, starting processes takes longer than rendering.
MIN_MESSAGES: Final = 50_000
MAX_PROCESSES: Final = 4
# Maximum number of pages sent to a process before its first result is read.
MAX_PENDING: Final = 4
# Threshold of the garbage collector in workers.
GC_THRESHOLD: Final = 100_000
PositionTuple = tuple[int, int, int]


@redacted
class RenderSettings(msgspec.Struct, frozen=True):
    """The settings of a worker."""

    archive: str
    zone: str
    table: dict[str, str]
    since_ms: int | None
    until_ms: int | None
    media: bool
    search: bool
    key: tuple[bytes, bytes] | None = None


@redacted
class PageTask(msgspec.Struct, frozen=True, array_like=True):
    """A page to render.

    It is small, however large the chat, so that sending never blocks on a worker that waits for its result to be
    read.
    """

    chat: int
    name: str
    start: PositionTuple
    end: PositionTuple | None


def start_pool(context: ExportContext, messages: int) -> "RenderPool | None":
    """Start a pool for a large export without earlier pages; None if it would not be faster."""
    count = min(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, MAX_PROCESSES
    )
    if messages < MIN_MESSAGES or count < 2 or context.folder.notes or not context.parallel:
        return None
    return RenderPool.start(context, count)


class RenderPool:
    """A pool of processes that render pages in round-robin order."""

    def __init__(self, processes: "Sequence[subprocess.Popen[bytes]]") -> None:
        self.processes = processes
        self.stack = ExitStack()
        for process in processes:
            self.stack.callback(process.wait)
            self.stack.callback(process.kill)

    @classmethod
    def start(cls, context: ExportContext, count: int) -> "Self | None":
        """Start processes; None if that is not possible."""
        zone = zone_name(context.clock.zone)
        if zone is None:
            return None
        key = context.archive.key
        settings = RenderSettings(
            str(context.archive.path.absolute()),
            zone,
            dict(context.archive.table),
            context.choice.since_ms,
            context.choice.until_ms,
            context.media is not None,
            context.index is not None,
            None if key is None else (key.key, key.salt),
        )
        command = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(count):
                processes.append(start_process(command))
                send(processes[-1].stdin, settings)
        except OSError:
            cls(processes).close()
            return None
        return cls(processes)

    def render(self, writers: Iterable[ChatWriter]) -> Iterator[RenderedPage | None]:
        """Yield the result of every page of all chats in order; None for a page that was not rendered."""
        pending: deque[int] = deque()
        workers = cycle(range(len(self.processes)))
        for writer in writers:
            for name, start, end in writer.breaks.ranges():
                worker = next(workers)
                page = PageTask(
                    writer.chat.id, name, position_tuple(start), None if end is None else position_tuple(end)
                )
                with suppress(OSError):
                    send(self.processes[worker].stdin, page)
                pending.append(worker)
                if len(pending) == MAX_PENDING * len(self.processes):
                    yield self.fetch(pending.popleft())
        while pending:
            yield self.fetch(pending.popleft())

    def fetch(self, worker: int) -> RenderedPage | None:
        """Wait for the next result of a worker."""
        try:
            rendered_page: RenderedPage | None = receive(self.processes[worker].stdout, RenderedPage | None)
        except (OSError, EOFError, msgspec.DecodeError):
            return None
        return rendered_page

    def close(self) -> None:
        """Stop the processes and close their pipes."""
        self.stack.close()
        for process in self.processes:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()


def start_process(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start a worker process; a page that fails there fails again, with its error, in the main process."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)  # noqa: S603  # our own


def zone_name(zone: tzinfo) -> str | None:
    """Return the key of a time zone that another process can load; None if it has none."""
    if zone is UTC:
        return ""
    return zone.key if isinstance(zone, ZoneInfo) else None


def position_tuple(position: Position) -> PositionTuple:
    """Return a position as a tuple."""
    return position.ms, position.n, position.id


def send(pipe: IO[bytes] | None, message: object) -> None:
    """Write a message to a pipe."""
    if pipe is not None:
        content = msgspec.msgpack.encode(message)
        pipe.write(len(content).to_bytes(8, "little") + content)
        pipe.flush()


def receive(pipe: IO[bytes] | None, kind: Any) -> Any:
    """Read a message from a pipe."""
    if pipe is None:
        raise EOFError
    size = pipe.read(8)
    content = pipe.read(int.from_bytes(size, "little")) if len(size) == 8 else b""
    if not content:
        raise EOFError
    return msgspec.msgpack.decode(content, type=kind)


class PageBuffer:
    """Replaces the export folder in a worker: buffers the files and notes of one page."""

    def __init__(self) -> None:
        self.rendered = RenderedPage()

    def read_note(self, _key: str) -> None:
        """Return None: the pool is only used if there are no earlier pages."""

    def write_note(self, key: str, value: bytes) -> None:
        """Buffer a note."""
        self.rendered.notes.append((key, value))

    def put(self, name: str, content: bytes) -> str:
        """Buffer a file and return the mark of its content."""
        mark = DIGEST(content).hexdigest()
        self.rendered.files.append((name, content, mark))
        return mark

    def has(self, name: str) -> bool:
        """Return whether a file was added for this page."""
        return any(file[0] == name for file in self.rendered.placed)

    def place(self, name: str, source: KeptFile, identity: str | None = None) -> None:
        """Buffer the path of a media file to add."""
        if source.key is not None and source.digest() is None:
            raise AttachmentDamaged(f"the encrypted file {source.path.name} is damaged")
        self.rendered.placed.append((name, source.place, identity))


class PageWords:
    """Replaces the search index in a worker: buffers the words of one page."""

    def __init__(self, buffer: PageBuffer) -> None:
        self.buffer = buffer

    def add(self, _page: int, texts: Sequence[str]) -> None:
        """Buffer the words of a page."""
        self.buffer.rendered.words.append(list(words_of(*texts)))


class RenderWorker:
    """Renders pages in a worker process."""

    def __init__(self, archive: Archive, settings: RenderSettings) -> None:
        self.buffer = PageBuffer()
        clock = TimeFormatter(ZoneInfo(settings.zone) if settings.zone else UTC)
        folder: Any = self.buffer
        index: Any = PageWords(self.buffer) if settings.search else None
        sources = PageSources(archive, clock, media=settings.media, search=settings.search)
        choice = ChatSelection((), settings.since_ms, settings.until_ms)
        media = MediaFiles(archive, folder) if settings.media else None
        self.context = ExportContext(archive, folder, choice, clock, media, index, sources)
        self.chats = {chat.id: chat for chat in archive.chats()}
        self.writer: ChatWriter | None = None

    def render(self, page: PageTask) -> RenderedPage:
        """Render a page."""
        writer = self.writer
        if writer is None or writer.chat.id != page.chat:
            breaks = find_page_breaks(self.context.archive, page.chat, self.context.choice)
            writer = self.writer = ChatWriter(self.context, self.chats[page.chat], breaks, {})
        self.buffer.rendered = rendered = RenderedPage()
        self.context.indexed_pages.clear()
        pages = len(writer.breaks.names)
        writer.count = 0
        end = None if page.end is None else Position(*page.end)
        writer.write(page.name, Position(*page.start), end)
        rendered.indexed_pages += self.context.indexed_pages
        rendered.count, rendered.latest_ms, rendered.preview = writer.count, writer.latest_ms, writer.preview
        rendered.is_split = len(writer.breaks.names) != pages
        return rendered


def main() -> None:
    """Render the pages requested on standard input, until that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Rendering creates no reference cycles, so frequent garbage collections are wasted.
    gc.set_threshold(GC_THRESHOLD)
    requests, results = sys.stdin.buffer, sys.stdout.buffer
    with suppress(EOFError, BrokenPipeError):
        settings = receive(requests, RenderSettings)
        key = None if settings.key is None else ArchiveKey(*settings.key)
        with open_archive(settings.archive, key=key) as archive:
            archive.table = settings.table
            archive.connection.execute("BEGIN")
            worker = RenderWorker(archive, settings)
            while True:
                page = receive(requests, PageTask)
                try:
                    rendered = worker.render(page)
                except Exception:  # noqa: BLE001  # whoever exports tries it too, and says what is wrong
                    rendered = None
                send(results, rendered)
