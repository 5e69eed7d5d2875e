"""One worker process: it serves requests, and finishes those in flight before it stops."""

import asyncio
import gc
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from holdfast.server.app import build
from holdfast.server.connection_limits import LimitedConfig, Limits
from holdfast.server.supervisor import GRACE_SECONDS, HARD_STOP_SECONDS
from holdfast.settings import Settings

__all__ = ["Worker", "configured", "new_worker"]

# How long the last accepted connection may take to send its request.
LAST_REQUEST_SECONDS: Final = 0.5


class Worker(uvicorn.Server):
    """A server that stops gracefully on the first signal and immediately on the second.

    `signals` are those it handles. `on_started` is called when it accepts connections.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        signals: tuple[signal.Signals, ...],
        on_started: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self.signals = signals
        self.ended_by: int | None = None
        self._on_started = on_started

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Handle the signals while serving; unlike uvicorn, do not raise them again afterwards."""
        before = {number: signal.signal(number, self.handle_exit) for number in self.signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to shut down."""
        del frame
        if self.should_exit:
            os._exit(128 + sig)
        self.ended_by = sig
        self.should_exit = True
        watchdog = threading.Timer(HARD_STOP_SECONDS, os._exit, [1])
        watchdog.daemon = True
        watchdog.start()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections, and report that it is ready."""
        await super().startup(sockets)
        # Objects that exist now live until the exit: `gc.freeze` exempts them from garbage collection.
        gc.collect()
        gc.freeze()
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting connections, and exit when every request has been answered.

        A connection that was just accepted has not sent its request yet, and would be closed without a response.
        """
        for server in self.servers:
            server.close()
        await asyncio.sleep(LAST_REQUEST_SECONDS)
        await super().shutdown(sockets)


def new_worker(
    settings: Settings, signals: tuple[signal.Signals, ...], on_started: Callable[[], None] = lambda: None
) -> Worker:
    """Build the application in this process, and the server that runs it."""
    return Worker(configured(build(settings), Limits.of(settings)), signals, on_started)


def configured(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    """Return the configuration of the server."""
    return LimitedConfig(
        app,
        limits,
        loop="uvloop",
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        # The application does that, and accepts only valid addresses.
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
