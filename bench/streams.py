"""The stream all benchmarks of the backup half are run on: a made-up history, kept in a temporary folder."""

import tempfile
from functools import cache
from itertools import islice
from pathlib import Path

from holdfast.backup import OutputFormat, convert
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire.varint import encode_varint
from holdfast_demo.sample import sample_records

__all__ = ["MESSAGES", "folder", "one_chat_stream", "repeated", "sample_lines", "sample_stream", "with_news"]

MESSAGES = 500_000


@cache
def folder() -> Path:
    """Make the temporary folder; it goes when the process ends."""
    home = tempfile.TemporaryDirectory(prefix="holdfast-bench-")
    # Kept alive by the cache's closure: the folder is removed when the interpreter ends.
    folder_keeper.append(home)
    return Path(home.name)


folder_keeper: list[tempfile.TemporaryDirectory[str]] = []


@cache
def sample_stream(messages: int = MESSAGES) -> Path:
    """Write a history of so many messages, once."""
    path = folder() / f"{messages}.binproto"
    with path.open("wb") as target:
        for record in sample_records(messages):
            target.write(encode_varint(len(record)) + record)
    return path


@cache
def sample_lines(messages: int = MESSAGES) -> Path:
    """Write the same history as JSON Lines, once."""
    path = folder() / f"{messages}.jsonl"
    with path.open("wb") as target:
        convert(sample_stream(messages), target, to=OutputFormat.JSONL)
    return path


@cache
def one_chat_stream(messages: int) -> Path:
    """Write a history in which all is said in one group."""
    path = folder() / f"one-chat-{messages}.binproto"
    groups: set[int] = set()
    chat = 0
    with path.open("wb") as target:
        for n, record in enumerate(sample_records(messages)):
            frame = Frame.FromString(record) if n else Frame()
            if frame.recipient.HasField("group"):
                groups.add(frame.recipient.id)
            elif frame.HasField("chat") and not chat and frame.chat.recipientId in groups:
                chat = frame.chat.id
            elif frame.HasField("chatItem"):
                frame.chatItem.chatId = chat
            content = frame.SerializeToString() if n else record
            target.write(encode_varint(len(content)) + content)
    return path


def with_news(messages: int, news: int) -> Path:
    """Write a later backup of a history, with so many new messages at its end."""
    path = folder() / f"{messages}+{news}.binproto"
    records = sample_records(messages)
    info = BackupInfo.FromString(next(records))
    info.backupTimeMs += 86_400_000
    header, last = info.SerializeToString(), b""
    with path.open("wb") as target:
        target.write(encode_varint(len(header)) + header)
        for record in records:
            target.write(encode_varint(len(record)) + record)
            last = record if Frame.FromString(record).chatItem.HasField("incoming") else last
        for n in range(news):
            frame = Frame.FromString(last)
            frame.chatItem.dateSent = frame.chatItem.incoming.dateReceived = info.backupTimeMs - 1000 * (news - n)
            frame.chatItem.standardMessage.text.body = f"news {n}"
            content = frame.SerializeToString()
            target.write(encode_varint(len(content)) + content)
    return path


def repeated(times: int, messages: int = MESSAGES) -> Path:
    """Write the same history with its frames repeated, for lengths that would take too long to make up."""
    path = folder() / f"{messages}x{times}.binproto"
    header = next(islice(sample_records(1), 1))
    with path.open("wb") as target:
        target.write(encode_varint(len(header)) + header)
        data = sample_stream(messages).read_bytes()
        size = data[0] if data[0] < 0x80 else (data[0] & 0x7F) | data[1] << 7
        frames = memoryview(data)[size + (1 if data[0] < 0x80 else 2) :]
        for _ in range(times):
            target.write(frames)
    return path
