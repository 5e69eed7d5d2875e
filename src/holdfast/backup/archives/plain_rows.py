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
RECEIVED = cython.declare(cython.Py_ssize_t, 5)
SERVER_SENT = cython.declare(cython.Py_ssize_t, 6)
ORDER_MS = cython.declare(cython.Py_ssize_t, 7)
ORDER_N = cython.declare(cython.Py_ssize_t, 8)
LOOK = cython.declare(cython.Py_ssize_t, 9)
TEXT = cython.declare(cython.Py_ssize_t, 10)
EXTRA = cython.declare(cython.Py_ssize_t, 11)
EXPIRE_START = cython.declare(cython.Py_ssize_t, 12)
EXPIRES_IN = cython.declare(cython.Py_ssize_t, 13)
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

    `stored` and `moved` have the ids in use, `fingerprints` receives those of this block. A message that
    does not expire gets the shorter row that `insert_plain` takes. Return how many messages were converted.
    """
    index: cython.Py_ssize_t
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    at: cython.Py_ssize_t
    limit: cython.Py_ssize_t = records.limit
    block: cython.longlong = records.block
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
    more: str
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
            block = records.block
            continue
        at = len(waiting)
        if at >= limit:
            records.end_block()
            block = records.block
            at = 0
        waiting += (end - start).to_bytes(4, "little")
        waiting += raw
        look = row[LOOK]
        more = ""
        if flags & PARTS:
            quotes += reader.quotes
            ranges += reader.ranges
            attachments += reader.attachments
            links += reader.links
            stickers += reader.stickers
            if reader.files:
                look |= HAS_MEDIA
            if reader.links:
                look |= HAS_LINK
            more = "\n".join(reader.extra)
        receipts = NO_RECEIPTS if item[3] is None else pack_receipts(item[3], row[SENT])
        if row[EXPIRE_START] >= 0 or row[EXPIRES_IN] >= 0:
            messages.append(
                (*row[:LOOK], look, row[TEXT], more, *row[EXTRA + 1 :], *seen_in, records.block, at, receipts)
            )
        else:
            messages.append(
                (
                    number,
                    row[1],
                    row[2],
                    row[SENT],
                    row[RECEIVED],
                    row[SERVER_SENT],
                    row[ORDER_MS],
                    row[ORDER_N],
                    look,
                    row[TEXT],
                    more,
                    row[FINGERPRINT],
                    block << 32 | at,
                    receipts,
                )
            )
        fingerprints[number] = row[FINGERPRINT]
        taken += 1
        if item[4] is not None:
            reactions += item[4]
    return taken
