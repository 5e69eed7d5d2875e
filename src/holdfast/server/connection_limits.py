"""Limits of HTTP connections, against clients that send too much, too slowly, or nothing (slowloris).

Uvicorn limits neither the size of a request head nor its duration, nor the number of connections. Here an asyncio
protocol in front of uvicorn's parses the input with the same parser, refuses input that exceeds a limit, and
passes on the rest. It uses only the interfaces of `asyncio.Protocol` and ASGI. Timeouts are checked for all
connections of a process about once a second, at no cost per request.

A request head may have 64 KiB and 128 headers (431) and 16 KiB for its target (414), and must arrive within a
timeout (408). A body must transfer at least a kilobyte per timeout interval, so that slow uploads survive and
trickled bytes do not. A client that reads nothing of a response for twice that long is disconnected. Ambiguous
framing (request smuggling) is refused (400): see `on_headers_complete`.
"""

import asyncio
import resource
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, cast

import httptools
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.client_address import TrustedProxies, network_of
from holdfast.server.response_buffer import BufferedTransport
from holdfast.settings import Settings

__all__ = ["ConnectionTable", "LimitedConfig", "LimitedProtocol", "Limits", "RequestTracker"]

MAX_HEAD_BYTES: Final = 64 * 1024
MAX_HEADERS: Final = 128
MAX_TARGET_BYTES: Final = 16 * 1024
MAX_PIPELINED: Final = 64
# The head of a request up to this size is cached, and not parsed when it is sent again.
MAX_REMEMBERED_BYTES: Final = 4 * 1024
REQUEST_LINE_END: Final = b" HTTP/1.1\r\n"
# Per interval of the body timeout; a slower sender holds the connection open on purpose.
MIN_BODY_BYTES: Final = 1024
# The limit of chunk sizes, extensions and trailers: absolute, and relative to the body.
MAX_FRAMING_BYTES: Final = 512 * 1024
MAX_FRAMING_RATIO: Final = 8
# The limit of a refused body that is read and discarded, so that its sender can read the response.
MAX_DISCARDED_BYTES: Final = 16 * 1024 * 1024
# Lingering close: after a refusal, input is discarded for this long, so that its sender can read the response.
LINGER_SECONDS: Final = 5.0
# Open files besides connections: databases, repositories, pipes to git.
OTHER_FILES: Final = 512
# The scope key of a request's connection.
CONNECTION: Final = "holdfast.connection"
REASONS: Final = {
    400: "The request is not valid HTTP.",
    408: "The request did not come in time.",
    414: f"The address of a request may have {MAX_TARGET_BYTES} bytes.",
    431: f"The head of a request may have {MAX_HEAD_BYTES} bytes and {MAX_HEADERS} headers.",
    503: "There are too many connections. Try again in a moment.",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Timeouts in seconds, and numbers of connections of one process."""

    header_timeout: float = 30.0
    keep_alive_timeout: float = 60.0
    body_timeout: float = 60.0
    max_connections: int = 4096
    max_connections_per_address: int = 256
    trusted_proxies: str = "127.0.0.1"
    check_interval: float = 1.0

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        """Return the limits of the settings, with no more connections than the process may open files."""
        return cls(
            header_timeout=settings.header_timeout,
            keep_alive_timeout=settings.keep_alive_timeout,
            body_timeout=settings.body_timeout,
            max_connections=min(settings.max_connections, max(open_files() - OTHER_FILES, 64)),
            max_connections_per_address=settings.max_connections_per_address,
            trusted_proxies=settings.trusted_proxies,
        )


def open_files() -> int:
    """Raise the soft limit of open files to the hard limit, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        return limit
    return 65_536 if soft == resource.RLIM_INFINITY else soft


class ConnectionTable:
    """The connections of one process, and the timer that checks them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._proxies = TrustedProxies(limits.trusted_proxies)
        # In insertion order, so that the first idle one found is about the longest idle.
        self._open: dict[LimitedProtocol, str] = {}
        self._by_address: Counter[str] = Counter()
        self._is_checking = False

    def add(self, connection: "LimitedProtocol", peer: str) -> bool:
        """Add a connection; return whether it is accepted.

        If there are too many in total, an idle one is closed instead. Trusted proxies are exempt from the limit
        per address.
        """
        address = "" if not peer or self._proxies.trusts(peer) else network_of(peer)
        if address and self._by_address[address] >= self.limits.max_connections_per_address:
            return False
        if len(self._open) >= self.limits.max_connections and not self._evict():
            return False
        self._open[connection] = address
        if address:
            self._by_address[address] += 1
        if not self._is_checking:
            self._is_checking = True
            connection.loop.call_later(self.limits.check_interval, self._check, connection.loop)
        return True

    def remove(self, connection: "LimitedProtocol") -> None:
        """Remove a connection."""
        address = self._open.pop(connection, "")
        if address:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    def _evict(self) -> bool:
        for connection in self._open:
            if connection.is_idle:
                self.remove(connection)
                connection.abort()
                return True
        return False

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close connections that exceed a timeout, and schedule the next check."""
        now = loop.time()
        for connection in list(self._open):
            connection.check(now)
        self._is_checking = bool(self._open)
        if self._is_checking:
            loop.call_later(self.limits.check_interval, self._check, loop)


class RequestRefused(Exception):
    """Raised to end the parsing of a request that exceeds a limit."""


class LimitedProtocol(asyncio.Protocol):
    """Checks the input of a client against the limits, and passes it on to the serving protocol."""

    def __init__(
        self, table: ConnectionTable, protocol_class: Callable[..., asyncio.Protocol], options: dict[str, Any]
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.table = table
        # The server's state for every request of this connection, through which a request finds its connection.
        self._state = {**options["app_state"], CONNECTION: self}
        self._protocol: asyncio.Protocol | None = protocol_class(**{**options, "app_state": self._state})
        self._parser = httptools.HttpRequestParser(self)
        # As in uvicorn's parser: data after a request that closes the connection is not an error.
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._connection: asyncio.Transport
        self.transport: BufferedTransport
        now = self.loop.time()
        self._refusal = 0
        self._is_first = True
        self._unanswered = 0
        """Requests whose head has been received and whose response has not been sent."""
        # Each is None unless the connection is in that state.
        self._idle_since: float | None = now
        self._head_since: float | None = None
        self._lingering_since: float | None = None
        self._stalled_since: float | None = None
        self._in_body = False
        self._is_write_paused = False
        self._expects_continue = False
        self._head_bytes = 0
        self._target_bytes = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._header_count = 0
        self._known_head = b""
        """The bytes after the target of a GET request without a body, which a client repeats in each request."""
        self._with_trailers: dict[int, int] = {}
        """The number of headers of requests that have trailers after their body, by the request's number."""
        self._received = 0
        self._started = 0
        self._raw_bytes = 0
        self._body_bytes = 0
        self._discarded_bytes = 0
        self._interval_since = now
        self._interval_bytes = 0
        self._unsent = 0

    @property
    def is_idle(self) -> bool:
        """Whether no request is being received or answered."""
        return self._idle_since is not None

    # The interface of asyncio.Protocol.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a connection, unless there are too many."""
        self._connection = cast("asyncio.Transport", transport)
        self.transport = BufferedTransport(self._connection, self.loop)
        if self._protocol is not None:
            self._protocol.connection_made(self.transport)
        peer = transport.get_extra_info("peername")
        if not self.table.add(self, str(peer[0]) if isinstance(peer, tuple) else ""):
            self._detach()
            self._write_refusal(503)
            self._connection.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection."""
        self.table.remove(self)
        self._detach(exc)

    def _detach(self, exc: Exception | None = None) -> None:
        """Tell the serving protocol that the connection is lost."""
        protocol, self._protocol = self._protocol, None
        if protocol is not None:
            self.transport.detach()
            protocol.connection_lost(exc)
            self._state.clear()

    def abort(self) -> None:
        """Close the connection without sending anything more."""
        self._connection.abort()

    def eof_received(self) -> bool | None:
        """Pass on the end of the input."""
        return self._protocol.eof_received() if self._protocol is not None else None

    def pause_writing(self) -> None:
        """Pass on that the write buffer is full."""
        self._is_write_paused = True
        if self._protocol is not None:
            self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the write buffer has drained."""
        self._is_write_paused = False
        if self._protocol is not None:
            self._protocol.resume_writing()

    def data_received(self, data: bytes) -> None:
        """Check input and pass it on; after a refusal, discard it."""
        if self._protocol is None:
            self._raw_bytes += len(data)
            if self._raw_bytes > MAX_DISCARDED_BYTES:
                self.abort()
            return
        if self.transport.is_closing():
            return
        is_idle, received, began = self._idle_since is not None, self._received, self._head_since
        if is_idle and self._is_known(data):
            self._receive_known()
            self._protocol.data_received(data)
            return
        self._head_bytes = self._head_bytes + len(data) if began is not None else len(data)
        if self._in_body:
            self._raw_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # the request is served like any other
        except httptools.HttpParserError:
            self.refuse(self._refusal or 400, own=self._in_body)
            return
        else:
            if is_idle and self._received == received + 1:
                self._remember(data)
        if self._head_since is not None:
            # The parser buffers an incomplete header, so a long one is only visible here. Input in the same chunk
            # as the end of another request counts from the next chunk on.
            if self._head_since is began and self._head_bytes > MAX_HEAD_BYTES:
                self.refuse(431)
                return
        elif self._in_body and self._raw_bytes - self._body_bytes > (
            MAX_FRAMING_BYTES + MAX_FRAMING_RATIO * self._body_bytes
        ):
            self.refuse(400)
            return
        self._protocol.data_received(data)

    def _remember(self, data: bytes) -> None:
        """Cache the head of a request if it was a GET, and its head is all of the data."""
        is_head = not self._in_body and data.find(b"\r\n\r\n") == len(data) - 4
        if is_head and data.startswith(b"GET /") and len(data) <= MAX_REMEMBERED_BYTES:
            self._known_head = data[data.find(b"\n") + 1 - len(REQUEST_LINE_END) :]

    def _is_known(self, data: bytes) -> bool:
        """Return whether data is a GET request whose head differs from the cached one in its target only.

        Parsing it would give the same framing: the first line ends where it did. Any other error in the target is
        refused by uvicorn's parser; no response is pending for which its refusal could be mistaken.
        """
        end = data.find(b"\n", 0, MAX_TARGET_BYTES) + 1 - len(REQUEST_LINE_END)
        return end > 4 and data.startswith(b"GET /") and data[end:] == self._known_head

    def _receive_known(self) -> None:
        self._idle_since = None
        self._received += 1
        self._unanswered = 1
        self.transport.begin_response()

    # The callbacks of the parser.

    def on_message_begin(self) -> None:
        """Record the start of a request."""
        self._head_since = self.loop.time()
        self._idle_since = None
        self._target_bytes = 0
        self._headers.clear()

    def on_url(self, url: bytes) -> None:
        """Count the bytes of a request's target."""
        self._target_bytes += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Record a header."""
        if self._in_body:
            # A trailer is not a header of the request: a proxy has not checked it.
            self._with_trailers[self._received] = self._header_count
        else:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Refuse a head that is too large, or whose framing is ambiguous (request smuggling).

        The parser refuses most of that itself. This is left: a coding other than `chunked`, a chunked body in
        HTTP/1.0, and a request without a host, or with two.
        """
        headers = self._headers
        if self._target_bytes > MAX_TARGET_BYTES:
            self._end_parsing(414)
        if len(headers) > MAX_HEADERS or (
            self._head_bytes > MAX_HEAD_BYTES
            and sum(len(name) + len(value) + 4 for name, value in headers) > MAX_HEAD_BYTES
        ):
            self._end_parsing(431)
        hosts, self._expects_continue = 0, False
        for name, value in headers:
            lower = name.lower()
            if lower == b"host":
                hosts += 1
            elif lower == b"transfer-encoding":
                if value.strip().lower() != b"chunked" or self._parser.get_http_version() == "1.0":
                    self._end_parsing(400)
            elif lower == b"expect":
                self._expects_continue = value.lower() == b"100-continue"
        if hosts != 1 and (hosts > 1 or self._parser.get_http_version() != "1.0"):
            self._end_parsing(400)
        if self._unanswered > MAX_PIPELINED:
            self._end_parsing(400)
        self._received += 1
        self._unanswered += 1
        self._header_count = len(headers)
        self._head_since = None
        self._is_first = False
        self._in_body = True
        self._raw_bytes = self._body_bytes = self._interval_bytes = self._discarded_bytes = 0
        self._interval_since = self.loop.time()
        if self._unanswered == 1:
            self.transport.begin_response()

    def on_body(self, body: bytes) -> None:
        """Count a part of a body; if it continues long after its response was sent, close the connection."""
        size = len(body)
        self._body_bytes += size
        self._interval_bytes += size
        if not self._unanswered:
            self._discarded_bytes += size
            if self._discarded_bytes > MAX_DISCARDED_BYTES:
                self.transport.close()

    def on_message_complete(self) -> None:
        """Record the end of a request."""
        self._in_body = False
        if not self._unanswered:
            self._idle_since = self.loop.time()

    # Notifications of the application.

    def request_started(self, scope: Scope) -> None:
        """Record that the application serves the next request, and remove the trailers from its headers."""
        self._started += 1
        if self._with_trailers:
            count = self._with_trailers.pop(self._started, None)
            if count is not None:
                scope["headers"] = scope["headers"][:count]

    def request_finished(self) -> None:
        """Record that the application has sent its response."""
        self._unanswered -= 1
        if self._unanswered:
            self.transport.begin_response()
        elif self._head_since is None and not self._in_body:
            self._idle_since = self.loop.time()

    # Refusals and timeouts.

    def _end_parsing(self, status: int) -> None:
        self._refusal = status
        raise RequestRefused

    def refuse(self, status: int, *, own: bool = False) -> None:
        """Send an error response and close the connection; `own` if it is the request being served.

        If the response to an earlier request is pending, the error would be mistaken for it: then only close.
        """
        is_free = not self._unanswered or (own and self._unanswered == 1 and not self.transport.has_responded)
        self._head_since = self._idle_since = None
        self._in_body = False
        if not is_free:
            self.transport.close()
            return
        self._detach()
        self._write_refusal(status)
        if self._connection.can_write_eof():
            self._connection.write_eof()
        self._lingering_since = self.loop.time()
        self._raw_bytes = 0
        self._connection.resume_reading()

    def _write_refusal(self, status: int) -> None:
        text = f"{REASONS[status]}\n".encode()
        retry = b"retry-after: 2\r\n" if status == 503 else b""
        self._connection.write(
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
            + b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n" % len(text)
            + retry + b"connection: close\r\n\r\n" + text
        )  # fmt: skip

    def check(self, now: float) -> None:
        """Close the connection if it exceeds a timeout; called about once a second."""
        limits = self.table.limits
        if self._lingering_since is not None:
            if now - self._lingering_since > LINGER_SECONDS:
                self.abort()
        elif self._head_since is not None:
            if now - self._head_since > limits.header_timeout:
                self.refuse(408)
        elif self._idle_since is not None:
            allowed = limits.header_timeout if self._is_first else limits.keep_alive_timeout
            if now - self._idle_since > allowed:
                self.transport.close()
        elif self._in_body:
            self._check_body(now, limits.body_timeout)
        if self._is_write_paused or self._stalled_since is not None:
            self._check_reader(now, 2 * limits.body_timeout)

    def _check_body(self, now: float, timeout: float) -> None:
        """Refuse a body that arrives too slowly, unless reading is paused."""
        if self.transport.is_reading_paused or (self._expects_continue and not self.transport.has_continued):
            self._interval_since, self._interval_bytes = now, 0
        elif now - self._interval_since > timeout:
            if self._interval_bytes < MIN_BODY_BYTES:
                self.refuse(408, own=True)
            self._interval_since, self._interval_bytes = now, 0

    def _check_reader(self, now: float, timeout: float) -> None:
        """Close a connection whose client does not read the response."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent or self._stalled_since is None or unsent < self._unsent:
            self._stalled_since = now if unsent else None
            self._unsent = unsent
        elif now - self._stalled_since > timeout:
            self.abort()


class RequestTracker:
    """Middleware that notifies a request's connection of the start and end of its processing."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        connection: LimitedProtocol | None = scope["state"].pop(CONNECTION, None)
        if connection is None:
            await self._app(scope, receive, send)
            return
        connection.request_started(scope)
        try:
            await self._app(scope, receive, send)
        finally:
            connection.request_finished()


class LimitedConfig(uvicorn.Config):
    """The server configuration with connection limits, shared by all connections."""

    def __init__(self, app: ASGIApp, limits: Limits, **options: Any) -> None:
        # Idle connections are closed by the table, which knows whether a request has begun; uvicorn's own timeout
        # is never reached.
        timeout = int(limits.keep_alive_timeout + 2 * limits.check_interval) + 1
        super().__init__(RequestTracker(app), timeout_keep_alive=timeout, **options)
        self._table = ConnectionTable(limits)

    def load(self) -> None:
        """Load the configuration, and wrap the protocol with the limits."""
        super().load()
        table, protocol_class = self._table, self.http_protocol_class

        class Protocol(LimitedProtocol):
            def __init__(self, **options: Any) -> None:
                super().__init__(table, protocol_class, options)

        self.http_protocol_class = Protocol
