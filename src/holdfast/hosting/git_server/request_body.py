"""Bodies of git's requests: decompressed while they arrive, with a size limit."""

import tempfile
import zlib
from collections.abc import AsyncIterator
from typing import IO, Final

from holdfast.hosting.errors import BodyDamaged, BodyTooLarge

__all__ = ["inflate", "limit_body", "spool"]

CHUNK: Final = 64 * 1024
IN_MEMORY: Final = 1024 * 1024
# git only compresses lists of object ids, by about half. A decompression bomb has a ratio of about a thousand.
MOST_GROWTH: Final = 100


async def inflate(body: AsyncIterator[bytes], *, most: int | None = None) -> AsyncIterator[bytes]:
    """Decompress a gzip body in chunks; raise `BodyTooLarge` for a decompression bomb."""
    inflater = zlib.decompressobj(wbits=31)
    arrived = produced = 0
    async for chunk in body:
        arrived += len(chunk)
        pending, full = chunk, False
        while pending or full:
            if inflater.eof:
                raise BodyDamaged("the request's body has data after its gzip stream")
            try:
                piece = inflater.decompress(pending, CHUNK)
            except zlib.error as error:
                raise BodyDamaged("the request's body is not gzip, or damaged") from error
            pending, full = inflater.unconsumed_tail or inflater.unused_data, len(piece) == CHUNK
            produced += len(piece)
            if most is not None and produced > most:
                raise BodyTooLarge(f"the request's body is larger than {most} bytes")
            if produced > IN_MEMORY and produced > arrived * MOST_GROWTH:
                raise BodyTooLarge("the request's body is a decompression bomb")
            if piece:
                yield piece
    if not inflater.eof:
        raise BodyDamaged("the request's body is truncated")


async def limit_body(body: AsyncIterator[bytes], *, most: int) -> AsyncIterator[bytes]:
    """Yield a body up to a size limit."""
    size = 0
    async for chunk in body:
        size += len(chunk)
        if size > most:
            raise BodyTooLarge(f"the request's body is larger than {most} bytes")
        yield chunk


async def spool(body: AsyncIterator[bytes], *, most: int) -> IO[bytes]:
    """Read a whole body into a temporary file."""
    file = tempfile.TemporaryFile(prefix="holdfast-body-")  # noqa: SIM115  # closed by the caller
    try:
        async for chunk in limit_body(body, most=most):
            file.write(chunk)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file
