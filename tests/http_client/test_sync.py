"""The synchronous HTTP client of commands."""

import socket
from collections.abc import Iterator

import pytest

from holdfast.http_client import sync
from holdfast.http_client.client import HttpResponse
from holdfast.http_client.errors import ConnectError, ProtocolError, ResponseTimeout
from holdfast.http_client.requests import HttpRequest
from holdfast.http_client.urls import HttpUrl
from tests.hosting.webhooks.receivers import OK, Seen, answer, receiving


def request(url: str, **headers: str) -> HttpRequest:
    """Make a PUT request without a body."""
    return HttpRequest("PUT", HttpUrl.parse(url), headers)


def test_bodies_and_responses_are_streamed() -> None:
    """A body with a Content-Length is sent in pieces without chunked encoding and the response read in pieces."""
    with receiving(answer(201, b"0123456789")) as receiver:
        upload = [b"ab", b"", b"cd"]
        sent = request(receiver.url(), **{"Content-Length": "4"})
        with sync.send(sent, upload, read_timeout=5) as response:
            pieces = []
            while piece := response.read(4):
                pieces.append(piece)
    assert (response.status, pieces) == (201, [b"0123", b"4567", b"89"])
    (seen,) = receiver.seen
    assert (seen.method, seen.body) == ("PUT", b"abcd")
    assert "transfer-encoding" not in seen.headers


def test_the_repr_of_a_chunk_is_never_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a chunk does not make its repr, which would take twenty times as long as reading it."""
    described: list[int] = []

    class Chunk(bytes):
        """Bytes that record when their repr is made."""

        def __repr__(self) -> str:
            described.append(len(self))
            return ""

    read = HttpResponse.read

    async def read_chunk(response: HttpResponse, most: int) -> bytes:
        return Chunk(await read(response, most))

    monkeypatch.setattr(HttpResponse, "read", read_chunk)
    with (
        receiving(answer(200, b"0123456789")) as receiver,
        sync.send(request(receiver.url()), read_timeout=5) as response,
    ):
        assert response.read(10) == b"0123456789"
    assert described == []


def test_an_error_of_the_body_is_raised() -> None:
    """An exception of the body iterator is raised unchanged instead of an error of the connection."""

    def broken() -> Iterator[bytes]:
        yield b"ab"
        raise ZeroDivisionError

    with receiving() as receiver, pytest.raises(ZeroDivisionError):
        sync.send(request(receiver.url(), **{"Content-Length": "4"}), broken(), read_timeout=5)


def test_a_server_that_stops_sending_times_out() -> None:
    """A server that stops before or within its response raises `ResponseTimeout`."""

    def stop(_seen: Seen, end: socket.socket) -> bool:
        end.sendall(start)
        return end.recv(1) == b"never"

    start = b""
    with receiving(stop) as receiver:
        with pytest.raises(ResponseTimeout):
            sync.send(request(receiver.url()), read_timeout=0.3)
        start = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"
        with sync.send(request(receiver.url()), read_timeout=0.3) as response:
            assert response.read(3) == b"abc"
            with pytest.raises(ResponseTimeout):
                response.read(3)


def test_a_truncated_response_is_an_error() -> None:
    """A truncated response, a connection closed without one and a refused connection are errors."""

    def broken(_seen: Seen, end: socket.socket) -> bool:
        end.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        return False

    with receiving(broken) as receiver:
        with (
            sync.send(request(receiver.url()), read_timeout=5) as response,
            pytest.raises(ProtocolError, match="ended before"),
        ):
            while response.read(10):
                pass
        receiver.script = lambda _seen, _end: False
        with pytest.raises(ProtocolError, match="without an answer"):
            sync.send(request(receiver.url()), read_timeout=5)
    with pytest.raises(ConnectError, match="Connection refused"):
        sync.send(request(receiver.url()), read_timeout=5)


def test_each_request_has_a_connection_of_its_own() -> None:
    """Two requests to the same server open two connections."""
    with receiving(OK) as receiver:
        for _ in range(2):
            sync.send(request(receiver.url()), read_timeout=5).close()
        assert receiver.connections == 2
