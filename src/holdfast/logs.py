"""Structured logs: one line per event, for people or as JSON, with secrets kept out.

Code logs an event's name and a few plain facts (`log.info("request", method=..., status=...)`). What a value is
decides whether it may be written: bytes are only counted, a `Secret` is masked, and a fact whose name is that of
something private is masked whatever it holds.
"""

import logging
import sys
from typing import Final, Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from holdfast.secret import MASK, Secret

__all__ = ["PRIVATE", "configure"]

# A fact with one of these words in its name is never written.
PRIVATE: Final = frozenset(
    {
        *("authorization", "cookie", "credential", "key", "passphrase", "password", "pin", "secret", "token"),
        *("body", "email", "message", "name", "number", "query", "text", "title", "url"),
    }
)


def keep_private(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Mask what must not reach a log."""
    for fact, value in event.items():
        if fact in {"event", "level", "timestamp", "logger", "exception"}:
            continue
        if isinstance(value, bytes | bytearray | memoryview):
            event[fact] = f"<{len(value)} bytes>"
        elif isinstance(value, Secret) or PRIVATE.intersection(fact.lower().split("_")):
            event[fact] = MASK
    return event


def drop_values_from_traceback(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Keep where an exception happened and its type, but not its text, which may quote the input."""
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
    """Send every log line of the process, also those of libraries, through one chain to standard error."""
    target = stream if stream is not None else sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        drop_values_from_traceback,
        keep_private,
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
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # These two report each step at info level; their warnings are what an operator needs.
    for name in ("alembic", "uvicorn"):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
