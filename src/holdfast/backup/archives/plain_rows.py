"""Converts the plain messages of a block to rows: new ones that the compiled readers can read completely.

All others are passed to a callback in the order of the backup, as their import may depend on that order.
"""

from collections.abc import Callable, Container
from typing import Protocol

import cython

from holdfast.backup.archives import item_rows
from holdfast.backup.archives.item_rows import Item, Row, pack_receipts
from holdfast.backup.archives.part_rows import PartReader

__all__ = ["Records", "add_plain_messages"]

PARTS = cython.declare(cython.uint, item_rows.PARTS)
HAS_MEDIA = cython.declare(cython.uint, item_rows.HAS_MEDIA)
HAS_LINK = cython.declare(cython.uint, item_rows.HAS_LINK)
# Indexes of columns of a message row.
SENT = cython.declare(cython.Py_ssize_t, 3)
LOOK = cython.declare(cython.Py_ssize_t, 9)
TEXT = cython.declare(cython.Py_ssize_t, 10)
EXTRA = cython.declare(cython.Py_ssize_t, 11)
FINGERPRINT = cython.declare(cython.Py_ssize_t, 18)
NO_RECEIPTS = bytearray()


class Records(Protocol):
    """The interface of `RecordWriter` that is used here."""

    limit: int
    block: int
    waiting: bytearray

    def end_block(self) -> None:
        """Begin the next block."""


def add_plain_messages(  # noqa: PLR0915, PLR0917  # called once per block of messages
    items: list[Item],
    data: bytes,
    frame: cython.Py_ssize_t,
    stored: Container[int],
    moved: Container[int],
    fingerprints: dict[int, int],
    seen_in: tuple[int, int],
    records: Records,
    people: dict[int, int],
    by_aci: dict[str, int],
    messages: list[Row],
    tables: dict[str, list[Row]],
    special: Callable[[Item, bytes, int], None],
) -> int:
    """Convert new plain messages to rows; `special` is called with each other item, its record and frame number.

    `stored` and `moved` have the ids in use, `fingerprints` receives those of this block. Return how many messages
    were converted.
    """
    index: cython.Py_ssize_t
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    at: cython.Py_ssize_t
    limit: cython.Py_ssize_t = records.limit
    flags: cython.uint
    waiting: bytearray = records.waiting
    item: Item
    row: Row
    raw: bytes
    taken: cython.Py_ssize_t = 0
    reader: PartReader = PartReader(data, people, by_aci)
    reactions: list[Row] = tables["reaction"]
    quotes: list[Row] = tables["quote"]
    ranges: list[Row] = tables["text_range"]
    attachments: list[Row] = tables["attachment"]
    links: list[Row] = tables["link_preview"]
    stickers: list[Row] = tables["sticker"]
    look: cython.uint
    for index in range(len(items)):
        item = items[index]
        row = item[6]
        start = item[0]
        end = item[1]
        flags = item[2]
        raw = data[start:end]
        number = row[0]
        if (
            flags & ~PARTS
            or number in fingerprints
            or number in stored
            or number in moved
            or (flags & PARTS and not reader.read(number, item[5]))
        ):
            special(item, raw, frame + index)
            continue
        at = len(waiting)
        if at >= limit:
            records.end_block()
            at = 0
        waiting += (end - start).to_bytes(4, "little")
        waiting += raw
        if flags & PARTS:
            quotes += reader.quotes
            ranges += reader.ranges
            attachments += reader.attachments
            links += reader.links
            stickers += reader.stickers
            look = row[LOOK]
            if reader.files:
                look |= HAS_MEDIA
            if reader.links:
                look |= HAS_LINK
            more = "\n".join(reader.extra)
            if more or look != row[LOOK]:
                row = (*row[:LOOK], look, row[TEXT], more, *row[EXTRA + 1 :])
        receipts = NO_RECEIPTS if item[3] is None else pack_receipts(item[3], row[SENT])
        messages.append((*row, *seen_in, records.block, at, receipts))
        fingerprints[number] = row[FINGERPRINT]
        taken += 1
        if item[4] is not None:
            reactions += item[4]
    return taken
