"""The pages on which forks are created, listed and updated."""

import re
from html import unescape

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients
from tests.web.browser import visitor


@pytest.fixture
def parent(clients: ServiceClients) -> httpx.Client:
    """Return a client of the API for ada, who owns a public repository that eve can fork."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"}).raise_for_status()
    clients.user("eve")
    return ada


def add_file(client: httpx.Client, repository: str, content: str) -> None:
    """Commit a file through the API."""
    body = {"content": content, "message": "Add a file"}
    client.post(f"/repos/{repository}/contents/gauge.txt", json=body).raise_for_status()


def test_a_user_forks_a_repository(clients: ServiceClients, parent: httpx.Client) -> None:
    """The button opens a form, which creates the fork; the fork leads to its parent, and the parent lists it."""
    eve = visitor(clients, "eve")
    assert 'href="/ada/ship/fork">Fork <span class="badge">0</span>' in eve.get("/ada/ship").text
    form = eve.get("/ada/ship/fork").text
    assert "<option selected>eve</option>" in form
    assert "<option>ada</option>" not in form
    response = eve.post("/ada/ship/fork", data={"owner": "eve", "name": "boat"})
    assert (response.status_code, response.headers["location"]) == (303, "/eve/boat")
    page = eve.get("/eve/boat").text
    assert "Fork eve/boat created." in page
    assert 'Forked from <a href="/ada/ship">ada/ship</a>' in page
    assert 'href="/eve/boat"' in eve.get("/ada/ship/forks").text
    assert parent.get("/repos/ada/ship").json()["forks_count"] == 1


def test_a_second_fork_is_refused_with_the_name_of_the_first(
    clients: ServiceClients, parent: httpx.Client
) -> None:
    """The form keeps what was typed; a name that is taken or invalid is refused too."""
    eve = visitor(clients, "eve")
    clients.open("/api/v1", "eve").post("/user/repos", json={"name": "taken"})
    for name, status, message in (
        ("taken", 409, "The owner already has a repository with this name."),
        ("a b", 422, "name"),
    ):
        response = eve.post("/ada/ship/fork", data={"owner": "eve", "name": name})
        assert response.status_code == status
        assert message in response.text.partition('role="alert">')[2].partition("</p>")[0].replace("Name", "name")
        assert f'value="{name}"' in response.text
    eve.post("/ada/ship/fork", data={"owner": "eve", "name": "ship"})
    response = eve.post("/ada/ship/fork", data={"owner": "eve", "name": "other"})
    assert response.status_code == 409
    assert "There is already a fork of ada/ship: eve/ship." in response.text
    assert parent.get("/repos/ada/ship").json()["forks_count"] == 1


def test_only_users_who_may_read_the_code_fork(clients: ServiceClients, parent: httpx.Client) -> None:
    """A visitor is sent to the log-in page, and a private repository is not found. The owner has no form."""
    assert visitor(clients).get("/ada/ship/fork").headers["location"] == "/login?next=%2Fada%2Fship%2Ffork"
    assert '/ada/ship/fork"' not in visitor(clients).get("/ada/ship").text
    assert '<form method="post" action="/ada/ship/fork"' not in visitor(clients, "ada").get("/ada/ship/fork").text
    parent.patch("/repos/ada/ship", json={"private": True})
    eve = visitor(clients, "eve")
    assert eve.get("/ada/ship/fork").status_code == 404
    assert eve.post("/ada/ship/fork", data={"owner": "eve", "name": "ship"}).status_code == 404
    assert eve.get("/ada/ship/forks").status_code == 404


def test_a_fork_does_not_name_a_parent_that_became_private(clients: ServiceClients, parent: httpx.Client) -> None:
    """A viewer who may not read the parent sees neither its name nor the button that updates the fork."""
    eve = visitor(clients, "eve")
    eve.post("/ada/ship/fork", data={"owner": "eve", "name": "boat"})
    assert 'action="/eve/boat/sync-fork"' in eve.get("/eve/boat").text
    parent.patch("/repos/ada/ship", json={"private": True})
    page = eve.get("/eve/boat").text
    assert "ada/ship" not in page
    assert "sync-fork" not in page


def test_a_fork_is_updated_from_its_parent(clients: ServiceClients, parent: httpx.Client) -> None:
    """The button is for users with write access; a conflict is explained and changes nothing."""
    eve = visitor(clients, "eve")
    eve.post("/ada/ship/fork", data={"owner": "eve", "name": "ship"})
    assert "sync-fork" not in visitor(clients, "ada").get("/eve/ship").text
    assert visitor(clients, "ada").post("/eve/ship/sync-fork").status_code == 403
    assert eve.post("/eve/ship/sync-fork").headers["location"] == "/eve/ship"
    assert "Branch main is up to date." in eve.get("/eve/ship").text
    add_file(parent, "ada/ship", "MQ==")
    eve.post("/eve/ship/sync-fork")
    page = eve.get("/eve/ship").text
    assert "Branch main updated." in page
    assert "gauge.txt" in page
    edit = {"path": "gauge.txt", "message": "Edit", "branch": "main"}
    for client, name, content in ((parent, "ada", "Mg=="), (clients.open("/api/v1", "eve"), "eve", "Mw==")):
        sha = client.get(f"/repos/{name}/ship/contents/gauge.txt").json()["sha"]
        body = {**edit, "content": content, "sha": sha}
        client.put(f"/repos/{name}/ship/contents/gauge.txt", json=body).raise_for_status()
    response = eve.post("/eve/ship/sync-fork")
    assert response.status_code == 409
    assert "Branch main conflicts with the base branch in: gauge.txt" in unescape(response.text)


def test_a_user_without_write_access_edits_a_file_in_a_fork(clients: ServiceClients, parent: httpx.Client) -> None:
    """The page of the form offers a fork, which opens the form there; later it leads to the fork."""
    parent.post("/repos/ada/ship/branches", json={"new_branch_name": "a/b"}).raise_for_status()
    eve, address = visitor(clients, "eve"), "/ada/ship/_edit/a/b/README.md"
    offer = eve.get(address)
    assert offer.status_code == 200
    assert "You do not have write access to ada/ship." in offer.text
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', offer.text))
    del fields["next"]
    assert fields == {"owner": "eve", "name": "ship", "edit": "a/b/README.md"}
    forked = eve.post("/ada/ship/fork", data=fields)
    assert (forked.status_code, forked.headers["location"]) == (303, "/eve/ship/_edit/a/b/README.md")
    form = eve.get("/eve/ship/_edit/a/b/README.md").text
    assert "Fork eve/ship created." in form
    assert "<textarea" in form
    assert 'href="/eve/ship/_edit/a/b/README.md">Edit in your fork</a>' in eve.get(address).text
    clients.open("/api/v1", "eve").delete("/repos/eve/ship/branches/a%2Fb").raise_for_status()
    assert "Your fork does not have the branch a/b." in eve.get(address).text
    assert eve.post(address, data={"path": "README.md", "content": "x"}).status_code == 403


def test_the_file_to_edit_is_kept_when_a_fork_is_refused(clients: ServiceClients, parent: httpx.Client) -> None:
    """A name that is taken is changed in the form of forks."""
    eve = visitor(clients, "eve")
    clients.open("/api/v1", "eve").post("/user/repos", json={"name": "ship"}).raise_for_status()
    refused = eve.post("/ada/ship/fork", data={"owner": "eve", "name": "ship", "edit": "main/README.md"})
    assert refused.status_code == 409
    assert '<input type="hidden" name="edit" value="main/README.md">' in refused.text


@pytest.mark.parametrize("change", ["archived", "anonymous", "missing", "owner"])
def test_the_fork_for_a_file_is_offered_only_where_it_helps(
    clients: ServiceClients, parent: httpx.Client, change: str
) -> None:
    """Not of an archived repository, to visitors, for a missing file, or to those who may write."""
    if change == "archived":
        parent.patch("/repos/ada/ship", json={"archived": True}).raise_for_status()
    with clients.service.client() as anonymous:
        client = anonymous if change == "anonymous" else visitor(clients, "ada" if change == "owner" else "eve")
        response = client.get(f"/ada/ship/_edit/main/{'none' if change == 'missing' else 'README.md'}")
    assert response.status_code == {"archived": 423, "anonymous": 401, "missing": 404, "owner": 200}[change]
    assert "Fork this repository" not in response.text
