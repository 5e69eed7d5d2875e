"""Sends the head and the body of a response in one write: two would wake the client twice."""

import asyncio
from typing import Final

__all__ = ["BufferedTransport"]

HEAD: Final = b"HTTP/1.1 "
CONTINUE: Final = b"HTTP/1.1 100"
# Larger bodies are not worth copying.
SMALL: Final = 64 * 1024


class BufferedTransport(asyncio.Transport):
    """A transport that delays the head of a response until more follows, or the next loop iteration.

    It also tracks the progress of the response, for the limits of the connection.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._head: bytes | None = None
        self._is_detached = False
        self.has_responded = False
        """Whether a part of the response to the current request has been written."""
        self.has_continued = False
        """Whether `100 Continue` was sent for the current request."""
        self.is_reading_paused = False
        # Called for every request.
        self.is_closing = transport.is_closing  # type: ignore[method-assign]  # the transport's own method, without another call
        self.get_extra_info = transport.get_extra_info  # type: ignore[method-assign]  # the transport's own method, without another call

    def begin_response(self) -> None:
        """Mark that the following writes belong to the next response."""
        self.has_responded = self.has_continued = False

    def detach(self) -> None:
        """Ignore further calls of the protocol, which is notified that the connection is lost."""
        self.flush()
        self._is_detached = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write data, after the buffered data."""
        head = self._head
        if head is not None:
            self._head = None
            if len(data) <= SMALL:
                self._transport.write(head + data)
                return
            self._transport.write(head)
        elif self._is_detached:
            return
        elif not self.has_responded:
            start = bytes(data[: len(CONTINUE)])
            if start == CONTINUE:
                self.has_continued = True
            else:
                self.has_responded = True
                if start.startswith(HEAD):
                    self._head = bytes(data)
                    self._loop.call_soon(self.flush)
                    return
        self._transport.write(data)

    def flush(self) -> None:
        """Write the buffered data."""
        head, self._head = self._head, None
        if head is not None:
            self._transport.write(head)

    def close(self) -> None:
        """Write the buffered data, and close."""
        self.flush()
        if not self._is_detached:
            self._transport.close()

    def abort(self) -> None:
        """Close without sending anything more."""
        if not self._is_detached:
            self._transport.abort()

    def write_eof(self) -> None:
        """Write the buffered data, and close the write side."""
        self.flush()
        if not self._is_detached:
            self._transport.write_eof()

    def can_write_eof(self) -> bool:
        """Return whether the write side can be closed separately."""
        return self._transport.can_write_eof()

    def pause_reading(self) -> None:
        """Pause reading."""
        self.is_reading_paused = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Resume reading."""
        self.is_reading_paused = False
        self._transport.resume_reading()

    def is_reading(self) -> bool:
        """Return whether the transport is reading."""
        return self._transport.is_reading()

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes in the write buffer."""
        return self._transport.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set the limits at which the protocol is paused and resumed."""
        self._transport.set_write_buffer_limits(high, low)

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol of the connection."""
        return self._transport.get_protocol()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Set the protocol of the connection."""
        self._transport.set_protocol(protocol)
