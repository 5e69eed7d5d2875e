"""Hostile receivers: truncated, invalid and endless responses."""

import asyncio
import socket
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from holdfast.hosting.errors import DeliveryFailed
from holdfast.hosting.webhooks.addresses import AllowedHosts
from holdfast.hosting.webhooks.client import KEPT_BYTES, WebhookClient, WebhookResponse
from holdfast.hosting.webhooks.webhook_request import WebhookRequest
from tests.hosting.webhooks.receivers import Receiver, Seen, receiving

HEAD = b"HTTP/1.1 200 OK\r\n"


def send_request(receiver: Receiver, timeout: float = 5) -> WebhookResponse:
    """Send one request, over a new connection."""

    async def ask() -> WebhookResponse:
        client = WebhookClient(AllowedHosts.parse("loopback"), timeout=timeout)
        try:
            return await client.send(WebhookRequest("GET", receiver.url("/"), {}, b""))
        finally:
            await client.close()

    return asyncio.run(ask())


def responding_with(*pieces: bytes, keep: bool = False) -> Callable[[Seen, socket.socket], bool]:
    """Make a receiver send some bytes."""

    def say(_seen: Seen, end: socket.socket) -> bool:
        for piece in pieces:
            end.sendall(piece)
        return keep

    return say


def endless(piece: bytes, start: bytes = HEAD) -> Callable[[Seen, socket.socket], bool]:
    """Make a receiver that sends a piece without end."""

    def talk(_seen: Seen, end: socket.socket) -> bool:
        end.sendall(start)
        while True:
            end.sendall(piece)

    return talk


@pytest.mark.parametrize(
    ("said", "body"),
    [
        (HEAD + b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: x\r\n\r\n", b"hello"),
        (HEAD + b"\r\nhello", b"hello"),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", b"hello"),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: y\r\n\r\n" + HEAD + b"X: y\r\n\r\n",
            b"",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
    ],
)
def test_responses_may_end_in_many_ways(said: bytes, body: bytes) -> None:
    """A response may end by its length, its last chunk or the connection; 1xx responses are skipped."""
    with receiving(responding_with(said)) as receiver:
        response = send_request(receiver)
    assert (response.status // 100, response.body, response.cut) == (2, body, "")
    assert "Link" not in dict(response.headers)


def test_a_truncated_response_is_stored_in_part() -> None:
    """The status of a truncated response counts, and the received part is kept."""
    with receiving(responding_with(HEAD + b"Content-Length: 50\r\n\r\nhello")) as receiver:
        response = send_request(receiver)
    assert (response.status, response.body) == (200, b"hello")
    assert response.cut == "the connection ended before the answer did"


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (b"", "closed the connection without an answer"),
        (b"SSH-2.0-OpenSSH\r\n", "not HTTP"),
        (b"\x00\xff\x17\x03", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "not HTTP"),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n\x01", "another protocol"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 20, "closed the connection without an answer"),
        (b"HTTP/1.1 200 OK\r\nX: ", "closed the connection without an answer"),
    ],
)
def test_an_invalid_response_is_a_failure_with_a_reason(said: bytes, problem: str) -> None:
    """An invalid response raises DeliveryFailed with the reason, and no other error."""
    with receiving(responding_with(said)) as receiver, pytest.raises(DeliveryFailed, match=problem):
        send_request(receiver)


def test_endless_headers_are_given_up() -> None:
    """Too many headers, one that is too long, and headers that are too large together are failures."""
    long = b"".join(b"X-%d: %b\r\n" % (number, b"y" * 1000) for number in range(70))
    for talk, problem in (
        (endless(b"X-A: b\r\n" * 100), "Too many headers"),
        (endless(b"x" * 1000), "more than 8190 bytes"),
        (responding_with(HEAD + long + b"\r\n"), "larger than 64 KB"),
    ):
        with receiving(talk) as receiver, pytest.raises(DeliveryFailed, match=problem):
            send_request(receiver)


def test_endless_informational_responses_are_given_up() -> None:
    """A receiver that sends 1xx responses without end fails after the timeout."""
    talk = endless(b"HTTP/1.1 100 Continue\r\n\r\n", b"")
    with receiving(talk) as receiver, pytest.raises(DeliveryFailed, match="longer than 1 seconds"):
        send_request(receiver, timeout=1)


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (HEAD + b"Content-Length: 99999999999\r\n\r\n", b"y" * 5000),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1000\r\n" + b"y" * 0x1000 + b"\r\n"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\n", b"y" * 5000),
    ],
)
def test_a_huge_response_is_stored_in_part(start: bytes, piece: bytes) -> None:
    """The first 64 KB are kept without decompression, and the rest is not read."""
    with receiving(endless(piece, start)) as receiver:
        began = time.monotonic()
        response = send_request(receiver, timeout=60)
    assert (response.status, response.body) == (200, b"y" * KEPT_BYTES)
    assert "larger than 64 KB" in response.cut
    assert time.monotonic() - began < 30


def test_endless_empty_chunks_are_given_up() -> None:
    """Long chunk extensions and endless trailers end the response before it is complete."""
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    began = time.monotonic()
    with receiving(endless(b"1;" + b"e" * 9000 + b"\r\ny\r\n", chunked)) as receiver:
        response = send_request(receiver, timeout=1)
        assert response.status == 200
        assert response.cut
    with receiving(endless(b"T: x\r\n" * 100, chunked + b"0\r\n")) as receiver:
        # The head counts where it was read before the trailers became too many.
        try:
            cut = send_request(receiver, timeout=60).cut
        except DeliveryFailed as error:
            cut = str(error)
        assert cut
    assert time.monotonic() - began < 30


@given(st.binary(max_size=300))
@hypothesis_settings(max_examples=60)
def test_any_response_is_a_result(said: bytes) -> None:
    """Any bytes after the status line give a response or DeliveryFailed."""
    with receiving(responding_with(b"HTTP/1.1 200 OK\r\n" + said)) as receiver:
        try:
            response = send_request(receiver)
        except DeliveryFailed:
            return
    assert response.status == 200
