"""Structured logging (structlog): one line per event, as text or JSON, with secrets masked.

Code logs an event name and a few fields (`log.info("request", method=..., status=...)`). Masking depends on the
type of a value: of bytes only the length is written, a `Secret` is masked, and a field with a private name is
masked whatever its value.
"""

import logging
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Literal, TextIO

import msgspec
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from holdfast.secret import MASK, Secret

__all__ = ["PRIVATE", "REQUEST", "configure", "request_line"]

# The id of the current request, added to every line.
REQUEST: Final[ContextVar[str]] = ContextVar("request")
# Set by `configure`: writes a complete line; None if the level is disabled.
write_line: Callable[[str, dict[str, str | int | float]], None] | None = None

# A field with one of these words in its name is never written.
PRIVATE: Final = frozenset(
    {
        *("authorization", "cookie", "credential", "key", "passphrase", "password", "pin", "secret", "token"),
        *("body", "email", "message", "name", "number", "query", "text", "title", "url"),
    }
)


def add_request(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Add the id of the current request to a line."""
    request = REQUEST.get("")
    if request:
        event["request"] = request
    return event


def request_line(method: str, path: str, status: int, ms: float, request: str) -> None:
    """Log that a request was answered.

    Every request writes this line, and it contains nothing to mask, so it bypasses the chain of processors, which
    costs more than a request itself.
    """
    if write_line is not None:
        write_line("request", {"method": method, "path": path, "status": status, "ms": ms, "request": request})


def mask_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Mask secrets and private fields."""
    for fact, value in event.items():
        if fact in {"event", "level", "timestamp", "logger", "exception"}:
            continue
        if isinstance(value, bytes | bytearray | memoryview):
            event[fact] = f"<{len(value)} bytes>"
        elif isinstance(value, Secret) or PRIVATE.intersection(fact.lower().split("_")):
            event[fact] = MASK
    return event


def drop_values_from_traceback(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Keep the location and type of an exception, but not its message, which may quote the input."""
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()[1]
    elif isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        frames = []
        trace = error.__traceback__
        while trace is not None:
            frames.append(f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}")
            trace = trace.tb_next
        event["error"] = type(error).__name__
        event["at"] = " > ".join(frames[-8:])
    return event


def configure(
    *, style: Literal["text", "json"] = "text", level: str = "info", stream: TextIO | None = None
) -> None:
    """Send all log lines of the process, including those of libraries, through one chain to standard error."""
    target = stream if stream is not None else sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        add_request,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        drop_values_from_traceback,
        mask_secrets,
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer(sort_keys=False)
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=target.isatty(), pad_event_to=0, sort_keys=False)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    global write_line  # noqa: PLW0603  # logging is global to the process
    write_line = plain_writer(handler, style) if level.upper() in {"DEBUG", "INFO"} else None
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # These two log each step at info level; only their warnings matter to operators.
    for name in ("alembic", "uvicorn"):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def plain_writer(
    handler: "logging.StreamHandler[TextIO]", style: Literal["text", "json"]
) -> Callable[[str, dict[str, str | int | float]], None]:
    """Return a function that writes a line without masking, in the same format as all others."""
    encoder = msgspec.json.Encoder()

    def write(event: str, facts: dict[str, str | int | float]) -> None:
        stamp = timestamp(time.time())
        if style == "json":
            line = encoder.encode({**facts, "event": event, "level": "info", "timestamp": stamp}).decode()
        else:
            shown = " ".join(f"{name}={quote_value(value)}" for name, value in facts.items())
            line = f"{stamp} [info     ] {event} {shown}"
        handler.acquire()
        try:
            handler.stream.write(line + "\n")
            handler.stream.flush()
        except (OSError, ValueError):  # a closed log must not stop the service
            pass
        finally:
            handler.release()

    return write


def timestamp(now: float) -> str:
    """Format a time as ISO 8601 with microseconds; the whole seconds are cached."""
    seconds = int(now)
    return f"{whole_seconds(seconds)}.{int((now - seconds) * 1_000_000):06d}Z"


@lru_cache(maxsize=2)
def whole_seconds(seconds: int) -> str:
    """Format a time without its fraction and zone."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def quote_value(value: float | str) -> str:
    """Quote a field's value so that it is one word."""
    text = str(value)
    return text if text.isprintable() and " " not in text else repr(text)
