"""The pages in Firefox: the same guidelines, no complaints, nothing wider than the window; the editor works."""

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
from tests.browser.conftest import LEVELS
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
    f"{REPOSITORY}/settings",
]


@pytest.fixture
def firefox() -> str:
    """Find the distribution's Firefox."""
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if found is None:
        pytest.skip("no Firefox: install the distribution's package (Debian: apt-get install firefox-esr)")
    if not (SCRIPT.parent / "node_modules" / "puppeteer-core").is_dir():
        pytest.skip("puppeteer-core is missing: run `make clients`")
    return found


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
        yield client


def test_pages_are_the_same_in_firefox(
    site: Service, api: httpx.Client, firefox: str, axe: str, tmp_path: Path
) -> None:
    """At the width of a phone and of a desk; a formula and a diagram are drawn, and an edit is committed."""
    job: dict[str, Any] = {
        "firefox": firefox,
        "url": site.url,
        "user": "admin",
        "password": ADMIN_PASSWORD,
        "axe": axe,
        "levels": LEVELS,
        "widths": [390, 1280],
        "paths": PATHS,
        "editor": f"{REPOSITORY}/_edit/main/plain.py",
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
    assert len(result["visits"]) == 2 * len(PATHS) + 1
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
