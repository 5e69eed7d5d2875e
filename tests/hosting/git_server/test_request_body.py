"""Request bodies of git clients: decompression and limits."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import BodyDamaged, BodyTooLarge
from holdfast.hosting.git_server.request_body import inflate, spool


async def pieces(content: bytes, size: int) -> AsyncIterator[bytes]:
    """Send bytes in pieces."""
    for start in range(0, len(content), size):
        yield content[start : start + size]


def inflated(content: bytes, size: int = 1000, most: int | None = None) -> bytes:
    """Inflate a body that comes in pieces."""

    async def collect() -> bytes:
        return b"".join([chunk async for chunk in inflate(pieces(content, size), most=most)])

    return asyncio.run(collect())


@given(content=st.binary(max_size=5000), repeat=st.integers(1, 60), size=st.integers(1, 3000))
def test_decompression_is_the_inverse_of_compression(content: bytes, repeat: int, size: int) -> None:
    """A gzip body is decompressed to its content whatever the size of its chunks."""
    assert inflated(gzip.compress(content * repeat), size) == content * repeat


@given(st.binary(max_size=200))
def test_invalid_bytes_are_an_error(content: bytes) -> None:
    """A body that is not gzip raises `BodyDamaged`."""
    with pytest.raises(BodyDamaged):
        inflated(content)


def test_trailing_and_missing_bytes_are_an_error() -> None:
    """A gzip body that is truncated, or is followed by other data, raises `BodyDamaged`."""
    whole = gzip.compress(b"hello" * 1000)
    for body in (whole[:-1], whole + b"x", whole + whole):
        for size in (1, 7, 1000):
            with pytest.raises(BodyDamaged):
                inflated(body, size)


def test_a_decompression_bomb_is_refused() -> None:
    """A body with an extreme compression ratio or above the size limit raises `BodyTooLarge`."""
    with pytest.raises(BodyTooLarge, match="decompression bomb"):
        inflated(gzip.compress(bytes(10_000_000)))
    with pytest.raises(BodyTooLarge, match="larger than 1000 bytes"):
        inflated(gzip.compress(bytes(1001)), most=1000)


def test_a_whole_body_is_read() -> None:
    """The spooled file is positioned at its start, and a body above the limit is refused."""

    async def play() -> None:
        with await spool(pieces(b"hello", 2), most=5) as file:
            assert file.read() == b"hello"
        with pytest.raises(BodyTooLarge):
            await spool(pieces(b"hello", 2), most=4)

    asyncio.run(play())
