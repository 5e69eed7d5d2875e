"""The endpoints of refs, trees and blobs; trees are compared with `git ls-tree`."""

import base64
from pathlib import Path

import pytest

from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address


@pytest.fixture
def work(clients: ServiceClients, tmp_path: Path) -> Git:
    """Push a tree with directories, a program, a link and names that need escaping."""
    clients.account("ada")
    clients.anonymous.post("/user/repos", json={"name": "notes"}, auth=("ada", PASSWORD))
    git = Git(tmp_path / "work")
    git("init", "-q", "-b", "main")
    git.commit("dir/sub/file.txt", "deep\n")
    git.commit("100% näme.txt", "odd\n")
    (git.folder / "run").write_text("#!/bin/sh\n")
    (git.folder / "run").chmod(0o755)
    (git.folder / "link").symlink_to("run")
    git("add", "-A")
    git("commit", "-qm", "more")
    git("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, "ada/notes"))
    git("push", "-q", "origin", "main", "main:feature/x")
    return git


def git_ls_tree(git: Git, *how: str) -> list[tuple[str, str, str, str]]:
    """Return the entries that `git ls-tree` lists."""
    lines = git("ls-tree", "-z", *how, "main").split("\0")
    return [(path, *entry.split()) for entry, _, path in (line.partition("\t") for line in lines if line)]  # type: ignore[misc]  # every line has that many words


@pytest.mark.parametrize("recursive", ["", "true"])
def test_a_tree_equals_that_of_git_ls_tree(clients: ServiceClients, work: Git, recursive: str) -> None:
    """The tree has the entries of one directory, or all entries below it with the directories."""
    for name in (work("rev-parse", "main^{tree}"), work("rev-parse", "main"), "main", "feature/x"):
        response = clients.anonymous.get(f"/repos/ada/notes/git/trees/{name}", params={"recursive": recursive})
        result = response.json()
        entries = [(entry["path"], entry["mode"], entry["type"], entry["sha"]) for entry in result["tree"]]
        assert entries == git_ls_tree(work, *(["-r", "-t"] if recursive else []))
        assert (result["truncated"], result["total_count"]) == (False, len(entries))
        assert response.headers["x-total-count"] == str(len(entries))


def test_a_tree_comes_in_pages(clients: ServiceClients, work: Git) -> None:
    """Each page of a tree says whether there are more entries."""
    path = "/repos/ada/notes/git/trees/main"
    pages = [
        clients.anonymous.get(path, params={"recursive": "1", "per_page": "3", "page": number}).json()
        for number in (1, 2, 3)
    ]
    assert [len(page["tree"]) for page in pages] == [3, 3, 0]
    paths = [entry["path"] for page in pages for entry in page["tree"]]
    assert paths == [path for path, *_ in git_ls_tree(work, "-r", "-t")]
    assert [page["truncated"] for page in pages] == [True, False, False]
    assert clients.anonymous.get("/repos/ada/notes/git/trees/nowhere").status_code == 400


def test_a_blob_is_its_bytes(clients: ServiceClients, work: Git) -> None:
    """A blob is returned in base64; an id of a tree or of nothing is not found, and other texts are refused."""
    sha = work("rev-parse", "main:dir/sub/file.txt")
    blob = clients.anonymous.get(f"/repos/ada/notes/git/blobs/{sha}").json()
    assert base64.b64decode(blob["content"]) == b"deep\n"
    assert (blob["encoding"], blob["size"], blob["sha"]) == ("base64", 5, sha)
    assert clients.anonymous.get(f"/repos/ada/notes/git/blobs/{'0' * 40}").status_code == 404
    assert clients.anonymous.get("/repos/ada/notes/git/blobs/nonsense").status_code == 400
    tree = work("rev-parse", "main^{tree}")
    assert clients.anonymous.get(f"/repos/ada/notes/git/blobs/{tree}").status_code == 404


def test_refs_are_listed_by_prefix(clients: ServiceClients, work: Git) -> None:
    """Refs have their full names, and a prefix without refs gives 404."""
    refs = clients.anonymous.get("/repos/ada/notes/git/refs").json()
    assert [ref["ref"] for ref in refs] == ["refs/heads/feature/x", "refs/heads/main"]
    assert {ref["object"]["sha"] for ref in refs} == {work("rev-parse", "main")}
    below = clients.anonymous.get("/repos/ada/notes/git/refs/heads/fea").json()
    assert [ref["ref"] for ref in below] == ["refs/heads/feature/x"]
    assert clients.anonymous.get("/repos/ada/notes/git/refs/heads/zzz").status_code == 404
