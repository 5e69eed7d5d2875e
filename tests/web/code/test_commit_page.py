"""The page of a commit and its diff."""

from html import escape

import httpx

from tests.hosting.api.file_helpers import commit_all
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor
from tests.web.code.page_helpers import NOTES_URL, commit_and_push

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def test_a_commit_is_shown_with_its_lines(clients: ServiceClients, git: Git) -> None:
    """The page has the message, the id, and each changed line with its numbers on both sides."""
    (git.folder / "dir/sub/file.txt").write_text("deepest\nmore\n")
    (git.folder / "run").rename(git.folder / "walk")
    (git.folder / "p.png").write_bytes(PNG)
    commit = commit_and_push(git, "Say it\n\nand explain <it>")
    page = visitor(clients).get(f"{NOTES_URL}/commit/{commit}").text
    for words in (
        "<bdi>Say it</bdi></h2>",
        "and explain &lt;it&gt;",
        commit,
        "4 files",
        'class="del"><td class="no">1</td><td class="no"></td><td class="t">- deeper</td>',
        'class="add"><td class="no"></td><td class="no">2</td><td class="t">+ more</td>',
        "<bdi>run</bdi> → <bdi>walk</bdi>",
        "Only the name changed",
        'data-copy="walk" aria-label="Copy path walk"',
        f'<img src="{NOTES_URL}/raw/commit/{commit}/p.png"',
    ):
        assert words in page, words


def test_the_first_commit_shows_every_file(clients: ServiceClients, git: Git) -> None:
    """The first commit has no parent, so all its lines are additions."""
    first = git("rev-list", "--max-parents=0", "main")
    page = visitor(clients).get(f"{NOTES_URL}/commit/{first[:8]}").text
    assert '+ <span class="h"># Notes</span>' in page
    assert "Parent" not in page
    names = git("ls-tree", "-rz", "--name-only", first).strip("\0").split("\0")
    assert len(names) == 3
    assert [name for name in names if f"<bdi>{escape(name)}</bdi>" not in page] == []
    assert 'class="del"' not in page


def test_a_merge_shows_the_changes_to_its_first_parent(clients: ServiceClients, git: Git) -> None:
    """The page of a merge commit lists both parents, and compares it with the first."""
    git("checkout", "-q", "feature/x")
    (git.folder / "side.txt").write_text("side\n")
    commit_all(git, "aside")
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-ff", "-m", "join", "feature/x")
    git("push", "-q", "origin", "main")
    page = visitor(clients).get(f"{NOTES_URL}/commit/{git('rev-parse', 'HEAD')}").text
    assert "Merge commit" in page
    assert "Parents" in page
    assert "+ side" in page
    assert "1 file" in page
    assert "deeper" not in page


def test_an_unknown_commit_is_not_found(clients: ServiceClients, git: Git, ada: httpx.Client) -> None:
    """The id of a tree, a name, too few digits and an id that no object has are not found."""
    for name in (git("rev-parse", "HEAD^{tree}"), "main", "e" * 40, "abc", "HEAD"):
        assert ada.get(f"{NOTES_URL}/commit/{name}").status_code == 404


def test_a_commit_has_its_changes_as_text(clients: ServiceClients, git: Git) -> None:
    """The `.diff` and `.patch` URLs have the formats of Git; an unknown commit or format is not found."""
    (git.folder / "new.txt").write_text("new\n")
    commit = commit_and_push(git, "Add a file")
    browser = visitor(clients)
    diff = browser.get(f"{NOTES_URL}/commit/{commit}.diff")
    patch = browser.get(f"{NOTES_URL}/commit/{commit[:10]}.patch")
    assert diff.headers["content-type"].startswith("text/plain")
    assert diff.text.startswith("diff --git ")
    assert "diff --git a/new.txt b/new.txt" in diff.text
    assert patch.text.startswith(f"From {commit} ")
    assert "Subject: [PATCH] Add a file" in patch.text
    assert browser.get(f"{NOTES_URL}/commit/{'0' * 40}.diff").status_code == 404
    assert browser.get(f"{NOTES_URL}/commit/{commit}.zip").status_code == 404
