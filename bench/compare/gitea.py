"""The same content on Gitea and on Holdfast, and the same requests."""

import base64
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

import httpx

from bench.compare.hosts import NAME, Host, run_gitea, run_holdfast
from bench.compare.requests import send_requests
from bench.compare.tables import Comparison
from bench.history import make_history

__all__ = ["compare_hosts"]

REPOSITORY = f"{NAME}/ship"
HERE = f"/repos/{REPOSITORY}"
FILES, COMMITS, ISSUES, HOOKS, DEPENDENCIES = 200, 1000, 60, 20, 40
READS = (
    ("raw file, small", f"{HERE}/raw/README.md"),
    ("contents of a file", f"{HERE}/contents/README.md"),
    ("contents of a directory of 200", f"{HERE}/contents/directory"),
    (f"webhooks of an organization, {HOOKS}", "/orgs/guild/hooks?limit=50"),
    (f"issue dependencies, {DEPENDENCIES}", f"{HERE}/issues/1/dependencies?limit=50"),
    ("issue list, 30", f"{HERE}/issues?limit=30"),
    ("commits, 30 with statistics", f"{HERE}/commits?limit=30&stat=true"),
    ("archive, tar.gz, asked for again", f"{HERE}/archive/main.tar.gz"),
    ("archive, zip, asked for again", f"{HERE}/archive/main.zip"),
)
# The list that most programs ask for, by one, some and many of them.
CLIENTS = (1, 8, 64)


def created(answer: httpx.Response) -> httpx.Response:
    """Insist that a request succeeded."""
    answer.raise_for_status()
    return answer


def fill(host: Host, clone: Path) -> None:
    """Create the repository, its issues and their dependencies, and an organization with webhooks."""
    with host.client() as client:
        created(client.post("/user/repos", json={"name": "ship", "default_branch": "main"}))
        subprocess.run(["git", "push", "-q", host.remote(REPOSITORY), "HEAD:main"], cwd=clone, check=True)
        label = created(client.post(f"{HERE}/labels", json={"name": "bug", "color": "#ee0701"})).json()["id"]
        for number in range(ISSUES):
            body = {"title": f"Issue {number}", "body": "The boats leave at noon. " * 8, "labels": [label]}
            created(client.post(f"{HERE}/issues", json=body))
        for number in range(2, DEPENDENCIES + 2):
            blocker = {"owner": NAME, "repo": "ship", "index": number}
            created(client.post(f"{HERE}/issues/1/dependencies", json=blocker))
        created(client.post("/orgs", json={"username": "guild"}))
        for number in range(HOOKS):
            config = {"url": f"http://127.0.0.1:9/{number}", "content_type": "json"}
            created(client.post("/orgs/guild/hooks", json={"type": "gitea", "config": config, "active": False}))


def make_clone(folder: Path) -> Path:
    """Make a history with a directory of many files."""
    bare, clone = folder / "history.git", folder / "clone"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(bare)], check=True)
    make_history(bare, files=FILES, commits=COMMITS)
    subprocess.run(["git", "clone", "-q", str(bare), str(clone)], check=True)
    (clone / "README.md").write_text("# Ship\n\nIt sails.\n", encoding="utf-8")
    (clone / "directory").mkdir()
    for number in range(FILES):
        (clone / "directory" / f"{number}.txt").write_text(f"{number}\n", encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=clone, check=True)
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *author, "commit", "-qm", "Add a directory"], cwd=clone, check=True)
    return clone


def in_turns(name: str, peer: Host, ours: Host, rounds: int, measure: Callable[[Host], float]) -> Comparison:
    """Measure both hosts in turn."""
    figures: dict[Host, list[float]] = {peer: [], ours: []}
    for _ in range(rounds):
        for host in (peer, ours):
            figures[host].append(measure(host))
    return Comparison(name, figures[peer], figures[ours])


def rate_of(host: Host, path: str, seconds: float) -> float:
    """Return how many requests a second are answered, four at a time."""
    return send_requests(host, f"/api/v1{path}", seconds=seconds, connections=4).rate


def pace_of(host: Host, connections: int, seconds: float) -> float:
    """Return one divided by the 99th percentile of the seconds that the issue list takes."""
    path = f"/api/v1{HERE}/issues?limit=30"
    return 1000 / send_requests(host, path, seconds=seconds, connections=connections).slowest


def commit_files(host: Host, seconds: float, numbers: Iterator[int]) -> float:
    """Return how many commits of one file a second one writer makes."""
    made, began = 0, time.perf_counter()
    with host.client() as client:
        while time.perf_counter() - began < seconds:
            body = {"content": base64.b64encode(b"content").decode(), "branch": "main", "message": "Add a file"}
            created(client.post(f"{HERE}/contents/made/{next(numbers)}.txt", json=body))
            made += 1
    return made / (time.perf_counter() - began)


def clones(host: Host, folder: Path, at_once: int) -> float:
    """Return how many clones a second are made, some at a time."""

    def clone(number: int) -> None:
        target = folder / f"clone-{host.port}-{number}"
        subprocess.run(["git", "clone", "-q", host.remote(REPOSITORY), str(target)], check=True)

    began = time.perf_counter()
    with ThreadPoolExecutor(at_once) as threads:
        list(threads.map(clone, range(at_once)))
    taken = time.perf_counter() - began
    for target in folder.glob(f"clone-{host.port}-*"):
        shutil.rmtree(target)
    return at_once / taken


def compare_hosts(binary: Path, rounds: int, seconds: float) -> Iterator[Comparison]:
    """Fill both hosts and measure every piece of work."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "holdfast").mkdir()
        with run_gitea(binary, folder / "gitea") as peer, run_holdfast(folder / "holdfast") as ours:
            clone = make_clone(folder)
            for host in (peer, ours):
                fill(host, clone)
            for title, path in READS:
                read = partial(rate_of, path=path, seconds=seconds)
                yield in_turns(title, peer, ours, rounds, read)
            for connections in CLIENTS:
                title = f"issue list, {connections} clients: 1 divided by the 99th percentile"
                slowest = partial(pace_of, connections=connections, seconds=seconds)
                yield in_turns(title, peer, ours, rounds, slowest)
            for at_once in (1, 8):
                title = "clone" if at_once == 1 else f"clones, {at_once} at a time"
                yield in_turns(title, peer, ours, rounds, partial(clones, folder=folder, at_once=at_once))
            # The last, because it makes more commits in the faster host: until then both have the same content.
            commit = partial(commit_files, seconds=seconds, numbers=count())
            yield in_turns("commit of one file, one writer", peer, ours, rounds, commit)
