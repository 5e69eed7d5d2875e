"""The blame page."""

import re

import pytest

from holdfast.web.code import blame_page
from tests.hosting.api.file_helpers import commit_all
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor

AT = "/ada/Notes"


def test_each_line_is_shown_beside_its_commit(clients: ServiceClients, git: Git) -> None:
    """Adjacent lines of one commit show the commit once."""
    (git.folder / "README.md").write_text("# Notes\nnew\nlines\n")
    commit = commit_all(git, "third", "2026-01-02T00:00:00Z")
    git("push", "-q", "origin", "main")
    page = visitor(clients).get(f"{AT}/blame/branch/main/README.md").text
    assert page.count(f'href="{AT}/commit/{commit}"') == 1
    assert f"<code>{commit[:8]}</code>" in page
    assert ">third</a>" in page
    assert page.count('class="first"') == 2
    assert page.count('<tr id="L') == 3
    assert "2 Jan 2026" in page


def test_a_file_without_lines_has_an_explanation(
    clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Binary, empty, large and slow files have a message; directories, links and submodules are not found."""
    (git.folder / "b.bin").write_bytes(b"\0\1")
    commit_all(git, "third")
    git("push", "-q", "origin", "main")
    site = visitor(clients)
    assert "not text" in site.get(f"{AT}/blame/branch/main/b.bin").text
    assert "is empty" in site.get(f"{AT}/blame/branch/main/empty").text
    for path in ("dir", "nothing", "link", "lib"):
        assert site.get(f"{AT}/blame/branch/main/{path}").status_code == 404
    monkeypatch.setattr(blame_page, "blame", lambda *_: None)
    assert "takes too long" in site.get(f"{AT}/blame/branch/main/README.md").text
    monkeypatch.setattr(blame_page, "LARGEST_TEXT", 3)
    assert "too large" in site.get(f"{AT}/blame/branch/main/README.md").text


def test_a_file_of_any_length_has_pages(clients: ServiceClients, git: Git) -> None:
    """The next page begins with the line after the last line of the page before."""
    (git.folder / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 20_001)))
    commit_all(git, "third")
    git("push", "-q", "origin", "main")
    site = visitor(clients)
    first = site.get(f"{AT}/blame/branch/main/long.txt").text
    after = re.search(r'href="\?line=(\d+)">Next lines', first)
    assert after is not None
    assert f'<tr id="L{int(after[1]) - 1}"' in first
    assert f'<tr id="L{after[1]}"' not in first
    second = site.get(f"{AT}/blame/branch/main/long.txt?line={after[1]}").text
    assert f'<tr id="L{after[1]}" class="first">' in second
    last = site.get(f"{AT}/blame/branch/main/long.txt?line=20000").text
    assert "line 20000" in last
    assert "Next lines" not in last
