"""The supervisor of worker processes: restarts, signals and shutdown, with real processes."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from holdfast.server.supervisor import worker_count
from tests.conftest import wait_for
from tests.server_process import run_server, server_url


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    """Configure three workers and the password of the administrator."""
    monkeypatch.setenv("HOLDFAST_WORKERS", "3")
    monkeypatch.setenv("HOLDFAST_ADMIN_PASSWORD", "a-password-for-tests")


def children(parent: int) -> set[int]:
    """Return the child processes of a process, zombies included."""
    return {int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()}


def is_zombie(pid: int) -> bool:
    """Return whether a process has ended and its parent has not waited for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return False


def gone(pids: set[int]) -> bool:
    """Return whether none of the processes is running."""
    return not any(Path(f"/proc/{pid}").exists() and not is_zombie(pid) for pid in pids)


def answers(url: str) -> bool:
    """Return whether the service responds with 200."""
    try:
        return httpx.get(f"{url}/healthz").status_code == 200
    except httpx.HTTPError:
        return False


def slow_request(url: str) -> Callable[[], bytes]:
    """Send half of a request; return a function that sends the rest and returns the response."""
    body = b"name=admin&password=a-password-for-tests"
    host = httpx.URL(url)
    connection = socket.create_connection((host.host, host.port or 80))
    head = (
        f"POST /login HTTP/1.1\r\nHost: {host.host}:{host.port}\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    )
    connection.sendall(head.encode() + body[:5])
    # A second request on another connection is answered after the first was taken in by somebody.
    assert answers(url)

    def rest() -> bytes:
        with connection:
            connection.sendall(body[5:])
            return connection.recv(65536)

    return rest


@pytest.mark.long
def test_a_worker_that_is_killed_is_replaced_and_requests_go_on(tmp_path: Path, three: None) -> None:
    """A killed worker is replaced, the service answers all requests afterwards, and no zombie is left."""
    with run_server(tmp_path / "data") as (process, banner):
        url = server_url(banner)
        wait_for(lambda: answers(url) and len(children(process.pid)) == 4)
        victim = min(children(process.pid))
        os.kill(victim, signal.SIGKILL)
        wait_for(lambda: victim not in children(process.pid) and len(children(process.pid)) == 4)
        assert all(answers(url) for _ in range(20))
        assert not any(is_zombie(pid) for pid in children(process.pid))


@pytest.mark.parametrize(
    ("workers", "number"),
    [
        (3, signal.SIGTERM),
        pytest.param(1, signal.SIGTERM, marks=pytest.mark.long),
        pytest.param(1, signal.SIGINT, marks=pytest.mark.long),
        pytest.param(3, signal.SIGQUIT, marks=pytest.mark.long),
    ],
)
def test_a_request_in_flight_is_answered_before_the_end(
    tmp_path: Path, three: None, monkeypatch: pytest.MonkeyPatch, workers: int, number: signal.Signals
) -> None:
    """A signal stops new connections, the pending request is answered, and no process is left."""
    monkeypatch.setenv("HOLDFAST_WORKERS", str(workers))
    with run_server(tmp_path / "data") as (process, banner):
        url = server_url(banner)
        wait_for(lambda: answers(url))
        workers_were = children(process.pid)
        rest = slow_request(url)
        time.sleep(0.3)  # until the worker has read what was sent; nothing tells when
        process.send_signal(number)
        wait_for(lambda: not answers(url))
        assert rest().startswith(b"HTTP/1.1 303")
        _out, err = process.communicate(timeout=60)
        assert process.returncode == (130 if number == signal.SIGINT else 0)
        assert "Traceback" not in err
        assert gone(workers_were)


def large_repository(url: str, data: Path) -> str:
    """Push a repository of 40 MB that cannot be compressed, and return its commit."""
    login = ("admin", "a-password-for-tests")
    assert httpx.post(f"{url}/api/v1/user/repos", json={"name": "large"}, auth=login).status_code == 201
    source = data.with_name("source.git")
    subprocess.run(["git", "init", "--quiet", "--bare", str(source)], check=True)
    git = ["git", "--git-dir", str(source)]
    stream = b"blob\nmark :1\ndata 40000000\n" + os.urandom(40_000_000) + b"\n"
    stream += b"commit refs/heads/main\ncommitter a <a@example.org> 0 +0000\ndata 0\nM 100644 :1 large\n"
    subprocess.run([*git, "fast-import", "--quiet"], input=stream, check=True)
    target = url.replace("//", f"//{login[0]}:{login[1]}@") + "/admin/large.git"
    subprocess.run([*git, "push", "--quiet", target, "refs/heads/main"], check=True)
    done = subprocess.run([*git, "rev-parse", "refs/heads/main"], capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.mark.long
def test_a_clone_in_flight_is_finished_before_the_end(tmp_path: Path, three: None) -> None:
    """The client that has read a part of a large pack gets all of it."""
    with run_server(tmp_path / "data") as (process, banner):
        url = server_url(banner)
        wait_for(lambda: answers(url))
        commit = large_repository(url, tmp_path / "data")
        wanted = f"0032want {commit}\n00000009done\n".encode()
        kind = {"Content-Type": "application/x-git-upload-pack-request"}
        with httpx.stream(
            "POST", f"{url}/admin/large.git/git-upload-pack", content=wanted, headers=kind
        ) as response:
            pieces = response.iter_raw()
            received = next(pieces)
            process.send_signal(signal.SIGTERM)
            wait_for(lambda: not answers(url))
            assert process.poll() is None
            received += b"".join(pieces)
        _out, err = process.communicate(timeout=40)
        assert (process.returncode, "Traceback" in err) == (0, False)
    head, pack = received[:8], received[8:]
    assert head == b"0008NAK\n"
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "clone")], check=True)
    index = ["git", "--git-dir", str(tmp_path / "clone"), "index-pack", "--stdin", "--strict"]
    subprocess.run(index, input=pack, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 3])
def test_a_second_signal_ends_at_once(
    tmp_path: Path, three: None, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """The service ends even while a request is in flight."""
    monkeypatch.setenv("HOLDFAST_WORKERS", str(workers))
    with run_server(tmp_path / "data") as (process, banner):
        url = server_url(banner)
        wait_for(lambda: answers(url))
        workers_were = children(process.pid)
        rest = slow_request(url)
        time.sleep(0.3)  # until the worker has read what was sent; nothing tells when
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: not answers(url))
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in {0, 128 + signal.SIGTERM}
        wait_for(lambda: gone(workers_were))
        with suppress(ConnectionError):
            assert rest() == b""


@pytest.mark.long
def test_workers_are_restarted_one_after_the_other(tmp_path: Path, three: None) -> None:
    """SIGHUP replaces every worker, and the service responds all the time."""
    with run_server(tmp_path / "data") as (process, banner):
        url = server_url(banner)
        wait_for(lambda: answers(url) and len(children(process.pid)) == 4)
        before = children(process.pid)
        process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 30
        while children(process.pid) & before or len(children(process.pid)) != 4:
            assert answers(url)
            assert time.monotonic() < deadline
        assert answers(url)


@pytest.mark.long
def test_workers_end_when_their_parent_is_killed(tmp_path: Path, three: None) -> None:
    """No worker is left when the parent is killed."""
    with run_server(tmp_path / "data") as (process, banner):
        wait_for(lambda: answers(server_url(banner)) and len(children(process.pid)) == 4)
        workers = children(process.pid)
        process.kill()
        process.wait()
        wait_for(lambda: gone(workers))


@pytest.mark.long
def test_all_workers_are_counted_together(tmp_path: Path, three: None) -> None:
    """The metrics of any worker have the requests of all, also of workers that have ended."""
    with run_server(tmp_path / "data") as (process, banner):
        url = server_url(banner)
        wait_for(lambda: answers(url) and len(children(process.pid)) == 4)
        for _ in range(30):
            httpx.get(f"{url}/api/v1/version")  # a connection each, so that every worker gets some
        line = 'holdfast_request_seconds_count{method="GET",route="/api/v1/version",status="2xx"} 30.0'
        # A request is counted after its response.
        wait_for(lambda: line in httpx.get(f"{url}/metrics").text)
        victim = min(children(process.pid))
        os.kill(victim, signal.SIGKILL)
        wait_for(lambda: victim not in children(process.pid))
        for _ in range(5):
            assert line in httpx.get(f"{url}/metrics").text


@pytest.mark.long
def test_a_service_cleans_up_after_one_that_was_killed(tmp_path: Path, three: None) -> None:
    """The files of the metrics are deleted when the service ends, or when the next one starts."""
    data = tmp_path / "data"
    with run_server(data) as (process, banner):
        wait_for(lambda: answers(server_url(banner)))
        process.kill()
        process.wait()
    assert len(list((data / "tmp").iterdir())) == 1
    with run_server(data) as (process, banner):
        wait_for(lambda: answers(server_url(banner)))
        assert len(list((data / "tmp").iterdir())) == 1
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert list((data / "tmp").iterdir()) == []


PROGRAM = """
import os, signal, sys, time
from holdfast.server.supervisor import Role, Supervisor
from holdfast.errors import HoldfastError
from holdfast import logs

logs.configure()

def target(on_started, parent_gone):
    {body}

try:
    print("ended by", Supervisor([Role(2, target)]).run())
except HoldfastError as error:
    print("error:", error)
"""


def supervise(body: str) -> "subprocess.Popen[str]":
    """Run a supervisor of two workers with the given program text."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(body=body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def test_the_service_ends_with_an_error_when_no_worker_can_start() -> None:
    """The supervisor stops trying to start workers."""
    with supervise("raise HoldfastError('no database')") as process:
        out, _ = process.communicate(timeout=20)
    assert out == "error: no worker can start; the log says why\n"


@pytest.mark.long
def test_workers_that_die_at_once_are_started_again_ever_more_slowly(tmp_path: Path) -> None:
    """Workers that exit right after their start are started again with growing delays."""
    log = tmp_path / "starts"
    body = f"on_started(); open({str(log)!r}, 'a').write(f'{{time.monotonic()}}\\n'); os._exit(3)"
    with supervise(body) as process:
        wait_for(lambda: log.exists() and len(log.read_text().split()) >= 6, 60)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
    # The pause doubles with each worker that ends, and two may end at a time.
    starts = sorted(map(float, log.read_text().split()))
    pauses = [after - before for before, after in pairwise(starts) if after - before > 0.4]
    assert len(pauses) >= 2
    assert all(later > 1.4 * earlier for earlier, later in pairwise(pauses))
    assert out == f"ended by {int(signal.SIGTERM)}\n"


# Says which process it is, and then works until it is told to end, or its parent is gone.
WORKING = (
    "signal.signal(signal.SIGTERM, lambda *_: os._exit(0)); "
    "open({log!r}, 'a').write(f'{{os.getpid()}}\\n'); on_started(); os.read(parent_gone, 1)"
)


def started(log: Path) -> list[int]:
    """List the workers that have been started so far."""
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def test_a_worker_that_ends_is_replaced(tmp_path: Path) -> None:
    """A new worker replaces the one that was killed, and the other worker keeps running."""
    log = tmp_path / "starts"
    with supervise(WORKING.format(log=str(log))) as process:
        wait_for(lambda: len(started(log)) == 2, 60)
        victim, other = started(log)
        os.kill(victim, signal.SIGKILL)
        wait_for(lambda: len(started(log)) == 3, 60)
        wait_for(lambda: children(process.pid) == {other, started(log)[2]}, 60)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert out == f"ended by {int(signal.SIGTERM)}\n"
    assert gone(set(started(log)))


def test_every_worker_is_replaced_when_that_is_asked_for(tmp_path: Path) -> None:
    """Workers are replaced one after the other, so that there are never fewer than before."""
    log = tmp_path / "starts"
    with supervise(WORKING.format(log=str(log))) as process:
        wait_for(lambda: len(started(log)) == 2, 60)
        before = set(started(log))
        process.send_signal(signal.SIGHUP)

        def replaced() -> bool:
            now = children(process.pid)
            assert len(now) >= 2
            return not now & before and len(now) == 2

        wait_for(replaced, 60)
        assert len(started(log)) == 4
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert gone(set(started(log)))


def test_a_second_signal_ends_workers_that_do_not_end(tmp_path: Path) -> None:
    """The first signal waits for workers, and the second kills them."""
    log = tmp_path / "starts"
    body = WORKING.format(log=str(log)).replace("lambda *_: os._exit(0)", "signal.SIG_IGN")
    with supervise(body) as process:
        wait_for(lambda: len(started(log)) == 2, 60)
        process.send_signal(signal.SIGTERM)
        pause = threading.Event()
        while process.poll() is None:
            process.send_signal(signal.SIGTERM)
            pause.wait(0.05)
        # The last signal may come when it minds none any more.
        assert process.returncode in {0, -signal.SIGTERM}
    assert gone(set(started(log)))


def test_workers_detect_the_end_of_their_parent(tmp_path: Path) -> None:
    """The pipe that workers are given closes when the parent is killed."""
    log = tmp_path / "starts"
    with supervise(WORKING.format(log=str(log))) as process:
        wait_for(lambda: len(started(log)) == 2, 60)
        process.kill()
        process.wait()
        wait_for(lambda: gone(set(started(log))), 60)


def test_the_number_of_workers_follows_the_setting() -> None:
    """There is one worker for each processor unless a number is given."""
    assert worker_count(0) == len(os.sched_getaffinity(0))
    assert worker_count(7) == 7
