"""One process that answers requests, and how it ends: what is in flight is answered first."""

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
from uvicorn.importer import import_from_string

from holdfast.server.connection_limits import Limits, limited_protocol
from holdfast.settings import Settings

__all__ = ["GRACE_SECONDS", "Worker", "configured", "new_worker"]

# How long requests in flight may still take when the service is told to end.
GRACE_SECONDS: Final = 30
# How long somebody who was accepted last may take to say what they want.
HEARING_SECONDS: Final = 0.5
# After that long even a thread that cannot be stopped is left behind.
LAST_SECONDS: Final = GRACE_SECONDS + 5


class Worker(uvicorn.Server):
    """A server that ends in good order at the first signal and at once at the second.

    `signals` are those it minds. `on_started` is called when it can answer.
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
        """Mind the signals while serving; unlike the original, do not send them to this process once more."""
        before = {number: signal.signal(number, self.handle_exit) for number in self.signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take note of a signal."""
        del frame
        if self.should_exit:
            os._exit(128 + sig)
        self.ended_by = sig
        self.should_exit = True
        watchdog = threading.Timer(LAST_SECONDS, os._exit, [1])
        watchdog.daemon = True
        watchdog.start()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        # What is here now stays for good; looking through it again and again costs requests their time.
        gc.collect()
        gc.freeze()
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept nobody any more, and end when everybody who was accepted has their answer.

        A connection that was accepted a moment ago has not said yet what it wants, and would be closed unheard.
        """
        for server in self.servers:
            server.close()
        await asyncio.sleep(HEARING_SECONDS)
        await super().shutdown(sockets)


def new_worker(
    settings: Settings, signals: tuple[signal.Signals, ...], on_started: Callable[[], None] = lambda: None
) -> Worker:
    """Build the application in this process, and the server that runs it."""
    # The website is named, not imported: no room but the entry point may know it.
    build = import_from_string("holdfast.server.app:build")
    return Worker(configured(build(settings), Limits.of(settings)), signals, on_started)


def configured(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    """Say how the service is served."""
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=limited_protocol(limits),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        # The application does that, and takes nothing but addresses.
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
