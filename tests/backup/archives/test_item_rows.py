"""Rows of chat items equal those read by protobuf, and fingerprints depend on the content only."""

import random
from collections import Counter

from holdfast.backup.archives import item_rows as installed_items
from holdfast.backup.archives.item_rows import HAS_LINK, HAS_TEXT, IS_READ
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import ChatItem
from tests.backup.archives.histories import renumber
from tests.backup.streams import record, sample
from tests.backup.wire.core import Core

CAP = (1 << 32) - 1
PEOPLE = {number: number + 1000 for number in range(5000)}


def read(core: Core, *frames: Frame, people: dict[int, int] | None = None) -> list[tuple[object, ...]]:
    """Read frames as one block."""
    data = b"".join(record(frame.SerializeToString()) for frame in frames)
    recipients = PEOPLE if people is None else people
    rows, _others, _frames, fault, _at, *_place = core.item_rows.read_items(
        data, CAP, recipients, recipients, 0, -1, 1 << 62, {}, {}
    )
    assert fault == 0
    return list(rows)


def chat_items() -> list[Frame]:
    """Take every message of a history that has all kinds."""
    parsed = [Frame.FromString(raw) for raw in sample(400)[1:]]
    return [frame for frame in parsed if frame.WhichOneof("item") == "chatItem"]


def fingerprint(core: Core, item: ChatItem, people: dict[int, int] | None = None) -> int:
    """Make the fingerprint of one item."""
    digest = core.item_rows.fingerprint_of(item.SerializeToString(), PEOPLE if people is None else people)
    assert isinstance(digest, int)
    return digest


def test_rows_say_what_protobuf_reads(core: Core) -> None:
    """Times, text, direction, kind, receipts and reactions of every kind of message equal those of protobuf."""
    frames = chat_items()
    for frame, actual in zip(frames, read(core, *frames), strict=True):
        item, row = frame.chatItem, actual[6]
        assert isinstance(row, tuple)
        assert row[1:4] == (item.chatId + 1000, item.authorId + 1000, item.dateSent)
        assert row[4] == (item.revisions[0].dateSent if item.revisions else item.dateSent)
        fields = ChatItem.DESCRIPTOR.fields_by_name
        assert row[9] & 15 == fields[item.WhichOneof("directionalDetails") or ""].number
        assert row[9] >> 4 & 31 == fields[item.WhichOneof("item") or ""].number
        assert bool(row[9] & HAS_TEXT) == item.standardMessage.HasField("text")
        assert row[10] == item.standardMessage.text.body
        assert bool(row[9] & HAS_LINK) == ("https://" in item.standardMessage.text.body)
        assert bool(row[9] & IS_READ) == item.incoming.read
        receipts = sorted(
            (
                status.recipientId + 1000,
                status.timestamp,
                status.DESCRIPTOR.fields_by_name[status.WhichOneof("deliveryStatus") or ""].number,
            )
            for status in item.outgoing.sendStatus
        )
        assert sorted((status[0], status[1], status[2] & 15) for status in actual[3] or ()) == receipts  # type: ignore[attr-defined]  # a row of any columns
        content = item.stickerMessage if item.HasField("stickerMessage") else item.standardMessage
        reactions = sorted((status.authorId + 1000, status.emoji) for status in content.reactions)
        assert sorted(status[2:4] for status in actual[4] or ()) == reactions  # type: ignore[attr-defined]  # as above


def test_both_cores_make_the_same(core: Core) -> None:
    """The compiled and the interpreted core give the same rows, ids and fingerprints."""
    frames = chat_items()
    data = b"".join(record(frame.SerializeToString()) for frame in frames)
    nothing: dict[int, int] = {}
    context = (CAP, PEOPLE, PEOPLE, 0, -1, 1 << 62, nothing, nothing)
    assert core.item_rows.read_items(data, *context) == installed_items.read_items(data, *context)


def test_the_numbers_of_a_file_do_not_matter(core: Core) -> None:
    """Two files that number everybody differently have the same fingerprints and ids."""
    frames = chat_items()
    others = [Frame.FromString(frame.SerializeToString()) for frame in frames]
    for frame in others:
        renumber(frame, lambda number: number * 2 + 1, lambda number: number * 2 + 1)
    doubled = {number * 2 + 1: recipient for number, recipient in PEOPLE.items()}
    assert [row[6] for row in read(core, *frames)] == [row[6] for row in read(core, *others, people=doubled)]


def test_the_order_of_lists_that_have_none_does_not_matter(core: Core) -> None:
    """The order of receipts and reactions leaves the fingerprint as it is; that of poll options does not."""
    rng = random.Random(1)
    seen: Counter[str] = Counter()
    for frame in chat_items():
        item, mark = frame.chatItem, fingerprint(core, frame.chatItem)
        for mixed in (item.outgoing.sendStatus, item.standardMessage.reactions):
            if len(mixed) < 2:
                continue  # to touch an empty list would set the message around it
            shuffled = list(mixed)
            rng.shuffle(shuffled)
            seen["shuffled"] += shuffled != list(mixed)
            del mixed[:]
            mixed.extend(shuffled)  # type: ignore[arg-type]  # lists of two message types
        assert fingerprint(core, item) == mark
        if len(item.poll.options) > 1 and item.poll.options[0] != item.poll.options[1]:
            first = item.poll.options.pop(0)
            item.poll.options.append(first)
            assert fingerprint(core, item) != mark
            seen["poll"] += 1
    assert seen["shuffled"] > 10
    assert seen["poll"]


def test_whatever_is_said_differently_has_another_fingerprint(core: Core) -> None:
    """A letter, a reaction, a receipt, the author and an unknown field change the fingerprint."""
    item = ChatItem(chatId=1, authorId=2, dateSent=3)
    item.outgoing.sendStatus.add(recipientId=3, timestamp=4).sent.SetInParent()
    item.standardMessage.text.body = "some words"
    marks = {fingerprint(core, item)}
    item.standardMessage.text.body = "some wordz"
    marks.add(fingerprint(core, item))
    item.standardMessage.reactions.add(emoji="a", authorId=5)
    marks.add(fingerprint(core, item))
    item.standardMessage.reactions[0].authorId = 6
    marks.add(fingerprint(core, item))
    item.outgoing.sendStatus[0].read.SetInParent()
    marks.add(fingerprint(core, item))
    item.authorId = 9
    marks.add(fingerprint(core, item))
    item.MergeFromString(b"\xf8\x07\x01")
    marks.add(fingerprint(core, item))
    assert len(marks) == 7
    item.chatId = 77
    assert fingerprint(core, item) in marks


def test_ids_grow_with_time_and_fit_everywhere(core: Core) -> None:
    """Ids are below 2**53, so that a JavaScript program reads them, also after a collision."""
    make = core.item_rows.message_id
    assert make(1, 2, 5_000, 0, 0) < make(1, 2, 6_000, 0, 0)
    assert len({make(1, 2, 5_000, 0, rank) for rank in range(50)}) == 50
    assert max(make(1, 2, (1 << 64) - 1, 0, 0), make(1, 2, 3, 0, 0, 1)) < 1 << 53


def test_frames_that_are_not_messages_are_named(core: Core) -> None:
    """Each frame without a message is listed with the number of messages before it."""
    message = chat_items()[0]
    data = b"".join(record(frame.SerializeToString()) for frame in (Frame(), message, Frame(), message))
    rows, others, frames, *_rest = core.item_rows.read_items(data, CAP, PEOPLE, PEOPLE, 0, -1, 1 << 62, {}, {})
    assert (len(rows), [entry[0] for entry in others], frames) == (2, [0, 1], 4)


def test_items_for_protobuf_are_recognised_among_others(core: Core) -> None:
    """One item with a repeated oneof in a list is enough, wherever it is."""
    plain = chat_items()[0].SerializeToString()
    parts = (
        chat_items()[0].chatItem,
        ChatItem(outgoing=ChatItem.OutgoingMessageDetails()),
        ChatItem(incoming=ChatItem.IncomingMessageDetails(dateReceived=5)),
    )
    twice = b"".join(part.SerializeToString() for part in parts)
    # Field 4 of a frame, length-delimited.
    frame = b"\x22" + record(twice)
    data = record(plain) + record(frame) + record(plain)
    items, *_rest = core.item_rows.read_items(data, CAP, PEOPLE, PEOPLE, 0, -1, 1 << 62, {}, {})
    assert [bool(item[2] & core.item_rows.ODD) for item in items] == [False, True, False]
    assert core.item_rows.any_odd(items)
    assert not core.item_rows.any_odd(items[:1] + items[2:])
    assert not core.item_rows.any_odd([])


def test_damage_is_found(core: Core) -> None:
    """A record truncated anywhere is read without a crash, and a wrong length is a fault with its offset."""
    raw = chat_items()[3].SerializeToString()
    for size in range(len(raw)):
        core.item_rows.read_items(record(raw[:size]), CAP, PEOPLE, PEOPLE, 0, -1, 1 << 62, {}, {})
    *_rest, fault, offset, _latest, _place = core.item_rows.read_items(
        record(raw[:2] + b"\x5a\xff\xff\xff\xff\x0f"), CAP, PEOPLE, PEOPLE, 0, -1, 1 << 62, {}, {}
    )
    assert fault
    assert offset


def test_fingerprints_speak_of_aliases(core: Core) -> None:
    """The row has the person, and the fingerprint has the alias of the file.

    So the fingerprint stays the same when the person behind an alias becomes known.
    """
    item = ChatItem(chatId=1, authorId=1, dateSent=5)
    item.incoming.read = True
    item.standardMessage.text.body = "hello"
    data = record(Frame(chatItem=item).SerializeToString())

    def read(person: int, aliases: dict[int, int], chat_aliases: dict[int, int]) -> tuple[int, int]:
        people = {1: person}
        ((row,), *_rest) = core.item_rows.read_items(
            data, CAP, people, people, 0, -1, 1 << 62, aliases, chat_aliases
        )
        return row[-1][2], row[-1][-1]

    before, after = read(70, {}, {1: 70}), read(80, {1: 70}, {1: 70})
    assert (before[0], after[0]) == (70, 80)
    assert before[1] == after[1]
    assert len({before[1], read(80, {}, {})[1], read(80, {1: 70}, {})[1], read(80, {1: 70}, {1: 71})[1]}) == 4
