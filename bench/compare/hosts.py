"""The two hosts: started with empty data folders, on ports of loopback, each with an administrator and a token."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

__all__ = ["Host", "run_gitea", "run_holdfast"]

NAME, PASSWORD = "captain", "a-password-for-a-benchmark-1"
SECONDS = 120
GITEA_SETTINGS = """
RUN_MODE = prod
WORK_PATH = {data}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://127.0.0.1:{port}/
STATIC_ROOT_PATH = {static}
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
PATH = {data}/gitea.db
[security]
INSTALL_LOCK = true
SECRET_KEY = for-a-comparison
[log]
MODE = file
LEVEL = warn
"""


@dataclass(frozen=True, slots=True)
class Host:
    """A running host."""

    port: int
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request by the administrator."""
        return {"Authorization": f"token {self.token}"}

    def client(self) -> httpx.Client:
        """Open a client of its API."""
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}/api/v1", headers=self.headers, timeout=SECONDS, trust_env=False
        )

    def remote(self, repository: str) -> str:
        """Return the URL of a repository for git."""
        return f"http://{NAME}:{self.token}@127.0.0.1:{self.port}/{repository}.git"


def free_port() -> int:
    """Return a port of loopback that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[str], environment: dict[str, str], port: int, log: Path) -> Iterator[None]:
    """Run a server until the end of the block, from when it answers."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/api/v1/version", trust_env=False).raise_for_status()
                break
            except httpx.HTTPError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{command[0]} does not answer; its log is {log}") from None
                time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(SECONDS)


def create_token(port: int) -> str:
    """Create a token of the administrator with all scopes."""
    answer = httpx.post(
        f"http://127.0.0.1:{port}/api/v1/users/{NAME}/tokens",
        json={"name": "bench", "scopes": ["all"]},
        auth=(NAME, PASSWORD),
        timeout=SECONDS,
        trust_env=False,
    )
    answer.raise_for_status()
    token: str = answer.json()["sha1"]
    return token


@contextmanager
def run_holdfast(folder: Path) -> Iterator[Host]:
    """Run Holdfast as `holdfast serve` does."""
    port = free_port()
    environment = {
        **os.environ,
        "HOLDFAST_ADMIN_NAME": NAME,
        "HOLDFAST_ADMIN_PASSWORD": PASSWORD,
        "HOLDFAST_DEMO": "false",
    }
    command = [sys.executable, "-m", "holdfast", "serve", "--data", str(folder / "data"), "--port", str(port)]
    with running(command, environment, port, folder / "log"):
        yield Host(port, create_token(port))


@contextmanager
def run_gitea(binary: Path, folder: Path) -> Iterator[Host]:
    """Run Gitea with SQLite and its usual settings; its templates are beside the program, or within it."""
    port, data = free_port(), folder / "data"
    data.mkdir(parents=True)
    source = binary.parent / "source"
    settings = data / "app.ini"
    settings.write_text(
        GITEA_SETTINGS.format(data=data, port=port, static=source if source.is_dir() else binary.parent),
        encoding="utf-8",
    )
    command = [str(binary), "--config", str(settings)]
    environment = {**os.environ, "GITEA_WORK_DIR": str(data)}
    create = ["admin", "user", "create", "--username", NAME, "--password", PASSWORD, "--admin"]
    create += ["--email", f"{NAME}@example.org", "--must-change-password=false"]
    for arguments in (["migrate"], create):
        subprocess.run([*command, *arguments], env=environment, check=True, capture_output=True)
    with running([*command, "web"], environment, port, folder / "log"):
        yield Host(port, create_token(port))
