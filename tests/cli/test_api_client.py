"""The client of the host's API."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from holdfast.cli.api_client import MalformedResponse, Remote, RemoteRefused
from holdfast.secret import Secret

SEEN: list[tuple[str, str | None]] = []


class Peer(BaseHTTPRequestHandler):
    """A host whose response is chosen by the path of the request."""

    def do_GET(self) -> None:
        """Send the response that the path selects."""
        SEEN.append((self.headers["Host"], self.headers["Authorization"]))
        _, kind, *rest = self.path.split("/", 2)
        self.send_response(int(kind))
        if kind == "302":
            self.send_header("Location", rest[0])
        self.end_headers()
        self.wfile.write(b"not json" if kind != "404" else b'{"message": "<b>secret</b>"}')

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name it has in the base
        """Log nothing."""


@pytest.fixture
def peers() -> Iterator[tuple[str, str]]:
    """Run two hosts."""
    SEEN.clear()
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Peer) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield tuple(f"http://127.0.0.1:{server.server_port}" for server in servers)  # type: ignore[misc]  # as many as there are servers, which is two
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_token_goes_to_its_host_alone(peers: tuple[str, str]) -> None:
    """The token is not sent to another host that a redirect leads to."""
    first, other = peers
    remote = Remote(first, Secret("t0ken"), "ada/snaps")
    remote.open("GET", f"{first}/302/{other}/200/x", {}).close()
    assert [authorization for _, authorization in SEEN] == ["token t0ken", None]


def test_a_host_that_answers_nonsense_is_said_to(peers: tuple[str, str]) -> None:
    """An unexpected response, too many redirects, a refusal and an invalid URL have errors of their own."""
    peer, _ = peers
    remote = Remote(peer, None, "ada/snaps")
    with pytest.raises(RemoteRefused, match="unexpected response"):
        remote.json("GET", f"{peer}/200/", dict)
    with pytest.raises(RemoteRefused, match="redirects too often"):
        remote.open("GET", f"{peer}/302/{peer}/302/{peer}/302/{peer}/302/{peer}/302/{peer}/302/x", {})
    assert remote.bytes_at(f"{peer}/404/") is None
    with pytest.raises(RemoteRefused, match="may not do that"):
        remote.bytes_at(f"{peer}/403/")
    for address in ("ftp://x", "x", "https://"):
        with pytest.raises(RemoteRefused, match="not the URL of a host"):
            Remote(address, None, "ada/snaps")


def test_nothing_is_followed_from_https_to_http() -> None:
    """A request from HTTPS to an HTTP URL is refused, since it could be read on the way."""
    remote = Remote("https://127.0.0.1:1", Secret("t0ken"), "ada/snaps")
    for method in ("GET", "PUT"):
        with pytest.raises(MalformedResponse, match="unencrypted URL"):
            remote.open(method, "http://127.0.0.1:1/x", {})


def test_commands_that_send_nothing_do_not_import_the_http_library() -> None:
    """The import of aiohttp is deferred, since it would double the time a command takes to start."""
    program = "import sys, holdfast.cli.main; print(sorted({'aiohttp', 'yarl'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
