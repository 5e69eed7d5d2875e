"""The process that makes the demo content: reads its order from standard input, and ends when that closes."""

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
    """Treat a request to end as an interrupt, which asyncio handles: it cancels what runs in the event loop."""
    signal.raise_signal(signal.SIGINT)


def watch(work: int) -> None:
    """Wait until standard input closes, then interrupt the thread that works."""
    # Not through the buffered file: a thread that waits in there cannot be left behind at the end.
    while os.read(sys.stdin.fileno(), 64):
        pass
    signal.pthread_kill(work, signal.SIGINT)


def main() -> int:
    """Make everything; a failure is one line in the log, for the service does well without."""
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=ServiceLogin)
    logs.configure(style=order.log_format, level=order.log_level)
    started = time.monotonic()
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, interrupt)
        threading.Thread(target=watch, args=[threading.get_ident()], daemon=True).start()
        fill(order, now=int(time.time()))
    except KeyboardInterrupt:
        log.warning("demo content incomplete", reason="the service was stopped")
        return 1
    except HoldfastError as error:
        log.warning("demo content incomplete", reason=str(error))
        return 1
    except Exception as error:  # noqa: BLE001  # whatever it is, it is no reason for a traceback in a service's log
        log.warning("demo content incomplete", reason=f"{type(error).__name__}: {error}")
        return 1
    log.info("demo content created", seconds=round(time.monotonic() - started, 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
