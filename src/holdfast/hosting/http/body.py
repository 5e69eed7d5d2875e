"""Reading of request bodies, decompressed and up to a size limit: whole, in chunks, or to a file."""

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

# Maximum decompression ratio; deflate itself cannot exceed about 1000.
LARGEST_RATIO: Final = 200


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded body in a temporary file, which exists until the request is served."""

    path: Path


async def read_body(request: Request, largest: int) -> bytes:
    """Return the whole body; raise `ApiError` as soon as it exceeds the limit."""
    return b"".join([piece async for piece in body_pieces(request, largest)])


@asynccontextmanager
async def spool_body(
    request: Request, largest: int, folder: Callable[[], AbstractContextManager[Path]]
) -> AsyncIterator[Upload]:
    """Write the body to a temporary file as it arrives; the file is deleted at the end of the context."""
    with folder() as temporary:
        path = temporary / "body"
        async with await anyio.open_file(path, "wb") as file:
            async for piece in body_pieces(request, largest):
                await file.write(piece)
        yield Upload(path)


async def body_pieces(request: Request, largest: int) -> AsyncIterator[bytes]:
    """Yield the body in chunks as it arrives; if `Content-Length` exceeds the limit, it is not read at all."""
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
    """Return the error for a body over the limit, which names the limit."""
    return ApiError(413, f"the body is larger than {largest} bytes")
