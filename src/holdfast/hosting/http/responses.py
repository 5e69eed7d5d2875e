"""Writes answers: JSON with the headers clients expect, compressed when they like, or bytes as they are."""

import asyncio
import gzip
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable
from typing import Final

import anyio
import msgspec
from anyio import to_thread
from starlette.concurrency import iterate_in_threadpool
from starlette.types import Receive, Scope, Send

from holdfast.hosting.http.endpoints import RawResponse

__all__ = ["JSON_TYPE", "send_bytes", "send_json", "send_pieces", "send_raw"]

JSON_TYPE: Final = b"application/json;charset=utf-8"
NOT_KEPT: Final = b"max-age=0, private, must-revalidate"
# An answer is no page: a browser that is made to show one as a page runs nothing and loads nothing.
NO_PAGE: Final = b"default-src 'none'; frame-ancestors 'none'"
NO_GUESSING: Final = (b"x-content-type-options", b"nosniff")
USUAL: Final = [(b"cache-control", NOT_KEPT), (b"content-security-policy", NO_PAGE), NO_GUESSING]
# Anything shorter fits into one packet anyway.
WORTH_COMPRESSING: Final = 1400

Headers = list[tuple[bytes, bytes]]
encoder = msgspec.json.Encoder()


def accepts_gzip(scope: Scope) -> bool:
    """Tell whether a client can read gzip."""
    return b"gzip" in b",".join([value for name, value in scope["headers"] if name == b"accept-encoding"])


async def send_json(scope: Scope, send: Send, status: int, value: object, more: dict[str, str]) -> None:
    """Answer with a value as JSON."""
    content = encoder.encode(value)
    headers: Headers = [(b"content-type", JSON_TYPE), (b"vary", b"Accept-Encoding")]
    if len(content) >= WORTH_COMPRESSING and accepts_gzip(scope):
        content = gzip.compress(content, 5, mtime=0)
        headers.append((b"content-encoding", b"gzip"))
    await send_bytes(scope, send, status, content, headers, more)


async def send_bytes(  # noqa: PLR0917  # the parts of an answer, in the order they are sent
    scope: Scope, send: Send, status: int, content: bytes, headers: Headers, more: dict[str, str]
) -> None:
    """Answer with bytes that are all there; a HEAD request gets the headers alone."""
    if status not in {204, 304}:
        headers.append((b"content-length", b"%d" % len(content)))
    await send({"type": "http.response.start", "status": status, "headers": complete(headers, more)})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})


async def send_raw(scope: Scope, receive: Receive, send: Send, raw: RawResponse, more: dict[str, str]) -> None:
    """Answer with what is no JSON, piece by piece when it comes so."""
    headers: Headers = [(b"content-type", raw.media_type.encode())] if raw.status != 304 else []
    more = {**more, **raw.headers}
    if isinstance(raw.content, bytes):
        await send_bytes(scope, send, raw.status, raw.content, headers, more)
        return
    await send({"type": "http.response.start", "status": raw.status, "headers": complete(headers, more)})
    if scope["method"] != "HEAD":
        await send_pieces(receive, send, raw.content)
    await send({"type": "http.response.body", "body": b""})


async def send_pieces(receive: Receive, send: Send, content: AsyncIterator[bytes] | Iterable[bytes]) -> None:
    """Send pieces as they come, until a client that leaves wants no more of them."""
    pieces = content if isinstance(content, AsyncIterator) else iterate_in_threadpool(content)

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        leaving.cancel()

    watching = asyncio.create_task(watch())
    try:
        with anyio.CancelScope() as leaving:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
    finally:
        watching.cancel()
        with anyio.CancelScope(shield=True):
            if isinstance(content, AsyncGenerator):
                await content.aclose()
            elif isinstance(content, Generator):
                await to_thread.run_sync(content.close)


def complete(headers: Headers, more: dict[str, str]) -> Headers:
    """Add what every answer carries, unless the endpoint has said something else."""
    if not more:
        return headers + USUAL
    given = {name.lower() for name in more}
    headers += [
        (name.lower().encode(), value.encode("latin-1", "replace")) for name, value in more.items() if value
    ]
    if "cache-control" not in given:
        headers.append((b"cache-control", NOT_KEPT))
    if "content-security-policy" not in given:
        headers.append((b"content-security-policy", NO_PAGE))
    headers.append(NO_GUESSING)
    return headers
