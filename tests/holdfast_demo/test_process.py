"""The process that creates the demo content, started and stopped by the service."""

import signal
import socket
from pathlib import Path

import httpx
import pytest

from holdfast.hosting.data_folder import FirstStart
from holdfast.secret import Secret
from holdfast.settings import Settings
from holdfast_demo.process import demo_process, reachable
from tests.conftest import wait_for
from tests.server_process import run_server, server_url


@pytest.mark.long
def test_the_service_can_be_stopped_while_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping the service during the demo leaves no process, no temporary folder and no traceback."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with run_server(tmp_path / "data", "--demo") as (process, banner):
        with httpx.Client(base_url=server_url(banner)) as client:
            wait_for(lambda: client.get("/api/v1/users/maren").status_code == 200, 60)
        process.send_signal(signal.SIGTERM)
        # Ends only when everybody who holds the pipe has ended, the process beside it too.
        _out, err = process.communicate(timeout=30)
    assert "Traceback" not in err
    assert "Fatal" not in err
    warnings = [line for line in err.splitlines() if "warning" in line]
    assert len(warnings) <= 1
    assert all("demo content incomplete" in line for line in warnings)
    assert list(tmp_path.glob("holdfast-demo-*")) == []


@pytest.mark.parametrize(("demo", "first"), [(False, FirstStart("admin", Secret("long enough"))), (True, None)])
def test_nothing_is_made_unless_the_folder_is_new_and_it_is_wanted(
    tmp_path: Path, *, demo: bool, first: FirstStart | None
) -> None:
    """An existing data folder, or a start without --demo, gets no demo content."""
    with socket.socket() as server, demo_process(Settings(data=tmp_path, demo=demo), first, server):
        assert list(tmp_path.iterdir()) == []


def test_a_service_that_never_answers_is_not_waited_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The process ends as soon as the service does, and says in one line that it is not done."""
    settings = Settings(data=tmp_path, demo=True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        with demo_process(settings, FirstStart("admin", Secret("not-to-be-seen")), server):
            connection, _ = server.accept()
        connection.close()
    err = capfd.readouterr().err
    assert err.count("\n") == 1, err
    assert "demo content incomplete" in err
    assert "the service was stopped" in err
    assert "not-to-be-seen" not in err


def test_a_process_that_cannot_start_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """If the process cannot be started, a warning is logged and the service runs without the demo."""
    monkeypatch.setattr("sys.executable", str(tmp_path / "no-python"))
    first = FirstStart("admin", Secret("long enough"))
    settings = Settings(data=tmp_path, demo=True)
    with socket.create_server(("127.0.0.1", 0)) as server, demo_process(settings, first, server):
        pass
    output = capfd.readouterr()
    assert "demo content not created" in output.out + output.err
    assert list(tmp_path.iterdir()) == [tmp_path / "backups"]


def test_an_address_for_everybody_is_reached_on_loopback() -> None:
    """A service that listens on all addresses is requested on loopback, any other on its own address."""
    assert [reachable(host) for host in ("0.0.0.0", "::", "192.0.2.1")] == ["127.0.0.1", "::1", "192.0.2.1"]
