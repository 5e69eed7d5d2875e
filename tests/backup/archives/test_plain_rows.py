"""New plain messages are converted to rows; all others are passed to a callback in order."""

from dataclasses import dataclass, field

from holdfast.backup.archives.item_rows import Item
from holdfast.backup.archives.statements import PLAIN_COLUMNS
from holdfast.backup.schema import Frame
from tests.backup.streams import record
from tests.backup.wire.core import Core

CAP = (1 << 32) - 1
PEOPLE = {1: 11, 2: 12}
TABLES = ("reaction", "quote", "text_range", "attachment", "link_preview", "sticker")


@dataclass
class MemoryRecords:
    """A store of records in memory."""

    limit: int = 1 << 16
    block: int = 7
    waiting: bytearray = field(default_factory=bytearray)
    flushed: list[bytes] = field(default_factory=list)

    def end_block(self) -> None:
        """Begin a new block."""
        self.flushed.append(bytes(self.waiting))
        self.waiting.clear()
        self.block += 1


def message(text: str, sent: int) -> Frame:
    """Make a message."""
    frame = Frame()
    frame.chatItem.chatId = frame.chatItem.authorId = 1
    frame.chatItem.dateSent = sent
    frame.chatItem.incoming.read = True
    frame.chatItem.standardMessage.text.body = text
    return frame


def read_rows(
    core: Core,
    frames: list[Frame],
    writer: MemoryRecords,
    stored: set[int] | None = None,
    *,
    ends_block: bool = False,
) -> tuple[list[tuple[object, ...]], list[int], dict[str, list[tuple[object, ...]]]]:
    """Take frames in; return the rows, the numbers of those handed back, and the rows of other tables.

    With `ends_block` the callback ends the block of records.
    """
    data = b"".join(record(frame.SerializeToString()) for frame in frames)
    items, *_rest = core.item_rows.read_items(data, CAP, PEOPLE, PEOPLE, 0, -1, 1 << 62, {}, {})
    rows: list[tuple[object, ...]] = []
    back: list[int] = []
    tables: dict[str, list[tuple[object, ...]]] = {table: [] for table in TABLES}

    def special(_item: Item, _raw: bytes, frame: int) -> None:
        back.append(frame)
        if ends_block:
            writer.end_block()

    recipients: dict[int, int] = {}
    count = core.plain_rows.add_plain_messages(
        items, data, 5, stored or set(), set(), recipients, (3, -1), writer, PEOPLE, {}, rows, tables, special
    )
    assert count == len(rows) == len(recipients)
    return rows, back, tables


def test_plain_messages_become_short_rows(core: Core) -> None:
    """A row has the times and the text of its message, the block and offset of its record, and packed receipts."""
    writer = MemoryRecords()
    sent = message("ok 👍", 2000)
    sent.chatItem.outgoing.sendStatus.add(recipientId=2, timestamp=2500).read.sealedSender = True
    rows, back, _tables = read_rows(core, [message("one", 1000), sent], writer)
    size = len(message("one", 1000).chatItem.SerializeToString()) + 4
    assert {len(row) for row in rows} == {PLAIN_COLUMNS}
    assert [(row[3], row[9], row[12]) for row in rows] == [
        (1000, "one", 7 << 32),
        (2000, "ok 👍", 7 << 32 | size),
    ]
    assert [row[13] for row in rows] == [b"", bytes([12, 6 | 16, 0xE8, 7])]
    assert back == []
    assert message("one", 1000).chatItem.SerializeToString() in writer.waiting


def test_messages_that_expire_become_full_rows(core: Core) -> None:
    """A message with an expiry gets all columns, with the snapshots of its message after those that are read."""
    frame, started = message("soon gone", 1000), message("going", 2000)
    frame.chatItem.expiresInMs = 60_000
    started.chatItem.expireStartDate = 2500
    rows, _back, _tables = read_rows(core, [frame, started], MemoryRecords())
    size = len(frame.chatItem.SerializeToString()) + 4
    assert [(row[10], row[12:14], row[19:23]) for row in rows] == [
        ("soon gone", (-1, 60_000), (3, -1, 7, 0)),
        ("going", (2500, -1), (3, -1, 7, size)),
    ]
    assert [row[23] for row in rows] == [b"", b""]


def test_parts_go_to_their_tables(core: Core) -> None:
    """Attachments and reactions are added to their tables, and the row is marked as having media."""
    frame = message("look", 1000)
    frame.chatItem.standardMessage.attachments.add().pointer.fileName = "lake.jpg"
    frame.chatItem.standardMessage.reactions.add(emoji="x", authorId=2)
    rows, _back, tables = read_rows(core, [frame], MemoryRecords())
    assert rows[0][10] == "lake.jpg"
    assert rows[0][8] & core.item_rows.HAS_MEDIA
    assert {table: len(parts) for table, parts in tables.items() if parts} == {"attachment": 1, "reaction": 1}


def test_others_are_handed_back(core: Core) -> None:
    """A poll, an unknown author, a second message of one moment and a stored one go to the callback."""
    poll, unknown = message("", 3000), message("who", 4000)
    poll.chatItem.poll.question = "when?"
    unknown.chatItem.authorId = 99
    rows, back, _tables = read_rows(core, [poll, message("a", 1000), unknown, message("b", 1000)], MemoryRecords())
    assert (len(rows), back) == (1, [5, 7, 8])
    stored = {rows[0][0]}
    assert read_rows(core, [message("a", 1000)], MemoryRecords(), stored)[1] == [5]  # type: ignore[arg-type]  # only the keys are read


def test_a_block_that_ends_elsewhere_is_noticed(core: Core) -> None:
    """A record that the callback adds can fill the block; rows after it refer to the next one."""
    writer = MemoryRecords()
    poll = message("", 2000)
    poll.chatItem.poll.question = "when?"
    rows, _back, _tables = read_rows(core, [message("a", 1000), poll, message("b", 3000)], writer, ends_block=True)
    assert [row[12] for row in rows] == [7 << 32, 8 << 32]


def test_full_blocks_are_written(core: Core) -> None:
    """Each block that is full is flushed, and the next record begins a new one."""
    writer = MemoryRecords(limit=40)
    rows, _back, _tables = read_rows(core, [message("x" * 50, second * 1000) for second in range(1, 4)], writer)
    assert [row[12] for row in rows] == [7 << 32, 8 << 32, 9 << 32]
    assert len(writer.flushed) == 2
