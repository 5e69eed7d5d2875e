"""The OTLP exporter: spans, errors, and collectors that refuse or hang."""

import threading
import time
from collections.abc import Iterator

import pytest
import structlog
from structlog.testing import capture_logs

from holdfast.hosting import traces
from holdfast.hosting.trace_export import TraceExporter
from holdfast.secret import Secret
from tests.hosting.trace_collector import Collector, attributes, collecting

ERROR = 2


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Run a collector."""
    with collecting() as running:
        yield running


@pytest.mark.parametrize("path", ["", "/", "/v1/traces"])
def test_the_address_may_have_the_path_of_traces(collector: Collector, path: str) -> None:
    """The endpoint works with and without `/v1/traces`, like the two variables of OpenTelemetry."""
    exporter = TraceExporter(Secret(collector.endpoint.reveal() + path))
    exporter.start_request("GET", []).end()
    exporter.close()
    assert [span.name for span in collector.spans] == ["GET"]


def test_an_error_of_the_server_is_an_error_of_the_span(collector: Collector) -> None:
    """A span with a 5xx status is an error, and one with a 4xx status is not."""
    with traces.exporting(collector.endpoint):
        for status in (499, 500):
            with traces.start_request("GET") as span:
                span.end_request("/a/{b}", status, "id")
    first, second = collector.named("GET /a/{b}")
    assert (first.status.code, second.status.code) == (0, ERROR)
    assert "error.type" not in attributes(first)
    assert attributes(second)["error.type"] == "500"


def test_an_exception_is_exported_by_its_type_only(collector: Collector) -> None:
    """A span has the type of an exception but not its message, which may quote content."""
    with (
        traces.exporting(collector.endpoint),
        pytest.raises(ValueError, match="hunter2"),
        traces.start_request("GET"),
        traces.span("database write", db_system_name="sqlite"),
    ):
        raise ValueError("hunter2")
    inner, outer = collector.spans
    assert inner.parent_span_id == outer.span_id
    assert attributes(inner) == {"db.system.name": "sqlite", "error.type": "ValueError"}
    assert inner.status.code == ERROR
    assert not inner.events
    assert b"hunter2" not in b"".join(collector.bodies)


def test_a_span_needs_one_around_it(collector: Collector) -> None:
    """A span without a parent is not exported, as each scheduled task and poll would be a trace."""
    with traces.exporting(collector.endpoint):
        with traces.span("database read"):
            pass
        with traces.start_request("GET"):
            pass
        with traces.span("database read"):
            pass
    assert [span.name for span in collector.spans] == ["GET"]


def test_an_unknown_method_is_not_exported(collector: Collector) -> None:
    """An unknown method, which is any text of a client, is exported as `_OTHER`."""
    with traces.exporting(collector.endpoint):
        traces.start_request("HUNTER2").end()
    assert [span.name for span in collector.spans] == ["_OTHER"]
    assert b"HUNTER2" not in b"".join(collector.bodies)


def test_a_request_without_a_route_is_named_after_its_method(collector: Collector) -> None:
    """A request without a route is named by its method, as its path is any text of a client."""
    with traces.exporting(collector.endpoint), traces.start_request("GET") as span:
        span.end_request("none", 404, "id")
    (span_sent,) = collector.spans
    assert span_sent.name == "GET"
    assert "http.route" not in attributes(span_sent)


def test_a_refused_batch_is_logged_once_and_dropped(collector: Collector) -> None:
    """Refused batches are dropped with one warning, and later batches are still sent."""
    structlog.reset_defaults()
    collector.answer = lambda: 400
    with capture_logs() as lines, traces.exporting(collector.endpoint):
        exporter = traces.exporter
        assert exporter is not None
        for _ in range(3):
            traces.start_request("GET").end()
            exporter.flush()
        collector.answer = lambda: 200
        traces.start_request("POST").end()
    assert [(line["event"], line["spans"], line["log_level"]) for line in lines] == [
        ("traces not exported", 1, "warning")
    ]
    assert [span.name for span in collector.spans] == ["POST"]


def test_the_end_does_not_wait_for_a_collector_that_hangs(collector: Collector) -> None:
    """Stopping takes less than 30 seconds when the collector does not answer."""
    hangs = threading.Event()
    collector.answer = lambda: (hangs.wait(60), 503)[1]
    began = time.monotonic()
    with traces.exporting(collector.endpoint):
        traces.start_request("GET").end()
    hangs.set()
    assert time.monotonic() - began < 30


def test_more_spans_than_fit_are_dropped(collector: Collector) -> None:
    """The queue of spans is bounded, and ending a span does not block when it is full."""
    ready = threading.Event()
    collector.answer = lambda: (ready.wait(60), 200)[1]
    with traces.exporting(collector.endpoint):
        for _ in range(10_000):
            traces.start_request("GET").end()
        ready.set()
    assert 2048 <= len(collector.spans) < 10_000
