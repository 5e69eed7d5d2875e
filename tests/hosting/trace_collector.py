"""An OpenTelemetry collector on loopback: it accepts OTLP over HTTP, and stores the spans."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from holdfast.secret import Secret

__all__ = ["Collector", "attributes", "collecting"]


@dataclass
class Collector:
    """A running collector."""

    port: int = 0
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answer: Callable[[], int] = lambda: 200

    @property
    def endpoint(self) -> Secret:
        """The setting that names it."""
        return Secret(f"http://127.0.0.1:{self.port}")

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        """The received requests, decoded."""
        return [ExportTraceServiceRequest.FromString(body) for body in self.bodies]

    @property
    def spans(self) -> list[Span]:
        """Every received span."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def named(self, name: str) -> list[Span]:
        """Return the spans of one name."""
        return [span for span in self.spans if span.name == name]


def attributes(span: Span) -> dict[str, str | int]:
    """Return the attributes of a span."""
    return {
        one.key: one.value.int_value if one.value.HasField("int_value") else one.value.string_value
        for one in span.attributes
    }


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector until the test is over."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = collector.answer()
            if self.path == "/v1/traces" and status == 200:
                assert self.headers["Content-Type"] == "application/x-protobuf"
                collector.headers.append(dict(self.headers))
                collector.bodies.append(body)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name of the standard library
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
