"""Answers are sent in one piece, and nothing is kept back for longer than that takes."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from holdfast.server.connection_limits import MAX_DISCARDED_BYTES, Limits
from holdfast.server.response_buffer import SMALL, BufferedTransport
from holdfast.server.worker import configured

LARGE = b"x" * (3 * SMALL)


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer at once, or with a pause before the body, or after reading one, or with much."""
    if scope["type"] != "http":
        return
    path = scope["path"]
    if path == "/refused":
        await send({"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})
        return
    body = LARGE if path == "/large" else b"body"
    if path == "/upload":
        message = await receive()
        body = message["body"]
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if path == "/slow":
        await asyncio.sleep(0.3)
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Serve it."""
    config = configured(app, Limits())
    config.port = 0
    server = uvicorn.Server(config)
    bound = config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield bound.getsockname()[1]
    server.should_exit = True
    thread.join()


def responses_to(port: int, *requests: bytes) -> bytes:
    """Send requests and return all that comes back until the connection is closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for request in requests:
            connection.sendall(request)
        response = b""
        while piece := connection.recv(65536):
            response += piece
    return response


def request_bytes(method: str, path: str, *headers: str, last: bool = True) -> bytes:
    """Write a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: x", *headers, *(["Connection: close"] if last else []), "", ""]
    return "\r\n".join(lines).encode()


class Told:
    """A connection that notes what is written to it."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        """Note it."""
        self.pieces.append(data)

    def close(self) -> None:
        """Note that."""
        self.is_closed = True

    get_extra_info = is_closing = pause_reading = resume_reading = close


@pytest.fixture
def buffered() -> Iterator[tuple[Told, BufferedTransport]]:
    """Make a connection whose loop never comes round."""
    told, loop = Told(), asyncio.new_event_loop()
    yield told, BufferedTransport(told, loop)  # type: ignore[arg-type]
    loop.close()


def test_a_head_is_sent_with_the_first_bytes_of_its_body(buffered: tuple[Told, BufferedTransport]) -> None:
    """In one piece, if that is not large."""
    told, connection = buffered
    connection.write(b"HTTP/1.1 200 OK\r\n\r\n")
    assert told.pieces == []
    connection.write(b"body")
    connection.write(b"more")
    assert told.pieces == [b"HTTP/1.1 200 OK\r\n\r\nbody", b"more"]
    connection.begin_response()
    connection.write(b"HTTP/1.1 200 OK\r\n\r\n")
    connection.write(LARGE)
    assert told.pieces[2:] == [b"HTTP/1.1 200 OK\r\n\r\n", LARGE]


def test_responses_that_cannot_wait_are_sent_at_once(buffered: tuple[Told, BufferedTransport]) -> None:
    """A client that asks whether to go on is told at once, and nothing is lost when a connection is closed."""
    told, connection = buffered
    connection.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert told.pieces == [b"HTTP/1.1 100 Continue\r\n\r\n"]
    connection.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    connection.close()
    assert told.pieces[1:] == [b"HTTP/1.1 204 No Content\r\n\r\n"]
    assert told.is_closed


@pytest.mark.parametrize(("path", "body"), [("/", b"body"), ("/large", LARGE), ("/slow", b"body")])
def test_responses_are_complete(port: int, path: str, body: bytes) -> None:
    """Small, large, and with a pause in between."""
    head, _, rest = responses_to(port, request_bytes("GET", path)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert rest == body


def test_a_response_without_a_body_is_sent(port: int) -> None:
    """Also when more is asked on the same connection."""
    response = responses_to(port, request_bytes("HEAD", "/", last=False), request_bytes("GET", "/"))
    assert response.count(b"HTTP/1.1 200 OK") == 2
    assert response.endswith(b"\r\n\r\nbody")
    assert response.count(b"body") == 1


def test_pipelined_requests_are_answered_in_order(port: int) -> None:
    """Are answered in their order."""
    response = responses_to(port, request_bytes("GET", "/", last=False) * 20 + request_bytes("GET", "/large"))
    assert response.count(b"HTTP/1.1 200 OK") == 21
    assert response.endswith(LARGE)


def test_a_head_does_not_wait_for_its_body(port: int) -> None:
    """A client sees that something is coming."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request_bytes("GET", "/slow"))
        first = connection.recv(65536)
        assert first.startswith(b"HTTP/1.1 200 OK")
        assert b"body" not in first


def test_an_expect_header_is_answered_with_100_continue(port: int) -> None:
    """And then its body is read."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request_bytes("PUT", "/upload", "Content-Length: 5", "Expect: 100-continue"))
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"hello")
        response = b""
        while piece := connection.recv(65536):
            response += piece
    assert response.endswith(b"\r\n\r\nhello")


def test_a_small_excess_of_a_body_is_read_and_the_connection_reused(port: int) -> None:
    """What was refused is dropped, and the connection can be used."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for _ in range(3):
            connection.sendall(request_bytes("PUT", "/refused", f"Content-Length: {10 * SMALL}", last=False))
            connection.sendall(b"x" * (10 * SMALL))
            assert connection.recv(65536).startswith(b"HTTP/1.1 413")
        connection.sendall(request_bytes("GET", "/"))
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK")


def test_an_endless_body_closes_the_connection(port: int) -> None:
    """A gigabyte that was refused is not read."""
    sent = 0
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request_bytes("PUT", "/refused", "Content-Length: 1000000000", last=False))
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")
        with pytest.raises(ConnectionError):
            while True:
                sent += connection.send(b"x" * SMALL)
    assert MAX_DISCARDED_BYTES <= sent < 4 * MAX_DISCARDED_BYTES
