"""One connection to a receiver, and the answers that come over it.

A receiver is whoever somebody named: it may answer garbage, headers without end, or a byte a minute. Nothing is
read beyond fixed bounds, nothing is decompressed, and what does not end is ended by the time the caller gives it.
"""

import asyncio
from dataclasses import dataclass
from typing import Final, cast

import httptools

from holdfast.hosting.errors import DeliveryFailed

__all__ = ["KEPT_BYTES", "Answer", "Exchange"]

KEPT_BYTES: Final = 64 * 1024
HEADER_BYTES: Final = 64 * 1024
# How many answers of the kind "go on, more will follow" may come before the real one.
INTERIM_ANSWERS: Final = 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    """The first 64 KB of it."""
    cut: str = ""
    """Why the body is not whole, where it is not."""

    def header(self, name: str) -> str:
        """Return a header by its name in lower case; empty when there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")


class Exchange(asyncio.Protocol):
    """Sends requests over one connection, one at a time, and reads their answers."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._gone = False
        self._answered: asyncio.Future[Answer] | None = None
        self._start()

    def _start(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[str, str]] = []
        self._body: list[bytes] = []
        self._size = 0
        self._received = 0
        self._interim = 0
        self._in_body = False
        self._keep = False

    @property
    def is_open(self) -> bool:
        """Whether another request can be sent."""
        return self._transport is not None and not self._gone and not self._transport.is_closing()

    @property
    def has_heard(self) -> bool:
        """Whether anything at all has come since the last request."""
        return self._received > 0

    async def ask(self, request: bytes) -> Answer:
        """Send a request and return its answer; a failure or being cancelled ends the connection."""
        if self._transport is None or not self.is_open:
            raise DeliveryFailed("the connection is closed")
        self._start()
        self._answered = asyncio.get_running_loop().create_future()
        try:
            self._transport.write(request)
            return await self._answered
        except asyncio.CancelledError:
            self._keep = False
            raise
        finally:
            self._answered = None
            if not self._keep:
                self.close()

    def so_far(self, reason: str) -> Answer | None:
        """Return what has come of an answer that never ends; nothing while its headers are not whole."""
        return self._answer(reason) if self._in_body else None

    def close(self) -> None:
        """End the connection at once."""
        self._gone = True
        if self._transport is not None:
            self._transport.abort()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note how to send."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Read on in the answer."""
        if self._answered is None or self._answered.done():
            # Nothing was asked: whatever this is, the connection cannot be trusted with a request any more.
            self.close()
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail("it answered with another protocol than HTTP")
            return
        except httptools.HttpParserError as error:
            self._fail(f"its answer is not HTTP: {error}")
            return
        if not self._in_body and self._received > HEADER_BYTES:
            self._fail("the headers of its answer are larger than 64 KB")
        elif self._size > KEPT_BYTES or self._received > KEPT_BYTES + HEADER_BYTES * 2:
            self._finish(keep=False, cut="the answer is larger than 64 KB; the rest was not read")

    def connection_lost(self, error: Exception | None) -> None:
        """Take the end of a connection for the end of the answer where nothing else says how long it is."""
        self._gone = True
        if self._in_body:
            names = {name.lower() for name, _ in self._headers}
            whole = error is None and not names & {"content-length", "transfer-encoding"}
            self._finish(keep=False, cut="" if whole else "the connection ended before the answer did")
        else:
            self._fail("it closed the connection without an answer")

    # What the parser calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header; those that follow the body are not kept."""
        if not self._in_body:
            self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Tell an answer from one that only announces it."""
        self._in_body = self._parser.get_status_code() >= 200

    def on_body(self, body: bytes) -> None:
        """Keep what there is room for."""
        if self._size <= KEPT_BYTES:
            self._body.append(body)
        self._size += len(body)

    def on_message_complete(self) -> None:
        """Take the answer, or wait for the real one."""
        if self._in_body:
            self._finish(keep=self._parser.should_keep_alive())
            return
        self._headers.clear()
        self._interim += 1
        if self._interim > INTERIM_ANSWERS:
            self._fail("it announces an answer again and again")

    def _answer(self, cut: str = "") -> Answer:
        body = b"".join(self._body)
        if len(body) > KEPT_BYTES and not cut:
            cut = "the answer is larger than 64 KB; the rest was not kept"
        return Answer(self._parser.get_status_code(), tuple(self._headers), body[:KEPT_BYTES], cut)

    def _finish(self, *, keep: bool, cut: str = "") -> None:
        if self._answered is not None and not self._answered.done():
            self._keep = keep
            self._answered.set_result(self._answer(cut))

    def _fail(self, reason: str) -> None:
        if self._answered is not None and not self._answered.done():
            self._keep = False
            self._answered.set_exception(DeliveryFailed(reason))
