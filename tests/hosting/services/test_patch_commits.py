"""Commits of patches."""

from base64 import b64encode

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients

PATCH = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n one\n+two\n"
URL = "/repos/ada/ship/diffpatch"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with two files."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship"})
    for path, content in (("a", b"one\n"), ("b", b"bee\n")):
        response = ada.post(f"/repos/ada/ship/contents/{path}", json={"content": b64encode(content).decode()})
        assert response.status_code == 201
    return ada


def test_a_patch_is_committed_to_its_branch(ada: httpx.Client) -> None:
    """The commit has the message, author and new branch of the request."""
    removal = "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-bee\n"
    options = {
        "message": "Patch it",
        "new_branch": "patched",
        "author": {"name": "Bob", "email": "bob@example.org"},
    }
    response = ada.post(URL, json={"content": PATCH + removal, **options})
    assert response.status_code == 200, response.text
    shown = response.json()
    assert shown["content"] is None
    assert (shown["commit"]["message"], shown["commit"]["author"]["name"]) == ("Patch it\n", "Bob")
    raw = ada.get("/repos/ada/ship/raw/a", params={"ref": "patched"})
    assert raw.text == "one\ntwo\n"
    assert ada.get("/repos/ada/ship/raw/b", params={"ref": "patched"}).status_code == 404
    assert ada.get("/repos/ada/ship/raw/a").text == "one\n"
    assert ada.post(URL, json={"content": PATCH, "branch": "main"}).status_code == 200
    assert ada.get("/repos/ada/ship/raw/a").text == "one\ntwo\n"


def test_a_patch_that_cannot_be_committed_changes_nothing(ada: httpx.Client) -> None:
    """A patch that does not apply, is empty, names an unknown branch or changes a protected file is refused."""

    def commits() -> list[str]:
        return [item["sha"] for item in ada.get("/repos/ada/ship/commits").json()]

    before = commits()
    wrong = PATCH.replace("one", "eins")
    assert ada.post(URL, json={"content": wrong}).status_code == 422
    assert ada.post(URL, json={"content": ""}).status_code == 422
    assert ada.post(URL, json={"content": PATCH, "branch": "none"}).status_code == 404
    assert commits() == before
    assert ada.post(URL, json={"content": PATCH, "new_branch": "main", "branch": "main"}).status_code == 200
    applied = commits()
    assert applied[1:] == before
    assert ada.post(URL, json={"content": PATCH}).status_code == 422
    rule = {"rule_name": "main", "protected_file_patterns": "b"}
    assert ada.post("/repos/ada/ship/branch_protections", json=rule).status_code == 201
    refused = ada.post(
        URL, json={"content": PATCH.replace("a/a", "a/b").replace("b/a", "b/b").replace("one", "bee")}
    )
    assert refused.status_code == 403, refused.text
    assert commits() == applied
    assert [branch["name"] for branch in ada.get("/repos/ada/ship/branches").json()] == ["main"]


def test_a_patch_can_be_the_first_commit(clients: ServiceClients) -> None:
    """A patch is committed to an empty repository, and a dry run leaves the repository empty."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship"})
    patch = "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n"
    assert ada.post(URL, json={"content": patch, "dry_run": True}).status_code == 200
    assert ada.get("/repos/ada/ship").json()["empty"]
    assert ada.post(URL, json={"content": patch}).status_code == 200
    assert ada.get("/repos/ada/ship/raw/n").text == "new\n"
