"""The tag endpoints: lightweight and annotated tags."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with one commit, and return her client."""
    ada = clients.user("ada")
    assert ada.post("/user/repos", json={"name": "notes", "auto_init": True}).status_code == 201
    return ada


def test_an_annotated_tag_names_its_tagger(ada: httpx.Client) -> None:
    """A tag with a message is an object with a tagger; one without is only a ref to the commit."""
    light = ada.post("/repos/ada/notes/tags", json={"tag_name": "v1"}).json()
    response = ada.post("/repos/ada/notes/tags", json={"tag_name": "v2", "message": "out", "target": "main"})
    assert response.status_code == 201
    heavy = response.json()
    assert light["id"] == light["commit"]["sha"] == heavy["commit"]["sha"]
    assert (heavy["message"], heavy["id"] != heavy["commit"]["sha"]) == ("out\n", True)
    shown = ada.get(f"/repos/ada/notes/git/tags/{heavy['id']}").json()
    assert (shown["tag"], shown["tagger"]["email"], shown["object"]["type"]) == ("v2", "ada@example.org", "commit")
    assert [tag["name"] for tag in ada.get("/repos/ada/notes/tags").json()] == ["v1", "v2"]
    assert ada.get("/repos/ada/notes/tags/v2").json() == heavy


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"tag_name": "a b"}, 422),
        ({"tag_name": "-a"}, 422),
        ({"tag_name": "HEAD"}, 422),
        ({"tag_name": "v1"}, 409),
        ({"tag_name": "v2", "target": "nowhere"}, 404),
    ],
)
def test_an_invalid_tag_is_refused(ada: httpx.Client, body: dict[str, str], status: int) -> None:
    """A tag without a name, with an invalid or taken name, or with an unknown target is refused."""
    ada.post("/repos/ada/notes/tags", json={"tag_name": "v1"})
    before = ada.get("/repos/ada/notes/tags").json()
    assert ada.post("/repos/ada/notes/tags", json=body).status_code == status
    assert ada.get("/repos/ada/notes/tags").json() == before


def test_a_tag_is_deleted_by_who_may_write(clients: ServiceClients, ada: httpx.Client) -> None:
    """A reader may not delete a tag; a deleted tag is not found."""
    ada.post("/repos/ada/notes/tags", json={"tag_name": "release/1"})
    assert clients.user("eve").delete("/repos/ada/notes/tags/release%2F1").status_code == 403
    assert ada.delete("/repos/ada/notes/tags/release%2F1").status_code == 204
    assert ada.delete("/repos/ada/notes/tags/release/1").status_code == 404
