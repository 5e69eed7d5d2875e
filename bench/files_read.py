"""What reading files costs: small ones by the thousand, directories with who touched what last, and large ones."""

import http.client
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

from bench.harness import Figure
from bench.history import make_history, wide
from bench.imported import import_repository
from bench.load import load
from bench.service import served_apart
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.git.history import refresh_commit_graph
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

FILES, COMMITS = 5_000, 10_000
ROUNDS = 5
LARGE = 1024
API = "/api/v1/repos/admin/large"


def fill(settings: Settings, *, with_large: bool = False) -> Path:
    """Make the repository the way the service keeps it after its housekeeping, and return its folder."""
    with open_database(settings) as database:
        prepare(database, settings)

    def make(folder: Path) -> None:
        make_history(folder, files=FILES, commits=COMMITS, place=wide)
        refresh_commit_graph(folder)
        if with_large:
            add_large(folder, settings.data)

    with closing(App.open(settings)) as host:
        return import_repository(host, "large", make)


def add_large(folder: Path, place: Path) -> None:
    """Put a file of a gigabyte on a branch of its own."""
    with (place / "zeros").open("wb") as file:
        file.truncate(LARGE * 2**20)

    def git(*arguments: str, told: str = "") -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], input=told, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    blob = git("-c", "core.compression=1", "hash-object", "-w", str(place / "zeros"))
    tree = git("mktree", told=f"100644 blob {blob}\tzeros\n")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    git("update-ref", "refs/heads/huge", git(*who, "commit-tree", tree, "-m", "huge"))
    (place / "zeros").unlink()


class Memory:
    """How much memory a process takes at most from now on, above what it takes now."""

    def __init__(self, pid: int) -> None:
        self._process = Path(f"/proc/{pid}")
        (self._process / "clear_refs").write_text("5", encoding="ascii")
        self._before = self._megabytes("VmRSS:")

    def _megabytes(self, what: str) -> float:
        status = (self._process / "status").read_text(encoding="ascii")
        return int(status.partition(what)[2].split()[0]) / 1024

    def more(self) -> float:
        """Return it in megabytes."""
        return self._megabytes("VmHWM:") - self._before


def fetched(port: int, path: str) -> int:
    """Read an answer without keeping it, and return how long it was."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.request("GET", path)
    answer = connection.getresponse()
    assert answer.status == 200, answer.status
    size = 0
    while piece := answer.read(2**20):
        size += len(piece)
    connection.close()
    return size


def timed(port: int, path: str) -> float:
    """Return the milliseconds one answer takes."""
    began = time.perf_counter()
    fetched(port, path)
    return (time.perf_counter() - began) * 1000


def figures() -> list[Figure]:
    """Serve on one processor and ask from another."""
    with tempfile.TemporaryDirectory() as name:
        settings = Settings(data=Path(name) / "data", admin_password=Secret("a-password-for-a-benchmark"))
        folder = fill(settings, with_large=True)
        with served_apart(settings, name) as (port, process):
            return [*small(port, folder), *listings(port), *large(port, process)]


def small(port: int, folder: Path) -> list[Figure]:
    """Ask for one small file as fast as it is answered, and let git show it for comparison."""
    path = wide(7)
    found = []
    began = time.perf_counter()
    for _ in range(20):
        subprocess.run(["git", "-C", str(folder), "show", f"main:{path}"], check=True, capture_output=True)
    bare = 20 / (time.perf_counter() - began)
    for kind in ("raw", "contents"):
        fetched(port, f"{API}/{kind}/{path}")
        runs = [load(port, f"{API}/{kind}/{path}", {}) for _ in range(ROUNDS)]
        rate = median(run.rate for run in runs)
        found += [
            Figure(f"GET {kind} of a small file, 16 connections", rate, "req/s", least=2500),
            Figure(f"GET {kind}, 99 of 100 within", median(run.slowest for run in runs), "ms", most=10),
            Figure(f"GET {kind}, against git show", rate / bare, "times"),
        ]
    return found


def listings(port: int) -> list[Figure]:
    """List directories of a hundred files, each for the first time, and one of them again and again."""
    cold = [timed(port, f"{API}/contents/src/{number:02}") for number in range(10, 10 + 2 * ROUNDS)]
    root = timed(port, f"{API}/contents")
    again = [load(port, f"{API}/contents/src/10", {}).rate for _ in range(ROUNDS)]
    return [
        Figure("listing of 100 files with their commits, first time", median(cold), "ms", most=150),
        Figure("the slowest of those", max(cold), "ms"),
        Figure("listing of the root, first time", root, "ms"),
        Figure("listing of 100 files with their commits, then", median(again), "req/s", least=800),
    ]


def large(port: int, pid: int) -> list[Figure]:
    """Read a gigabyte as it is and packed, and see what it takes of memory."""
    memory = Memory(pid)
    began = time.perf_counter()
    size = fetched(port, f"{API}/raw/huge/zeros")
    speed = size / 2**20 / (time.perf_counter() - began)
    for_raw = memory.more()
    memory = Memory(pid)
    fetched(port, f"{API}/archive/huge.tar.gz")
    return [
        Figure(f"reading a file of {LARGE} MB", speed, "MB/s"),
        Figure("memory it takes", for_raw, "MB", most=32),
        Figure("memory an archive of it takes", memory.more(), "MB", most=32),
    ]
