"""`holdfast archive serve`, run as a separate process."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from holdfast.backup import encrypt_archive
from tests.backup.archives.histories import PASSPHRASE
from tests.cli.conftest import Run


def test_the_printed_address_opens_the_archive_once_and_ctrl_c_ends_it(chats_db: str) -> None:
    """The link works once and on loopback only, and Ctrl-C ends the service without a traceback."""
    command = [sys.executable, "-m", "holdfast", "archive", "serve", chats_db]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.fullmatch(r"(http://127\.0\.0\.1:\d+)(/open/\S+)\n", line)
        assert match, process.stderr.read() if process.stderr else ""
        with httpx.Client(base_url=match[1], timeout=60) as client:
            assert client.get("/").status_code == 403
            assert client.get(match[2]).status_code == 303
            assert "chats.db" in client.get("/").text
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", int(match[1].rpartition(":")[2])), timeout=60)
        assert httpx.get(f"{match[1]}{match[2]}", timeout=60).status_code == 403
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert err == ""
        assert "Traceback" not in out
    finally:
        process.kill()
        process.communicate()


@pytest.mark.long
def test_an_encrypted_archive_is_served_with_its_passphrase(chats_db: str, tmp_path: Path) -> None:
    """The passphrase of an encrypted archive is read from `--passphrase-file`."""
    pytest.importorskip("sqlcipher3", reason="the extra `encryption` is not installed")
    path = shutil.copy(chats_db, tmp_path / "encrypted.db")
    encrypt_archive(path, PASSPHRASE)
    (tmp_path / "passphrase").write_text(PASSPHRASE)
    command = [sys.executable, "-m", "holdfast", "archive", "serve", str(path)]
    command += ["--passphrase-file", str(tmp_path / "passphrase")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            with httpx.Client(timeout=60, follow_redirects=True) as client:
                assert "encrypted.db" in client.get(address).text
        finally:
            process.kill()


@pytest.mark.parametrize("content", [None, b"", b"not an archive"])
def test_what_is_no_archive_is_said_in_one_line(run: Run, tmp_path: Path, content: bytes | None) -> None:
    """A missing, empty or foreign file is an error in one line with exit status 3."""
    path = tmp_path / "x.db"
    if content is not None:
        path.write_bytes(content)
    result = run("archive", "serve", str(path))
    assert result.status == 3
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
