"""What the pages of a repository cost: one of ten thousand commits, its files, its history and its differences."""

import http.client
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.files_read import fill
from bench.harness import Figure
from bench.history import wide
from bench.service import served_apart
from holdfast.hosting.git.refs import branch, rev_parse
from holdfast.hosting.git.repository import open_repository
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["figures"]

ROUNDS = 15
AT = "/admin/large"
LARGEST = 200


def fetched(port: int, path: str, *, packed: bool) -> bytes:
    """Read a page as a browser gets it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    headers = {"Accept": "text/html", **({"Accept-Encoding": "gzip"} if packed else {})}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    assert answer.status == 200, (path, answer.status)
    return content


def timed(port: int, path: str) -> float:
    """Return the milliseconds one page takes."""
    began = time.perf_counter()
    fetched(port, path, packed=True)
    return (time.perf_counter() - began) * 1000


def figures() -> list[Figure]:
    """Serve on one processor and ask from another."""
    with tempfile.TemporaryDirectory() as name:
        settings = Settings(data=Path(name) / "data", admin_password=Secret("a-password-for-a-benchmark"))
        repo = open_repository(fill(settings))
        head = branch(repo, "main")
        older = rev_parse(repo, "main~500")
        assert head is not None
        assert older is not None
        with served_apart(settings, name) as (port, _):
            return measured(port, head.id, older)


def measured(port: int, head: str, older: str) -> list[Figure]:
    """Open each page for the first time, then again and again."""
    pages = {
        "first page of the repository": (AT, 60.0),
        "a directory of 100 files": (f"{AT}/src/branch/main/src/07", None),
        "a file": (f"{AT}/src/branch/main/{wide(7)}", None),
        "blame of a file": (f"{AT}/blame/branch/main/{wide(7)}", None),
        "the history": (f"{AT}/commits/branch/main", None),
        "the history of a file": (f"{AT}/commits/branch/main/{wide(7)}", None),
        "a commit": (f"{AT}/commit/{head}", None),
        "a comparison over 500 commits": (f"{AT}/compare/{older}...main", None),
        "a search in 5,000 names": ("/-/search?q=lantern&tab=files", None),
        "the first page for strangers": ("/", None),
    }
    found: list[Figure] = []
    largest = 0.0
    for what, (path, most) in pages.items():
        cold = timed(port, path)
        warm = median(timed(port, path) for _ in range(ROUNDS))
        largest = max(largest, len(fetched(port, path, packed=False)) / 1024)
        found += [
            Figure(f"{what}, first time", cold, "ms"),
            Figure(f"{what}, then", warm, "ms", most=most),
        ]
    found.append(Figure("the largest of these pages", largest, "KB", most=LARGEST))
    return found
