"""The ref log endpoints."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients

AT = "/repos/ada/notes/ref-log"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Make a user with a repository, in which a branch was created and deleted."""
    ada = clients.user("ada")
    assert ada.post("/user/repos", json={"name": "notes", "auto_init": True}).status_code == 201
    response = ada.post("/repos/ada/notes/branches", json={"new_branch_name": "topic"})
    assert response.status_code == 201
    assert ada.delete("/repos/ada/notes/branches/topic").status_code == 204
    return ada


def test_the_ref_log_lists_updates_in_pages(ada: httpx.Client) -> None:
    """Updates are listed newest first with the total, and can be filtered by ref."""
    response = ada.get(AT)
    assert response.status_code == 200
    assert response.headers["X-Total-Count"] == "3"
    deleted, created, first = response.json()
    assert (deleted["kind"], deleted["ref"], deleted["restorable"]) == ("delete", "refs/heads/topic", True)
    assert deleted["actor"]["login"] == "ada"
    assert deleted["old"] == created["new"] == first["new"]
    assert set(deleted["new"]) == {"0"}
    page = ada.get(AT, params={"page": 2, "limit": 2})
    assert page.json() == [first]
    assert 'rel="prev"' in page.headers["Link"] or 'rel="first"' in page.headers["Link"]
    assert [entry["ref"] for entry in ada.get(AT, params={"ref": "refs/heads/main"}).json()] == ["refs/heads/main"]
    assert ada.get(AT, params={"ref": "refs/heads/none"}).json() == []


def test_a_deleted_branch_is_restored(ada: httpx.Client) -> None:
    """The version of the log entry of a deletion restores the branch at its former commit."""
    deleted = ada.get(AT).json()[0]
    response = ada.post(f"{AT}/{deleted['version']}/restore")
    assert response.status_code == 200
    assert response.json() == {"ref": "refs/heads/topic", "sha": deleted["old"]}
    assert ada.get("/repos/ada/notes/branches/topic").json()["commit"]["id"] == deleted["old"]


@pytest.mark.parametrize("version", ["1", "99999", "0", "x", "-1", "9" * 30])
def test_an_unknown_branch_cannot_be_restored(ada: httpx.Client, version: str) -> None:
    """An entry that created its ref, an unknown version and an invalid number are refused."""
    assert ada.post(f"{AT}/{version}/restore").status_code in {404, 422}


def test_readers_may_list_and_not_restore(clients: ServiceClients, ada: httpx.Client) -> None:
    """Readers may list the log but not restore; strangers get 404 for a private repository."""
    version = ada.get(AT).json()[0]["version"]
    assert clients.anonymous.get(AT).status_code == 200
    assert clients.anonymous.post(f"{AT}/{version}/restore").status_code == 401
    assert clients.user("reader").post(f"{AT}/{version}/restore").status_code == 403
    assert ada.get("/repos/ada/notes/branches/topic").status_code == 404
    assert ada.patch("/repos/ada/notes", json={"private": True}).status_code == 200
    assert clients.anonymous.get(AT).status_code == 404
    assert clients.user("stranger").get(AT).status_code == 404
