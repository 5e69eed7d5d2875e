"""The process that serves SSH, started by `holdfast serve`."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.conftest import wait_for
from tests.server.ssh_installation import run_ssh_installation


@pytest.mark.long
def test_ssh_is_served_until_the_service_stops(tmp_path: Path) -> None:
    """A push is logged without the key of the user, and the service ends cleanly."""
    with run_ssh_installation(tmp_path) as service:
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
    """The new process has the same host keys, and accepts a push."""
    with run_ssh_installation(tmp_path) as service:
        before = service.children()
        os.kill(before[-1], signal.SIGKILL)
        wait_for(lambda: len(service.children()) == len(before) and before[-1] not in service.children())
        deadline = time.monotonic() + 20
        while service.git.try_to("ls-remote", service.address).returncode:
            assert time.monotonic() < deadline
        commit = service.git.commit("a", "a")
        service.git("push", "-q", "origin", "HEAD:main")
        assert commit in service.git("ls-remote", service.address)
