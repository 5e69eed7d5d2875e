"""Sends the head of an answer and its body in one piece: two would wake a client twice."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["Gathering"]

HEAD = b"HTTP/1.1 "
GO_ON = b"HTTP/1.1 100"
# More than this is not worth copying.
SMALL = 64 * 1024
# So much of a body that was refused is read and dropped, so that its sender can read why.
MOST_UNWANTED = 16 * 1024 * 1024


class Gathered:
    """A connection that keeps the head of an answer back until something follows it, or the loop comes round."""

    __slots__ = (
        "_head",
        "_loop",
        "_transport",
        "get_extra_info",
        "is_closing",
        "pause_reading",
        "resume_reading",
    )

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head: bytes | None = None
        # Asked for with every request.
        self.get_extra_info = transport.get_extra_info
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def __getattr__(self, name: str) -> Any:
        self.flush()
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send something, after what was kept back."""
        head = self._head
        if head is not None:
            self._head = None
            if len(data) <= SMALL:
                self._transport.write(head + data)
                return
            self._transport.write(head)
        elif data.startswith(HEAD) and not data.startswith(GO_ON):
            self._head = data
            self._loop.call_soon(self.flush)
            return
        self._transport.write(data)

    def flush(self) -> None:
        """Send what was kept back."""
        head, self._head = self._head, None
        if head is not None:
            self._transport.write(head)


class Gathering(HttpToolsProtocol):
    """A connection of uvicorn's that sends answers in one piece, and ends when nobody listens to them."""

    _answered: object = None
    _unwanted = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to serve a client."""
        # It has all that uvicorn uses of a transport, without being one.
        super().connection_made(Gathered(transport, self.loop))  # type: ignore[arg-type]  # see above

    def on_body(self, body: bytes) -> None:
        """Take in a part of a body; one that goes on and on after it was refused ends the connection.

        Whoever sends all of it before reading the answer still gets that, as long as it is not very much.
        """
        cycle = self.cycle
        if cycle.response_complete:
            self._unwanted = len(body) + (self._unwanted if self._answered is cycle else 0)
            self._answered = cycle
            if self._unwanted > MOST_UNWANTED:
                self.transport.close()
        super().on_body(body)
