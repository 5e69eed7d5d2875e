"""The summary of a backup as text."""

import io
from contextlib import redirect_stdout

import pytest

from holdfast import backup
from holdfast.backup.schema.backup_pb2 import AccountData, BackupInfo, Chat, ChatItem, Contact, Frame, Recipient
from holdfast.cli.summary import aligned, human_size, show
from tests.backup.streams import message_stream, record, sample, stream_of

DAY = 86_400_000


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


def render_summary(data: bytes, *, terminal: bool = False) -> str:
    """Return the printed summary of a stream."""
    out = Terminal() if terminal else io.StringIO()
    with redirect_stdout(out):
        show(backup.info(io.BytesIO(data)))
    return out.getvalue()


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (1_234_567, "1.2 MB"),
        (5 * 10**9, "5.0 GB"),
        (7 * 10**15, "7,000.0 TB"),
    ],
)
def test_sizes_are_written_as_people_say_them(size: int, text: str) -> None:
    """Sizes are written with decimal units."""
    assert human_size(size) == text


def test_a_sample_is_drawn_with_everything() -> None:
    """The summary has rows for the account, chats, messages and media, and bars."""
    text = render_summary(stream_of(sample(450)))
    facts, kinds, chats, years = (part.splitlines() for part in text.strip().split("\n\n"))
    assert [line.split("  ")[0] for line in facts] == [
        *("what", "made", "by", "first by", "account", "chats", "with", "messages", "media", "also"),
    ]
    for expected in ("people", "groups", "story lists", "call links", "sticker packs", "chat folders"):
        assert expected in "\n".join(facts)
    assert {"messages", "stickers", "polls"} <= {line.split("  ")[0] for line in kinds[1:]}
    assert (chats[0].split("  ")[0], len(chats)) == ("largest chats", 11)
    assert "█" in "\n".join(years)


def test_columns_are_aligned_by_the_width_of_their_characters() -> None:
    """A wide character takes two cells; numbers end in the same column; no line ends in spaces."""
    assert list(aligned([("name", "count"), ("船", "1,000"), ("boat", "7")], last_right=True)) == [
        "name  count",
        "船    1,000",
        "boat      7",
    ]
    assert list(aligned([("by", "x"), ("account", "")])) == ["by       x", "account"]


def test_only_a_terminal_gets_a_bold_header() -> None:
    """A pipe gets no escape sequences."""
    data = stream_of(sample(450))
    assert "\x1b[1mlargest chats" in render_summary(data, terminal=True)
    assert "\x1b" not in render_summary(data)


def test_a_backup_of_nothing_is_drawn_too() -> None:
    """The summary of a backup without messages has no table of chats."""
    text = render_summary(message_stream())
    assert "nobody" in text
    assert "unnamed" in text
    assert "messages  0\n" in text
    assert "largest chats" not in text


def test_many_months_are_drawn_as_years() -> None:
    """A long history is shown by year instead of month, and messages with an impossible date as unknown."""
    items = [Frame(chatItem=ChatItem(chatId=1, dateSent=1_600_000_000_000 + 31 * DAY * n)) for n in range(40)]
    beyond = Frame(chatItem=ChatItem(chatId=1, dateSent=(1 << 64) - 1))
    text = render_summary(message_stream(*items, beyond))
    lines = {line.split()[0]: line.split()[-1] for line in text.rpartition("year")[2].splitlines()[1:]}
    assert {"2020", "2021", "2022", "2023", "unknown"} <= set(lines)
    assert sum(map(int, lines.values())) == 41
    assert lines["unknown"] == "1"
    few = render_summary(message_stream(*items[:20], beyond))
    assert "month" in few
    assert "2020-09" in few
    assert "unknown" in few.rpartition("month")[2]


def test_names_cannot_steer_the_terminal_or_the_layout() -> None:
    """Escape sequences, line breaks and bidi controls are removed from names, and markup is text."""
    hostile = "\x1b[31mred\x1b]0;title\x07[bold]x[/bold]\n\r\tline\u202egpj"
    header = BackupInfo(version=1, backupTimeMs=5, currentAppVersion=hostile, firstAppVersion=hostile)
    frames = [
        Frame(account=AccountData(givenName=hostile)),
        Frame(recipient=Recipient(id=1, contact=Contact(profileGivenName=hostile))),
        Frame(chat=Chat(id=1, recipientId=1)),
        Frame(chatItem=ChatItem(chatId=1)),
    ]
    data = record(header.SerializeToString()) + b"".join(record(frame.SerializeToString()) for frame in frames)
    for terminal in (False, True):
        text = render_summary(data, terminal=terminal)
        assert "\x1b]" not in text
        assert "\x1b[31m" not in text
        assert not set(text) & set("\x07\r\u202e")
        assert text.count("[bold]x[/bold] linegpj") == 4


def test_one_of_each_is_counted_in_the_singular() -> None:
    """Counts agree with their nouns."""
    contact = Frame(recipient=Recipient(id=1, contact=Contact(profileGivenName="Ada")))
    attachment = Frame(chatItem=ChatItem(chatId=1, authorId=1, dateSent=DAY))
    attachment.chatItem.standardMessage.attachments.add().pointer.locatorInfo.size = 1
    pack = Frame()
    pack.stickerPack.packId = bytes(16)
    text = render_summary(message_stream(contact, attachment, pack, Frame()))
    for phrase in ("1 person\n", "1 attachment, ", "1 sticker pack\n", "1 frame without a record"):
        assert phrase in text
