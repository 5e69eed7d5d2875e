"""What a commit through the API costs: against the git commands that do the same, alone and with many at once."""

import base64
import http.client
import itertools
import json
import multiprocessing
import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from bench.harness import Figure
from bench.imported import import_repository
from bench.service import Whole, serve
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import prepare
from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.repositories import find_repository
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

ROUNDS = 11
COMMITS = 24
WRITERS = 16
TOGETHER = 12
LARGE, SMALL = 50_000, 50
ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "PATH": os.environ.get("PATH", ""),
}


def fill(folder: Path, files: int) -> None:
    """Put files into an empty repository, at most 1,000 into a directory."""
    with subprocess.Popen(
        ["git", "-C", str(folder), "fast-import", "--quiet"], stdin=subprocess.PIPE, bufsize=1 << 20
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"commit refs/heads/main\ncommitter Ada <ada@example.org> 1700000000 +0000\ndata 0\n")
        for number in range(files):
            content = b"file %d\n" % number
            path = b"M 100644 inline d%02d/f%03d\n" % (number // 1000, number % 1000)
            process.stdin.write(path + b"data %d\n" % len(content) + content + b"\n")
        process.stdin.close()
    assert process.returncode == 0, "git fast-import failed"


def git(folder: Path, *arguments: str, given: bytes = b"", index: Path) -> str:
    """Run one command the way a script would."""
    environment = {**ENVIRONMENT, "GIT_INDEX_FILE": str(index)}
    # The API answers when everything is on the disk; so do these.
    command = ["git", "-C", str(folder), "-c", "core.fsync=objects,reference", *arguments]
    done = subprocess.run(command, input=given, check=True, capture_output=True, env=environment)
    return done.stdout.decode().strip()


def commit_with_git(folder: Path, path: str, content: bytes) -> None:
    """Commit one file with the commands that do what the API does."""
    with tempfile.TemporaryDirectory() as scratch:
        index = Path(scratch) / "index"
        head = git(folder, "rev-parse", "main", index=index)
        blob = git(folder, "hash-object", "-w", "--stdin", given=content, index=index)
        git(folder, "read-tree", head, index=index)
        git(folder, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", index=index)
        tree = git(folder, "write-tree", index=index)
        commit = git(folder, "commit-tree", tree, "-p", head, "-m", f"Add {path}", index=index)
        git(folder, "update-ref", "refs/heads/main", commit, head, index=index)


class Writer:
    """A client that commits new files, one after the other, on a connection of its own.

    Each round they go to another directory, as those of the git commands do: one that grows costs more and more.
    """

    counter = itertools.count()

    def __init__(self, port: int, token: str, repository: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
        self.path = f"/api/v1/repos/admin/{repository}/contents/"
        self.round = 0

    def rest(self) -> None:
        """Let go of the connection: the server does not keep one for long, and the next write opens another."""
        self.connection.close()
        self.round += 1

    def write(self) -> None:
        """Commit one file."""
        number = next(self.counter)
        body = json.dumps({"content": base64.b64encode(b"new %d\n" % number).decode()})
        self.connection.request("POST", f"{self.path}round{self.round}/new{number}", body, self.headers)
        answer = self.connection.getresponse()
        answer.read()
        assert answer.status == 201, answer.status


def rate(do: Callable[[], None], times: int) -> float:
    """Return how often something can be done in a second."""
    started = time.perf_counter()
    for _ in range(times):
        do()
    return times / (time.perf_counter() - started)


def together(writers: list[Writer], each: int, latencies: list[float]) -> float:
    """Return how many commits a second several writers make together, and add what each commit took."""

    def work(writer: Writer) -> None:
        for _ in range(each):
            began = time.perf_counter()
            writer.write()
            latencies.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work, args=(writer,)) for writer in writers]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(writers) * each / (time.perf_counter() - started)


@contextmanager
def served(folder: str) -> Iterator[tuple[int, str, dict[str, Path]]]:
    """Serve two repositories, a small one and a large one."""
    settings = Settings(data=Path(folder) / "data", admin_password=Secret("a-password-for-a-benchmark"))
    host = App.open(settings)
    prepare(host.database, settings)
    admin = accounts.find_user(host.database, "admin")
    places = {}
    for name, files in (("small", SMALL), ("large", LARGE), ("scripts", SMALL)):
        places[name] = import_repository(host, name, partial(fill, files=files))
    _, token = tokens.create_token(host.database, admin, "bench", ("all",))
    host.close()
    context = multiprocessing.get_context("spawn")
    listening = context.Queue()
    given = (Whole(Settings(data=settings.data)), listening, f"{folder}/log", os.sched_getaffinity(0))
    server = context.Process(target=serve, args=given, daemon=True)
    server.start()
    try:
        yield listening.get(timeout=60), token.reveal(), places
    finally:
        server.terminate()
        server.join()


def figures() -> list[Figure]:
    """Measure all in turn, in one run."""
    with tempfile.TemporaryDirectory() as folder, served(folder) as (port, token, places):
        alone = Writer(port, token, "small")
        large = Writer(port, token, "large")
        many = [Writer(port, token, "small") for _ in range(WRITERS)]
        names = itertools.count()
        alone.write()
        large.write()

        def scripted() -> None:
            number = next(names)
            path = f"round{number // COMMITS}/new{number}"
            commit_with_git(places["scripts"], path, b"new %d\n" % number)

        rows = []
        latencies: list[float] = []
        for _ in range(ROUNDS):
            for writer in (alone, large, *many):
                writer.rest()
            row = (
                rate(alone.write, COMMITS),
                rate(large.write, COMMITS),
                together(many, TOGETHER, latencies),
                rate(scripted, COMMITS),
            )
            rows.append(row)
        # And the first one, and the one that was imported.
        made = len(many) * TOGETHER * ROUNDS + COMMITS * ROUNDS + 2
        with closing(App.open(Settings(data=Path(folder) / "data"))) as host:
            copy = host.copies.open(find_repository(host.database, "admin", "small")).folder
            counted = subprocess.run(
                ["git", "-C", str(copy), "rev-list", "--count", "main"], check=True, capture_output=True
            )
    one, into_large, all_together, commands = zip(*rows, strict=True)
    slow = statistics.quantiles(latencies, n=100)
    return [
        Figure("one-file commits with the git commands", statistics.median(commands), "commits/s"),
        Figure("one-file commits through the API, durable", statistics.median(one), "commits/s"),
        Figure("the API, against the git commands", ratio(one, commands), "x", least=5),
        Figure(f"{WRITERS} writers on one branch", statistics.median(all_together), "commits/s"),
        Figure(f"{WRITERS} writers, against one", ratio(all_together, one), "times", least=2),
        Figure(f"{WRITERS} writers, half of all commits within", slow[49] * 1000, "ms"),
        Figure(f"{WRITERS} writers, 99 of 100 within", slow[98] * 1000, "ms"),
        Figure("the slowest of 100, against the median", slow[98] / slow[49], "times", most=6),
        Figure("commits of the writers that were lost", made - int(counted.stdout), "commits", most=0.5),
        Figure(f"into {LARGE:,} files, against {SMALL}", ratio(one, into_large), "x time", most=2),
    ]


def ratio(some: tuple[float, ...], others: tuple[float, ...]) -> float:
    """Return the median of the ratios of what was measured side by side."""
    return statistics.median(one / other for one, other in zip(some, others, strict=True))
