"""The process that creates the demo content, run alone."""

import subprocess
import sys

import msgspec

from holdfast_demo.service_login import ServiceLogin


def test_a_failure_is_one_line_in_the_log() -> None:
    """A failure is one log line with its reason, in the log format of the service, without the password."""
    login = ServiceLogin(host="127.0.0.1", port=1, name="admin", password="not-to-be-seen", log_format="json")
    command = [sys.executable, "-m", "holdfast_demo"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(msgspec.json.encode(login).decode() + "\n")
        process.stdin.flush()
        # The pipe stays open: it is not what ends the process here.
        assert process.wait(30) == 1
        (line,) = process.stderr.read().splitlines()
    entry = msgspec.json.decode(line)
    assert entry["level"] == "warning"
    assert entry["event"] == "demo content incomplete"
    assert entry["reason"].startswith("POST /api/v1/admin/users failed: ")
    assert "not-to-be-seen" not in line
    assert "not-to-be-seen" not in repr(login)
