"""Attachments of issues, pull requests and comments."""

from http.client import HTTPConnection
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from holdfast.hosting.store.tables import comments, issues
from tests.hosting.api_clients import ServiceClients

HOME = "/repos/ada/ship"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with an issue, and return her client."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship", "auto_init": True, "private": True})
    client.post(f"{HOME}/issues", json={"title": "Leak"})
    return client


@pytest.fixture
def comment(ada: httpx.Client) -> str:
    """Comment on the issue, and return the path of the comment."""
    created_comment = ada.post(f"{HOME}/issues/1/comments", json={"body": "See the picture"}).json()
    return f"{HOME}/issues/comments/{created_comment['id']}"


def upload(client: httpx.Client, path: str, name: str = "leak.png", content: bytes = b"picture") -> dict[str, Any]:
    """Upload a file as a form."""
    response = client.post(f"{path}/assets", files={"attachment": (name, content)})
    assert response.status_code == 201, response.text
    body: dict[str, Any] = response.json()
    return body


@pytest.mark.parametrize("on_comment", [False, True])
def test_a_file_that_is_added_renamed_or_deleted_updates_its_issue(
    clients: ServiceClients, ada: httpx.Client, comment: str, *, on_comment: bool
) -> None:
    """A change of a file sets `updated_at` of its issue and its comment, so that clients find the change."""
    issue = f"{HOME}/issues/1"
    target_path = comment if on_comment else issue

    def updated() -> tuple[bool, bool]:
        shown = [ada.get(path).json()["updated_at"] for path in (issue, comment)]
        with clients.database.write() as connection:
            connection.execute(update(issues).values(updated_at=1))
            connection.execute(update(comments).values(updated_at=1))
        return shown[0] > "2020", shown[1] > "2020"

    updated()
    assert updated() == (False, False)
    asset = upload(ada, target_path)
    assert updated() == (True, on_comment)
    assert ada.patch(f"{target_path}/assets/{asset['id']}", json={"name": "other.png"}).status_code == 201
    assert updated() == (True, on_comment)
    assert ada.delete(f"{target_path}/assets/{asset['id']}").status_code == 204
    assert updated() == (True, on_comment)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(ada: httpx.Client, comment: str) -> None:
    """An upload that is too large gets 413 before its body is sent, for issues, comments and releases."""
    release = ada.post(f"{HOME}/releases", json={"tag_name": "v1"}).json()["id"]
    for path in (f"{HOME}/issues/1", comment, f"{HOME}/releases/{release}"):
        sender = HTTPConnection(ada.base_url.host, ada.base_url.port, timeout=60)
        sender.putrequest("POST", f"{ada.base_url.path}{path.removeprefix('/')}/assets?name=large.bin")
        sender.putheader("Authorization", ada.headers["authorization"])
        sender.putheader("Content-Type", "application/octet-stream")
        sender.putheader("Content-Length", str(10**15))
        sender.endheaders()
        assert sender.getresponse().status == 413
        sender.close()
        assert ada.get(f"{path}/assets").json() == []


def test_files_of_issues_and_comments_are_shown_with_them(ada: httpx.Client, comment: str) -> None:
    """An issue and a comment have only their own files, alone and in lists."""
    issue = f"{HOME}/issues/1"
    ada.post(f"{HOME}/issues", json={"title": "No files"})
    of_issue = [upload(ada, issue), upload(ada, issue)]
    raw = ada.post(f"{comment}/assets", params={"name": "log.txt"}, content=b"raw")
    assert raw.status_code == 201
    of_comment = [raw.json()]
    assert ada.get(f"{issue}/assets").json() == of_issue == ada.get(issue).json()["assets"]
    listed = {issue["number"]: issue["assets"] for issue in ada.get(f"{HOME}/issues").json()}
    assert listed == {1: of_issue, 2: []}
    assert ada.get(f"{comment}/assets").json() == of_comment == ada.get(comment).json()["assets"]
    assert [comment["assets"] for comment in ada.get(f"{issue}/comments").json()] == [of_comment]
    assert ada.get(f"{issue}/assets/{of_issue[0]['id']}").json() == of_issue[0]
    assert ada.get(f"{comment}/assets/{of_comment[0]['id']}").json() == of_comment[0]
    assert ada.get(f"{issue}/assets/{of_comment[0]['id']}").status_code == 404
    assert ada.get(f"{comment}/assets/{of_issue[0]['id']}").status_code == 404
    for one, content in ((of_issue[0], b"picture"), (of_comment[0], b"raw")):
        url = one["browser_download_url"]
        assert url.endswith(f"/attachments/{one['uuid']}")
        assert ada.get(url).content == content


@pytest.mark.parametrize("kind", ["issue", "comment"])
def test_files_are_renamed_and_deleted(ada: httpx.Client, comment: str, kind: str) -> None:
    """A file may get the name of another file, and a deleted file cannot be downloaded."""
    target_path = comment if kind == "comment" else f"{HOME}/issues/1"
    first, second = upload(ada, target_path, "a.txt"), upload(ada, target_path, "b.txt")
    path = f"{target_path}/assets/{first['id']}"
    renamed = ada.patch(path, json={"name": "b.txt"})
    assert (renamed.status_code, renamed.json()) == (201, {**first, "name": "b.txt"})
    assert ada.patch(path, json={}).json()["name"] == "b.txt"
    assert ada.patch(path, json={"name": "a/b"}).status_code == 422
    assert ada.delete(path).status_code == 204
    assert ada.delete(path).status_code == 404
    assert ada.get(f"{target_path}/assets").json() == [second]
    assert ada.get(first["browser_download_url"]).status_code == 404
    assert ada.post(f"{target_path}/assets", content=b"x").status_code == 400


def test_files_are_deleted_with_the_comment_and_the_issue(ada: httpx.Client, comment: str) -> None:
    """A file of a deleted comment or issue cannot be downloaded."""
    of_comment, of_issue = upload(ada, comment), upload(ada, f"{HOME}/issues/1")
    assert ada.delete(comment).status_code == 204
    assert ada.get(of_comment["browser_download_url"]).status_code == 404
    assert ada.get(of_issue["browser_download_url"]).status_code == 200
    assert ada.delete(f"{HOME}/issues/1").status_code == 204
    assert ada.get(of_issue["browser_download_url"]).status_code == 404


def test_the_author_and_writers_may_attach(ada: httpx.Client, comment: str, clients: ServiceClients) -> None:
    """Other readers get 403, archived repositories 423, and strangers 404 for a private repository."""
    eve, max_ = clients.user("eve"), clients.user("max")
    mine = upload(ada, comment)
    path = f"{HOME}/issues/1/assets"
    for client in (eve, clients.anonymous):
        assert client.get(path).status_code == 404
        assert client.get(mine["browser_download_url"]).status_code == 404
    ada.patch(HOME, json={"private": False})
    ada.put(f"{HOME}/collaborators/max", json={"permission": "write"})
    assert clients.anonymous.get(mine["browser_download_url"]).content == b"picture"
    assert eve.post(path, params={"name": "x"}, content=b"x").status_code == 403
    assert eve.delete(f"{comment}/assets/{mine['id']}").status_code == 403
    assert eve.patch(f"{comment}/assets/{mine['id']}", json={"name": "x"}).status_code == 403
    assert (ada.get(path).json(), ada.get(f"{comment}/assets").json()) == ([], [mine])
    upload(max_, f"{HOME}/issues/1")
    upload(max_, comment)
    own = eve.post(f"{HOME}/issues", json={"title": "Mine"}).json()["number"]
    upload(eve, f"{HOME}/issues/{own}")
    own_comment = eve.post(f"{HOME}/issues/1/comments", json={"body": "Me too"}).json()["id"]
    upload(eve, f"{HOME}/issues/comments/{own_comment}")
    ada.patch(HOME, json={"archived": True})
    assert ada.post(path, params={"name": "x"}, content=b"x").status_code == 423


def test_files_of_a_disabled_unit_are_not_served(ada: httpx.Client, clients: ServiceClients) -> None:
    """If issues are disabled, their files give 404, and files of pull requests are still served."""
    ada.patch(HOME, json={"private": False})
    content = {"content": "", "branch": "main", "new_branch": "side"}
    ada.post(f"{HOME}/contents/new.txt", json=content)
    pull = ada.post(f"{HOME}/pulls", json={"title": "New", "head": "side", "base": "main"}).json()["number"]
    of_issue, of_pull = upload(ada, f"{HOME}/issues/1"), upload(ada, f"{HOME}/issues/{pull}")
    ada.patch(HOME, json={"has_issues": False})
    assert clients.anonymous.get(of_issue["browser_download_url"]).status_code == 404
    assert clients.anonymous.get(of_pull["browser_download_url"]).status_code == 200


def test_the_limits_are_announced(clients: ServiceClients) -> None:
    """The settings endpoint shows the limits of uploads to clients."""
    payload = clients.anonymous.get("/settings/attachment").json()
    assert (payload["enabled"], payload["allowed_types"]) == (True, "*/*")
    assert payload["max_files"] > 0
    assert payload["max_size"] > 0
