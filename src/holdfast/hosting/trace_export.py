"""Export of traces over OTLP/HTTP with the SDK of OpenTelemetry; imported only when a collector is set.

Ended spans are queued, at most 2,048, and sent by a thread. If the collector is slow or unreachable, the oldest
are dropped: requests never wait for it. The SDK's environment variables (`OTEL_EXPORTER_OTLP_HEADERS`,
`OTEL_TRACES_SAMPLER`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_BSP_*`) apply.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextvars import Token
from typing import Final, Self

import structlog
from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from holdfast import __version__
from holdfast.secret import Secret

__all__ = ["TraceExporter"]

log = structlog.get_logger(__name__)

PATH: Final = "/v1/traces"
# Timeout of a batch, including its retries.
EXPORT_SECONDS: Final = 10
# How long the shutdown of a process waits for the last batches.
CLOSE_SECONDS: Final = 3.0
# Minimum interval between log messages about an unreachable collector, in seconds.
LOG_SECONDS: Final = 60.0
PROPAGATED: Final = (b"traceparent", b"tracestate")


class LoggedExporter(SpanExporter):
    """An exporter that logs failures without the messages of the collector or the network."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._lost = 0
        self._logged = -LOG_SECONDS

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch; called in the thread of the span processor."""
        try:
            result = self._exporter.export(spans)
        except Exception as error:  # noqa: BLE001  # the thread would log its text
            result = SpanExportResult.FAILURE
            log.debug("trace export raised", error=type(error).__name__)
        if result is not SpanExportResult.SUCCESS:
            self._lost += len(spans)
            if time.monotonic() - self._logged >= LOG_SECONDS:
                log.warning("traces not exported", spans=self._lost)
                self._lost, self._logged = 0, time.monotonic()
        return result

    def shutdown(self) -> None:
        """Interrupt the wait for a retry, and stop sending."""
        self._exporter.shutdown()


class RecordedSpan:
    """A span that has started."""

    __slots__ = ("_name", "_span", "_token")

    def __init__(self, name: str, span: trace.Span) -> None:
        self._name = name
        self._span = span
        self._token: Token[Context] | None = None

    def set(self, name: str, value: str | int) -> None:
        """Set an attribute."""
        self._span.set_attribute(name, value)

    def end_request(self, route: str, status: int, request_id: str) -> None:
        """Name the span after the route, and set the status; 500 and above are errors."""
        if route != "none":
            self._span.update_name(f"{self._name} {route}")
            self.set("http.route", route)
        self.set("http.response.status_code", status)
        self.set("holdfast.request", request_id)
        if status >= 500:
            self._fail(str(status))

    def end(self, error: str = "") -> None:
        """End the span; `error` is the type of the error."""
        if error:
            self._fail(error)
        self._span.end()

    def _fail(self, kind: str) -> None:
        self.set("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR))

    def __enter__(self) -> Self:
        self._token = contexts.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if self._token is not None:
            contexts.detach(self._token)
        self.end("" if kind is None else kind.__name__)


class TraceExporter:
    """Starts spans, and exports them to a collector after they have ended."""

    def __init__(self, endpoint: Secret) -> None:
        # The SDK would log URLs and the responses of the collector.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        address = endpoint.reveal().rstrip("/")
        sender = OTLPSpanExporter(address if address.endswith(PATH) else address + PATH, timeout=EXPORT_SECONDS)
        self._processor = BatchSpanProcessor(LoggedExporter(sender))
        own = {
            "service.name": "holdfast",
            "service.version": __version__,
            "service.instance.id": f"{socket.gethostname()}-{os.getpid()}",
        }
        # Environment variables (`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`) take precedence over our own.
        resource = Resource.create(own).merge(OTELResourceDetector().detect())
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(self._processor)
        self._tracer = provider.get_tracer("holdfast", __version__)
        self._propagator = TraceContextTextMapPropagator()

    def start_request(self, method: str, headers: Iterable[tuple[bytes, bytes]]) -> RecordedSpan:
        """Start the span of a request, in the trace of its `traceparent` header."""
        carrier = {name.decode(): value.decode("latin-1") for name, value in headers if name in PROPAGATED}
        parent = self._propagator.extract(carrier, Context())
        return self._start(method, SpanKind.SERVER, {"http.request.method": method}, parent)

    def start_delivery(self, hook: int, delivery: int) -> RecordedSpan:
        """Start the span of a webhook delivery attempt."""
        attributes = {"holdfast.hook": hook, "holdfast.delivery": delivery}
        return self._start("webhook delivery", SpanKind.CLIENT, attributes, Context())

    def start_child(self, name: str, attributes: Mapping[str, str | int]) -> RecordedSpan | None:
        """Start a child of the current span; None if there is none or it is not recorded."""
        if not trace.get_current_span().is_recording():
            return None
        spelled = {key.replace("_", "."): value for key, value in attributes.items()}
        return self._start(name, SpanKind.INTERNAL, spelled, None)

    def _start(
        self, name: str, kind: SpanKind, attributes: Mapping[str, str | int], parent: Context | None
    ) -> RecordedSpan:
        return RecordedSpan(
            name,
            self._tracer.start_span(
                name,
                parent,
                kind,
                attributes,
                # The message of an exception may contain content.
                record_exception=False,
                set_status_on_exception=False,
            ),
        )

    def flush(self) -> None:
        """Send the queued spans, and wait until they are sent."""
        self._processor.force_flush()

    def close(self) -> None:
        """Send the queued spans, for a few seconds at most; after that, the thread ends with the process."""
        closing = threading.Thread(target=self._processor.shutdown, name="trace export", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)
