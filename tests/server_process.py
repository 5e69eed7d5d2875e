"""A process of `holdfast serve` on a free port."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["run_server", "server_url"]


@contextmanager
def run_server(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the service on a free port; yield the process and its output up to the log-in line."""
    command = [sys.executable, "-m", "holdfast", "serve", "--data", str(folder), "--port", "0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        banner = ""
        while "log in" not in banner:
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr else ""
            banner += line
        yield process, banner
    finally:
        process.kill()
        process.communicate()


def server_url(banner: str) -> str:
    """Return the URL of the service, which it prints when it starts."""
    match = re.search(r"http://\S+", banner)
    assert match is not None
    return match[0]
