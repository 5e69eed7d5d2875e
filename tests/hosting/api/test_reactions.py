"""Reactions to issues and comments."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients

HOME = "/repos/ada/ship"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with two issues, and return her client."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship"})
    for title in ("Leak", "Sail"):
        client.post(f"{HOME}/issues", json={"title": title})
    return client


@pytest.fixture(params=["issue", "comment"])
def place(request: pytest.FixtureRequest, ada: httpx.Client) -> str:
    """Return the path of an issue or of a comment on it."""
    if request.param == "issue":
        return f"{HOME}/issues/1"
    comment = ada.post(f"{HOME}/issues/1/comments", json={"body": "Look"}).json()
    return f"{HOME}/issues/comments/{comment['id']}"


def contents(client: httpx.Client, path: str) -> list[tuple[str, str]]:
    """List the users and the contents of the reactions."""
    return [
        (reaction["user"]["login"], reaction["content"]) for reaction in client.get(f"{path}/reactions").json()
    ]


def test_a_reaction_is_added_once_and_removed(ada: httpx.Client, place: str, clients: ServiceClients) -> None:
    """A repeated reaction gives 200; those of other users and other contents are kept."""
    eve = clients.user("eve")
    first = eve.post(f"{place}/reactions", json={"content": "heart"})
    assert (first.status_code, first.json()["user"]["login"], first.json()["content"]) == (201, "eve", "heart")
    again = eve.post(f"{place}/reactions", json={"content": "heart"})
    assert (again.status_code, again.json()) == (200, first.json())
    for content in ("heart", "+1"):
        assert ada.post(f"{place}/reactions", json={"content": content}).status_code == 201
    assert contents(clients.anonymous, place) == [("eve", "heart"), ("ada", "heart"), ("ada", "+1")]
    assert contents(ada, f"{HOME}/issues/2") == []
    for _ in range(2):
        assert ada.request("DELETE", f"{place}/reactions", json={"content": "heart"}).status_code == 204
    assert contents(ada, place) == [("eve", "heart"), ("ada", "+1")]


def test_reactions_are_paged(ada: httpx.Client, place: str) -> None:
    """A page of reactions has the total in its header."""
    for content in ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"):
        assert ada.post(f"{place}/reactions", json={"content": content}).status_code == 201
    page = ada.get(f"{place}/reactions", params={"page": 2, "limit": 5})
    assert [item["content"] for item in page.json()] == ["heart", "rocket", "eyes"]
    assert page.headers["x-total-count"] == "8"


def test_invalid_reactions_are_refused(ada: httpx.Client, place: str, clients: ServiceClients) -> None:
    """Unknown contents, locked issues for readers, archived repositories and unknown issues are refused."""
    eve = clients.user("eve")
    for content in ("", "thumbsup", "❤️"):
        assert ada.post(f"{place}/reactions", json={"content": content}).status_code == 403
    assert clients.anonymous.post(f"{place}/reactions", json={"content": "heart"}).status_code == 401
    assert ada.post(f"{HOME}/issues/99/reactions", json={"content": "heart"}).status_code == 404
    ada.put(f"{HOME}/issues/1/lock", json={})
    assert eve.post(f"{place}/reactions", json={"content": "heart"}).status_code == 403
    assert ada.post(f"{place}/reactions", json={"content": "heart"}).status_code == 201
    ada.patch(HOME, json={"archived": True})
    assert ada.post(f"{place}/reactions", json={"content": "eyes"}).status_code == 423
    assert contents(eve, place) == [("ada", "heart")]


def test_allowed_reactions_are_announced(clients: ServiceClients) -> None:
    """The settings endpoint lists the reactions that clients may offer."""
    reactions = clients.anonymous.get("/settings/ui").json()["allowed_reactions"]
    assert reactions == ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"]
