"""An HTTP stub server for tests of downloads from other services."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["HttpStub", "SeenRequest", "http_stub"]


@dataclass(frozen=True)
class SeenRequest:
    """A received request."""

    path: str
    host: str
    authorization: str


@dataclass
class HttpStub:
    """A running server: its responses by path, and the received requests."""

    port: int = 0
    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    seen: list[SeenRequest] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def http_stub(responses: Mapping[str, tuple[int, bytes]], *, delay: float = 0) -> Iterator[HttpStub]:
    """Serve responses by path, with the query or without; everything else is a 404."""
    stub = HttpStub(answers=dict(responses))
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        """Responds with the stored responses."""

        def do_GET(self) -> None:
            """Answer a request."""
            if delay:
                stopped.wait(delay)
            path = self.path.partition("?")[0]
            asked = self.headers
            stub.seen.append(SeenRequest(path, asked.get("Host", ""), asked.get("Authorization", "")))
            redirect = stub.redirects.get(path)
            status, body = stub.answers.get(self.path) or stub.answers.get(path) or (404, b"{}")
            self.send_response(302 if redirect else status)
            if redirect:
                self.send_header("Location", redirect)
            is_git = path.endswith("/info/refs")
            kind = "application/x-git-upload-pack-advertisement" if is_git else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            """Answer a request after its body."""
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as the standard library has it
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stub
    finally:
        stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()
