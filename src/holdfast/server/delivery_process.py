"""The process that sends webhooks, so that they do not slow down requests."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from holdfast.hosting import traces
from holdfast.hosting.app import App
from holdfast.hosting.webhooks import delivery_thread
from holdfast.hosting.webhooks.deliverer import Deliverer
from holdfast.server.supervisor import HARD_STOP_SECONDS
from holdfast.settings import Settings

__all__ = ["NICENESS", "deliver"]

# Requests take precedence over webhooks.
NICENESS: Final = 10


def deliver(settings: Settings, server: socket.socket, on_started: Callable[[], None], parent_gone: int) -> None:
    """Run the delivery process until it is stopped or its parent has exited."""
    # It accepts no connections: keeping the socket open would leave clients waiting after the workers have
    # stopped.
    server.close()
    with suppress(OSError):
        os.nice(NICENESS)
    host = App.open(settings)

    def watch_parent(deliverer: Deliverer) -> None:
        loop = asyncio.get_running_loop()

        def end() -> None:
            loop.remove_reader(parent_gone)
            loop.remove_signal_handler(signal.SIGTERM)
            # Unfinished deliveries are sent again by the next process.
            watchdog = threading.Timer(HARD_STOP_SECONDS, os._exit, [1])
            watchdog.daemon = True
            watchdog.start()
            deliverer.stop()

        loop.add_signal_handler(signal.SIGTERM, end)
        loop.add_reader(parent_gone, end)
        on_started()

    try:
        with traces.exporting(settings.otlp_endpoint):
            delivery_thread.deliver(host, watch_parent)
    finally:
        host.close()
