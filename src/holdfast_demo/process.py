"""Makes the demo content in a process of its own, while the service runs and no longer than it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import msgspec
import structlog

from holdfast.hosting.data_folder import FirstStart
from holdfast.settings import Settings
from holdfast_demo.conversation import add_conversation
from holdfast_demo.service_login import ServiceLogin

__all__ = ["making_demo"]

# How long it may take to clean up once the service has ended.
GRACE_SECONDS: Final = 5

log = structlog.get_logger(__name__)


@contextmanager
def making_demo(settings: Settings, first: FirstStart | None, server: socket.socket) -> Iterator[None]:
    """Fill a new data folder through the service that is about to run, when the settings ask for it.

    The conversation is written at once. The rest is made by a process that may start before the service does: the
    socket listens already, and requests wait there. Its pipe closes when the service ends, however it ends.
    """
    password = None if first is None else first.password or settings.admin_password
    if not settings.demo or first is None or password is None:
        yield
        return
    add_conversation(settings)
    host, port = server.getsockname()[:2]
    order = ServiceLogin(
        host=reachable(host),
        port=port,
        name=first.admin,
        password=password.reveal(),
        log_format=settings.log_format,
        log_level=settings.log_level,
    )
    command = [sys.executable, "-P", "-m", "holdfast_demo"]
    try:
        # In a group of its own: what a terminal sends on Ctrl-C is for the service.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0)  # noqa: S603  # our own program
    except OSError as error:
        log.warning("demo content not created", reason=error.strerror)
        yield
        return
    try:
        tell(process, msgspec.json.encode(order) + b"\n")
        yield
    finally:
        end(process)


def reachable(host: str) -> str:
    """Return the address to connect to for one that was listened on."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared with, not bound to


def tell(process: "subprocess.Popen[bytes]", line: bytes) -> None:
    """Write the line it waits for; if it has ended, it has said why."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.write(line)
            process.stdin.flush()


def end(process: "subprocess.Popen[bytes]") -> None:
    """Close the pipe, which ends it if it is still at work, and wait until it has cleaned up."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
