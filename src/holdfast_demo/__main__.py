"""The process that creates the demo content: reads its login from standard input, and exits when that closes."""

import os
import signal
import sys
import threading
import time
from types import FrameType

import msgspec
import structlog

from holdfast import logs
from holdfast.errors import HoldfastError
from holdfast_demo.fill import fill
from holdfast_demo.service_login import ServiceLogin

__all__ = ["main"]

log = structlog.get_logger(__name__)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Handle SIGTERM like SIGINT, which asyncio handles by cancelling the tasks of the event loop."""
    signal.raise_signal(signal.SIGINT)


def watch_stdin(thread: int) -> None:
    """Wait until standard input closes, then interrupt the thread that creates the content."""
    # Unbuffered: a thread that waits for the buffered file would block the exit.
    while os.read(sys.stdin.fileno(), 64):
        pass
    signal.pthread_kill(thread, signal.SIGINT)


def main() -> int:
    """Create the content; a failure is one line in the log, because the service works without it."""
    login = msgspec.json.decode(sys.stdin.buffer.readline(), type=ServiceLogin)
    logs.configure(style=login.log_format, level=login.log_level)
    started = time.monotonic()
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, interrupt)
        threading.Thread(target=watch_stdin, args=[threading.get_ident()], daemon=True).start()
        fill(login, now=int(time.time()))
    except KeyboardInterrupt:
        log.warning("demo content incomplete", reason="the service was stopped")
        return 1
    except HoldfastError as error:
        log.warning("demo content incomplete", reason=str(error))
        return 1
    except Exception as error:  # noqa: BLE001  # the service works without the demo; its log needs no traceback
        log.warning("demo content incomplete", reason=f"{type(error).__name__}: {error}")
        return 1
    log.info("demo content created", seconds=round(time.monotonic() - started, 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
