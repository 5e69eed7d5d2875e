"""How answers about a repository slow down as it grows: from 100 commits and 10 branches to 100,000 and 10,000.

Both repositories are in one host, which runs in this process, and take turns. What counts is the ratio of times.
Responses are not kept: each request comes from another client.
"""

import asyncio
import itertools
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median

import httpx

from bench.harness import Figure
from bench.imported import import_repository
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.store import accounts, tokens
from holdfast.secret import Secret
from holdfast.server.app import build
from holdfast.settings import Settings

__all__ = ["figures"]

COMMITS = {"few": 100, "many": 100_000}
# So many commits for each branch and tag.
SHARE = 10
FILES = 200
ROUNDS = 7
MOST = 3.0
# Names, paths, and the length of the list as a share of the commits; 0 for one page.
CASES = (
    ("repository", "", 0),
    ("branches", "/branches?limit=30", SHARE),
    ("tags", "/tags?limit=30", SHARE),
    ("refs", "/git/refs?limit=30", SHARE),
    ("refs that begin alike", "/git/refs/heads/topic-0001?limit=30", 0),
    ("one branch", "/branches/main", 0),
    ("commits", "/commits?limit=30&stat=false&files=false&verification=false", 1),
    ("commits of one file", "/commits?limit=30&path=d7/f7.txt", FILES),
    ("one file", "/contents/d7/f7.txt", 0),
    ("one directory", "/contents/d7", 0),
    ("raw file", "/raw/d7/f7.txt", 0),
    ("tree", "/git/trees/main?recursive=true", 0),
    ("comparison", "/compare/main~20...main", 0),
)
# Names and bodies of writes, and where they are posted; `{}` is a number.
WRITES = (
    ("new branch", "/branches", {"new_branch_name": "new-{}", "old_ref_name": "main~{}"}),
    ("new tag", "/tags", {"tag_name": "new-{}", "target": "main~{}"}),
    ("new file", "/contents/new-{}.txt", {"content": "bmV3Cg==", "branch": "main"}),
)


def stream(commits: int) -> Iterator[bytes]:
    """Write a history for `git fast-import`, each commit with another content of one of the files."""
    for number in range(1, commits + 1):
        content = b"content %d\n" % number
        file = number % FILES
        yield b"commit refs/heads/main\nmark :%d\n" % number
        yield b"committer Ada <ada@example.org> %d +0000\n" % (1_600_000_000 + number)
        yield b"data 9\nA change\n\n"
        yield b"M 100644 inline d%d/f%d.txt\ndata %d\n%s\n" % (file % 20, file, len(content), content)
        if number % SHARE == 0:
            yield b"reset refs/heads/topic-%06d\nfrom :%d\n\n" % (number, number)
            yield b"reset refs/tags/v%06d\nfrom :%d\n\n" % (number, number)


def write_history(folder: Path, commits: int) -> None:
    """Fill a repository."""
    command = ["git", "-C", str(folder), "fast-import", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=1 << 20) as process:
        assert process.stdin is not None
        for piece in stream(commits):
            process.stdin.write(piece)
        process.stdin.close()
    assert process.returncode == 0, "git fast-import failed"


def fill(settings: Settings) -> str:
    """Create both repositories; return a token."""
    with open_database(settings) as database:
        prepare(database, settings)
        admin = accounts.find_user(database, "admin")
        token = tokens.create_token(database, admin, "bench", ("all",))[1].reveal()
    with closing(App.open(settings)) as app:
        for name, commits in COMMITS.items():
            import_repository(app, name, partial(write_history, commits=commits))
    return token


def pages_of(path: str, commits: int, share: int) -> dict[str, str]:
    """Return the first, the middle and the last page of a list."""
    if not share:
        return {"": path}
    last = max(commits // share // 30, 1)
    return {
        name: f"{path}&page={max(page, 1)}" for name, page in (("first", 1), ("middle", last // 2), ("last", last))
    }


async def measure(settings: Settings, token: str) -> list[Figure]:
    """Ask for both repositories in turn."""
    measured = []
    clients = itertools.count()
    transport = httpx.ASGITransport(build(Settings(data=settings.data)))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as client:
        for name, path, share in CASES:
            pages = {repository: pages_of(path, commits, share) for repository, commits in COMMITS.items()}
            for page in pages["few"]:
                taken: dict[str, list[float]] = {repository: [] for repository in COMMITS}
                for _ in range(ROUNDS):
                    for repository, seconds in taken.items():
                        headers = {"Authorization": f"token {token}", "User-Agent": f"bench {next(clients)}"}
                        began = time.perf_counter()
                        answer = await client.get(
                            f"/api/v1/repos/admin/{repository}{pages[repository][page]}", headers=headers
                        )
                        seconds.append(time.perf_counter() - began)
                        assert answer.status_code == 200, answer.text
                ratio = median(taken["many"]) / median(taken["few"])
                label = f"{name}, {page} page" if page else name
                measured.append(Figure(label, ratio, "times", most=MOST))
        for name, path, body in WRITES:
            taken = {repository: [] for repository in COMMITS}
            for number, (repository, seconds) in itertools.product(range(1, ROUNDS + 1), taken.items()):
                numbered = {field: text.format(number) for field, text in body.items()}
                at = f"/api/v1/repos/admin/{repository}{path.format(number)}"
                headers = {"Authorization": f"token {token}"}
                began = time.perf_counter()
                answer = await client.post(at, json=numbered, headers=headers)
                seconds.append(time.perf_counter() - began)
                assert answer.status_code == 201, answer.text
            measured.append(Figure(name, median(taken["many"]) / median(taken["few"]), "times", most=MOST))
    return measured


def figures() -> list[Figure]:
    """Fill a host and ask it."""
    with tempfile.TemporaryDirectory() as name:
        settings = Settings(data=Path(name), admin_password=Secret("a-password-for-a-benchmark"))
        return asyncio.run(measure(settings, fill(settings)))
