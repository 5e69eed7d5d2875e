"""Decompression of one gzip member, with limits on its output."""

import gzip
import io
import secrets
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.container.chunks import CHUNK, as_file
from holdfast.backup.container.gunzip import ENGINE, FEED, GunzipLimits, GzipWriter, gunzip
from holdfast.backup.errors import DamagedBackup, OversizedBackup

TIGHT = GunzipLimits(output=10 * CHUNK, ratio=100, ratio_after=2 * CHUNK)


def compress(content: bytes, level: int = 6) -> bytes:
    """Compress with the writer."""
    target = io.BytesIO()
    with GzipWriter(target, level=level) as writer:
        writer.write(content)
    return target.getvalue()


def bomb(size: int) -> bytes:
    """Compress zeros in pieces of a megabyte that need nothing of one another, without a checksum at the end."""
    deflater = zlib.compressobj(9, wbits=31)
    start = deflater.compress(bytes(CHUNK)) + deflater.flush(zlib.Z_FULL_FLUSH)
    piece = deflater.compress(bytes(CHUNK)) + deflater.flush(zlib.Z_FULL_FLUSH)
    return start + piece * (size // CHUNK - 1)


@given(st.one_of(st.binary(max_size=5000), st.integers(0, 3 * CHUNK).map(bytes)), st.integers(0, 9))
def test_what_is_compressed_comes_back(content: bytes, level: int) -> None:
    """Content of every level is decompressed to the same bytes by us and by the standard library."""
    raw = compress(content, level)
    assert content == gunzip(io.BytesIO(raw)).read()
    assert content == gzip.decompress(raw)


@pytest.mark.parametrize("size", [FEED - 30, FEED - 18, FEED, FEED + 1, 3 * FEED, CHUNK, CHUNK + 1, 4 * CHUNK])
def test_sizes_around_the_pieces_that_are_read(size: int) -> None:
    """Incompressible content of sizes around the chunk size is read back."""
    content = secrets.token_bytes(size)
    assert content == gunzip(io.BytesIO(compress(content))).read()


def test_a_member_with_everything_a_header_can_have() -> None:
    """A gzip header with name, comment, extra field and checksum is skipped."""
    plain = compress(b"content")
    header = b"\x1f\x8b\x08\x1e" + plain[4:10] + b"\x02\x00ab" + b"name\0" + b"comment\0"
    header += (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
    assert gunzip(io.BytesIO(header + plain[10:])).read() == b"content"


def test_a_member_written_with_full_flushes_is_one_member() -> None:
    """A gzip member with full flushes between records, as newer apps write it, is read whole."""
    deflater = zlib.compressobj(wbits=31)
    parts = [b"first", b"second" * 1000, b"third"]
    raw = b"".join(deflater.compress(part) + deflater.flush(zlib.Z_FULL_FLUSH) for part in parts)
    assert gunzip(io.BytesIO(raw + deflater.flush())).read() == b"".join(parts)


@pytest.mark.parametrize("rest", [bytes(408), b"noise", compress(b"a second member"), bytes(2 * CHUNK)])
def test_what_follows_the_member_is_read_but_not_interpreted(rest: bytes) -> None:
    """Bytes after the member are read to the end before the last of the content is returned."""
    source = io.BytesIO(compress(b"content") + rest)
    content = gunzip(source)
    assert content.read(7) == b"content"
    assert source.read() == b""
    assert content.read() == b""


def test_an_error_behind_the_member_comes_before_the_content() -> None:
    """An error of the source after the member is raised before any content is returned."""

    def chunks() -> Iterator[bytes]:
        yield compress(b"content")
        raise DamagedBackup("the end is wrong", offset=7)

    with pytest.raises(DamagedBackup, match="the end is wrong"):
        gunzip(as_file(chunks())).read(1)


def test_any_cut_is_found() -> None:
    """Truncated compressed data is an error with the byte where it ends."""
    raw = compress(b"content that is long enough to have a middle" * 3)
    for end in range(len(raw)):
        with pytest.raises(DamagedBackup) as caught:
            gunzip(io.BytesIO(raw[:end])).read()
        assert str(caught.value) == f"the compressed data ends too early (byte {end} of the compressed stream)"


def test_any_changed_byte_is_found() -> None:
    """A changed byte is found, except in the time, flags and operating system of the gzip header."""
    content = secrets.token_bytes(50)
    raw = bytearray(compress(content))
    for offset in [0, 1, 2, *range(10, len(raw))]:
        raw[offset] ^= 0x81
        with pytest.raises(DamagedBackup) as caught:
            gunzip(io.BytesIO(raw)).read()
        assert (caught.value.frame, caught.value.stream) == (None, "compressed stream")
        raw[offset] ^= 0x81
    assert content == gunzip(io.BytesIO(raw)).read()


@pytest.mark.parametrize(
    ("offset", "pattern"),
    [
        (0, "incorrect header check"),
        (-5, "incorrect data check"),
        (-1, "incorrect length check"),
    ],
)
def test_damage_is_named(offset: int, pattern: str) -> None:
    """A bad header, a bad checksum and a bad length have errors of their own."""
    raw = bytearray(compress(b"content"))
    raw[offset] ^= 1
    with pytest.raises(DamagedBackup) as caught:
        gunzip(io.BytesIO(raw)).read()
    assert f"the compressed data is damaged at or after this byte: {pattern}" == caught.value.problem


def test_damage_is_placed() -> None:
    """The offset of the error is that of the chunk in which the damage was found."""
    raw = bytearray(compress(secrets.token_bytes(3 * FEED)))
    raw[-6] ^= 1
    with pytest.raises(DamagedBackup) as caught:
        gunzip(io.BytesIO(raw)).read()
    assert caught.value.offset == len(raw) // FEED * FEED


def test_a_bomb_is_stopped_early() -> None:
    """Ten megabytes that open to ten gigabytes are left after the first gigabyte, with a megabyte of them read."""
    source = io.BytesIO(bomb(10 << 30))
    content = gunzip(source)
    read: list[int] = []
    with pytest.raises(OversizedBackup, match="more than the 250 times allowed"):
        read.extend(map(len, iter(lambda: content.read(CHUNK), b"")))
    assert sum(read) <= GunzipLimits().ratio_after
    assert source.tell() < 2 * CHUNK < 9 * CHUNK < len(source.getvalue())


def test_small_content_may_be_as_repetitive_as_it_likes() -> None:
    """Content below a minimum size may have any compression ratio."""
    content = bytes(TIGHT.ratio_after)
    assert content == gunzip(io.BytesIO(compress(content)), limits=TIGHT).read()
    assert len(content) / len(compress(content)) > TIGHT.ratio


def test_the_ratio_counts_once_there_is_much() -> None:
    """The limit of the compression ratio applies above a minimum size, and only to repetitive content."""
    with pytest.raises(OversizedBackup, match="more than the 100 times allowed"):
        gunzip(io.BytesIO(compress(bytes(TIGHT.ratio_after + 1))), limits=TIGHT).read()
    content = secrets.token_bytes(TIGHT.ratio_after // 64) * 64 + b"!"
    assert content == gunzip(io.BytesIO(compress(content)), limits=TIGHT).read()


def test_there_is_an_end_to_what_is_opened() -> None:
    """Output over the limit is refused even if it is not compressed at all."""
    raw = compress(secrets.token_bytes(TIGHT.output + 1), level=0)
    content = gunzip(io.BytesIO(raw), limits=TIGHT)
    with pytest.raises(OversizedBackup, match=f"more than the {TIGHT.output} bytes allowed"):
        content.read()


def test_memory_stays_flat() -> None:
    """Opening 64 MiB of zeros from one small piece takes a few chunks of memory."""
    raw = compress(bytes(64 * CHUNK))
    tracemalloc.start()
    content = gunzip(io.BytesIO(raw))
    total = sum(len(chunk) for chunk in iter(lambda: content.read(CHUNK), b""))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 64 * CHUNK
    assert peak < 8 * CHUNK


def test_the_same_content_is_compressed_to_the_same_bytes() -> None:
    """The gzip header has no time, so the same content is compressed to the same bytes."""
    assert compress(b"content") == compress(b"content")
    assert compress(b"content")[4:8] == bytes(4)


def test_zlib_takes_over_where_zlib_ng_is_missing() -> None:
    """Without the package zlib-ng, zlib reads what zlib-ng wrote and writes what zlib-ng can read."""
    code = (
        "import io, sys\n"
        "sys.modules['zlib_ng'] = None\n"
        "from holdfast.backup.container.gunzip import ENGINE, GzipWriter, gunzip\n"
        "content = gunzip(io.BytesIO(bytes.fromhex(sys.argv[1]))).read()\n"
        "target = io.BytesIO()\n"
        "with GzipWriter(target) as writer:\n"
        "    writer.write(content)\n"
        "print(ENGINE, target.getvalue().hex())\n"
    )
    command = [sys.executable, "-c", code, compress(b"content").hex()]
    completed = subprocess.run(command, check=True, capture_output=True, text=True)
    engine, written = completed.stdout.split()
    assert (ENGINE, engine) == ("zlib-ng", "zlib")
    assert gunzip(io.BytesIO(bytes.fromhex(written))).read() == b"content"
