"""The pages in Firefox: accessibility, console messages, overflow and the editor."""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from holdfast.web.bundles import BUNDLES
from holdfast_demo.conversation import add_conversation
from tests.browser.conftest import LEVELS
from tests.browser.demo_site import ARCHIVE, find_messages
from tests.conftest import ADMIN_PASSWORD, Service

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

SCRIPT = Path(__file__).parent / "js" / "firefox.mjs"
NOTES = """# Tides

Level $h_0 + 1$ at noon.

```mermaid
graph LR
  A[Harbour] --> B[Sea]
```
"""
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "source": ["1 + 1"], "outputs": []}],
}
REPOSITORY = "/admin/tides"
PATHS = [
    "/",
    "/-/explore",
    "/-/search?q=tides",
    "/notifications",
    "/-/conversations",
    "/-/account",
    REPOSITORY,
    f"{REPOSITORY}/src/branch/main/notes.md",
    f"{REPOSITORY}/src/branch/main/table.ipynb",
    f"{REPOSITORY}/_edit/main/plain.py",
    f"{REPOSITORY}/commits/branch/main",
    f"{REPOSITORY}/branches",
    f"{REPOSITORY}/issues",
    f"{REPOSITORY}/issues/1",
    f"{REPOSITORY}/issues/board",
    f"{REPOSITORY}/issues/new",
    f"{REPOSITORY}/compare/main...topic",
    f"{REPOSITORY}/pulls",
    f"{REPOSITORY}/pulls/2",
    f"{REPOSITORY}/pulls/2/commits",
    f"{REPOSITORY}/pulls/2/files",
    f"{REPOSITORY}/settings",
    f"{ARCHIVE}/",
    f"{ARCHIVE}/to/{{message}}",
    f"{ARCHIVE}/chat/{{chat}}/dates",
    f"{ARCHIVE}/media",
    f"{ARCHIVE}/search?q=bread",
    f"{ARCHIVE}/people",
]


@pytest.fixture
def firefox() -> str:
    """Find the distribution's Firefox."""
    result = shutil.which("firefox-esr") or shutil.which("firefox")
    if result is None:
        pytest.skip("no Firefox: install the distribution's package (Debian: apt-get install firefox-esr)")
    if not (SCRIPT.parent / "node_modules" / "puppeteer-core").is_dir():
        pytest.skip("puppeteer-core is missing: run `make clients`")
    return result


@pytest.fixture
def programs(firefox: str, axe: str) -> tuple[str, str]:
    """Return the path of Firefox and the source of axe, which checks accessibility."""
    return firefox, axe


@pytest.fixture
def api(site: Service) -> Iterator[httpx.Client]:
    """Fill a repository, and open a client of the API."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as client:
        client.post("/user/repos", json={"name": "tides", "auto_init": True, "default_branch": "main"})
        files = {"notes.md": NOTES, "table.ipynb": json.dumps(NOTEBOOK), "plain.py": "level = 1\n"}
        for name, text in files.items():
            content = base64.b64encode(text.encode()).decode()
            assert client.post(f"/repos{REPOSITORY}/contents/{name}", json={"content": content}).status_code == 201
        change = {"content": base64.b64encode(b"x").decode(), "new_branch": "topic"}
        assert client.post(f"/repos{REPOSITORY}/contents/topic.txt", json=change).status_code == 201
        issue = {"title": "The tide is late", "body": "See $x^2$ and `code`."}
        assert client.post(f"/repos{REPOSITORY}/issues", json=issue).status_code == 201
        pull = {"head": "topic", "base": "main", "title": "Add a topic", "body": "For the **board**."}
        assert client.post(f"/repos{REPOSITORY}/pulls", json=pull).status_code == 201
        yield client


@pytest.fixture
def paths(site: Service) -> list[str]:
    """Put an archive of conversations into the data folder; return the addresses of all pages to visit."""
    add_conversation(site.settings)
    with site.logged_in() as client:
        ids = find_messages(client)
    return [path.format_map(ids) for path in PATHS]


def test_pages_are_the_same_in_firefox(
    site: Service, api: httpx.Client, paths: list[str], programs: tuple[str, str], tmp_path: Path
) -> None:
    """Pages work in Firefox at two widths: they fit, diagrams are drawn, and editing and reviewing succeed."""
    firefox, axe = programs
    job: dict[str, Any] = {
        "firefox": firefox,
        "url": site.url,
        "user": "admin",
        "password": ADMIN_PASSWORD,
        "axe": axe,
        "levels": LEVELS,
        "widths": [390, 1280],
        "paths": paths,
        "editor": f"{REPOSITORY}/_edit/main/plain.py",
        "pull": f"{REPOSITORY}/pulls/2",
    }
    if not BUNDLES.address("editor"):
        pytest.skip("the editor is not built: run `make assets`")
    description = tmp_path / "job.json"
    description.write_text(json.dumps(job))
    done = subprocess.run(
        ["node", str(SCRIPT), str(description)], capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    # Once before logging in, and the pull request again with a comment.
    assert len(result["visits"]) == 2 * len(PATHS) + 3
    complaints = [
        (visit["path"], visit["width"], visit["status"], visit["problems"], visit["violations"], visit["fits"])
        for visit in result["visits"]
        if visit["status"] != 200 or visit["problems"] or visit["violations"] or not visit["fits"]
    ]
    assert complaints == []
    drawn = [visit for visit in result["visits"] if visit["path"].endswith("notes.md")]
    assert [(visit["formulas"], len(visit["diagrams"]), visit["diagrams"][0] > 20) for visit in drawn] == [
        (1, 1, True),
        (1, 1, True),
    ]
    assert result["edited"].endswith("/src/branch/main/plain.py")
    raw = api.get(f"/repos{REPOSITORY}/raw/plain.py").text
    assert raw.strip() == "written with Firefox"
    check_conversations(result["visits"])
    check_review(api, result["reviewed"])


def check_conversations(visits: list[dict[str, Any]]) -> None:
    """Look for pictures in the chat and on the media page, days in the calendar and marked words in a search."""
    for ending, what in (("/media", "pictures"), ("/dates", "days"), ("?q=bread", "hits")):
        assert [visit[what] > 0 for visit in visits if visit["path"].endswith(ending)] == [True, True], what
    in_chat = [visit for visit in visits if "/to/" in visit["path"]]
    assert [(visit["messages"] > 0, visit["pictures"] > 0) for visit in in_chat] == [(True, True), (True, True)]


def check_review(api: httpx.Client, reviewed: dict[str, Any]) -> None:
    """Check that the review has its comment on a line and that the pull request was merged."""
    assert any("Why not two?" in comment for comment in reviewed["comments"])
    assert "merged" in reviewed["notice"]
    assert api.get(f"/repos{REPOSITORY}/pulls/2").json()["merged"] is True
