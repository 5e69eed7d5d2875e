"""The bodies of git's requests."""

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
    """However the body is cut, what was compressed comes out."""
    assert inflated(gzip.compress(content * repeat), size) == content * repeat


@given(st.binary(max_size=200))
def test_invalid_bytes_are_an_error(content: bytes) -> None:
    """Anything else is refused with an error of its own."""
    with pytest.raises(BodyDamaged):
        inflated(content)


def test_trailing_and_missing_bytes_are_an_error() -> None:
    """A body ends where its compressed part ends."""
    whole = gzip.compress(b"hello" * 1000)
    for body in (whole[:-1], whole + b"x", whole + whole):
        for size in (1, 7, 1000):
            with pytest.raises(BodyDamaged):
                inflated(body, size)


def test_a_decompression_bomb_is_refused() -> None:
    """Out of proportion, or larger than is allowed."""
    with pytest.raises(BodyTooLarge, match="decompression bomb"):
        inflated(gzip.compress(bytes(10_000_000)))
    with pytest.raises(BodyTooLarge, match="larger than 1000 bytes"):
        inflated(gzip.compress(bytes(1001)), most=1000)


def test_a_whole_body_is_read() -> None:
    """The file stands at its start; too much is refused."""

    async def play() -> None:
        with await spool(pieces(b"hello", 2), most=5) as file:
            assert file.read() == b"hello"
        with pytest.raises(BodyTooLarge):
            await spool(pieces(b"hello", 2), most=4)

    asyncio.run(play())
