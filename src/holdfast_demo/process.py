"""Creates the demo content in a child process, which ends when the service does."""

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

__all__ = ["demo_process"]

# How long the process may take to clean up when the service has ended.
GRACE_SECONDS: Final = 5

log = structlog.get_logger(__name__)


@contextmanager
def demo_process(settings: Settings, first: FirstStart | None, server: socket.socket) -> Iterator[None]:
    """Create demo content in a new data folder through the service that is about to start, if the settings say so.

    The conversation is written first. The rest is created by a process that may start before the service, whose
    socket is already listening. Its standard input closes when the service ends, even by a signal.
    """
    password = None if first is None else first.password or settings.admin_password
    if not settings.demo or first is None or password is None:
        yield
        return
    add_conversation(settings)
    host, port = server.getsockname()[:2]
    login = ServiceLogin(
        host=reachable(host),
        port=port,
        name=first.admin,
        password=password.reveal(),
        log_format=settings.log_format,
        log_level=settings.log_level,
    )
    command = [sys.executable, "-P", "-m", "holdfast_demo"]
    try:
        # In a process group of its own, so that Ctrl-C in a terminal reaches only the service.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0)  # noqa: S603  # our own program
    except OSError as error:
        log.warning("demo content not created", reason=error.strerror)
        yield
        return
    try:
        send_line(process, msgspec.json.encode(login) + b"\n")
        yield
    finally:
        stop_process(process)


def reachable(host: str) -> str:
    """Return the address to connect to for an address to listen on."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared with, not bound to


def send_line(process: "subprocess.Popen[bytes]", line: bytes) -> None:
    """Send a line to the process; if it has exited, it has logged the reason."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.write(line)
            process.stdin.flush()


def stop_process(process: "subprocess.Popen[bytes]") -> None:
    """Close the standard input of the process, which stops it, and wait until it has cleaned up."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
