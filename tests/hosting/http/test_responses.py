"""Responses: headers, compression, streaming and disconnected clients."""

import gzip
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel
import pytest
from starlette.types import Message

from holdfast.hosting.http.context import EndpointRequest
from holdfast.hosting.http.responses import JsonResponse, RawResponse, send_response


def sent(
    method: str, raw: RawResponse | None = None, headers: list[tuple[bytes, bytes]] | None = None
) -> list[Message]:
    """Send a response, and return its ASGI messages."""
    messages: list[Message] = []
    scope = {"type": "http", "method": method, "headers": headers or []}

    async def keep(message: Message) -> None:
        messages.append(message)

    async def receive() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def run() -> None:
        request = EndpointRequest(scope, receive, {}, "")
        request.response_headers["X-Extra"] = "ä€"
        response = JsonResponse(scope, {"a": ["x" * 2000]}, 201) if raw is None else raw
        await send_response(request, keep, response)

    anyio.run(run)
    return messages


def test_json_has_its_media_type_and_is_not_cached() -> None:
    """The media type has no space before its charset, and caches must revalidate."""
    start, body = sent("GET")
    headers = dict(start["headers"])
    assert start["status"] == 201
    assert headers[b"content-type"] == b"application/json;charset=utf-8"
    assert headers[b"cache-control"] == b"max-age=0, private, must-revalidate"
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert headers[b"x-extra"] == b"\xe4?"
    assert len(body["body"]) == int(headers[b"content-length"])


def test_responses_are_compressed_on_request() -> None:
    """The Content-Length of a compressed response is its compressed length, and others are not compressed."""
    plain_start, plain = sent("GET")
    assert b"content-encoding" not in dict(plain_start["headers"])
    start, body = sent("GET", headers=[(b"accept-encoding", b"br, gzip;q=0.5")])
    headers = dict(start["headers"])
    assert headers[b"content-encoding"] == b"gzip"
    assert len(body["body"]) == int(headers[b"content-length"]) < 200
    assert gzip.decompress(body["body"]) == plain["body"]


@pytest.mark.parametrize("content", [b"abc", iter([b"a", b"bc"])])
def test_bytes_are_sent_whole_or_in_chunks(content: bytes) -> None:
    """Bytes or an iterator of bytes are sent, and headers of the endpoint replace the defaults."""
    start, *body = sent("GET", RawResponse(content, "text/plain", 200, {"Cache-Control": "public"}))
    assert b"".join(message["body"] for message in body) == b"abc"
    assert dict(start["headers"])[b"cache-control"] == b"public"


def test_a_header_without_a_value_is_not_sent() -> None:
    """An empty value removes even a default header; characters outside of Latin-1 are replaced."""
    start, _ = sent("GET", RawResponse(b"", headers={"Content-Security-Policy": "", "X-Name": "€"}))
    headers = dict(start["headers"])
    assert b"content-security-policy" not in headers
    assert headers[b"x-name"] == b"?"


def test_head_has_no_body() -> None:
    """The response to HEAD has no body, but the length of the body that GET would have."""
    start, body = sent("HEAD")
    assert body["body"] == b""
    assert int(dict(start["headers"])[b"content-length"]) > 2000


def test_a_disconnected_client_cancels_its_response() -> None:
    """A stream ends when the client disconnects, and its iterator is closed."""
    closed: list[bool] = []
    messages: list[Message] = []

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"x"
                await anyio.lowlevel.checkpoint()
        finally:
            closed.append(True)

    async def receive() -> Message:
        while len(messages) < 5:
            await anyio.lowlevel.checkpoint()
        return {"type": "http.disconnect"}

    async def keep(message: Message) -> None:
        messages.append(message)

    async def run() -> None:
        scope = {"type": "http", "method": "GET", "headers": []}
        with anyio.fail_after(10):
            await send_response(EndpointRequest(scope, receive, {}, ""), keep, RawResponse(endless()))

    anyio.run(run)
    assert closed == [True]
