"""Limits of connections: sizes, timeouts, ambiguous framing and slow clients, over real sockets."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from holdfast.server.connection_limits import (
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MAX_PIPELINED,
    MAX_TARGET_BYTES,
    MIN_BODY_BYTES,
    Limits,
)
from holdfast.server.worker import configured
from holdfast.settings import Settings
from tests.conftest import wait_for

SHORT = Limits(header_timeout=0.3, keep_alive_timeout=0.3, body_timeout=0.3, check_interval=0.05)
LONG = Limits(check_interval=0.05)
LARGE = b"x" * 30_000_000


class App:
    """An ASGI application that returns the request body or a large one, and records the headers and paths."""

    def __init__(self) -> None:
        self.headers: list[list[tuple[bytes, bytes]]] = []
        self.paths: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        if scope["path"] != "/damaged":
            # Of a body that turns out to be damaged the beginning may be served, at whatever moment.
            self.headers.append(scope["headers"])
            self.paths.append(scope["path"])
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
            more = message["more_body"]
        if scope["path"] == "/large":
            body = LARGE
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]}
        )
        await send({"type": "http.response.body", "body": body})


@contextmanager
def serving(limits: Limits) -> Iterator[tuple[App, Callable[[], socket.socket]]]:
    """Serve the application with some limits; yield it and a function that opens a connection."""
    app = App()
    config = configured(app, limits)
    config.port = 0
    server = uvicorn.Server(config)
    bound = config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    wait_for(lambda: server.started)
    opened: list[socket.socket] = []

    def connect() -> socket.socket:
        opened.append(socket.create_connection(bound.getsockname(), timeout=20))
        return opened[-1]

    try:
        yield app, connect
    finally:
        for connection in opened:
            connection.close()
        server.should_exit = True
        thread.join(20)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[App, Callable[[], socket.socket]]]:
    """Serve with the limits on size only."""
    with serving(LONG) as given:
        yield given


def read_all(connection: socket.socket) -> bytes:
    """Return all bytes that are received until the connection is closed or reset."""
    response = b""
    try:
        while piece := connection.recv(65536):
            response += piece
    except ConnectionError:
        pass
    return response


def response_to(connect: Callable[[], socket.socket], *pieces: bytes) -> bytes:
    """Send data on a new connection, and return the response."""
    connection = connect()
    try:
        for piece in pieces:
            connection.sendall(piece)
    except ConnectionError:
        pass  # refused before all of it was sent
    return read_all(connection)


GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
LAST = b"Connection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        ([GET + b"X: " + b"a" * (MAX_HEAD_BYTES - 500) + b"\r\n" + LAST], b"200"),
        ([GET + b"X: " + b"a" * MAX_HEAD_BYTES + b"\r\n" + LAST], b"431"),
        ([GET + b"X: ", *[b"a" * 8192] * 200], b"431"),
        ([GET, *[b"X: " + b"a" * 1000 + b"\r\n"] * 100, LAST], b"431"),
        ([GET + b"X: y\r\n" * (MAX_HEADERS - 2) + LAST], b"200"),
        ([GET + b"X: y\r\n" * (MAX_HEADERS - 1) + LAST], b"431"),
        ([b"GET /" + b"a" * (MAX_TARGET_BYTES - 1) + b" HTTP/1.1\r\nHost: x\r\n" + LAST], b"200"),
        ([b"GET /" + b"a" * MAX_TARGET_BYTES + b" HTTP/1.1\r\nHost: x\r\n" + LAST], b"414"),
        ([b"GET /", *[b"a" * 8192] * 200], b"431"),
        ([b"a" * 100_000], b"400"),
    ],
)
def test_the_size_of_a_request_head_is_limited(
    served: tuple[App, Callable[[], socket.socket]], pieces: list[bytes], status: bytes
) -> None:
    """Large or endless headers get 431, too long a target gets 414, and values at the limits get 200."""
    assert response_to(served[1], *pieces).startswith(b"HTTP/1.1 " + status)


def test_a_header_of_64_mib_is_not_buffered(served: tuple[App, Callable[[], socket.socket]]) -> None:
    """The connection is closed before 40 MiB of one header are sent."""
    connection, sent = served[1](), 0
    connection.sendall(GET + b"X: ")
    with pytest.raises(ConnectionError):
        while sent < 64 * 2**20:
            sent += connection.send(b"a" * 65536)
        connection.recv(1)
    assert sent < 40 * 2**20


def test_each_request_on_one_connection_has_its_own_limit(served: tuple[App, Callable[[], socket.socket]]) -> None:
    """Five requests with large headers on one connection all get 200."""
    large = GET + b"X: " + b"a" * 40_000 + b"\r\n"
    response = response_to(served[1], *[large + b"\r\n"] * 4, large + LAST)
    assert response.count(b"HTTP/1.1 200") == 5


def test_a_flood_of_pipelined_requests_is_ended(served: tuple[App, Callable[[], socket.socket]]) -> None:
    """Only a limited number of pipelined requests is accepted, because each takes memory."""
    before = len(served[0].headers)
    response = response_to(served[1], (GET + b"\r\n") * 10_000)
    assert response.count(b"HTTP/1.1 400") <= 1
    assert len(served[0].headers) - before <= MAX_PIPELINED + 2


@pytest.mark.parametrize(
    "request_",
    [
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        POST + b"Content-Length: 5, 5\r\n\r\nhello",
        POST + b"Content-Length: +5\r\n\r\nhello",
        POST + b"Content-Length: -5\r\n\r\nhello",
        POST + b"Content-Length: 0x5\r\n\r\nhello",
        POST + b"Content-Length: 5 5\r\n\r\nhello",
        POST + b"Content-Length: 99999999999999999999999\r\n\r\nhello",
        POST + b"Content-Length : 5\r\n\r\nhello",
        POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        POST + b" Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"X: \0\r\n\r\n",
        b"POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1 \r\nHost: x\r\n\r\n",
    ],
)
def test_ambiguous_framing_is_refused(served: tuple[App, Callable[[], socket.socket]], request_: bytes) -> None:
    """Framing that a proxy may parse differently is refused, so that no request can be smuggled in a body."""
    before = len(served[0].headers)
    response = response_to(served[1], request_ + GET + LAST)
    assert response.startswith(b"HTTP/1.1 400")
    assert response.count(b"HTTP/1.1 ") == 1
    assert len(served[0].headers) == before


@pytest.mark.parametrize(
    "target",
    [
        b"/ HTTP/1.1\nHost: y\r\nX:",
        b"/ HTTP/1.1\r\nHost: y\r\nX:",
        b"/a b",
        b"/\0",
        b"/\nHost: y",
        b"/\r\nHost: y",
        b"/\rHost: y",
        b"/\tHost: y",
    ],
)
def test_an_invalid_target_with_a_cached_head_is_refused(
    served: tuple[App, Callable[[], socket.socket]], target: bytes
) -> None:
    """The target of a request is checked even if its headers are cached from the request before."""
    app, connect = served
    connection = connect()
    connection.sendall(GET + b"\r\n")
    assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    before = len(app.headers)
    connection.sendall(GET.replace(b"/", target, 1) + b"\r\n")
    assert read_all(connection).startswith(b"HTTP/1.1 400")
    assert len(app.headers) == before


def test_a_cached_head_is_served_with_each_target() -> None:
    """Each request on a connection has its own target and headers, and the idle timeout closes the connection."""
    with serving(replace(SHORT, keep_alive_timeout=2.0)) as (app, connect):
        connection = connect()
        for target in (b"/one", b"/two", b"/three"):
            connection.sendall(GET.replace(b"/", target, 1) + b"\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        assert read_all(connection) == b""
        assert [dict(headers) for headers in app.headers] == [{b"host": b"x"}] * 3
        assert app.paths == ["/one", "/two", "/three"]


@pytest.mark.parametrize(
    "body", [b"-1\r\n\r\n", b"0x1\r\na\r\n", b"fffffffffffffffff\r\na\r\n", b"1\r\naX0\r\n", b"1\na\r\n"]
)
def test_ambiguous_chunks_are_refused(served: tuple[App, Callable[[], socket.socket]], body: bytes) -> None:
    """An invalid chunk gets 400, and the data after it is not parsed as a request."""
    chunked = b"Transfer-Encoding: chunked\r\n\r\n"
    response = response_to(
        served[1], POST.replace(b"/ ", b"/damaged ") + chunked + body + b"0\r\n\r\n" + GET + LAST
    )
    assert response.startswith(b"HTTP/1.1 400")
    assert response.count(b"HTTP/1.1 ") == 1


def test_trailers_are_ignored(served: tuple[App, Callable[[], socket.socket]]) -> None:
    """A trailer is not added to the headers, because a proxy may not have checked it."""
    app, connect = served
    chunked = (
        POST + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nhi\r\n0\r\nX-Forwarded-For: y\r\n\r\n"
    )
    assert response_to(connect, chunked).endswith(b"\r\n\r\nhi")
    assert b"x-forwarded-for" not in dict(app.headers[-1])


def test_chunk_extensions_and_trailers_are_limited(served: tuple[App, Callable[[], socket.socket]]) -> None:
    """Endless chunk extensions or trailers close the connection; many small chunks are accepted."""
    head = POST + b"Transfer-Encoding: chunked\r\n"
    extension = b";a=" + b"b" * 65_533
    for start, piece in ((b"1", extension), (b"0\r\n", b"X: " + b"y" * 60_000 + b"\r\n")):
        connection = served[1]()
        connection.sendall(head + b"\r\n" + start)
        with pytest.raises(ConnectionError):
            for _ in range(64 * 2**20 // len(piece)):
                connection.sendall(piece)
            connection.recv(1)
            connection.recv(1)
    small = b"1\r\na\r\n" * 200_000 + b"0\r\n\r\n"
    assert response_to(served[1], head + LAST + small).endswith(b"\r\n\r\n" + b"a" * 200_000)


@pytest.mark.parametrize("start", [b"", b"\r\n", GET, GET + b"X: "])
def test_a_slow_request_head_times_out(start: bytes) -> None:
    """An idle connection is closed, and an incomplete head, even if it grows slowly, gets 408."""
    with serving(SHORT) as (app, connect):
        connection = connect()
        connection.sendall(start)
        response = b""
        connection.settimeout(0.02)
        while True:
            try:
                piece = connection.recv(65536)
            except TimeoutError:
                if start == GET + b"X: ":
                    connection.send(b"a")
                continue
            except ConnectionError:
                break
            response += piece
            if not piece:
                break
        assert response.startswith(b"HTTP/1.1 408") if start.strip() else response == b""
        assert app.headers == []


def test_an_idle_connection_is_closed() -> None:
    """A connection without another request is closed, even if it has sent an empty line."""
    with serving(SHORT) as (_, connect):
        for more in (b"", b"\r\n"):
            connection = connect()
            connection.sendall(GET + b"\r\n" + more)
            assert read_all(connection).startswith(b"HTTP/1.1 200")


def test_a_stalled_body_times_out() -> None:
    """A body that arrives byte by byte is below the minimum rate and gets 408."""
    with serving(SHORT) as (_, connect):
        connection = connect()
        connection.sendall(POST + b"Content-Length: 100000\r\n\r\n")
        connection.settimeout(0.02)
        response = b""
        while not response:
            try:
                response = connection.recv(65536)
            except TimeoutError:
                connection.send(b"a")
        assert response.startswith(b"HTTP/1.1 408")


def test_a_slow_body_is_accepted() -> None:
    """A body may take longer than its timeout if a kilobyte arrives in each interval."""
    with serving(SHORT) as (_, connect):
        connection = connect()
        piece = b"a" * MIN_BODY_BYTES
        connection.sendall(POST + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % (12 * len(piece)))
        pause = threading.Event()
        for _ in range(12):
            connection.sendall(piece)
            pause.wait(0.1)  # the body as a whole takes four times its timeout
        assert read_all(connection).endswith(piece * 12)


def test_a_client_that_does_not_read_is_disconnected() -> None:
    """The connection is closed if the client does not read a large response."""
    with serving(SHORT) as (_, connect):
        connection = connect()
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        pause = threading.Event()
        while True:  # until the server has ended it; asking reads nothing
            try:
                connection.send(b"\r\n")
            except ConnectionError:
                break
            pause.wait(0.02)


def test_a_client_that_reads_slowly_gets_the_whole_response() -> None:
    """A response may take longer than the timeout if the client keeps reading."""
    with serving(Limits(body_timeout=0.5, check_interval=0.05)) as (_, connect):
        connection, room, received = connect(), memoryview(bytearray(4_000_000)), 0
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n" + LAST)
        pause = threading.Event()
        while count := connection.recv_into(room):
            received += count
            pause.wait(0.1)
        assert received > len(LARGE)


def test_the_connections_of_an_address_are_limited() -> None:
    """A connection above the limit gets 503 until another one closes; a trusted proxy has no limit."""
    few = Limits(max_connections_per_address=3, trusted_proxies="192.0.2.1")
    with serving(few) as (_, connect):
        stored = [connect() for _ in range(3)]
        for connection in stored:
            connection.sendall(GET + b"\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        refused = response_to(connect, GET + LAST)
        assert refused.startswith(b"HTTP/1.1 503")
        assert b"retry-after: " in refused
        stored[0].close()
        wait_for(lambda: response_to(connect, GET + LAST).startswith(b"HTTP/1.1 200"))
    with serving(Limits(max_connections_per_address=3)) as (_, connect):
        assert all(connect().send(b"G") for _ in range(10))
        assert response_to(connect, GET + LAST).startswith(b"HTTP/1.1 200")


def test_a_new_request_replaces_an_idle_connection() -> None:
    """At the limit, the connection idle for longest is closed, and never one with a pending response."""
    with serving(Limits(max_connections=3)) as (_, connect):
        idle, other = connect(), connect()
        busy = connect()
        busy.sendall(POST + b"Content-Length: 2\r\n" + LAST + b"h")
        wait_for(lambda: response_to(connect, GET + LAST).startswith(b"HTTP/1.1 200"))
        assert read_all(idle) == b""
        other.sendall(GET + LAST)
        assert read_all(other).startswith(b"HTTP/1.1 200")
        busy.sendall(b"i")
        assert read_all(busy).endswith(b"hi")


def test_the_settings_name_the_limits() -> None:
    """The limits are those of the settings, but connections are limited by the open files as well."""
    limits = Limits.of(Settings(header_timeout=7, keep_alive_timeout=8, body_timeout=9, max_connections=10))
    assert (limits.header_timeout, limits.keep_alive_timeout, limits.body_timeout) == (7, 8, 9)
    assert limits.max_connections == 10
    assert Limits.of(Settings(max_connections=65_536)).max_connections < 65_536
