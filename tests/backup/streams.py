"""Sample backups: small ones built from records, and generated ones in every format."""

import gzip
import io
import os
import threading
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO

from holdfast.backup import Backup
from holdfast.backup.container.keys import EntropyPool, ForwardSecrecyToken
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.schema import BackupInfo
from holdfast.backup.schema import Frame as FrameMessage
from holdfast.backup.wire import frame_to_json, header_to_json
from holdfast.backup.wire.varint import encode_varint, varint_at
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.container.vectors import SET_A, SET_B

HEADER = BackupInfo(
    version=1, backupTimeMs=1_700_000_000_123, currentAppVersion="App 2.0", firstAppVersion="App 1.0"
).SerializeToString()

POOL = EntropyPool.parse(SET_B.pool)
LOCAL_KEYS = KeyMaterial(pool=POOL)
KEYS = KeyMaterial(pool=POOL, aci=SET_B.aci)
MODERN_KEYS = KeyMaterial(pool=POOL, aci=SET_B.aci, token=ForwardSecrecyToken.parse(SET_B.token))
# Those above begin with one that somebody could guess, which nothing new is encrypted with.
STRONG_KEYS = KeyMaterial(pool=EntropyPool.parse(SET_A.pool), aci=SET_B.aci, token=MODERN_KEYS.token)
KEY_FILE = f"recovery-key = {SET_B.pool}\naccount-id = {SET_B.aci}\ntoken = {SET_B.token}\n"


def record(raw: bytes) -> bytes:
    """Prefix a record with its length."""
    return encode_varint(len(raw)) + raw


def stream_of(records: Iterable[bytes]) -> bytes:
    """Write a frame stream."""
    return b"".join(map(record, records))


def is_single_message(raw: bytes) -> bool:
    """Return whether a frame consists of a single message, whose length is one or more bytes behind the tag."""
    if raw[:1] != b"\x22" or not any(byte < 0x80 for byte in raw[1:6]):
        return False
    size, start = varint_at(raw, 1)
    return start + size == len(raw)


def empty_frame(kind: int) -> bytes:
    """Write a frame, with its length, that holds an empty record."""
    return record(encode_varint(kind << 3 | 2) + b"\x00")


def message_stream(*frames: FrameMessage) -> bytes:
    """Write a stream of message objects."""
    return stream_of([HEADER, *(frame.SerializeToString() for frame in frames)])


@cache
def sample(messages: int = 60, seed: int = 1) -> tuple[bytes, ...]:
    """Make the records of a sample, the header first."""
    return tuple(sample_records(messages, seed))


@cache
def small_sample() -> tuple[bytes, ...]:
    """Take a few records of a sample, one of each kind and one message with an attachment."""
    header, *frames = sample()
    kinds = {FrameMessage.FromString(raw).WhichOneof("item"): raw for raw in reversed(frames)}
    chosen = {raw for raw in kinds.values() if len(raw) < 1000}
    chosen |= set([raw for raw in frames if b"plain" in raw or b"image/" in raw][-2:])
    return (header, *(raw for raw in frames if raw in chosen))


def lines_of(records: Iterable[bytes]) -> bytes:
    """Write JSON Lines."""
    header, *frames = records
    return b"".join(line + b"\n" for line in (header_to_json(header), *map(frame_to_json, frames)))


def array_of(records: Iterable[bytes]) -> bytes:
    """Write an array of records in JSON."""
    return b"[" + b",\n".join(lines_of(records).splitlines()) + b"]"


def json5_of(records: Iterable[bytes]) -> bytes:
    """Write an array as people do by hand: with comments, a bare key and a comma at the end."""
    text = array_of(records).replace(b'{"version":', b"{version:", 1)
    return b"// made by hand\n" + text.removesuffix(b"]") + b", /* the end */\n]\n"


def zip_of(records: Iterable[bytes]) -> bytes:
    """Write an export in a ZIP."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("main.jsonl", lines_of(records))
        archive.writestr("metadata.json", '{"version":1}')
    return out.getvalue()


def container_of(records: Iterable[bytes], *, modern: bool = False) -> bytes:
    """Encrypt a backup."""
    out = io.BytesIO()
    write_sample(iter(records), out, OutputFormat.CONTAINER, seed=1, keys=MODERN_KEYS if modern else KEYS)
    return out.getvalue()


def folder_of(records: Iterable[bytes], folder: Path, *, seed: int = 1) -> Path:
    """Write a phone's folder with its attachments, and return its one snapshot."""
    write_sample(iter(records), folder / "SignalBackups", OutputFormat.FOLDER, seed=seed, keys=KEYS)
    (snapshot,) = (folder / "SignalBackups").glob("signal-backup-*")
    return snapshot


def file_forms(records: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Write a backup in every form that is one file."""
    content = tuple(records)
    plain = stream_of(content)
    yield "stream", plain
    yield "gzip", gzip.compress(plain, 1)
    yield "legacy container", container_of(content)
    yield "modern container", container_of(content, modern=True)
    yield "lines", lines_of(content)
    yield "zip", zip_of(content)
    yield "array", array_of(content)
    yield "json5", json5_of(content)


def all_of(opened: Backup) -> tuple[bytes, ...]:
    """Read every record, the header first."""
    return (opened.header, *(frame.raw for frame in opened))


@contextmanager
def piped(data: bytes, step: int = 1 << 16) -> Iterator[BinaryIO]:
    """Open the reading end of a pipe into which data is written in pieces, like standard input."""
    reading, writing = os.pipe()

    def feed() -> None:
        with os.fdopen(writing, "wb", buffering=0) as target:
            for start in range(0, len(data), step):
                try:
                    target.write(data[start : start + step])
                except BrokenPipeError:
                    return

    thread = threading.Thread(target=feed)
    thread.start()
    with os.fdopen(reading, "rb") as source:
        yield source
    thread.join()
