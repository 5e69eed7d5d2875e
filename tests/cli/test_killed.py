"""Crash safety: all processes of a service are killed repeatedly while clients write."""

import base64
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.doctor.checks import examine
from holdfast.settings import Settings
from tests.hosting.repository_helpers import recorded_events
from tests.server_process import server_url
from tests.tls import PLAIN

AUTH = ("admin", "a-password-for-tests")
KILLS = 5
WRITERS = 4


@contextmanager
def run_service(folder: Path) -> Iterator[str]:
    """Run the service with two workers, and kill all its processes at the end."""
    command = [sys.executable, "-m", "holdfast", "serve", "--data", str(folder), "--port", "0"]
    environment = {**os.environ, "HOLDFAST_WORKERS": "2", "HOLDFAST_ADMIN_PASSWORD": AUTH[1]}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        banner = ""
        while "log in" not in banner:
            line = process.stdout.readline()
            assert line, banner
            banner += line
        yield server_url(banner)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


class Writer(threading.Thread):
    """Commits files until the service is gone, and records the acknowledged commits."""

    def __init__(self, url: str, name: str) -> None:
        super().__init__()
        self.url = url
        self.label = name
        self.told: list[str] = []
        self.refused: list[int] = []

    def run(self) -> None:
        """Write."""
        with httpx.Client(base_url=f"{self.url}/api/v1", auth=AUTH, timeout=30, verify=PLAIN) as client:
            for number in range(100_000):
                body = {"content": base64.b64encode(b"%d" % number).decode()}
                try:
                    response = client.post(f"/repos/admin/notes/contents/{self.label}/{number}", json=body)
                except httpx.TransportError:
                    return
                if response.status_code != 201:
                    self.refused.append(response.status_code)
                    return
                self.told.append(response.json()["commit"]["sha"])


@pytest.mark.long
@pytest.mark.timeout(300)
def test_what_was_acknowledged_is_there_after_kills(tmp_path: Path) -> None:
    """Every commit that was answered is in the branch, the repository is sound, and each has its event, once."""
    dice = random.Random(7)
    acknowledged: list[str] = []
    for kill in range(KILLS):
        with run_service(tmp_path / "data") as url:
            if kill == 0:
                response = httpx.post(
                    f"{url}/api/v1/user/repos", auth=AUTH, json={"name": "notes", "auto_init": True}, verify=PLAIN
                )
                assert response.status_code == 201, response.text
            writers = [Writer(url, f"{kill}-{number}") for number in range(WRITERS)]
            for writer in writers:
                writer.start()
            while not all(writer.told for writer in writers) and all(writer.is_alive() for writer in writers):
                time.sleep(0.01)
            time.sleep(dice.uniform(0.1, 1.5))
        for writer in writers:
            writer.join(60)
            assert not writer.refused
            acknowledged += writer.told
    assert len(acknowledged) > KILLS * WRITERS
    with run_service(tmp_path / "data"):
        pass
    with closing(App.open(Settings(data=tmp_path / "data"))) as host:
        folder = host.copies.update(1).folder
        git = ["git", "-C", str(folder)]
        listed = subprocess.run(
            [*git, "rev-list", "--reverse", "main"], check=True, capture_output=True, text=True
        )
        commits = listed.stdout.split()
        assert set(acknowledged) <= set(commits)
        subprocess.run([*git, "fsck", "--strict"], check=True, capture_output=True)
        pushes = [details["after"] for kind, details in recorded_events(host.database) if kind == "push"]
        assert pushes == commits[1:], "each commit after the first has its event, in order"
        assert list(examine(host, deep=True)) == []
