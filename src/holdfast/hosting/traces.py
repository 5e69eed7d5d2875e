"""OpenTelemetry traces: spans of requests, database transactions, git processes and webhook deliveries.

They are off unless a collector is set. Then nothing of OpenTelemetry is imported, and a span costs one comparison.
Attributes are routes, methods, statuses, command names, ids and outcomes; never a path, an address of a receiver,
content, or the text of an error.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Protocol, Self

from holdfast.errors import HoldfastError
from holdfast.hosting.metrics import METHODS
from holdfast.secret import Secret

if TYPE_CHECKING:
    from holdfast.hosting.trace_export import TraceExporter

__all__ = ["TraceSpan", "exporting", "require_extra", "span", "start_delivery", "start_request"]

# The attribute OpenTelemetry gives methods that are not of HTTP's.
OTHER_METHOD: Final = "_OTHER"

# The exporter of this process; None while traces are off.
exporter: "TraceExporter | None" = None


class TraceSpan(Protocol):
    """A timed operation; as a context manager, the parent of the spans that start inside it."""

    def set(self, name: str, value: str | int) -> None:
        """Set an attribute."""

    def end_request(self, route: str, status: int, request_id: str) -> None:
        """Name the span of a request after its route, and set how it was answered and its id in the log."""

    def end(self, error: str = "") -> None:
        """End it; `error` is the type of what went wrong."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None: ...


class NoSpan:
    """A span while traces are off."""

    __slots__ = ()

    def set(self, name: str, value: str | int) -> None:
        """Do nothing."""

    def end_request(self, route: str, status: int, request_id: str) -> None:
        """Do nothing."""

    def end(self, error: str = "") -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        pass


NO_SPAN: Final = NoSpan()


def require_extra() -> None:
    """Raise an error that names the extra if OpenTelemetry is not installed."""
    try:
        spec = find_spec("opentelemetry.sdk") and find_spec("opentelemetry.exporter.otlp.proto.http")
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        raise HoldfastError("traces (otlp_endpoint) need an extra: pip install 'holdfast[server,otel]'")


@contextmanager
def exporting(endpoint: Secret | None) -> Iterator[None]:
    """Export traces to a collector while the context is open, if there is one; then send what is queued.

    A process has one exporter. It starts a thread, so this comes after the process was forked.
    """
    global exporter  # noqa: PLW0603  # as logs and metrics, traces are one per process
    if endpoint is None:
        yield
        return
    require_extra()
    from holdfast.hosting.trace_export import TraceExporter  # noqa: PLC0415  # not imported while traces are off

    before, own = exporter, TraceExporter(endpoint)
    exporter = own
    try:
        yield
    finally:
        exporter = before
        own.close()


def start_request(method: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> TraceSpan:
    """Start the span of a request; it continues the trace that the header `traceparent` names."""
    if exporter is None:
        return NO_SPAN
    return exporter.start_request(method if method in METHODS else OTHER_METHOD, headers)


def start_delivery(hook: int, delivery: int) -> TraceSpan:
    """Start the span of an attempt to deliver to a webhook, which has a trace of its own."""
    if exporter is None:
        return NO_SPAN
    return exporter.start_delivery(hook, delivery)


def span(name: str, **attributes: str | int) -> TraceSpan:
    """Start a span in the one around it; there is none without one, as in scheduled tasks.

    An underscore in the name of an attribute is a dot.
    """
    if exporter is None:
        return NO_SPAN
    return exporter.start_child(name, attributes) or NO_SPAN
