"""The process that sends webhooks, so that answering requests stays as fast as it is without them."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from holdfast.hosting.app import App
from holdfast.hosting.webhooks import delivery_thread
from holdfast.hosting.webhooks.deliverer import Deliverer
from holdfast.server.supervisor import HARD_STOP_SECONDS
from holdfast.settings import Settings

__all__ = ["NICENESS", "deliver"]

# Receivers can wait a moment longer; whoever looks at a page does not like to.
NICENESS: Final = 10


def deliver(settings: Settings, server: socket.socket, on_started: Callable[[], None], parent_gone: int) -> None:
    """Be the process that sends webhooks, until the parent says so or is gone."""
    # It answers nobody: holding on to the socket would keep newcomers waiting when the others have let go.
    server.close()
    with suppress(OSError):
        os.nice(NICENESS)
    host = App.open(settings)

    def begun(deliverer: Deliverer) -> None:
        loop = asyncio.get_running_loop()

        def end() -> None:
            loop.remove_reader(parent_gone)
            loop.remove_signal_handler(signal.SIGTERM)
            # What cannot be finished in time is sent again by whoever comes next.
            watchdog = threading.Timer(HARD_STOP_SECONDS, os._exit, [1])
            watchdog.daemon = True
            watchdog.start()
            deliverer.stop()

        loop.add_signal_handler(signal.SIGTERM, end)
        loop.add_reader(parent_gone, end)
        on_started()

    try:
        delivery_thread.deliver(host, begun)
    finally:
        host.close()
