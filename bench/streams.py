"""The stream all benchmarks of the backup half are run on: a made-up history, kept in a temporary folder."""

import tempfile
from functools import cache
from itertools import islice
from pathlib import Path

from holdfast.backup.sample import sample_records
from holdfast.backup.wire.varint import encode_varint

__all__ = ["MESSAGES", "folder", "repeated", "sample_stream"]

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
