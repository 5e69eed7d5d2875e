"""A backup at a glance, drawn for people."""

import io

import pytest
from rich.console import Console

from holdfast import backup
from holdfast.backup.schema.backup_pb2 import AccountData, BackupInfo, Chat, ChatItem, Contact, Frame, Recipient
from holdfast.cli.summary import human_size, show
from tests.backup.streams import message_stream, record, sample, stream_of

DAY = 86_400_000


def drawn(data: bytes, *, terminal: bool = False) -> str:
    """Draw the summary of a stream."""
    out = Console(file=io.StringIO(), width=100, force_terminal=terminal, highlight=False)
    show(out, backup.info(io.BytesIO(data)))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


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
    """In steps of a thousand."""
    assert human_size(size) == text


def test_a_sample_is_drawn_with_everything() -> None:
    """What people recognise, in words."""
    text = drawn(stream_of(sample(450)))
    for words in (
        *("what", "made", "by", "account", "chats", "with", "messages", "media", "also"),
        *("people", "groups", "largest chats", "polls", "stickers", "sticker packs", "chat folders"),
    ):
        assert words in text
    assert "█" in text


def test_a_backup_of_nothing_is_drawn_too() -> None:
    """Without tables of nothing."""
    text = drawn(message_stream())
    assert "nobody" in text
    assert "unnamed" in text
    assert "from unknown to unknown" in text
    assert "largest chats" not in text


def test_many_months_are_drawn_as_years() -> None:
    """So that they fit on a screen; messages with no date that could be drawn have a line of their own."""
    items = [Frame(chatItem=ChatItem(chatId=1, dateSent=1_600_000_000_000 + 31 * DAY * n)) for n in range(40)]
    beyond = Frame(chatItem=ChatItem(chatId=1, dateSent=(1 << 64) - 1))
    text = drawn(message_stream(*items, beyond))
    lines = {line.split()[0]: line.split()[-1] for line in text.rpartition("year")[2].splitlines()[1:]}
    assert {"2020", "2021", "2022", "2023", "unknown"} <= set(lines)
    assert sum(map(int, lines.values())) == 41
    assert lines["unknown"] == "1"
    few = drawn(message_stream(*items[:20], beyond))
    assert "month" in few
    assert "2020-09" in few
    assert "unknown" in few.rpartition("month")[2]


def test_names_cannot_steer_the_terminal_or_the_layout() -> None:
    """Somebody else chose them: no escapes, no markup, no line breaks, no turned lines."""
    evil = "\x1b[31mred\x1b]0;title\x07[bold]x[/bold]\n\r\tline\u202egpj"
    header = BackupInfo(version=1, backupTimeMs=5, currentAppVersion=evil, firstAppVersion=evil)
    frames = [
        Frame(account=AccountData(givenName=evil)),
        Frame(recipient=Recipient(id=1, contact=Contact(profileGivenName=evil))),
        Frame(chat=Chat(id=1, recipientId=1)),
        Frame(chatItem=ChatItem(chatId=1)),
    ]
    data = record(header.SerializeToString()) + b"".join(record(frame.SerializeToString()) for frame in frames)
    for terminal in (False, True):
        text = drawn(data, terminal=terminal)
        assert "\x1b]" not in text
        assert "\x1b[31m" not in text
        assert not set(text) & set("\x07\r\u202e")
        assert text.count("[bold]x[/bold] linegpj") == 4
