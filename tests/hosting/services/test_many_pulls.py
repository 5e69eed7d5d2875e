"""Push performance with a thousand open pull requests on the base branch."""

import statistics
import time
from pathlib import Path

import httpx
import pytest

from tests.conftest import wait_for
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address

OPEN = 1000
# Every so many changes the file that a push to the base changes too.
CONFLICTING = 10
PUSHES = 5
SECONDS = 60
PAGE = 50


def history(count: int) -> str:
    """Return a base of some files, and so many branches of one commit each, for `git fast-import`."""
    who = "committer Ada <ada@example.org> 1700000000 +0000"
    files = "".join(f"M 100644 inline d{number % 10}/f{number}\ndata 4\nold\n\n" for number in range(200))
    parts = [f"commit refs/heads/main\nmark :1\n{who}\ndata 4\nBase\n{files}\n"]
    for number in range(count):
        path = "d0/f0" if number % CONFLICTING == 0 else f"d{number % 10}/new-{number}"
        name = f"commit refs/heads/fix-{number}\n{who}\ndata 3\nFix\nfrom :1\n"
        parts.append(f"{name}M 100644 inline {path}\ndata 4\nnew\n\n")
    return "".join(parts)


def pushed(git: Git, path: str, content: str) -> float:
    """Push a change of a file to the base, and return the seconds until git had its answer."""
    git.commit(path, content)
    started = time.perf_counter()
    git("push", "-q", "origin", "main")
    return time.perf_counter() - started


def conflicting(api: httpx.Client, repository: str) -> set[int]:
    """Return the numbers of the open pull requests that do not merge."""
    results: set[int] = set()
    for page in range(1, OPEN // PAGE + 1):
        response = api.get(f"/repos/{repository}/pulls", params={"state": "open", "limit": PAGE, "page": page})
        assert len(response.json()) == PAGE
        results.update(item["number"] for item in response.json() if not item["mergeable"])
    return results


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_push_to_the_base_of_a_thousand_is_as_fast_as_without_them(
    clients: ServiceClients, tmp_path: Path
) -> None:
    """Pushes stay fast while the pull requests are compared, and then each of them shows whether it conflicts."""
    ada = clients.user("ada")
    copies = {}
    for name in ("alone", "crowded"):
        assert ada.post("/user/repos", json={"name": name}).status_code == 201
        git = copies[name] = Git(tmp_path / name)
        git("init", "-q", "-b", "main")
        git.fed("fast-import", "--quiet", text=history(OPEN))
        git("reset", "-q", "--hard")
        git("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, f"ada/{name}"))
        git("push", "-q", "--all", "origin")
    # Each pull request is one more ref, which git lists at every push.
    copies["alone"]("push", "-q", "origin", "refs/heads/fix-*:refs/heads/same-*")
    for number in range(OPEN):
        body = {"title": f"Fix {number}", "head": f"fix-{number}", "base": "main"}
        assert ada.post("/repos/ada/crowded/pulls", json=body).status_code == 201
    assert not conflicting(ada, "ada/crowded")
    alone = [pushed(copies["alone"], "other", f"{number}\n") for number in range(PUSHES)]
    # The first one starts the comparison of all, the others are answered meanwhile.
    crowded = [pushed(copies["crowded"], "other", f"{number}\n") for number in range(PUSHES)]
    pushed(copies["crowded"], "d0/f0", "pushed\n")
    expected = set(range(1, OPEN + 1, CONFLICTING))
    wait_for(lambda: conflicting(ada, "ada/crowded") == expected, SECONDS)
    assert statistics.median(crowded) < 3 * statistics.median(alone) + 0.5
