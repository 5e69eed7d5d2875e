"""Detection of the form of a backup from its first bytes."""

import gzip
import io
import random
from collections import deque

import pytest

from holdfast import backup
from holdfast.backup import Form
from holdfast.backup.container.cipher import encrypt
from holdfast.backup.form_detection import begins_like_a_stream
from holdfast.backup.schema import BackupInfo
from tests.backup.container.vectors import LEGACY_B
from tests.backup.streams import HEADER, KEYS, all_of, empty_frame, piped, record, small_sample, stream_of

RECORDS = small_sample()


def test_an_encrypted_file_is_hardly_ever_taken_for_a_stream() -> None:
    """Random bytes may pass for a short header, but none of 60,000 samples passes the strict check."""
    rng = random.Random(3)
    weak = strong = 0
    for _ in range(60_000):
        head = rng.randbytes(130)
        weak += begins_like_a_stream(head, strict=False)
        strong += begins_like_a_stream(head, strict=True)
    assert weak > 0
    assert strong == 0


def test_an_encrypted_file_that_begins_like_a_short_header_opens() -> None:
    """A container whose IV looks like a short header is still opened as a container."""
    opened = 0
    for start in (b"\x02\x08\x01", b"\x04\x08\x01\x10\x00", b"\x03\x08\x81\x01"):
        target = io.BytesIO()
        with encrypt(target, KEYS.message_keys(modern=False), iv=start.ljust(16, b"\xee")) as sealer:
            sealer.write(gzip.compress(stream_of(RECORDS)))
        for source in (io.BytesIO(target.getvalue()), target):
            source.seek(0)
            with backup.open(source, KEYS) as reader:
                assert reader.form is Form.CONTAINER
                assert all_of(reader) == RECORDS
                opened += 1
    assert opened == 6


def test_a_stream_of_any_size_with_any_header_is_a_stream() -> None:
    """A stream is recognised at sizes an encrypted file could have, and without version or time."""
    without_version = BackupInfo(backupTimeMs=1_700_000_000_123).SerializeToString()
    without_both = BackupInfo(mediaRootBackupKey=bytes(range(200, 232))).SerializeToString()
    for header in (HEADER, b"\x08\x01", without_version, without_both):
        for count in range(20, 36):
            data = record(header) + empty_frame(1) * count
            with backup.open(io.BytesIO(data)) as reader:
                assert reader.form is Form.STREAM
            with piped(data) as source, backup.open(source) as reader:
                assert len(list(reader)) == count


@pytest.mark.parametrize(("version", "time"), [(1, 5), (1, 0), (0, 0)])
@pytest.mark.parametrize("size", [(1 << 16) - 3, 1 << 16, 300_000])
def test_a_stream_with_a_long_header_is_a_stream(version: int, time: int, size: int) -> None:
    """A header with debug data of any length is recognised, with and without frames."""
    debug = random.Random(size).randbytes(size)
    header = BackupInfo(version=version, backupTimeMs=time, debugInfo=debug).SerializeToString()
    for frames in ([], [frame for frame in RECORDS[1:] if frame], [b"\x22" + record(bytes(200_000))]):
        data = stream_of([header, *frames])
        filler = b"\x52" + record(bytes(-(len(data) + 3) % 16))
        for stream in (data, stream_of([header, *frames, filler])):
            with backup.open(io.BytesIO(stream)) as reader:
                assert reader.form is Form.STREAM
                assert reader.header == header
        with piped(data) as source, backup.open(source) as reader:
            assert reader.header == header
            deque(reader.blocks(), maxlen=0)


@pytest.mark.parametrize(
    "start", [b"//", b"/*", b'{"', b"[{", b"[]", b"\x1f\x8b", b"\x08\x08\x01", b"SBACKUP\x02"]
)
def test_an_encrypted_file_may_begin_like_anything(start: bytes) -> None:
    """A container whose IV looks like the start of another format is still opened as a container."""
    packed = gzip.compress(record(HEADER))
    target = io.BytesIO()
    with encrypt(target, LEGACY_B, iv=start.ljust(16, b"\xc3")) as sealer:
        sealer.write(packed)
    with backup.open(io.BytesIO(target.getvalue()), KEYS) as source:
        assert (source.form, source.header) == (backup.Form.CONTAINER, HEADER)
