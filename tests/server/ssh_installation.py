"""A process of `holdfast serve` with SSH, and a git client that uses it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.conftest import ADMIN_PASSWORD, wait_for
from tests.hosting.git_client import Git
from tests.hosting.ssh_key_helpers import new_key, public_text
from tests.tls import PLAIN

__all__ = ["SshInstallation", "run_ssh_installation"]


class SshInstallation:
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
def run_ssh_installation(folder: Path) -> Iterator[SshInstallation]:
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
        yield SshInstallation(process, log, folder)
    finally:
        process.kill()
        process.wait()
