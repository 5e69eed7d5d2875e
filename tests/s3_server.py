"""A real S3 server on loopback: Versity's gateway over a folder, which `make clients` builds."""

import os
import random
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import wait_for

__all__ = ["S3Server", "free_port", "s3_server"]

ROOT = Path(__file__).parent.parent
PROGRAM = ROOT / ".venv-clients" / "bin" / "versitygw"
ACCESS_KEY = "AKIDEXAMPLE"
SECRET_KEY = "hunter2hunter2"
# Linux takes the ports of outgoing connections from 32,768 on.
BELOW_EPHEMERAL = range(20_000, 32_768)


def free_port() -> int:
    """Return a free port that no outgoing connection gets.

    A server that is killed and started again on a port of the ephemeral range can find it taken: by any connection
    of this machine, or by a client that tried to connect to that very port and was connected with itself.
    """
    while True:
        port = random.SystemRandom().choice(BELOW_EPHEMERAL)
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port


@dataclass
class S3Server:
    """A server with a bucket; it can be killed and started again on the same folder and port."""

    folder: Path
    name: str = "bucket"
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def bucket(self) -> Path:
        """The folder of the bucket."""
        return self.folder / "buckets" / self.name

    def use_new_bucket(self) -> None:
        """Make an empty bucket, and use it from now on."""
        self.name = f"bucket-{uuid.uuid4().hex}"
        self.bucket.mkdir(parents=True)

    @property
    def endpoint(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"

    def settings(self, settings: Settings) -> Settings:
        """Return settings that name the bucket."""
        return msgspec.structs.replace(
            settings,
            s3_bucket=self.name,
            s3_endpoint=self.endpoint,
            s3_access_key=Secret(ACCESS_KEY),
            s3_secret_key=Secret(SECRET_KEY),
        )

    def environment(self) -> dict[str, str]:
        """Return environment variables that name the bucket."""
        return {
            "HOLDFAST_S3_BUCKET": self.name,
            "HOLDFAST_S3_ENDPOINT": self.endpoint,
            "HOLDFAST_S3_ACCESS_KEY": ACCESS_KEY,
            "HOLDFAST_S3_SECRET_KEY": SECRET_KEY,
        }

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self.bucket.mkdir(parents=True, exist_ok=True)
        (self.folder / "metadata").mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [
                str(PROGRAM),
                "--quiet",
                "--port",
                f"127.0.0.1:{self.port}",
                "--access",
                ACCESS_KEY,
                "--secret",
                SECRET_KEY,
                "posix",
                "--sidecar",
                str(self.folder / "metadata"),
                str(self.folder / "buckets"),
            ],
            env={**os.environ, "GOMAXPROCS": "2"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(self.answers)

    def answers(self) -> bool:
        """Return whether it responds to requests."""
        try:
            urllib.request.urlopen(f"{self.endpoint}/", timeout=2)
        except urllib.error.HTTPError:
            return True  # it refuses a request without a signature
        except OSError:
            return False
        return True

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End the server by a signal."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(30)
            self.process = None


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Run a server with an empty bucket."""
    if not PROGRAM.is_file():
        pytest.skip("no S3 server: `make clients` builds one where go is installed")
    with tempfile.TemporaryDirectory(prefix="holdfast-s3-") as folder:
        server = S3Server(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()
