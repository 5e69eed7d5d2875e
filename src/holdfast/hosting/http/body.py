"""Reads the body of a request within a limit, decompressed: whole, in pieces, or into a file."""

import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
from starlette.requests import ClientDisconnect, Request

from holdfast.hosting.http.errors import ApiError

__all__ = ["Upload", "read_body", "spool_body"]

# A compressed body may grow this much; deflate itself cannot do more than about a thousand times.
LARGEST_RATIO: Final = 200


@dataclass(frozen=True, slots=True)
class Upload:
    """A body that is the content of a file, in a temporary file until the request is served."""

    path: Path


async def read_body(request: Request, largest: int) -> bytes:
    """Return the whole body; raise `ApiError` as soon as it is known to be too large."""
    return b"".join([piece async for piece in body_pieces(request, largest)])


@asynccontextmanager
async def spool_body(
    request: Request, largest: int, folder: Callable[[], AbstractContextManager[Path]]
) -> AsyncIterator[Upload]:
    """Write the body to a file in a temporary folder as it arrives, and delete it at the end."""
    with folder() as temporary:
        path = temporary / "body"
        async with await anyio.open_file(path, "wb") as file:
            async for piece in body_pieces(request, largest):
                await file.write(piece)
        yield Upload(path)


async def body_pieces(request: Request, largest: int) -> AsyncIterator[bytes]:
    """Yield the body as it arrives; one that is declared to be too large is not read at all."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > largest:
        raise too_large(largest)
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding not in {"identity", "gzip", "x-gzip", "deflate"}:
        raise ApiError(415, f"unsupported Content-Encoding: {encoding}")
    unpack = None if encoding == "identity" else zlib.decompressobj(zlib.MAX_WBITS | 32)
    size = received = 0
    try:
        async for piece in request.stream():
            received += len(piece)
            content = piece
            if unpack is not None:
                try:
                    content = unpack.decompress(piece, largest + 1 - size)
                except zlib.error as error:
                    raise ApiError(400, f"the body is not {encoding}") from error
                if unpack.unconsumed_tail or size + len(content) > received * LARGEST_RATIO + 65536:
                    raise too_large(largest)
            size += len(content)
            if size > largest:
                raise too_large(largest)
            if content:
                yield content
    except ClientDisconnect:
        raise ApiError(400, "the body was cut off") from None
    if unpack is not None and received and not unpack.eof:
        raise ApiError(400, f"the body is not {encoding}, or it was cut off")


def too_large(largest: int) -> ApiError:
    """Name the limit that a body exceeds."""
    return ApiError(413, f"the body is larger than {largest} bytes")
