"""Buffering of responses: head and body in one write, without delay."""

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
    """Answer with a small, large or delayed body, with the body of the request, or with 413."""
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
    """Serve the application, and yield its port."""
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
    """Send requests, and return all bytes that are received until the connection is closed."""
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


class RecordingTransport:
    """A transport that records what is written to it."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        """Record the data."""
        self.pieces.append(data)

    def close(self) -> None:
        """Record that the connection was closed."""
        self.is_closed = True

    get_extra_info = is_closing = pause_reading = resume_reading = close


@pytest.fixture
def buffered() -> Iterator[tuple[RecordingTransport, BufferedTransport]]:
    """Yield a buffered connection whose event loop does not run."""
    transport, loop = RecordingTransport(), asyncio.new_event_loop()
    yield transport, BufferedTransport(transport, loop)  # type: ignore[arg-type]  # a transport that records
    loop.close()


def test_a_head_is_sent_with_the_first_bytes_of_its_body(
    buffered: tuple[RecordingTransport, BufferedTransport],
) -> None:
    """The head and the first bytes of a body are one write, unless those bytes are many."""
    transport, connection = buffered
    connection.write(b"HTTP/1.1 200 OK\r\n\r\n")
    assert transport.pieces == []
    connection.write(b"body")
    connection.write(b"more")
    assert transport.pieces == [b"HTTP/1.1 200 OK\r\n\r\nbody", b"more"]
    connection.begin_response()
    connection.write(b"HTTP/1.1 200 OK\r\n\r\n")
    connection.write(LARGE)
    assert transport.pieces[2:] == [b"HTTP/1.1 200 OK\r\n\r\n", LARGE]


def test_responses_that_cannot_wait_are_sent_at_once(
    buffered: tuple[RecordingTransport, BufferedTransport],
) -> None:
    """A `100 Continue` is sent immediately, and a close sends what is buffered."""
    transport, connection = buffered
    connection.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert transport.pieces == [b"HTTP/1.1 100 Continue\r\n\r\n"]
    connection.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    connection.close()
    assert transport.pieces[1:] == [b"HTTP/1.1 204 No Content\r\n\r\n"]
    assert transport.is_closed


@pytest.mark.parametrize(("path", "body"), [("/", b"body"), ("/large", LARGE), ("/slow", b"body")])
def test_responses_are_complete(port: int, path: str, body: bytes) -> None:
    """Small, large and delayed bodies arrive completely."""
    head, _, rest = responses_to(port, request_bytes("GET", path)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert rest == body


def test_a_response_without_a_body_is_sent(port: int) -> None:
    """The response to HEAD is sent without a body when another request follows on the connection."""
    response = responses_to(port, request_bytes("HEAD", "/", last=False), request_bytes("GET", "/"))
    assert response.count(b"HTTP/1.1 200 OK") == 2
    assert response.endswith(b"\r\n\r\nbody")
    assert response.count(b"body") == 1


def test_pipelined_requests_are_answered_in_order(port: int) -> None:
    """Each of 21 pipelined requests gets its own response, in the order of the requests."""
    uploads = [
        request_bytes("PUT", "/upload", "Content-Length: 2", last=False) + b"%02d" % number for number in range(20)
    ]
    response = responses_to(port, b"".join(uploads) + request_bytes("GET", "/large"))
    bodies = [part.partition(b"\r\n\r\n")[2] for part in response.split(b"HTTP/1.1 200 OK")[1:]]
    assert bodies == [*(b"%02d" % number for number in range(20)), LARGE]


def test_a_head_does_not_wait_for_its_body(port: int) -> None:
    """The head of a response is sent before a delayed body."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request_bytes("GET", "/slow"))
        first = connection.recv(65536)
        assert first.startswith(b"HTTP/1.1 200 OK")
        assert b"body" not in first


def test_an_expect_header_is_answered_with_100_continue(port: int) -> None:
    """A request with `Expect: 100-continue` gets 100 before its body is read."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request_bytes("PUT", "/upload", "Content-Length: 5", "Expect: 100-continue"))
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"hello")
        response = b""
        while piece := connection.recv(65536):
            response += piece
    assert response.endswith(b"\r\n\r\nhello")


def test_a_small_excess_of_a_body_is_read_and_the_connection_reused(port: int) -> None:
    """A small refused body is read and discarded, and the connection is used for the next request."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for _ in range(3):
            connection.sendall(request_bytes("PUT", "/refused", f"Content-Length: {10 * SMALL}", last=False))
            connection.sendall(b"x" * (10 * SMALL))
            assert connection.recv(65536).startswith(b"HTTP/1.1 413")
        connection.sendall(request_bytes("GET", "/"))
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK")


def test_an_endless_body_closes_the_connection(port: int) -> None:
    """A refused body above the discard limit closes the connection."""
    sent = 0
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request_bytes("PUT", "/refused", "Content-Length: 1000000000", last=False))
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")
        with pytest.raises(ConnectionError):
            while True:
                sent += connection.send(b"x" * SMALL)
    assert MAX_DISCARDED_BYTES <= sent < 4 * MAX_DISCARDED_BYTES
