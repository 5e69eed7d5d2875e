"""Limits of HTTP connections, so that nobody can hold the server up by sending much, slowly, or nothing.

Uvicorn limits neither the size of a request's head nor the time it takes, nor the number of connections. This is
its protocol with those limits. What depends on time is checked for all connections of a process about once a
second, which costs a request nothing; what depends on size is checked where the parser has whole parts.

The head of a request may have 64 KiB and 128 headers (431) and 16 KiB for its target (414), and comes within a
timeout (408). A body brings at least a kilobyte in every interval of its timeout, so that the slowest upload
survives and a byte now and then does not. A client that reads nothing of an answer for twice that long is gone.
Framing that two servers could disagree about is refused (400): see `framing_problem`.
"""

import asyncio
import resource
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from holdfast.client_address import TrustedProxies, network_of
from holdfast.server.response_buffer import MOST_UNWANTED, Gathering
from holdfast.settings import Settings

__all__ = ["ConnectionTable", "LimitedHttp", "Limits", "limited_protocol"]

MAX_HEAD_BYTES: Final = 64 * 1024
MAX_HEADERS: Final = 128
MAX_TARGET_BYTES: Final = 16 * 1024
MAX_PIPELINED: Final = 64
# In one interval of the body's timeout; less is a connection held open on purpose.
MIN_BODY_BYTES: Final = 1024
# Chunk sizes, extensions and trailers around a body: so much, and so many times the body.
MAX_FRAMING_BYTES: Final = 512 * 1024
MAX_FRAMING_RATIO: Final = 8
# After a refusal what still comes is read and dropped for a moment, so that its sender can read why.
LINGER_SECONDS: Final = 5.0
# Files a process opens besides connections: databases, repositories, pipes to git.
OTHER_FILES: Final = 512
REASONS: Final = {
    400: "The request is not valid HTTP.",
    408: "The request did not come in time.",
    414: f"The address of a request may have {MAX_TARGET_BYTES} bytes.",
    431: f"The head of a request may have {MAX_HEAD_BYTES} bytes and {MAX_HEADERS} headers.",
    503: "There are too many connections. Try again in a moment.",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how many; seconds, and connections of one process."""

    header_timeout: float = 30.0
    keep_alive_timeout: float = 60.0
    body_timeout: float = 60.0
    max_connections: int = 4096
    max_connections_per_address: int = 256
    trusted_proxies: str = "127.0.0.1"
    check_interval: float = 1.0

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        """Return the limits the settings name, and no more connections than the process may open files."""
        return cls(
            header_timeout=settings.header_timeout,
            keep_alive_timeout=settings.keep_alive_timeout,
            body_timeout=settings.body_timeout,
            max_connections=min(settings.max_connections, max(open_files() - OTHER_FILES, 64)),
            max_connections_per_address=settings.max_connections_per_address,
            trusted_proxies=settings.trusted_proxies,
        )


def open_files() -> int:
    """Raise the limit of open files as far as this process may, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return 65_536 if soft == resource.RLIM_INFINITY else soft


class ConnectionTable:
    """The connections of one process: how many there are, and the timer that checks them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._proxies = TrustedProxies(limits.trusted_proxies)
        # In the order they were opened, so that the first idle one found is the longest idle or nearly so.
        self._open: dict[LimitedHttp, str] = {}
        self._by_address: Counter[str] = Counter()
        self._is_checking = False

    def add(self, connection: "LimitedHttp", peer: str) -> bool:
        """Count a connection; return whether it may stay.

        When there are too many in all, one that waits for a request makes room: whoever asks for something is not
        refused because of those who do not. Proxies that are trusted bring the connections of everybody.
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

    def remove(self, connection: "LimitedHttp") -> None:
        """Count a connection no more."""
        address = self._open.pop(connection, "")
        if address:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    def _evict(self) -> bool:
        for connection in self._open:
            if connection.is_waiting:
                self.remove(connection)
                connection.transport.abort()
                return True
        return False

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the connections whose time is over, and come back while there are any."""
        now = loop.time()
        for connection in list(self._open):
            connection.check(now)
        self._is_checking = bool(self._open)
        if self._is_checking:
            loop.call_later(self.limits.check_interval, self._check, loop)


class RequestRefused(Exception):
    """Ends the parsing of a request that is over a limit."""


class LimitedHttp(Gathering):
    """A connection of uvicorn's with limits; `limited_protocol` makes the class for a table."""

    table: ConnectionTable

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        now = self.loop.time()
        self._refusal = 0
        self._is_first = True
        # Each is None unless the connection is in that state.
        self._waiting_since: float | None = now
        self._head_since: float | None = None
        self._lingering_since: float | None = None
        self._stalled_since: float | None = None
        self._in_body = False
        self._head_bytes = 0
        self._raw_bytes = 0
        self._body_bytes = 0
        self._interval_since = now
        self._interval_bytes = 0
        self._unsent = 0

    @property
    def is_waiting(self) -> bool:
        """Whether no request is being sent or answered."""
        return self._waiting_since is not None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to serve a client, unless there are too many connections."""
        super().connection_made(transport)
        if not self.table.add(self, self.client[0] if self.client else ""):
            self._write_refusal(503)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self.table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in what a client sent; of what nobody wants any more, so much as to let it read why."""
        if self._lingering_since is not None:
            self._raw_bytes += len(data)
            if self._raw_bytes > MOST_UNWANTED:
                self.transport.abort()
            return
        if self.transport.is_closing():
            return
        began = self._head_since
        self._head_bytes = self._head_bytes + len(data) if began is not None else len(data)
        if self._in_body:
            self._raw_bytes += len(data)
        super().data_received(data)
        if self._head_since is not None:
            # The parser keeps a header until it is whole, so a long one is seen here only. What came in one piece
            # with the end of another request counts from the next piece on.
            if self._head_since is began and self._head_bytes > MAX_HEAD_BYTES:
                self.refuse(431)
        elif self._in_body and self._raw_bytes - self._body_bytes > (
            MAX_FRAMING_BYTES + MAX_FRAMING_RATIO * self._body_bytes
        ):
            self.refuse(400)

    def on_message_begin(self) -> None:
        """Note when a request begins."""
        super().on_message_begin()
        self._head_since = self.loop.time()
        self._waiting_since = None

    def on_headers_complete(self) -> None:
        """Refuse a head that is too large or could be read in two ways; else begin to answer."""
        if len(self.url) > MAX_TARGET_BYTES:
            self._end_parsing(414)
        headers = self.headers
        if len(headers) > MAX_HEADERS or (
            self._head_bytes > MAX_HEAD_BYTES
            and sum(len(name) + len(value) + 4 for name, value in headers) > MAX_HEAD_BYTES
        ):
            self._end_parsing(431)
        if framing_problem(headers, self.parser.get_http_version()) or len(self.pipeline) >= MAX_PIPELINED:
            self._end_parsing(400)
        self._head_since = None
        self._is_first = False
        self._in_body = True
        self._raw_bytes = self._body_bytes = self._interval_bytes = 0
        self._interval_since = self.loop.time()
        super().on_headers_complete()
        # What follows a body of chunks is no header of the request: a proxy did not look at it.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        """Count a part of a body."""
        self._body_bytes += len(body)
        self._interval_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the whole request has come."""
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Begin to answer the next request that was pipelined, or note that the connection waits for one.

        As uvicorn does it, but without a timer for every request: `check` ends connections that wait too long.
        """
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif self._head_since is None and not self._in_body:
            self._waiting_since = self.loop.time()

    def send_400_response(self, msg: str) -> None:
        """Answer what the parser refused, with the status of the limit where it was one."""
        del msg
        self.refuse(self._refusal or 400, own=self._in_body)

    def _end_parsing(self, status: int) -> None:
        self._refusal = status
        raise RequestRefused

    def refuse(self, status: int, *, own: bool = False) -> None:
        """Answer with an error and end the connection; `own` says that the request being answered is the one.

        Where an answer to an earlier request is still to come, an error would be taken for it: then it only ends.
        """
        # Uvicorn's annotation leaves out that there is none before the first request.
        cycle: RequestResponseCycle | None = self.cycle
        is_free = cycle is None or cycle.response_complete or (own and not cycle.response_started)
        self._head_since = self._waiting_since = None
        self._in_body = False
        if not is_free or self.pipeline:
            self.transport.close()
            return
        self._write_refusal(status)
        if cycle is not None and not cycle.response_complete:
            # Whoever still answers it learns that nobody listens.
            cycle.disconnected = True
            cycle.message_event.set()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._lingering_since = self.loop.time()
        self._raw_bytes = 0
        self.flow.resume_reading()

    def _write_refusal(self, status: int) -> None:
        text = f"{REASONS[status]}\n".encode()
        retry = b"retry-after: 2\r\n" if status == 503 else b""
        self.transport.write(
            STATUS_LINE[status] + b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n" % len(text)
            + retry + b"connection: close\r\n\r\n" + text
        )  # fmt: skip

    def check(self, now: float) -> None:
        """End the connection if its time is over; called about once a second."""
        limits = self.table.limits
        if self._lingering_since is not None:
            if now - self._lingering_since > LINGER_SECONDS:
                self.transport.abort()
        elif self._head_since is not None:
            if now - self._head_since > limits.header_timeout:
                self.refuse(408)
        elif self._waiting_since is not None:
            allowed = limits.header_timeout if self._is_first else limits.keep_alive_timeout
            if now - self._waiting_since > allowed:
                self.transport.close()
        elif self._in_body:
            self._check_body(now, limits.body_timeout)
        if self.flow.write_paused or self._stalled_since is not None:
            self._check_reader(now, 2 * limits.body_timeout)

    def _check_body(self, now: float, timeout: float) -> None:
        """End a body that comes too slowly, unless it waits for us."""
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            self._interval_since, self._interval_bytes = now, 0
        elif now - self._interval_since > timeout:
            if self._interval_bytes < MIN_BODY_BYTES:
                self.refuse(408, own=True)
            self._interval_since, self._interval_bytes = now, 0

    def _check_reader(self, now: float, timeout: float) -> None:
        """End a connection whose client reads nothing of its answer."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent or self._stalled_since is None or unsent < self._unsent:
            self._stalled_since = now if unsent else None
            self._unsent = unsent
        elif now - self._stalled_since > timeout:
            self.transport.abort()


def framing_problem(headers: list[tuple[bytes, bytes]], version: str) -> bool:
    """Tell whether the framing of a request could be read differently by a proxy before this server.

    The parser refuses most such forms itself. These are left: a coding other than `chunked`, a body of chunks in
    HTTP/1.0, and a request that names no host, or two.
    """
    hosts = 0
    for name, value in headers:
        if name == b"host":
            hosts += 1
        elif name == b"transfer-encoding" and (value.strip().lower() != b"chunked" or version == "1.0"):
            return True
    return hosts > 1 or (hosts == 0 and version != "1.0")


def limited_protocol(limits: Limits) -> type[LimitedHttp]:
    """Return the protocol with these limits, counted together for all of its connections."""
    return type("LimitedHttp", (LimitedHttp,), {"table": ConnectionTable(limits)})
