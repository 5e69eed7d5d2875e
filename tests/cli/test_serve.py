"""`holdfast serve`, run as a separate process."""

import re
import signal
import socket
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import Run
from tests.server_process import run_server, server_url


def test_the_first_start_prints_all_one_needs_and_the_password_works(tmp_path: Path) -> None:
    """The banner has the URL, the data folder and the password; the second start prints no password."""
    with run_server(tmp_path / "data") as (process, banner):
        assert str(tmp_path / "data") in banner
        password = re.search(r"password (\S+) \(shown only this once\)", banner)
        assert password is not None
        with httpx.Client(base_url=server_url(banner)) as client:
            assert client.get("/api/v1/version").status_code == 200
            response = client.post("/login", data={"name": "admin", "password": password[1]})
            assert response.status_code == 303
        process.send_signal(signal.SIGTERM)
        _out, err = process.communicate(timeout=20)
        assert process.returncode in {0, -signal.SIGTERM}
        assert password[1] not in err
    with run_server(tmp_path / "data") as (_process, banner):
        assert "forgotten? holdfast admin user password admin" in banner
        assert password[1] not in banner


@pytest.mark.long
def test_a_kill_loses_nothing(tmp_path: Path) -> None:
    """A session that was created before `kill -9` is valid after the next start."""
    with run_server(tmp_path / "data") as (process, banner):
        password = re.search(r"password (\S+) ", banner)
        assert password is not None
        with httpx.Client(base_url=server_url(banner)) as client:
            client.post("/login", data={"name": "admin", "password": password[1]})
            cookies = dict(client.cookies)
        process.kill()
        process.wait()
    with run_server(tmp_path / "data") as (_process, banner), httpx.Client(base_url=server_url(banner)) as client:
        client.cookies.update(cookies)
        assert "Log out" in client.get("/").text


def test_a_port_in_use_is_said_in_one_line(run: Run, tmp_path: Path) -> None:
    """The service ends before it creates the data folder."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        port = bound.getsockname()[1]
        result = run("serve", "--data", str(tmp_path / "data"), "--port", str(port))
    assert result.status == 1
    assert result.err == f"error: port {port} is in use; choose another with --port or HOLDFAST_PORT\n"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("host", ["256.1.1.1", "no-such-host.invalid", "192.0.2.1"])
def test_an_address_that_is_not_ours_is_said_in_one_line(run: Run, tmp_path: Path, host: str) -> None:
    """An invalid address, an unknown host and an address of another machine are refused alike.

    The service ends before it creates the data folder.
    """
    result = run("serve", "--data", str(tmp_path / "data"), "--host", host, "--port", "0")
    assert result.status == 1
    assert result.err.startswith(f"error: cannot listen on {host}")
    assert result.err.count("\n") == 1
    assert not (tmp_path / "data").exists()


@pytest.mark.long
def test_the_settings_can_give_the_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password from the settings works and is not printed."""
    monkeypatch.setenv("HOLDFAST_ADMIN_PASSWORD", "hunter2hunter2")
    with run_server(tmp_path / "data") as (_process, banner):
        assert "hunter2" not in banner
        assert "the password from the settings" in banner
        response = httpx.post(f"{server_url(banner)}/login", data={"name": "admin", "password": "hunter2hunter2"})
        assert response.status_code == 303
