"""What a repository costs after ten thousand commits through the API, against the same one fully packed."""

import argparse
import base64
import http.client
import itertools
import json
import multiprocessing
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

from sqlalchemy import func, select

from bench.clone import clone
from bench.files_read import timed
from bench.harness import Figure
from bench.imported import import_repository
from bench.service import Whole, serve
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.git.history import refresh_commit_graph
from holdfast.hosting.services import repositories
from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.repositories import find_repository
from holdfast.hosting.store.tables import packs
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

COMMITS = 10_000
FOLDERS = 100
WRITERS = 16
ROUNDS = 5
# How long the service may take to compact what was written; it rests ten times as long as a compaction took.
SECONDS = 180.0


def prepared(settings: Settings) -> str:
    """Make an installation with an empty repository, and return a token."""
    with open_database(settings) as database:
        prepare(database, settings)
    with closing(App.open(settings)) as host:
        admin = accounts.find_user(host.database, "admin")
        files = {"README.md": b"# Many\n"}
        repositories.create(host, admin, admin, repositories.NewRepository(name="many"), files)
        _, token = tokens.create_token(host.database, admin, "bench", ("all",))
    return token.reveal()


def write(port: int, token: str, numbers: "itertools.count[int]", commits: int) -> None:
    """Commit new files, each to one of a hundred directories, until there are enough."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
    while (number := next(numbers)) < commits:
        content = "\n".join(f"line {line} of file {number}" for line in range(20)).encode()
        body = json.dumps({"content": base64.b64encode(content).decode()})
        path = f"/api/v1/repos/admin/many/contents/src/{number % FOLDERS:02}/file{number}.txt"
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 201, answer.status
    connection.close()


def commit_all(port: int, token: str, commits: int) -> float:
    """Let writers make the commits together, and return the seconds they took."""
    numbers = itertools.count()
    threads = [threading.Thread(target=write, args=(port, token, numbers, commits)) for _ in range(WRITERS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def pack_fully(source: Path, folder: Path) -> None:
    """Copy a repository into an empty one, in one pack, with everything git has to read it fast."""
    subprocess.run(["git", "-C", str(folder), "fetch", "--quiet", str(source), "+refs/*:refs/*"], check=True)
    # Git keeps what it fetched without deltas as it is, unless it is told to look for them.
    subprocess.run(["git", "-C", str(folder), "repack", "-a", "-d", "-f", "-b", "-q"], check=True)
    refresh_commit_graph(folder)


def wait_for_compaction(host: App) -> float:
    """Wait until the service has compacted what was written, and return the seconds that took."""
    number = find_repository(host.database, "admin", "many").id
    began = time.perf_counter()
    while host.compactor.is_needed(number) and time.perf_counter() < began + SECONDS:
        time.sleep(0.5)
    return time.perf_counter() - began


def packed_bytes(host: App, name: str) -> int:
    """Return the bytes of all packs of a repository, wherever they are stored."""
    repository = find_repository(host.database, "admin", name)
    mine = packs.c.repository_id == repository.id, packs.c.superseded_at == 0
    with host.database.read() as connection:
        return int(connection.execute(select(func.sum(packs.c.size)).where(*mine)).scalar_one())


def copy_bytes(host: App, name: str) -> int:
    """Return the bytes of the objects in a local copy, with all indexes, bitmaps and commit-graphs."""
    repository = find_repository(host.database, "admin", name)
    folder = host.folders.path(repository.id) / "objects"
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def history(port: int, name: str, folders: range) -> float:
    """Return the median milliseconds of asking for the history of directories nobody has asked for."""
    address = "/api/v1/repos/admin/{}/commits?path=src/{:02}&stat=false&verification=false&files=false"
    return median(timed(port, address.format(name, number)) for number in folders)


def figures(commits: int = COMMITS) -> list[Figure]:
    """Write, then read both repositories in turn, in one run."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        settings = Settings(data=place / "data", admin_password=Secret("a-password-for-a-benchmark"))
        token = prepared(settings)
        context = multiprocessing.get_context("spawn")
        listening = context.Queue()
        arguments = (Whole(Settings(data=settings.data)), listening, f"{name}/log", os.sched_getaffinity(0))
        server = context.Process(target=serve, args=arguments, daemon=True)
        server.start()
        try:
            port = listening.get(timeout=60)
            taken = commit_all(port, token, commits)
            url = f"http://127.0.0.1:{port}/admin"
            with closing(App.open(Settings(data=settings.data))) as host:
                rested = wait_for_compaction(host)
                source = host.copies.open(find_repository(host.database, "admin", "many")).folder
                stored, local = packed_bytes(host, "many"), copy_bytes(host, "many")
                import_repository(host, "packed", lambda folder: pack_fully(source, folder))
                fully, full_copy = packed_bytes(host, "packed"), copy_bytes(host, "packed")
            asked = [
                tuple(history(port, one, range(start, start + 5)) for one in ("many", "packed"))
                for start in range(0, 5 * ROUNDS, 5)
            ]
            clones = [
                (
                    clone(f"{url}/many.git", place / f"many{turn}"),
                    clone(f"{url}/packed.git", place / f"full{turn}"),
                )
                for turn in range(ROUNDS)
            ]
        finally:
            server.terminate()
            server.join()
    return [
        Figure(f"{commits:,} commits by {WRITERS} writers", commits / taken, "commits/s"),
        Figure("until the service has compacted them", rested, "s"),
        Figure("clone after that", median(many for many, _ in clones), "s"),
        Figure("clone, against the fully packed repository", ratio(clones), "times", most=1.3),
        Figure("packs in database and object store", stored / 2**20, "MB"),
        Figure("packs, against the fully packed repository", stored / fully, "times", most=2),
        Figure("local copy with its indexes, against the same", local / full_copy, "times", most=2),
        Figure("first history of a directory", median(many for many, _ in asked), "ms"),
        Figure("history, against the fully packed repository", ratio(asked), "times", most=3),
    ]


def ratio(pairs: Sequence[tuple[float, ...]]) -> float:
    """Return the median of the ratios of what was measured side by side."""
    return median(one / other for one, other in pairs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.many_commits")
    parser.add_argument("count", type=int, help="how many commits the repository gets")
    for figure in figures(parser.parse_args().count):
        print(figure.line())
