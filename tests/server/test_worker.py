"""A worker process: readiness, shutdown and trusted proxies."""

import threading
from pathlib import Path

import httpx
import pytest

from holdfast.cli.serve import listen
from holdfast.hosting.store.database import Database
from holdfast.server.supervisor import GRACE_SECONDS
from holdfast.server.worker import new_worker
from holdfast.settings import Settings
from tests.conftest import wait_for


def test_a_worker_reports_when_it_is_ready_and_ends_on_request(settings: Settings, database: Database) -> None:
    """A worker calls its callback when it can serve requests, and ends without a signal."""
    started = threading.Event()
    worker = new_worker(settings, (), started.set)
    assert worker.config.timeout_graceful_shutdown == GRACE_SECONDS
    with listen("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        thread = threading.Thread(target=worker.run, kwargs={"sockets": [server]})
        thread.start()
        assert started.wait(10)
        assert httpx.get(f"http://127.0.0.1:{port}/healthz").text == "ok\n"
        worker.should_exit = True
        thread.join(10)
    assert not thread.is_alive()
    assert worker.ended_by is None


@pytest.mark.parametrize(("trusted", "seen"), [("127.0.0.1", "https"), ("192.0.2.0/24", "http")])
def test_only_a_trusted_proxy_sets_the_scheme(prepared_folder: Path, trusted: str, seen: str) -> None:
    """URLs in a response have the forwarded scheme only if the proxy is trusted."""
    worker = new_worker(Settings(data=prepared_folder, trusted_proxies=trusted), ())
    with listen("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        thread = threading.Thread(target=worker.run, kwargs={"sockets": [server]})
        thread.start()
        wait_for(lambda: worker.started)
        response = httpx.get(
            f"http://127.0.0.1:{port}/api/v1/users/nobody", headers={"X-Forwarded-Proto": "https"}
        )
        worker.should_exit = True
        thread.join(10)
    assert response.json()["url"].startswith(f"{seen}://")
