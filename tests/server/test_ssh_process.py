"""The process that serves SSH, as `holdfast serve` starts it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import ADMIN_PASSWORD, wait_for
from tests.hosting.git_client import Git
from tests.hosting.ssh_key_helpers import new_key, public_text
from tests.tls import PLAIN


class Installation:
    """A running service with SSH, and a key of its administrator."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, folder: Path) -> None:
        self.process = process
        self._log = log
        url = re.search(r"http://\S+", self.log)
        port = re.search(r"ssh +port (\d+)", self.log)
        assert url is not None
        assert port is not None
        self.address = f"ssh://git@localhost:{port[1]}/admin/boats.git"
        key = new_key()
        with httpx.Client(base_url=f"{url[0]}/api/v1", auth=("admin", ADMIN_PASSWORD), verify=PLAIN) as api:
            assert api.post("/user/keys", json={"title": "laptop", "key": public_text(key)}).status_code == 201
            response = api.post("/user/repos", json={"name": "boats", "auto_init": True})
            assert response.status_code == 201
        file = folder / "id"
        file.touch(mode=0o600)
        file.write_bytes(key.export_private_key("openssh"))
        self.git = Git(folder / "work")
        self.git.environment["GIT_SSH_COMMAND"] = (
            f"ssh -F /dev/null -i {file} -o IdentitiesOnly=yes -o IdentityAgent=none "
            f"-o StrictHostKeyChecking=accept-new -o UserKnownHostsFile={folder}/known_hosts"
        )
        self.git("clone", "-q", self.address, ".")

    @property
    def log(self) -> str:
        """What the service has printed so far."""
        return self._log.read_text()

    def children(self) -> list[int]:
        """Return the processes of the service, in the order they were started."""
        result = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return sorted(map(int, result))


@contextmanager
def installation(folder: Path) -> Iterator[Installation]:
    """Start the service with SSH on free ports."""
    environment = {
        **os.environ,
        "HOLDFAST_SSH": "true",
        "HOLDFAST_SSH_PORT": "0",
        "HOLDFAST_WORKERS": "1",
        "HOLDFAST_WEBHOOKS": "false",
        "HOLDFAST_ADMIN_PASSWORD": ADMIN_PASSWORD,
    }
    log = folder / "log"
    command = [sys.executable, "-m", "holdfast", "serve", "--data", str(folder / "data"), "--port", "0"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        wait_for(lambda: "log in" in log.read_text(), 30)
        yield Installation(process, log, folder)
    finally:
        process.kill()
        process.wait()


@pytest.mark.long
def test_ssh_is_served_until_the_service_stops(tmp_path: Path) -> None:
    """A push is recorded and logged without names of keys; the end is clean; the host keys stay the same."""
    with installation(tmp_path) as service:
        service.git.commit("a", "a")
        service.git("push", "-q", "origin", "HEAD:main")
        wait_for(lambda: "git-receive-pack" in service.log)
        assert "method=SSH path=/admin/boats.git/git-receive-pack status=200" in service.log
        assert "SHA256" not in service.log
        assert "ssh-ed25519" not in service.log
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(20) in {0, -signal.SIGTERM}


@pytest.mark.long
def test_a_killed_process_is_replaced(tmp_path: Path) -> None:
    """Also with the same host keys, and in the middle of a clone."""
    with installation(tmp_path) as service:
        before = service.children()
        os.kill(before[-1], signal.SIGKILL)
        wait_for(lambda: len(service.children()) == len(before) and before[-1] not in service.children())
        deadline = time.monotonic() + 20
        while service.git.try_to("ls-remote", service.address).returncode:
            assert time.monotonic() < deadline
        commit = service.git.commit("a", "a")
        service.git("push", "-q", "origin", "HEAD:main")
        assert commit in service.git("ls-remote", service.address)
