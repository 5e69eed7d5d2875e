"""Traces of a service: requests, transactions, git processes and webhook deliveries."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from holdfast.errors import HoldfastError
from holdfast.hosting import traces
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import ADMIN_PASSWORD, Service, run_service, wait_for
from tests.hosting.trace_collector import Collector, attributes, collecting
from tests.hosting.webhooks.receivers import Receiver, receiving
from tests.server.ssh_installation import run_ssh_installation

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
VERSION = "GET /api/v1/version"
SERVER, CLIENT, INTERNAL = 2, 3, 1
ERROR = 2


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Run a collector."""
    with collecting() as running:
        yield running


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Run a receiver of webhooks."""
    with receiving() as running:
        yield running


@contextmanager
def traced(
    settings: Settings, database: Database, endpoint: Secret | None, *, delivers: bool = False
) -> Iterator[tuple[Service, httpx.Client]]:
    """Run a service that exports traces, and a client of its administrator; its end sends what is queued."""
    chosen = msgspec.structs.replace(settings, otlp_endpoint=endpoint, webhook_allowed_hosts="loopback")
    with (
        contextmanager(run_service)(chosen, database, delivers=delivers) as service,
        httpx.Client(base_url=f"{service.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as client,
    ):
        yield service, client


def test_a_request_is_a_span_with_route_method_and_status(
    settings: Settings, database: Database, collector: Collector
) -> None:
    """A span has no path, query, header or content of the request but its id."""
    with traced(settings, database, collector.endpoint) as (_, client):
        response = client.get("/repos/nobody/treasure?q=hunter2", headers={"X-Request-Id": "mine"})
        assert response.status_code == 404
    (span,) = collector.named("GET /api/v1/repos/{owner}/{repo}")
    assert (span.kind, span.status.code) == (SERVER, 0)
    assert attributes(span) == {
        "http.request.method": "GET",
        "http.route": "/api/v1/repos/{owner}/{repo}",
        "http.response.status_code": 404,
        "holdfast.request": "mine",
    }
    assert span.end_time_unix_nano > span.start_time_unix_nano
    assert not span.parent_span_id
    for private in (b"treasure", b"hunter2", b"nobody", ADMIN_PASSWORD.encode(), b"python-httpx"):
        assert private not in b"".join(collector.bodies)


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_the_trace_of_a_client_is_continued(settings: Settings, database: Database, collector: Collector) -> None:
    """A `traceparent` continues a trace, an invalid one starts a new trace, an unsampled one is not exported."""
    with traced(settings, database, collector.endpoint) as (_, client):
        for value in (f"00-{TRACE}-{PARENT}-01", "00-zz-zz-01", f"00-{TRACE}-{'1' * 16}-00"):
            assert client.get("/version", headers={"traceparent": value}).status_code == 200
    continued, new = collector.named(VERSION)
    assert (continued.trace_id.hex(), continued.parent_span_id.hex()) == (TRACE, PARENT)
    assert new.trace_id.hex() != TRACE
    assert not new.parent_span_id
    assert "1" * 16 not in {span.parent_span_id.hex() for span in collector.spans}


def test_transactions_and_git_processes_are_spans_of_their_request(
    settings: Settings, database: Database, collector: Collector
) -> None:
    """Database spans have the kind of database, and git spans have the exit code."""
    with traced(settings, database, collector.endpoint) as (_, client):
        assert client.post("/user/repos", json={"name": "boats", "auto_init": True}).status_code == 201
        assert client.get("/repos/admin/boats/archive/main.tar.gz").status_code == 200
    requests = {span.span_id: span for span in collector.spans if span.kind == SERVER}
    inner = [span for span in collector.spans if span.kind == INTERNAL]
    assert all(span.parent_span_id for span in inner)
    (create,) = collector.named("POST /api/v1/user/repos")
    writes = [span for span in collector.named("database write") if span.trace_id == create.trace_id]
    assert writes
    system = "sqlite" if settings.database_url is None else "postgresql"
    assert all(attributes(span) == {"db.system.name": system} for span in writes)
    (archive,) = collector.named("git archive")
    assert attributes(archive) == {"process.exit.code": 0}
    assert requests[archive.parent_span_id].name == "GET /api/v1/repos/{owner}/{repo}/archive/{archive...}"
    assert b"boats" not in b"".join(collector.bodies)


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_delivery_is_a_span_with_its_outcome(
    settings: Settings, database: Database, collector: Collector, receiver: Receiver
) -> None:
    """The span of a delivery has no URL of the receiver, as that may contain a token."""
    with traced(settings, database, collector.endpoint, delivers=True) as (_, client):
        assert client.post("/user/repos", json={"name": "boats"}).status_code == 201
        hook = {
            "type": "gitea",
            "active": True,
            "events": ["issues"],
            "config": {"url": receiver.url("/t0ken"), "content_type": "json"},
        }
        number = client.post("/repos/admin/boats/hooks", json=hook).json()["id"]
        assert client.post("/repos/admin/boats/issues", json={"title": "A leak"}).status_code == 201
        path = f"/repos/admin/boats/hooks/{number}/deliveries"
        wait_for(lambda: [item["status"] for item in client.get(path).json()] == ["delivered"])
    (span,) = collector.named("webhook delivery")
    told = attributes(span)
    assert told.pop("holdfast.delivery")
    assert told == {"holdfast.hook": number, "holdfast.outcome": "delivered", "http.response.status_code": 200}
    assert span.kind == CLIENT
    assert not span.parent_span_id
    assert b"t0ken" not in b"".join(collector.bodies)


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_collector_that_is_away_changes_no_answer(
    settings: Settings, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    """Requests are answered without a collector, and its URL is not in the output."""
    with traced(settings, database, Secret("http://user:hunter2@127.0.0.1:9")) as (_, client):
        assert [client.get("/version").status_code for _ in range(3)] == [200] * 3
    captured = capsys.readouterr()
    assert "hunter2" not in captured.out + captured.err
    assert "127.0.0.1:9" not in captured.out + captured.err


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_without_a_collector_there_are_no_spans(settings: Settings, database: Database) -> None:
    """Without a collector every span is the same object, which does nothing."""
    with traced(settings, database, None) as (_, client):
        assert client.get("/version").status_code == 200
        assert traces.exporter is None
        assert traces.span("database read") is traces.start_request("GET") is traces.start_delivery(1, 2)


@pytest.mark.long
def test_without_a_collector_nothing_of_opentelemetry_is_imported() -> None:
    """The server imports nothing of OpenTelemetry, so it needs neither the memory nor the extra."""
    code = "import sys, holdfast.server.worker, holdfast.server.delivery_process, holdfast.server.ssh_process;"
    code += "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the OpenTelemetry package the error names the extra to install."""
    traces.require_extra()
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    with pytest.raises(HoldfastError, match=r"holdfast\[server,otel\]"):
        traces.require_extra()


@pytest.mark.long
def test_every_process_of_a_service_exports(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SSH process and the worker both export spans, with the resource and headers of the variables."""
    monkeypatch.setenv("HOLDFAST_OTLP_ENDPOINT", collector.endpoint.reveal())
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=trial")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=harbour")
    with run_ssh_installation(tmp_path) as service:
        service.git.commit("a", "a")
        service.git("push", "-q", "origin", "HEAD:main")
        service.process.send_signal(signal.SIGTERM)
        service.process.wait(30)
    (push,) = collector.named("SSH /{owner}/{repo}.git/git-receive-pack")
    assert attributes(push)["http.response.status_code"] == 200
    (git,) = collector.named("git receive-pack")
    assert git.trace_id == push.trace_id
    assert collector.named("POST /api/v1/user/repos")
    resources = [
        {attribute.key: attribute.value.string_value for attribute in resource.resource.attributes}
        for request in collector.requests
        for resource in request.resource_spans
    ]
    assert {resource["service.name"] for resource in resources} == {"holdfast"}
    assert {resource["deployment.environment.name"] for resource in resources} == {"trial"}
    assert len({resource["service.instance.id"] for resource in resources}) == 2
    assert {headers["x-tenant"] for headers in collector.headers} == {"harbour"}
