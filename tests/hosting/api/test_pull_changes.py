"""Files, commits and patches of pull requests."""

import subprocess
from base64 import b64encode
from pathlib import Path

import httpx
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.services import pull_comparisons
from tests.hosting.api_clients import ServiceClients

SHIP = "/repos/ada/ship"


def change(client: httpx.Client, branch: str, *files: dict[str, str], new_branch: str = "") -> str:
    """Commit changes to files, and return the commit."""
    body = {
        "branch": branch,
        "new_branch": new_branch,
        "files": [
            {**file, "content": b64encode(file["content"].encode()).decode()} if "content" in file else file
            for file in files
        ],
    }
    response = client.post(f"{SHIP}/contents", json=body)
    assert response.status_code == 201, response.text
    return str(response.json()["commit"]["sha"])


@pytest.fixture
def pull(clients: ServiceClients) -> httpx.Client:
    """Open pull request 1 with two commits that add, change, rename and delete files."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})
    text = "".join(f"line {number}\n" for number in range(20))
    change(
        ada,
        "main",
        {"operation": "create", "path": "hull.txt", "content": "one\ntwo\n"},
        {"operation": "create", "path": "mast.txt", "content": text},
        {"operation": "create", "path": "old.txt", "content": "gone\n"},
    )
    shas = {item["path"]: item["sha"] for item in ada.get(f"{SHIP}/contents").json()}
    change(
        ada,
        "main",
        {"operation": "update", "path": "hull.txt", "content": "one\ntwo  \nthree\n", "sha": shas["hull.txt"]},
        {
            "operation": "update",
            "path": "pole.txt",
            "from_path": "mast.txt",
            "sha": shas["mast.txt"],
            "content": text,
        },
        new_branch="fix",
    )
    change(
        ada,
        "fix",
        {"operation": "create", "path": "sail.txt", "content": "new\n"},
        {"operation": "delete", "path": "old.txt", "sha": shas["old.txt"]},
    )
    response = ada.post(f"{SHIP}/pulls", json={"title": "Plug it", "head": "fix", "base": "main"})
    assert response.status_code == 201, response.text
    return ada


def test_the_files_are_listed(pull: httpx.Client) -> None:
    """Changed files have their status and numbers of lines; pages, `skip-to` and `whitespace` are supported."""
    response = pull.get(f"{SHIP}/pulls/1/files")
    files = response.json()
    assert [(file["filename"], file["status"], file["additions"], file["deletions"]) for file in files] == [
        ("hull.txt", "changed", 2, 1),
        ("old.txt", "deleted", 0, 1),
        ("pole.txt", "renamed", 0, 0),
        ("sail.txt", "added", 1, 0),
    ]
    assert (files[2]["previous_filename"], files[0]["changes"]) == ("mast.txt", 3)
    assert pull.get(files[3]["contents_url"]).json()["name"] == "sail.txt"
    assert pull.get(files[1]["contents_url"]).json()["name"] == "old.txt"
    assert response.headers["X-Total-Count"] == "4"
    paged = pull.get(f"{SHIP}/pulls/1/files", params={"limit": 1, "page": 2})
    assert [file["filename"] for file in paged.json()] == ["old.txt"]
    later = pull.get(f"{SHIP}/pulls/1/files", params={"skip-to": "pole.txt"}).json()
    assert [file["filename"] for file in later] == ["pole.txt", "sail.txt"]
    for whitespace, added in (("show-all", 2), ("ignore-all", 1), ("ignore-change", 1), ("ignore-eol", 1)):
        shown = pull.get(f"{SHIP}/pulls/1/files", params={"whitespace": whitespace}).json()
        assert shown[0]["additions"] == added, whitespace
    assert pull.get(f"{SHIP}/pulls/1/files", params={"whitespace": "some"}).status_code == 422
    assert pull.get(f"{SHIP}/pulls/2/files").status_code == 404


def test_the_commits_are_listed(pull: httpx.Client) -> None:
    """The commits that the base does not have are listed newest first, also when the pull request is closed."""
    response = pull.get(f"{SHIP}/pulls/1/commits")
    head = pull.get(f"{SHIP}/pulls/1").json()["head"]["sha"]
    assert (response.headers["X-Total-Count"], response.json()[0]["sha"]) == ("2", head)
    paged = pull.get(f"{SHIP}/pulls/1/commits", params={"limit": 1, "page": 2, "files": False}).json()
    assert [item["sha"] for item in paged] == [response.json()[1]["sha"]]
    pull.patch(f"{SHIP}/pulls/1", json={"state": "closed"})
    assert len(pull.get(f"{SHIP}/pulls/1/commits").json()) == 2


def test_the_patch_can_be_applied(pull: httpx.Client, clients: ServiceClients, tmp_path: Path) -> None:
    """The API and the website serve the same diff and patches, and git applies the diff."""
    diff = pull.get(f"{SHIP}/pulls/1.diff")
    assert diff.headers["content-type"].startswith("text/plain")
    assert "rename from mast.txt" in diff.text
    patch = pull.get(f"{SHIP}/pulls/1.patch").text
    assert patch.count("\nSubject: ") == 2
    page = f"{clients.service.url}/ada/ship/pulls/1"
    assert (httpx.get(f"{page}.diff").text, httpx.get(f"{page}.patch").text) == (diff.text, patch)
    assert httpx.get(page).status_code == 200
    for path, code in ((f"{SHIP}/pulls/1.txt", 404), (f"{SHIP}/pulls/x.diff", 404), (f"{SHIP}/pulls/9.diff", 404)):
        assert pull.get(path).status_code == code
    assert httpx.get(f"{page}.txt").status_code == httpx.get(f"{page}x").status_code == 404
    folder = tmp_path / "copy"
    subprocess.run(["git", "clone", "-q", f"{clients.service.url}/ada/ship.git", folder], check=True)
    subprocess.run(["git", "apply", "--index"], input=diff.content, cwd=folder, check=True)
    subprocess.run(["git", "fetch", "-q", "origin", "refs/pull/1/head"], cwd=folder, check=True)
    tree = subprocess.run(["git", "write-tree"], cwd=folder, check=True, capture_output=True).stdout
    fetched = ["git", "rev-parse", "FETCH_HEAD^{tree}"]
    assert subprocess.run(fetched, cwd=folder, check=True, capture_output=True).stdout == tree


def test_a_pull_request_is_found_by_its_branches(pull: httpx.Client, clients: ServiceClients) -> None:
    """A pull request is found by base and head, with or without the owner of the head."""
    assert pull.get(f"{SHIP}/pulls/main/fix").json()["number"] == 1
    assert pull.get(f"{SHIP}/pulls/main/ada:fix").json()["number"] == 1
    for names in ("fix/main", "main/eve:fix", "main/none"):
        assert pull.get(f"{SHIP}/pulls/{names}").status_code == 404
    listed = clients.anonymous.get(f"{SHIP}/pulls", params={"base_branch": "main"}).json()
    assert [item["number"] for item in listed] == [1]
    assert clients.anonymous.get(f"{SHIP}/pulls", params={"base_branch": "other"}).json() == []


def test_a_commit_that_no_merge_made_has_no_pull_request(pull: httpx.Client) -> None:
    """The head of an open pull request and the name of a branch belong to no merged pull request."""
    head = pull.get(f"{SHIP}/pulls/1").json()["head"]["sha"]
    for name in (head, "main"):
        assert pull.get(f"{SHIP}/commits/{name}/pull").status_code == 404


def test_reviews_can_be_requested_when_opening(pull: httpx.Client, clients: ServiceClients) -> None:
    """An unknown reviewer is refused, and then no pull request is created."""
    clients.user("bob")
    pull.patch(f"{SHIP}/pulls/1", json={"state": "closed"})
    new = {"title": "Again", "head": "fix", "base": "main"}
    assert pull.post(f"{SHIP}/pulls", json={**new, "reviewers": ["nobody"]}).status_code in {404, 422}
    assert pull.get(f"{SHIP}/pulls").json() == []
    created_pull = pull.post(f"{SHIP}/pulls", json={**new, "reviewers": ["bob"]}).json()
    assert [reviewer["login"] for reviewer in created_pull["requested_reviewers"]] == ["bob"]


def test_a_conflict_is_reported(pull: httpx.Client, app: App) -> None:
    """A pull request is not mergeable once the comparison task has found a conflict with its base."""
    sha = pull.get(f"{SHIP}/contents/hull.txt").json()["sha"]
    change(pull, "main", {"operation": "update", "path": "hull.txt", "content": "other\n", "sha": sha})
    pull_comparisons.compare_missed(app)
    assert pull.get(f"{SHIP}/pulls/1").json()["mergeable"] is False
