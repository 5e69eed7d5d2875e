"""Reads messages into Arrow columns, without a Python object for each value.

A numeric column is an array with -1, or 0 for an id, for null; texts are one buffer with end offsets, as in Arrow.
Rare content, and messages that only protobuf can read, are passed to a callback in the order of the backup, so
that the rows of all tables have that order.
"""

from array import array
from collections.abc import Callable
from typing import Any, TypeAlias

import cython

from holdfast.backup.archives import item_rows
from holdfast.backup.archives.item_rows import ItemReader
from holdfast.backup.archives.part_rows import PartReader
from holdfast.backup.wire import stream

__all__ = ["MessageColumns", "attachment_rows", "other_frames", "reaction_rows", "read_messages"]

Row: TypeAlias = tuple[Any, ...]

HAS_LINK = cython.declare(cython.uint, item_rows.HAS_LINK)
# No limit inside a block: its records were checked when it was read.
NO_CAP = cython.declare(cython.Py_ssize_t, stream.NO_CAP)
# The protobuf tag of a chat item in a frame.
CHAT_ITEM = cython.declare(cython.uint, 4 << 3 | 2)
LATEST = cython.declare(cython.ulonglong, (1 << 63) - 1)
DIRECTIONLESS = cython.declare(cython.uint, item_rows.DIRECTIONS.index("none"))
# Indexes of columns of a quote row.
QUOTED_SENT = cython.declare(cython.Py_ssize_t, 2)
QUOTED_AUTHOR = cython.declare(cython.Py_ssize_t, 3)
QUOTED_TEXT = cython.declare(cython.Py_ssize_t, 5)


class MessageColumns:
    """The columns of up to `capacity` messages; `quoted_texts` and `events` are sparse, by row."""

    def __init__(self, capacity: cython.Py_ssize_t) -> None:
        self.rows = 0
        self.capacity = capacity
        numbers: bytes = bytes(8 * capacity)
        counts: bytes = bytes(4 * capacity)
        self.message_id = array("q", numbers)
        self.chat_id = array("q", numbers)
        self.author_id = array("q", numbers)
        self.sent = array("q", numbers)
        self.received = array("q", numbers)
        self.expires_in = array("q", numbers)
        self.pinned = array("q", numbers)
        self.quoted_sent = array("q", numbers)
        self.quoted_author = array("q", numbers)
        self.look = array("i", counts)
        self.attachments = array("i", counts)
        self.reactions = array("i", counts)
        self.revisions = array("i", counts)
        self.text_ends = array("i", bytes(4 * (capacity + 1)))
        self.texts = bytearray()
        self.quoted_texts: dict[int, str] = {}
        self.events: dict[int, str] = {}

    def add(  # noqa: PLR0917  # a C function: no keywords
        self,
        message_id: cython.longlong,
        chat_id: cython.longlong,
        author_id: cython.longlong,
        sent: cython.longlong,
        received: cython.longlong,
        expires_in: cython.longlong,
        look: cython.uint,
        text: bytes,
    ) -> cython.Py_ssize_t:
        """Add a message that is text only, and return its row number."""
        row: cython.Py_ssize_t = self.rows
        self.message_id[row] = message_id
        self.chat_id[row] = chat_id
        self.author_id[row] = author_id
        self.sent[row] = sent
        self.received[row] = received
        self.expires_in[row] = expires_in
        self.pinned[row] = -1
        self.quoted_sent[row] = -1
        self.quoted_author[row] = 0
        self.look[row] = look
        self.texts += text
        self.text_ends[row + 1] = len(self.texts)
        self.rows = row + 1
        return row

    def add_row(self, message_id: int, row: Row) -> int:
        """Add a message from a row of an archive, and return its row number."""
        _id, chat, author, sent, _first, received, _server, _order, _n, look, text = row[:11]
        index: int = self.add(message_id, chat, author, sent, received, row[13], look, text.encode())
        self.pinned[index] = row[14]
        return index

    def add_quote(self, row: cython.Py_ssize_t, quote: Row) -> None:
        """Set the quote columns of a message."""
        if quote[QUOTED_SENT] is not None:
            self.quoted_sent[row] = quote[QUOTED_SENT]
        self.quoted_author[row] = quote[QUOTED_AUTHOR]
        if quote[QUOTED_TEXT] is not None:
            self.quoted_texts[row] = quote[QUOTED_TEXT]


def other_frames(data: bytes) -> list[tuple[int, int, int]]:
    """Return number, start and end of the frames of a block that are not exactly one chat item."""
    items: ItemReader = ItemReader(data, {}, {}, {}, {})
    others: list[tuple[int, int, int]] = []
    frames: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    tag: cython.uint
    while items.enter(NO_CAP):
        start = items.pos
        end = items.end
        tag = items.step() if start < end else 0
        if tag != CHAT_ITEM or items.end != end:
            others.append((frames, start, end))
        items.pos = end
        frames += 1
    return others


def read_messages(  # noqa: PLR0917  # called once per block of messages
    data: bytes,
    first: cython.Py_ssize_t,
    people: dict[int, int],
    chats: dict[int, int],
    by_service_id: dict[str, int],
    columns: MessageColumns,
    reactions: list[Row],
    attachments: list[Row],
    special: Callable[[int, int, int], None],
) -> tuple[int, int, int]:
    """Read the chat items of a block, whose first frame has the number `first`.

    `people` and `chats` have the ids of the backup; `reactions` and `attachments` receive rows of those tables.
    `special` is called with the number, the start and the end of each chat item that needs protobuf. Return the
    fault (0: none), the number of complete frames, and the offset of the fault.
    """
    items: ItemReader = ItemReader(data, people, chats, {}, {})
    earlier: ItemReader = ItemReader(data, people, chats, {}, {})
    parts: PartReader = PartReader(data, people, by_service_id)
    frames: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    tag: cython.uint
    # Datasets have no receipts table.
    items.with_receipts = earlier.with_receipts = False
    while items.enter(NO_CAP):
        end = items.end
        tag = 0
        if items.pos < end:
            tag = items.step()
            if items.fault:
                break
        if tag == CHAT_ITEM and items.end == end:
            start = items.pos
            items.item()
            if items.fault:
                break
            if items.rich or items.odd:
                special(first + frames, start, end)
            elif items.parts is None and items.reactions is None and items.revisions is None:
                add_plain(columns, items, first + frames)
            elif not add_with_parts(columns, items, earlier, parts, first + frames, reactions, attachments):
                special(first + frames, start, end)
        items.pos = end
        frames += 1
    return items.fault, frames, items.pos


def add_plain(columns: MessageColumns, items: ItemReader, number: cython.longlong) -> cython.Py_ssize_t:
    """Add the text and times of the current message, and return its row number."""
    received: cython.longlong = -1
    expires_in: cython.longlong = -1
    if items.direction != DIRECTIONLESS:
        received = cython.cast(cython.longlong, min(items.received, LATEST))
    if items.has_expires_in:
        expires_in = cython.cast(cython.longlong, min(items.expires_in, LATEST))
    return columns.add(
        number,
        items.chats.get(items.chat, 0),
        items.people.get(items.author, 0),
        cython.cast(cython.longlong, min(items.sent, LATEST)),
        received,
        expires_in,
        items.look(),
        items.raw[items.text_start : items.text_end],
    )


def add_with_parts(  # noqa: PLR0917  # a C function: no keywords
    columns: MessageColumns,
    items: ItemReader,
    earlier: ItemReader,
    parts: PartReader,
    number: cython.longlong,
    reactions: list[Row],
    attachments: list[Row],
) -> cython.bint:
    """Add the current message with its quote, attachments, reactions and revisions.

    Return False, with nothing added, if one of them needs protobuf; `earlier` reads the revisions.
    """
    row: cython.Py_ssize_t
    quotes: list[Row] = []
    files: list[Row] = []
    links: cython.bint = False
    if items.parts is not None:
        if not parts.read(number, items.parts):
            return False
        # `read` creates new lists on each call, so these are not overwritten.
        quotes = parts.quotes
        files = parts.attachments
        links = len(parts.links) > 0
    if items.revisions is not None:
        for n, (start, end) in enumerate(items.revisions, 1):
            earlier.pos = start
            earlier.end = end
            earlier.item()
            if earlier.fault or earlier.rich or earlier.odd:
                return False
            if earlier.parts is not None:
                if not parts.read(number, earlier.parts):
                    return False
                files += [(file[0], n, *file[2:]) for file in parts.attachments]
    row = add_plain(columns, items, number)
    chat = columns.chat_id[row]
    if links:
        columns.look[row] |= HAS_LINK
    for quote in quotes:
        columns.add_quote(row, quote)
    if files:
        columns.attachments[row] = len(files)
        attachments += attachment_rows(number, chat, files)
    reacted = items.reaction_rows(number)
    if reacted is not None:
        columns.reactions[row] = len(reacted)
        reactions += reaction_rows(number, chat, reacted)
    if items.revisions is not None:
        columns.revisions[row] = len(items.revisions)
    return True


def reaction_rows(number: object, chat: object, rows: list[Row]) -> list[Row]:
    """Convert reaction rows of an archive to rows of a dataset."""
    return [(number, chat or None, row[2] or None, row[3], row[4]) for row in rows]


def attachment_rows(number: object, chat: object, rows: list[Row]) -> list[Row]:
    """Convert attachment rows of an archive to rows of a dataset."""
    return [
        (
            number,
            chat or None,
            row[1],
            row[2],
            row[3],
            row[4] or None,
            row[5] or None,
            row[6],
            row[7] if row[7] >= 0 else None,
            row[8] if row[8] >= 0 else None,
            row[9] or None,
            row[11] or None,
            row[12] or None,
            row[13] or None,
        )
        for row in rows
    ]
