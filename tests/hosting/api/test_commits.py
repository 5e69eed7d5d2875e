"""The commit endpoints: the history, compared with `git log`, single commits and comparisons."""

from pathlib import Path

import pytest

from holdfast.hosting.api import commits
from holdfast.hosting.store import accounts
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address


@pytest.fixture
def work(clients: ServiceClients, tmp_path: Path) -> Git:
    """Push a small history: three commits, a branch, a tag."""
    clients.account("ada")
    clients.anonymous.post("/user/repos", json={"name": "notes"}, auth=("ada", PASSWORD))
    git = Git(tmp_path / "work")
    git("init", "-q", "-b", "main")
    git.commit("a.txt", "one\n", "first")
    git.commit("dir/b.txt", "two\nlines\n", "second\n\nwith a body")
    git("tag", "-a", "v1", "-m", "a version")
    git("branch", "feature/x")
    git.commit("a.txt", "three\n", "third")
    git("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, "ada/notes"))
    git("push", "-q", "origin", "main", "feature/x", "v1")
    return git


def test_the_history_equals_that_of_git_log(clients: ServiceClients, work: Git) -> None:
    """Commits are listed newest first with author, message, files and statistics."""
    response = clients.anonymous.get("/repos/ada/notes/commits")
    assert [commit["sha"] for commit in response.json()] == work("rev-list", "main").split()
    newest = response.json()[0]
    assert newest["author"]["login"] == "ada"
    assert newest["commit"]["message"] == "third\n"
    assert newest["files"] == [{"filename": "a.txt", "status": "modified"}]
    assert newest["stats"] == {"total": 2, "additions": 1, "deletions": 1}
    assert newest["commit"]["tree"]["sha"] == work("rev-parse", "main^{tree}")
    assert {name: response.headers[name] for name in ("x-total-count", "x-page", "x-hasmore")} == {
        "x-total-count": "3",
        "x-page": "1",
        "x-hasmore": "false",
    }


# Parameters of the list of commits, and the arguments of `git rev-list` for the same commits.
FILTERED = [
    ({"sha": "feature/x"}, ["feature/x"]),
    ({"sha": "v1"}, ["v1"]),
    ({"path": "a.txt"}, ["main", "--", "a.txt"]),
    ({"path": "dir"}, ["main", "--", "dir"]),
    ({"not": "v1"}, ["main", "^v1"]),
    ({"limit": "1", "page": "3"}, ["--skip=2", "main"]),
    ({"limit": "1", "page": "4"}, ["--skip=3", "main"]),
    ({"since": "2100-01-01T00:00:00Z"}, ["--max-count=0", "main"]),
    ({"stat": "false", "files": "false"}, ["main"]),
]
# Parameters that name nothing, and the status.
UNKNOWN = [
    ({"sha": "nowhere"}, 404),
    ({"path": "no/such"}, 404),
    ({"since": "yesterday"}, 422),
    ({"sha": "-x"}, 404),
]


def test_the_history_can_be_filtered(clients: ServiceClients, work: Git) -> None:
    """The list of commits can be filtered by ref, path, time and page; `stat` and `files` are optional."""
    for query, arguments in FILTERED:
        found_commits = clients.anonymous.get("/repos/ada/notes/commits", params=query).json()
        assert [commit["sha"] for commit in found_commits] == work("rev-list", *arguments).split(), query
        assert all(("stats" in commit) is ("stat" not in query) for commit in found_commits), query


def test_unknown_commits_are_not_found(clients: ServiceClients, work: Git) -> None:
    """Unknown refs and paths give 404, and an invalid time gives 422."""
    for query, status in UNKNOWN:
        assert clients.anonymous.get("/repos/ada/notes/commits", params=query).status_code == status, query


def test_an_empty_repository_has_no_commits_to_list(clients: ServiceClients) -> None:
    """The commits of an empty repository give 409, as clients expect."""
    clients.user("bob").post("/user/repos", json={"name": "empty"})
    response = clients.anonymous.get("/repos/bob/empty/commits")
    assert (response.status_code, response.json()["message"]) == (409, "Git Repository is empty.")


def test_one_commit_is_found_by_any_of_its_names(clients: ServiceClients, work: Git) -> None:
    """A commit is found by its id, a shortened id or a tag, and served as a diff or a patch."""
    sha = work("rev-parse", "feature/x")
    for name in (sha, sha[:10], "v1"):
        assert clients.anonymous.get(f"/repos/ada/notes/git/commits/{name}").json()["sha"] == sha
    diff = clients.anonymous.get(f"/repos/ada/notes/git/commits/{sha}.diff").text
    assert diff == work("diff-tree", "-p", "--no-commit-id", sha) + "\n"
    patch = clients.anonymous.get(f"/repos/ada/notes/git/commits/{sha}.patch").text
    assert "Subject: [PATCH] second" in patch
    assert clients.anonymous.get(f"/repos/ada/notes/git/commits/{'0' * 40}").status_code == 404


def test_two_commits_are_compared(clients: ServiceClients, work: Git) -> None:
    """A comparison with three or two dots has the commits and files that differ; branch names may have slashes."""
    for between in ("feature/x...main", "feature/x..main", "v1...main"):
        result = clients.anonymous.get(f"/repos/ada/notes/compare/{between}").json()
        assert (result["total_commits"], [file["filename"] for file in result["files"]]) == (1, ["a.txt"])
    assert clients.anonymous.get("/repos/ada/notes/compare/main...nowhere").status_code == 404


def test_the_commits_of_a_comparison_list_their_files(clients: ServiceClients, work: Git) -> None:
    """The commits of a comparison equal those of the commit endpoint, with their files and statistics."""
    result = clients.anonymous.get("/repos/ada/notes/compare/main~2...main").json()
    assert len(result["commits"]) == 2
    for commit in result["commits"]:
        assert commit == clients.anonymous.get(f"/repos/ada/notes/git/commits/{commit['sha']}").json()
    assert [commit["stats"]["total"] for commit in result["commits"]] == [2, 2]
    assert result["commits"][1]["files"] == [{"filename": "dir/b.txt", "status": "added"}]


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_commit_of_very_many_files_lists_the_first(
    clients: ServiceClients, work: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statistics count all files; files beyond the limit of a list are omitted, not shown as an empty list."""
    blob = work.fed("hash-object", "-w", "--stdin", text="content\n")
    listing = "".join(f"100644 blob {blob}\t{number:04}\n" for number in range(3100))
    tree = work.fed("mktree", text=f"040000 tree {work.fed('mktree', text=listing)}\tall\n")
    git = work("commit-tree", tree, "-p", "main", "-m", "all")
    work("push", "-q", "origin", f"{git}:refs/heads/large")
    result = clients.anonymous.get(f"/repos/ada/notes/git/commits/{git}").json()
    assert (len(result["files"]), result["stats"]["additions"]) == (3000, 3100)
    assert [file["filename"] for file in result["files"]][:3] == ["a.txt", "all/0000", "all/0001"]
    compared = clients.anonymous.get("/repos/ada/notes/compare/main...large").json()
    assert (len(compared["files"]), len(compared["commits"][0]["files"])) == (3000, 300)
    query = {"sha": "large"}
    assert len(clients.anonymous.get("/repos/ada/notes/commits", params=query).json()[0]["files"]) == 300
    monkeypatch.setattr(commits, "MOST_FILES_LISTED", 300)
    newest, *others = clients.anonymous.get("/repos/ada/notes/commits", params=query | {"limit": "20"}).json()
    assert len(newest["files"]) == 300
    assert not any("files" in commit for commit in others)
    assert all("stats" in commit for commit in others)


def test_a_listed_commit_shows_its_author_as_they_are_now(clients: ServiceClients, work: Git) -> None:
    """A commit shows its author's current name, and the address only to permitted users, although it is cached."""
    ada = clients.with_token(accounts.find_user(clients.database, "ada"))
    address = "/repos/ada/notes/commits"
    for client in (clients.anonymous, ada, clients.admin, clients.anonymous):
        for _ in range(2):
            author = client.get(address).json()[0]["author"]
            assert author["full_name"] == ""
            assert author["email"].endswith("noreply.localhost" if client is clients.anonymous else "@example.org")
    ada.patch("/user/settings", json={"full_name": "Ada L.", "hide_email": True})
    for client in (clients.anonymous, ada):
        assert client.get(address).json()[0]["author"]["full_name"] == "Ada L."
    plain = clients.anonymous.get(address, params={"stat": "false", "files": "false"}).json()[0]
    assert not {"stats", "files"} & plain.keys()
