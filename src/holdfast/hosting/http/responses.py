"""Responses: JSON, gzipped if large, bytes of any media type, and default headers."""

import asyncio
import gzip
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping
from typing import Final

import anyio
import msgspec
from anyio import to_thread
from starlette.concurrency import iterate_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from holdfast.hosting.http.context import EndpointRequest

__all__ = ["JsonResponse", "RawResponse", "accepts_gzip", "send_response"]

# The first has no space, as some clients compare the exact text. The content security policy keeps a browser that
# shows an API response as a page from running or loading anything.
JSON_HEADERS: Final = ((b"content-type", b"application/json;charset=utf-8"), (b"vary", b"Accept-Encoding"))
DEFAULTS: Final = (
    (b"cache-control", b"max-age=0, private, must-revalidate"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
)
# A shorter body fits into one packet anyway.
WORTH_COMPRESSING: Final = 1400

encoder = msgspec.json.Encoder()


class RawResponse(Response):
    """A response of bytes, whole or streamed; a header with an empty value is not sent."""

    def __init__(
        self,
        content: bytes | AsyncIterator[bytes] | Iterable[bytes],
        media_type: str = "application/octet-stream",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        then: Callable[[], Awaitable["RawResponse"]] | None = None,
    ) -> None:
        self.status_code = status
        self.background = None
        self.then = then
        """Builds the response on the event loop, in place of this one."""
        self.pieces = None if isinstance(content, bytes) else content
        if isinstance(content, bytes):
            self.body = content
        default_headers = {} if status == 304 else {"Content-Type": media_type}
        self.init_headers(default_headers | {name: latin1(value) for name, value in (headers or {}).items()})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response; chunks are streamed until the client disconnects."""
        if self.pieces is None:
            await super().__call__(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            await send_pieces(receive, send, self.pieces)
        await send({"type": "http.response.body", "body": b""})


def latin1(value: str) -> str:
    """Return the value of a header with characters outside Latin-1 replaced by question marks."""
    return value if value.isascii() else value.encode("latin-1", "replace").decode("latin-1")


def accepts_gzip(scope: Scope) -> bool:
    """Return whether a client accepts gzip."""
    return b"gzip" in b",".join([value for name, value in scope["headers"] if name == b"accept-encoding"])


class JsonResponse(Response):
    """A JSON response, gzipped if it is large and the client accepts gzip."""

    def __init__(self, scope: Scope, value: object, status: int = 200) -> None:
        self.status_code = status
        self.background = None
        self.body = encoder.encode(value)
        self.raw_headers = [*JSON_HEADERS]
        if len(self.body) >= WORTH_COMPRESSING and accepts_gzip(scope):
            self.body = gzip.compress(self.body, 5, mtime=0)
            self.raw_headers.append((b"content-encoding", b"gzip"))
        self.raw_headers.append((b"content-length", b"%d" % len(self.body)))


async def send_response(request: EndpointRequest, send: Send, response: Response) -> None:
    """Send a response with the headers set on its request and the defaults; its own headers take precedence.

    The response to a HEAD request has the `Content-Length` of the omitted body.
    """
    headers = response.raw_headers
    names = {name for name, _ in headers}
    for name, value in request.response_headers.items():
        lower = name.lower().encode()
        # `Vary` is a list: the values of several lines add up.
        if lower not in names or lower == b"vary":
            headers.append((lower, value.encode("latin-1", "replace")))
            names.add(lower)
    headers += [pair for pair in DEFAULTS if pair[0] not in names]
    response.raw_headers = [pair for pair in headers if pair[1]]
    if request.scope["method"] == "HEAD":
        response.body = b""
    await response(request.scope, request.receive, send)


async def send_pieces(receive: Receive, send: Send, content: AsyncIterator[bytes] | Iterable[bytes]) -> None:
    """Stream chunks until the client disconnects, and close the iterator at the end."""
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
