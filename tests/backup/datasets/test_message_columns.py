"""Messages read into columns by the compiled core, or passed to protobuf."""

from itertools import pairwise
from typing import Any

import pytest

from holdfast.backup.archives.item_rows import DIRECTIONS, HAS_LINK, HAS_TEXT, IS_READ, IS_SMS, KINDS
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import ChatItem, Quote
from holdfast.backup.wire import faults
from tests.backup.streams import record
from tests.backup.wire.core import Core

PEOPLE = {1: 1, 2: 2}
CHATS = {7: 7}
FIRST = 5
LATEST = (1 << 63) - 1


def message(text: str = "hello", sent: int = 1000) -> Frame:
    """Make a message that arrived."""
    frame = Frame(chatItem=ChatItem(chatId=7, authorId=1, dateSent=sent))
    frame.chatItem.incoming.dateReceived = sent + 1
    frame.chatItem.standardMessage.text.body = text
    return frame


class ReadColumns:
    """The result of reading a block: columns, rows of other tables, frames left to protobuf, and the fault."""

    def __init__(self, core: Core, data: bytes, capacity: int) -> None:
        self.columns = core.message_columns.MessageColumns(capacity)
        self.reactions: list[tuple[Any, ...]] = []
        self.attachments: list[tuple[Any, ...]] = []
        self.special: list[tuple[int, ChatItem]] = []
        self.fault, self.frames, self.at = core.message_columns.read_messages(
            data,
            FIRST,
            PEOPLE,
            CHATS,
            {},
            self.columns,
            self.reactions,
            self.attachments,
            lambda number, start, end: self.special.append((number, ChatItem.FromString(data[start:end]))),
        )

    def column(self, name: str) -> list[int]:
        """Return the values of a column."""
        return list(getattr(self.columns, name))[: self.columns.rows]

    @property
    def texts(self) -> list[str]:
        """The texts."""
        ends = list(self.columns.text_ends)[: self.columns.rows + 1]
        return [self.columns.texts[start:end].decode() for start, end in pairwise(ends)]


def read_columns(core: Core, *frames: Frame) -> ReadColumns:
    """Read frames."""
    data = b"".join(record(frame.SerializeToString()) for frame in frames)
    return ReadColumns(core, data, len(frames))


def test_a_text_is_a_row(core: Core) -> None:
    """A text message is one row with its ids, its times and its flags in one number."""
    unread, sent = message("see https://example.org ✓", 3000), message("", 4000)
    unread.chatItem.incoming.read = True
    unread.chatItem.expiresInMs = 60
    sent.chatItem.outgoing.sendStatus.add(recipientId=99, timestamp=1)
    sent.chatItem.sms = True
    sent.chatItem.expiresInMs = 0
    columns = read_columns(core, message(), unread, sent)
    assert columns.texts == ["hello", "see https://example.org ✓", ""]
    assert columns.column("message_id") == [5, 6, 7]
    assert columns.column("chat_id") == [7, 7, 7]
    assert columns.column("author_id") == [1, 1, 1]
    assert columns.column("sent") == [1000, 3000, 4000]
    assert columns.column("received") == [1001, 3001, 0]
    assert columns.column("expires_in") == [-1, 60, 0]
    assert columns.column("pinned") == columns.column("quoted_sent") == [-1, -1, -1]
    flags = columns.column("look")
    assert [DIRECTIONS[flag & 15] for flag in flags] == ["incoming", "incoming", "outgoing"]
    assert {KINDS[flag >> 4 & 31] for flag in flags} == {"message"}
    assert [flag & (HAS_TEXT | HAS_LINK | IS_READ | IS_SMS) for flag in flags] == [
        HAS_TEXT,
        HAS_TEXT | HAS_LINK | IS_READ,
        HAS_TEXT | IS_SMS,
    ]
    assert (columns.special, columns.fault, columns.frames) == ([], 0, 3)


def test_who_is_not_in_the_file_is_nobody(core: Core) -> None:
    """An unknown recipient or chat has the id 0, and too large numbers are clamped."""
    frame = message()
    frame.chatItem.authorId = frame.chatItem.chatId = 99
    frame.chatItem.dateSent = frame.chatItem.expiresInMs = frame.chatItem.incoming.dateReceived = LATEST + 5
    columns = read_columns(core, frame)
    assert columns.column("chat_id") == columns.column("author_id") == [0]
    assert columns.column("sent") == columns.column("received") == columns.column("expires_in") == [LATEST]


def test_a_message_without_direction_was_not_received(core: Core) -> None:
    """A directionless message has no received time, and a deleted one has no text."""
    frame = Frame(chatItem=ChatItem(chatId=7, authorId=1, dateSent=9))
    frame.chatItem.directionless.SetInParent()
    frame.chatItem.remoteDeletedMessage.SetInParent()
    columns = read_columns(core, frame)
    assert (columns.column("received"), columns.texts) == ([-1], [""])
    assert not columns.column("look")[0] & HAS_TEXT


def test_quotes_files_and_reactions_are_counted_and_listed(core: Core) -> None:
    """Attachments and reactions are counted and added as rows of their tables, with None for unset values."""
    frame = message()
    content = frame.chatItem.standardMessage
    content.quote.targetSentTimestamp, content.quote.authorId, content.quote.type = 77, 2, Quote.NORMAL
    content.quote.text.body = "what?"
    pointer = content.attachments.add().pointer
    pointer.contentType, pointer.width, pointer.locatorInfo.size = "image/png", 30, 400
    content.reactions.add(emoji="b", authorId=2, sentTimestamp=20, sortOrder=2)
    content.reactions.add(emoji="a", authorId=99, sentTimestamp=10, sortOrder=1)
    content.linkPreview.add(url="https://example.org")
    columns = read_columns(core, message(), frame)
    assert columns.column("quoted_sent") == [-1, 77]
    assert columns.column("quoted_author") == [0, 2]
    assert columns.columns.quoted_texts == {1: "what?"}
    assert columns.column("attachments") == [0, 1]
    assert columns.column("reactions") == [0, 2]
    assert columns.column("look")[1] & HAS_LINK
    assert columns.reactions == [(6, 7, None, "a", 10), (6, 7, 2, "b", 20)]
    name = caption = flag = None
    assert columns.attachments == [
        (6, 7, 0, "attachment", 0, "image/png", name, 400, 30, None, caption, "NONE", flag, None)
    ]


def test_a_quote_may_say_nothing(core: Core) -> None:
    """A quote without a timestamp has -1 there, and one without a text has no quoted text."""
    frame = message()
    frame.chatItem.standardMessage.quote.MergeFrom(Quote(authorId=2, type=Quote.NORMAL))
    columns = read_columns(core, frame)
    assert (columns.column("quoted_sent"), columns.column("quoted_author")) == ([-1], [2])
    assert columns.columns.quoted_texts == {}


def test_files_of_earlier_wordings_are_listed(core: Core) -> None:
    """Attachments of revisions are listed after those of the message, with the number of the revision."""
    frame = message()
    first, second = frame.chatItem.revisions.add(), frame.chatItem.revisions.add()
    for item, name in ((frame.chatItem, "now"), (first, "then"), (second, "later")):
        item.incoming.SetInParent()
        item.standardMessage.attachments.add().pointer.fileName = name
    frame.chatItem.standardMessage.reactions.add(emoji="x", authorId=2)
    columns = read_columns(core, frame)
    assert columns.column("revisions") == [2]
    assert columns.column("attachments") == [3]
    assert [(row[2], row[6]) for row in columns.attachments] == [(0, "now"), (1, "then"), (2, "later")]
    assert len(columns.reactions) == 1


def test_what_protobuf_has_to_read_is_handed_back(core: Core) -> None:
    """Messages that need protobuf are passed to the callback whole, and no row is added for them."""
    poll, stranger, earlier, mistaken = message(), message(), message(), message()
    poll.chatItem.poll.question = "when?"
    stranger.chatItem.standardMessage.quote.authorId = 99
    earlier.chatItem.revisions.add().poll.question = "or then?"
    earlier.chatItem.standardMessage.reactions.add(emoji="x", authorId=2)
    quoting = mistaken.chatItem.revisions.add().standardMessage
    quoting.attachments.add().pointer.fileName = "lake.jpg"
    quoting.quote.authorId = 99
    frames = [poll, stranger, earlier, mistaken, message()]
    columns = read_columns(core, *frames)
    assert columns.special == [(FIRST + n, frame.chatItem) for n, frame in enumerate(frames[:4])]
    assert columns.column("message_id") == [9]
    assert (columns.reactions, columns.attachments) == ([], [])


def test_a_row_of_an_archive_can_be_added(core: Core) -> None:
    """A row that protobuf has read is added to the columns."""
    data = record(message("ok").SerializeToString())
    ((item,), *_rest) = core.item_rows.read_items(data, 1 << 32, PEOPLE, CHATS, 0, -1, LATEST, {}, {})
    row = (*item[6][:13], 60, 4000, *item[6][15:])
    columns = core.message_columns.MessageColumns(1)
    assert columns.add_row(12, row) == 0
    names = ("message_id", "chat_id", "author_id", "sent", "received", "expires_in", "pinned")
    assert [getattr(columns, name)[0] for name in names] == [12, 7, 1, 1000, 1001, 60, 4000]
    assert columns.texts == b"ok"


def test_other_frames_are_found_and_passed_over(core: Core) -> None:
    """Frames without a chat item or with two of them are listed, and add no rows."""
    chat, two = Frame(), message("two").SerializeToString() + message("more").SerializeToString()
    chat.chat.id = 7
    raws = [message().SerializeToString(), chat.SerializeToString(), b"", two, message().SerializeToString()]
    data = b"".join(record(raw) for raw in raws)
    others = core.message_columns.other_frames(data)
    assert [(n, data[start:end]) for n, start, end in others] == [(n, raws[n]) for n in (1, 2, 3)]
    columns = ReadColumns(core, data, len(raws))
    assert (columns.column("message_id"), columns.frames) == ([5, 9], 5)


def test_what_cannot_be_read_is_told(core: Core) -> None:
    """A text that is not UTF-8 and a truncated record are faults with the number of frames read."""
    data = record(message("hello").SerializeToString())
    damaged = ReadColumns(core, data + data.replace(b"hello", b"hel\xffo"), 2)
    assert (damaged.fault, damaged.frames, damaged.columns.rows) == (faults.BAD_TEXT, 1, 1)
    assert len(data) < damaged.at < 2 * len(data)
    cut = ReadColumns(core, data + record(b"\x22\x7f\x08"), 2)
    assert (cut.fault, cut.frames) == (faults.CUT, 1)


def test_more_messages_than_there_is_space_for_are_refused(core: Core) -> None:
    """More messages than the columns have space for raise an `IndexError`."""
    data = 2 * record(message().SerializeToString())
    with pytest.raises(IndexError):
        ReadColumns(core, data, 1)
