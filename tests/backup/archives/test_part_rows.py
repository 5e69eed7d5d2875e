"""Quotes, body ranges, attachments, links and stickers equal those read by protobuf, or are left to it."""

import random
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.archives.identity import uuid_text
from holdfast.backup.archives.part_rows import FLAGS, QUOTES, STYLES
from holdfast.backup.archives.rows import Rows
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.schema import Frame
from holdfast.backup.schema import backup_pb2 as pb
from tests.backup.streams import record, sample
from tests.backup.wire.core import Core
from tests.examples import examples

CAP = (1 << 32) - 1
PEOPLE = {number: number + 1000 for number in range(5000)}
BY_ACI = {"61616161-6161-6161-6161-616161616161": 77}
TABLES = ("quote", "text_range", "attachment", "link_preview", "sticker")
PARTS = 32


def items_of(core: Core, *frames: Frame) -> Iterator[tuple[bytes, tuple[object, ...], pb.ChatItem]]:
    """Read frames as one block, and each as protobuf does."""
    data = b"".join(record(frame.SerializeToString()) for frame in frames)
    rows, *_rest = core.item_rows.read_items(data, CAP, PEOPLE, PEOPLE, 0, -1, 1 << 62, {}, {})
    for item, frame in zip(rows, frames, strict=True):
        yield data, item, frame.chatItem


def by_core(core: Core, data: bytes, item: tuple[object, ...]) -> tuple[dict[str, object], str] | None:
    """Read the parts of a message in the core, None when it leaves them alone."""
    reader = core.part_rows.PartReader(data, PEOPLE, BY_ACI)
    if not reader.read(1, item[5]):
        return None
    rows = (reader.quotes, reader.ranges, reader.attachments, reader.links, reader.stickers)
    return {table: sorted(entries) for table, entries in zip(TABLES, rows, strict=True)}, "\n".join(reader.extra)


def by_protobuf(item: pb.ChatItem) -> tuple[dict[str, object], str, Notes]:
    """Read the parts of a message from the protobuf object."""
    notes = Notes()
    rows = Rows(PEOPLE, BY_ACI, notes, lambda: 0)
    row = rows.add_rich((1, *[0] * 8, 0, "", "", *[-1] * 4, 0, 0, 0), item)
    return {table: sorted(rows.tables[table]) for table in TABLES}, row[11], notes


def test_parts_are_what_protobuf_reads(core: Core) -> None:
    """The parts of all kinds of messages equal those of protobuf, and few are left to it."""
    frames = [frame for raw in sample(400)[1:] if (frame := Frame.FromString(raw)).HasField("chatItem")]
    compared = left = 0
    for data, item, parsed in items_of(core, *frames):
        if item[2] & PARTS and not item[2] & 1:  # type: ignore[operator]  # the third column is a number
            actual, expected = by_core(core, data, item), by_protobuf(parsed)
            left += actual is None
            compared += actual is not None
            assert actual is None or actual == expected[:2]
    assert compared > 20 * left


SHORT = st.text(max_size=6)
NUMBER = st.integers(0, (1 << 32) - 1)
KEYS = st.binary(max_size=3) | st.binary(min_size=64, max_size=64)
HASHES = st.binary(max_size=2) | st.binary(min_size=32, max_size=32)
UUIDS = st.sampled_from([b"", b"a" * 16, b"b" * 16, b"short"])
LOCATORS = st.builds(
    pb.FilePointer.LocatorInfo,
    key=KEYS,
    size=NUMBER,
    localKey=st.none() | KEYS,
    transitCdnKey=st.none() | SHORT,
    transitCdnNumber=st.none() | NUMBER,
    transitTierUploadTimestamp=st.none() | st.integers(0, (1 << 64) - 1),
    mediaTierCdnNumber=st.none() | NUMBER,
    plaintextHash=st.none() | HASHES,
)
POINTERS = st.builds(
    pb.FilePointer,
    contentType=st.none() | SHORT,
    fileName=st.none() | SHORT,
    caption=st.none() | SHORT,
    blurHash=st.none() | SHORT,
    width=st.none() | NUMBER,
    height=st.none() | NUMBER,
    locatorInfo=st.none() | LOCATORS,
)
ATTACHMENTS = st.builds(
    pb.MessageAttachment,
    pointer=st.none() | POINTERS,
    flag=st.integers(0, 5),
    wasDownloaded=st.booleans(),
    clientUuid=st.none() | UUIDS,
)
RANGES = st.builds(pb.BodyRange, start=NUMBER, length=NUMBER, style=st.integers(0, 6)) | st.builds(
    pb.BodyRange, start=NUMBER, length=NUMBER, mentionAci=UUIDS
)
TEXTS = st.builds(pb.Text, body=SHORT, bodyRanges=st.lists(RANGES, max_size=3))
QUOTED = st.builds(
    pb.Quote.QuotedAttachment,
    contentType=st.none() | SHORT,
    fileName=st.none() | SHORT,
    thumbnail=st.none() | ATTACHMENTS,
)
QUOTE = st.builds(
    pb.Quote,
    targetSentTimestamp=st.none() | st.integers(0, (1 << 64) - 1),
    authorId=st.integers(0, 6000),
    text=st.none() | TEXTS,
    attachments=st.lists(QUOTED, max_size=2),
    type=st.integers(0, 5),
)
LINKS = st.builds(
    pb.LinkPreview,
    url=SHORT,
    title=st.none() | SHORT,
    image=st.none() | POINTERS,
    description=st.none() | SHORT,
    date=st.none() | st.integers(0, (1 << 64) - 1),
)
MESSAGES = st.builds(
    pb.StandardMessage,
    quote=st.none() | QUOTE,
    text=st.none() | TEXTS,
    attachments=st.lists(ATTACHMENTS, max_size=2),
    linkPreview=st.lists(LINKS, max_size=2),
    longText=st.none() | POINTERS,
)
STICKERS = st.builds(
    pb.Sticker, packId=KEYS, packKey=KEYS, stickerId=NUMBER, emoji=st.none() | SHORT, data=st.none() | POINTERS
)


@settings(max_examples=examples(60), deadline=None)
@given(message=MESSAGES | STICKERS)
def test_whatever_is_read_is_what_protobuf_reads(core: Core, message: pb.StandardMessage | pb.Sticker) -> None:
    """For any content the core gives the rows of protobuf, or leaves it to protobuf.

    The core leaves every message to protobuf that has something to be noted.
    """
    frame = Frame()
    if isinstance(message, pb.Sticker):
        frame.chatItem.stickerMessage.sticker.CopyFrom(message)
    else:
        frame.chatItem.standardMessage.CopyFrom(message)
    ((block, item, parsed),) = items_of(core, frame)
    if item[2] & PARTS:  # type: ignore[operator]  # the third column is a number
        actual = by_core(core, block, item)
        rows, extra, notes = by_protobuf(parsed)
        assert actual is None or (actual == (rows, extra) and not notes.counts)


def test_what_is_there_twice_is_left_to_protobuf(core: Core) -> None:
    """A message with a field twice is left to protobuf, which merges the two."""
    original = pb.StandardMessage()
    original.quote.authorId = 1
    original.quote.type = pb.Quote.NORMAL
    doubled = original.SerializeToString() * 2
    raw = pb.ChatItem(chatId=1, authorId=1, dateSent=1).SerializeToString()
    raw += bytes([11 << 3 | 2, len(doubled)]) + doubled
    data = record(bytes([4 << 3 | 2, len(raw)]) + raw)
    ((item,), *_rest) = core.item_rows.read_items(data, CAP, PEOPLE, PEOPLE, 0, -1, 1 << 62, {}, {})
    assert by_core(core, data, item) is None


def test_names_are_those_of_the_format() -> None:
    """The names of quote types, styles and flags are those of the protobuf enums, ordered by number."""
    assert QUOTES[1:] == tuple(pb.Quote.Type.keys())[1:]
    assert STYLES[1:] == tuple(pb.BodyRange.Style.keys())[1:]
    assert tuple(pb.MessageAttachment.Flag.keys()) == FLAGS


def test_damage_is_left_to_protobuf(core: Core) -> None:
    """A part with any byte changed is read or left to protobuf, without an exception."""
    frames = [frame for raw in sample(60)[1:] if (frame := Frame.FromString(raw)).HasField("chatItem")]
    rng = random.Random(1)
    for data, item, _parsed in items_of(core, *frames):
        if not item[2] & PARTS:  # type: ignore[operator]  # the third column is a number
            continue
        for _ in range(20):
            damaged = bytearray(data)
            parts: list[tuple[int, int, int]] = item[5]  # type: ignore[assignment]  # the sixth column has the parts
            kind, start, end = rng.choice(parts)
            damaged[rng.randrange(start, end)] = rng.randrange(256)
            reader = core.part_rows.PartReader(bytes(damaged), PEOPLE, BY_ACI)
            assert reader.read(1, [(kind, start, end)]) in {True, False}


def test_ids_are_written_as_elsewhere(core: Core) -> None:
    """The ACI of a mention is written as a UUID."""
    frame = Frame()
    frame.chatItem.standardMessage.text.bodyRanges.add(start=1, length=1, mentionAci=b"a" * 16)
    ((data, item, _parsed),) = items_of(core, frame)
    actual = by_core(core, data, item)
    assert actual is not None
    assert actual[0]["text_range"] == [(1, 0, "text", 0, 1, 1, None, uuid_text(b"a" * 16), 77)]
