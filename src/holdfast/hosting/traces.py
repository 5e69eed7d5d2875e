"""OpenTelemetry traces: spans of requests, database transactions, git processes and webhook deliveries.

Disabled unless a collector is set. While disabled, OpenTelemetry is not imported, and a span costs one comparison.
Attributes are routes, methods, statuses, command names, ids and outcomes; never a path, the URL of a receiver,
content, or the message of an error.
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

# OpenTelemetry's attribute value for unknown HTTP methods.
OTHER_METHOD: Final = "_OTHER"

# The exporter of this process; None while traces are disabled.
exporter: "TraceExporter | None" = None


class TraceSpan(Protocol):
    """A timed operation; as a context manager, the parent of the spans that start inside it."""

    def set(self, name: str, value: str | int) -> None:
        """Set an attribute."""

    def end_request(self, route: str, status: int, request_id: str) -> None:
        """Name the span of a request after its route, and set its status and request id."""

    def end(self, error: str = "") -> None:
        """End the span; `error` is the type of the error."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None: ...


class NoSpan:
    """A no-op span, for disabled traces."""

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
    """Raise an error that names the missing extra if OpenTelemetry is not installed."""
    try:
        spec = find_spec("opentelemetry.sdk") and find_spec("opentelemetry.exporter.otlp.proto.http")
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        raise HoldfastError("traces (otlp_endpoint) need an extra: pip install 'holdfast[server,otel]'")


@contextmanager
def exporting(endpoint: Secret | None) -> Iterator[None]:
    """Export traces to a collector, if given, while the context is open; then send the queued spans.

    A process has one exporter. It starts a thread, so this must be called after the process was forked.
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
    """Start the span of a request, which continues the trace of the `traceparent` header."""
    if exporter is None:
        return NO_SPAN
    return exporter.start_request(method if method in METHODS else OTHER_METHOD, headers)


def start_delivery(hook: int, delivery: int) -> TraceSpan:
    """Start the span of a webhook delivery attempt, in a trace of its own."""
    if exporter is None:
        return NO_SPAN
    return exporter.start_delivery(hook, delivery)


def span(name: str, **attributes: str | int) -> TraceSpan:
    """Start a child of the current span; a no-op without one, as in scheduled tasks.

    An underscore in the name of an attribute becomes a dot.
    """
    if exporter is None:
        return NO_SPAN
    return exporter.start_child(name, attributes) or NO_SPAN
