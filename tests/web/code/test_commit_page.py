"""The page of a commit, and what it changed."""

import httpx

from tests.hosting.api.file_helpers import commit_all
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor

AT = "/ada/Notes"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def pushed(git: Git, message: str = "third") -> str:
    """Commit everything and push it."""
    commit = commit_all(git, message)
    git("push", "-q", "origin", "main")
    return commit


def test_a_commit_is_shown_with_its_lines(clients: ServiceClients, git: Git) -> None:
    """Who, why and what: each line with its numbers on both sides."""
    (git.folder / "dir/sub/file.txt").write_text("deepest\nmore\n")
    (git.folder / "run").rename(git.folder / "walk")
    (git.folder / "p.png").write_bytes(PNG)
    commit = pushed(git, "Say it\n\nand explain <it>")
    page = visitor(clients).get(f"{AT}/commit/{commit}").text
    for words in (
        "<bdi>Say it</bdi></h2>",
        "and explain &lt;it&gt;",
        commit,
        "4 files",
        'class="del"><td class="no">1</td><td class="no"></td><td class="t">- deeper</td>',
        'class="add"><td class="no"></td><td class="no">2</td><td class="t">+ more</td>',
        "<bdi>run</bdi> → <bdi>walk</bdi>",
        "Only the name changed",
        f'<img src="{AT}/raw/commit/{commit}/p.png"',
    ):
        assert words in page, words


def test_the_first_commit_shows_every_file(clients: ServiceClients, git: Git) -> None:
    """There is nothing before it."""
    first = git("rev-list", "--max-parents=0", "main")
    page = visitor(clients).get(f"{AT}/commit/{first[:8]}").text
    assert "+ # Notes" in page
    assert "Parent" not in page


def test_a_merge_shows_the_changes_to_its_first_parent(clients: ServiceClients, git: Git) -> None:
    """Against the first of its parents."""
    git("checkout", "-q", "feature/x")
    (git.folder / "side.txt").write_text("side\n")
    commit_all(git, "aside")
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-ff", "-m", "join", "feature/x")
    git("push", "-q", "origin", "main")
    page = visitor(clients).get(f"{AT}/commit/{git('rev-parse', 'HEAD')}").text
    assert "Merge commit" in page
    assert "Parents" in page
    assert "+ side" in page


def test_an_unknown_commit_is_not_found(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """Neither a tree, nor a name, nor an id nobody has."""
    for name in (git("rev-parse", "HEAD^{tree}"), "main", "e" * 40, "abc", "HEAD"):
        assert ada.get(f"{AT}/commit/{name}").status_code == 404


def test_a_commit_has_its_changes_as_text(clients: ServiceClients, git: Git) -> None:
    """`git apply` and `git am` read them; an unknown commit is not found."""
    (git.folder / "new.txt").write_text("new\n")
    commit = pushed(git, "Add a file")
    browser = visitor(clients)
    diff, patch = browser.get(f"{AT}/commit/{commit}.diff"), browser.get(f"{AT}/commit/{commit[:10]}.patch")
    assert diff.headers["content-type"].startswith("text/plain")
    assert diff.text.startswith("diff --git ")
    assert "diff --git a/new.txt b/new.txt" in diff.text
    assert patch.text.startswith(f"From {commit} ")
    assert "Subject: [PATCH] Add a file" in patch.text
    assert browser.get(f"{AT}/commit/{'0' * 40}.diff").status_code == 404
    assert browser.get(f"{AT}/commit/{commit}.zip").status_code == 404
