"""Webhook receivers on loopback with scripted responses."""

import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedIOBase

__all__ = ["OK", "Receiver", "Script", "Seen", "answer", "receiving"]


@dataclass(frozen=True)
class Seen:
    """A received request; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


# Given a request and the connection, does what a receiver does; true keeps the connection.
Script = Callable[[Seen, socket.socket], bool]


def answer(status: int = 200, body: bytes = b"", **headers: str) -> Script:
    """Make a script that sends one response; an underscore in a header's name is a hyphen."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    whole = "\r\n".join([*lines, "", ""]).encode() + body

    def give(_seen: Seen, end: socket.socket) -> bool:
        end.sendall(whole)
        return True

    return give


OK = answer()


@dataclass
class Receiver:
    """A running receiver; `script` answers the next request."""

    port: int
    script: Script = OK
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the test is over, so that whoever hangs can end."""

    def url(self, path: str = "/hook", *, host: str = "127.0.0.1", scheme: str = "http") -> str:
        """Return a URL of the receiver."""
        return f"{scheme}://{host}:{self.port}{path}"


def read_request(stream: BufferedIOBase) -> Seen | None:
    """Read one request, or None when the sender has disconnected."""
    first = stream.readline()
    if not first.strip():
        return None
    method, path, _ = first.decode().split(" ", 2)
    headers = {}
    while (line := stream.readline().strip()) != b"":
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    return Seen(method, path, headers, stream.read(int(headers.get("content-length", "0"))))


@contextmanager
def receiving(script: Script = OK, *, tls: ssl.SSLContext | None = None, port: int = 0) -> Iterator[Receiver]:
    """Run a receiver until the test is over."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            with receiver.lock:
                receiver.connections += 1
            try:
                while (seen := read_request(self.rfile)) is not None:
                    with receiver.lock:
                        receiver.seen.append(seen)
                    if not receiver.script(seen, self.connection):
                        return
            except OSError:
                pass  # the sender has had enough

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True
        request_queue_size = 512

        def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
            end, address = super().get_request()
            return (end if tls is None else tls.wrap_socket(end, server_side=True)), address

        def handle_error(self, request: object, client_address: object) -> None:
            """Ignore errors of senders that hang up."""

    with Server(("127.0.0.1", port), Handler) as server:
        receiver = Receiver(server.server_address[1], script)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield receiver
        finally:
            receiver.over.set()
            server.shutdown()
            thread.join()
