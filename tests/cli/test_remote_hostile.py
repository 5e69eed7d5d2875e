"""`holdfast backup push` and `pull` with a hostile server: a clear error, and nothing is written."""

import contextlib
import hashlib
import json
import random
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.cli.exit_codes import ExitCode
from tests.backup.streams import small_sample, stream_of
from tests.cli.conftest import CommandResult, Run

CONTENT = b"precious " * 1000
POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    + f"oid sha256:{hashlib.sha256(CONTENT).hexdigest()}\nsize {len(CONTENT)}\n".encode()
)
FACTS = b'{"default_branch": "main", "empty": false, "private": true}'
SAID = frozenset({ExitCode.NO, ExitCode.UNREADABLE})

Answers = Callable[[str, str], bytes]


class Server:
    """A server that sends given bytes in response to each request, and closes the connection."""

    def __init__(self) -> None:
        self.answers: Answers = lambda _method, _path: b""
        self.seen: list[tuple[str, str]] = []
        self.sent = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(5)
        head = b""
        while b"\r\n\r\n" not in head and (piece := connection.recv(65536)):
            head += piece
        line, _, rest = head.partition(b"\r\n")
        method, path, _ = line.decode().split(" ", 2)
        length = next(
            (int(h.split(b":")[1]) for h in rest.split(b"\r\n") if h.lower().startswith(b"content-length:")), 0
        )
        body = head.partition(b"\r\n\r\n")[2]
        while len(body) < length and (piece := connection.recv(65536)):
            body += piece
        self.seen.append((method, head.decode("latin-1")))
        response = self.answers(method, path)
        for start in range(0, len(response), 65536):
            connection.sendall(response[start : start + 65536])
            self.sent += 65536
        connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Stop the server."""
        self._listener.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Run a hostile server."""
    monkeypatch.setenv("HOLDFAST_TOKEN", "t0ken")
    instance = Server()
    yield instance
    instance.close()


def response(body: bytes, *headers: str, status: str = "200 OK", length: int | None = -1) -> bytes:
    """Return a response; with a length of None it has no Content-Length."""
    lines = [f"HTTP/1.1 {status}", "Connection: close", *headers]
    if length is not None:
        lines.append(f"Content-Length: {len(body) if length == -1 else length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def pull_responses(media: bytes, pointer: bytes = POINTER) -> Answers:
    """Return the responses of a valid host, with another response for the file itself."""

    def choose(_method: str, path: str) -> bytes:
        if "/media/" in path:
            return media
        return response(pointer) if "/raw/" in path else response(FACTS)

    return choose


def pull(run: Run, server: Server, target: Path) -> CommandResult:
    """Pull a file, and check the result as any failure."""
    return run("backup", "pull", "ada/snaps:a.backup", str(target), "--server", server.url)


def check_failure(result: CommandResult, target: Path, status: frozenset[ExitCode] = SAID) -> None:
    """Check that a failure has one line, a known status, no secret, and that nothing was written."""
    assert result.status in status, result.err
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert len(result.err) < 1000
    assert "mistake in Holdfast" not in result.err
    assert "t0ken" not in result.err
    assert list(target.parent.iterdir()) == []


def test_the_right_answer_is_written(run: Run, server: Server, tmp_path: Path) -> None:
    """A response with a Content-Length, in chunks, or ended by closing the connection is written."""
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(CONTENT), CONTENT)
    chunked = response(chunks, "Transfer-Encoding: chunked", length=None)
    for number, media in enumerate((response(CONTENT), chunked, response(CONTENT, length=None))):
        server.answers = pull_responses(media)
        assert pull(run, server, tmp_path / str(number)).status == 0
        assert (tmp_path / str(number)).read_bytes() == CONTENT


@pytest.mark.parametrize("pointer", [POINTER, b"a plain file " * 100])
def test_an_answer_that_breaks_off_is_not_kept(run: Run, server: Server, tmp_path: Path, pointer: bytes) -> None:
    """An incomplete or unexpected response is an error, and no file is written."""
    target = tmp_path / "out" / "back"
    target.parent.mkdir()
    for media in (
        response(CONTENT[:3000], length=len(CONTENT)),
        response(b"", length=len(CONTENT)),
        response(b"ffff\r\n" + CONTENT[:3000], "Transfer-Encoding: chunked", length=None),
        response(b"zz\r\n", "Transfer-Encoding: chunked", length=None),
        response(CONTENT[:3000], length=None),
        response(CONTENT, "Content-Encoding: gzip"),
        response(CONTENT, status="206 Partial Content"),
        response(CONTENT, status="101 Switching Protocols"),
    ):
        server.answers = pull_responses(media, pointer)
        check_failure(pull(run, server, target), target, frozenset({ExitCode.UNREADABLE}))


def test_no_more_is_read_than_the_pointer_says(run: Run, server: Server, tmp_path: Path) -> None:
    """A response larger than the LFS pointer says is an error and is not downloaded whole."""
    target = tmp_path / "out" / "back"
    target.parent.mkdir()
    pointer = POINTER.replace(f"size {len(CONTENT)}".encode(), b"size 10")
    content = bytes(40 << 20)
    for media in (response(content), response(content, length=None)):
        server.sent = 0
        server.answers = pull_responses(media, pointer)
        check_failure(pull(run, server, target), target, frozenset({ExitCode.UNREADABLE}))
        assert server.sent < 20 << 20
    server.answers = pull_responses(response(CONTENT[:-1] + b"!"))
    check_failure(pull(run, server, target), target, frozenset({ExitCode.UNREADABLE}))


def redirect_targets(server: Server) -> list[str]:
    """List hostile redirect targets."""
    return [
        "http://[",
        "http://[::1",
        "http://host:port/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:0/",
        "http://a..b/",
        f"http://{'a' * 300}.example/",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://user:pass@127.0.0.1/",
        "//",
        "http://",
        "https:///x",
        "http://127.0.0.1:1/closed",
        "/a b\x7f\x01",
        "/\xff\xfe",
        "?" * 5000,
        f"{server.url}/media/",
    ]


def test_invalid_redirects_are_reported(run: Run, server: Server, tmp_path: Path) -> None:
    """Redirects to invalid URLs, to other schemes or in a circle are errors, and no file is written."""
    target = tmp_path / "out" / "back"
    target.parent.mkdir()
    for url in redirect_targets(server):
        sent = response(b"", f"Location: {url}", status="302 Found")
        server.answers = pull_responses(sent)
        check_failure(pull(run, server, target), target)
        server.answers = lambda _method, _path, sent=sent: sent  # type: ignore[misc]  # a default that is not asked for
        check_failure(pull(run, server, target), target)


def test_credentials_stay_with_their_host(run: Run, server: Server, tmp_path: Path) -> None:
    """A redirect to another host has no Authorization header."""
    other = Server()
    other.answers = lambda _method, _path: response(CONTENT)
    try:
        server.answers = pull_responses(response(b"", f"Location: {other.url}/x", status="302 Found"))
        assert pull(run, server, tmp_path / "back").status == 0
        assert [("uthorization" in head) for _, head in other.seen] == [False]
        assert all("uthorization" in head for _, head in server.seen)
    finally:
        other.close()


NONSENSE = [
    b"",
    b"\x00",
    b"not json",
    b"[]",
    b"null",
    b"1" * 5000,
    b"[" * 100_000,
    b'{"default_branch": ' + b"[" * 100_000,
    b'{"default_branch": 1}',
    b'{"default_branch": null, "empty": "no"}',
    b'{"default_branch": "\xff\xfe"}',
    b'{"objects": null}',
    b'{"objects": [null]}',
    b'{"objects": [{"oid": 1}]}',
    b'{"objects": []}',
    b'{"commit": 3}',
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write a backup to push."""
    path = tmp_path / "a.binproto"
    path.write_bytes(stream_of(small_sample()))
    return path


def push(run: Run, server: Server, file: Path) -> CommandResult:
    """Store a file."""
    return run("backup", "push", str(file), "ada/snaps:a.backup", "--server", server.url)


def check_failed_push(result: CommandResult) -> None:
    """Check that a failed push ends with one line and a known status."""
    assert result.status in SAID, result.err
    last = result.err.splitlines()[-1]
    assert last.startswith("error: ")
    assert "mistake in Holdfast" not in last
    assert "t0ken" not in result.err
    assert len(last) < 1000


def test_answers_of_the_api_may_be_anything(run: Run, server: Server, file: Path, tmp_path: Path) -> None:
    """Bad JSON, wrong types, missing keys and broken HTTP are errors at every request."""
    target = tmp_path / "out" / "back"
    target.parent.mkdir()
    raw = [
        b"",
        b"HTTP/1.1",
        b"HTTP/1.1 abc def\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
    ]
    for content in [*(response(body) for body in NONSENSE), *raw]:
        server.answers = lambda _method, _path, content=content: content  # type: ignore[misc]  # a default that is not asked for
        check_failure(pull(run, server, target), target)
        check_failed_push(push(run, server, file))


def batch(oid: str, size: int, **item: object) -> bytes:
    """Return the response to a batch request."""
    return response(json.dumps({"objects": [{"oid": oid, "size": size, **item}]}).encode())


def test_actions_of_a_batch_may_be_anything(run: Run, server: Server, file: Path) -> None:
    """Invalid URLs, headers, objects and errors in a batch response are errors in one line."""
    data = file.read_bytes()
    oid = hashlib.sha256(data).hexdigest()
    urls = [url for url in redirect_targets(server) if "media" not in url]
    items: list[dict[str, object]] = [{"actions": {"upload": {"href": url}}} for url in urls]
    items += [
        {"actions": {"upload": {"href": f"{server.url}/put", "header": {"X": "a\r\nInjected: yes"}}}},
        {"actions": {"upload": {"href": f"{server.url}/put", "header": {"X\n": "a"}}}},
        {"actions": {"upload": {"href": f"{server.url}/put", "header": {"X": "\u2603"}}}},
        {"actions": {"upload": {"href": f"{server.url}/put", "header": {"Transfer-Encoding": "chunked"}}}},
        {"actions": {"upload": {"href": 5}}},
        {"actions": {"upload": {}}},
        {"actions": []},
        {"error": {"code": 422, "message": "\x1b[31m" + "no" * 50_000}},
        {"error": "no"},
        {"actions": {"verify": {"href": "http://["}}},
    ]
    for item in items:

        def choose(method: str, path: str, item: dict[str, object] = item) -> bytes:
            if path.endswith("/objects/batch"):
                return batch(oid, len(data), **item)
            if method == "PUT":
                return response(b"", status="500 Oh")
            return response(FACTS.replace(b'"empty": false', b'"empty": true'))

        server.answers = choose
        check_failed_push(push(run, server, file))
    assert not any("Injected" in head for _, head in server.seen)
    server.answers = lambda _method, path: (
        batch("0" * 64, 1) if path.endswith("/objects/batch") else response(FACTS.replace(b"false", b"true", 1))
    )
    check_failed_push(push(run, server, file))


def test_random_answers_never_look_like_a_mistake(run: Run, server: Server, file: Path, tmp_path: Path) -> None:
    """Random parts of valid responses, cut and changed, never cause an internal error."""
    rng = random.Random(7)
    target = tmp_path / "out" / "back"
    target.parent.mkdir()
    valid = [
        response(FACTS),
        response(POINTER),
        response(CONTENT),
        response(b"{}", status="404 None"),
        *map(response, NONSENSE),
    ]

    def choose(_method: str, _path: str) -> bytes:
        data = bytearray(rng.choice(valid))
        for _ in range(rng.choice((0, 0, 1, 5))):
            data[rng.randrange(min(len(data), 300))] = rng.randrange(256)
        return bytes(data[: rng.randrange(len(data) + 1)]) if rng.random() < 0.3 else bytes(data)

    server.answers = choose
    for _ in range(25):
        result = pull(run, server, target)
        assert result.status in SAID, result.err
        assert list(target.parent.iterdir()) == []
        check_failed_push(push(run, server, file))
