"""The branch endpoints."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with one commit, and return her client."""
    ada = clients.user("ada")
    response = ada.post("/user/repos", json={"name": "notes", "auto_init": True})
    assert response.status_code == 201
    return ada


def test_a_branch_is_made_shown_listed_and_deleted(ada: httpx.Client) -> None:
    """The name of a branch may have slashes, which are escaped or not in the URL."""
    response = ada.post("/repos/ada/notes/branches", json={"new_branch_name": "feature/x", "old_ref_name": "main"})
    assert (response.status_code, response.json()["name"]) == (201, "feature/x")
    assert [branch["name"] for branch in ada.get("/repos/ada/notes/branches").json()] == ["feature/x", "main"]
    for path in ("feature/x", "feature%2Fx"):
        assert ada.get(f"/repos/ada/notes/branches/{path}").json() == response.json()
    assert response.json()["commit"]["author"]["username"] == "ada"
    assert ada.get("/repos/ada/notes").json()["branch_count"] == 2
    assert ada.delete("/repos/ada/notes/branches/feature%2Fx").status_code == 204
    assert ada.get("/repos/ada/notes/branches/feature/x").status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"new_branch_name": "main"}, 409),
        ({"new_branch_name": "x", "old_ref_name": "nowhere"}, 404),
        ({"new_branch_name": "a..b"}, 422),
        ({"new_branch_name": "x" * 101}, 422),
        ({}, 422),
        ({"new_branch_name": "main/below"}, 422),
        ({"new_branch_name": "-x"}, 422),
    ],
)
def test_an_invalid_branch_is_refused(ada: httpx.Client, body: dict[str, str], status: int) -> None:
    """A taken name, a name that git refuses and an unknown start are refused."""
    assert ada.post("/repos/ada/notes/branches", json=body).status_code == status


def test_the_default_branch_cannot_be_deleted_but_renamed(ada: httpx.Client) -> None:
    """Renaming the default branch changes `default_branch` of the repository."""
    assert ada.delete("/repos/ada/notes/branches/main").status_code == 403
    assert ada.patch("/repos/ada/notes/branches/main", json={"name": "trunk"}).status_code == 204
    assert ada.get("/repos/ada/notes").json()["default_branch"] == "trunk"
    assert [branch["name"] for branch in ada.get("/repos/ada/notes/branches").json()] == ["trunk"]


def test_others_can_read_branches_and_not_change_them(clients: ServiceClients, ada: httpx.Client) -> None:
    """Readers may not create, rename or delete branches, and nobody may in an archived repository."""
    eve = clients.user("eve")
    ada.post("/repos/ada/notes/branches", json={"new_branch_name": "side"})
    before = ada.get("/repos/ada/notes/branches").json()
    assert eve.get("/repos/ada/notes/branches/main").json()["user_can_push"] is False
    assert eve.post("/repos/ada/notes/branches", json={"new_branch_name": "x"}).status_code == 403
    assert clients.anonymous.post("/repos/ada/notes/branches", json={"new_branch_name": "x"}).status_code == 401
    ada.patch("/repos/ada/notes", json={"archived": True})
    assert ada.post("/repos/ada/notes/branches", json={"new_branch_name": "x"}).status_code == 423
    for client, status in ((eve, 423), (ada, 423)):
        assert client.patch("/repos/ada/notes/branches/side", json={"name": "x"}).status_code == status
        assert client.delete("/repos/ada/notes/branches/side").status_code == status
    ada.patch("/repos/ada/notes", json={"archived": False})
    assert eve.patch("/repos/ada/notes/branches/side", json={"name": "x"}).status_code == 403
    assert eve.delete("/repos/ada/notes/branches/side").status_code == 403
    assert ada.get("/repos/ada/notes/branches").json() == before


def test_moving_a_branch_is_recorded_as_an_event(clients: ServiceClients, ada: httpx.Client) -> None:
    """Creating a branch records `create` and `push`, and deleting it records `delete`."""
    ada.post("/repos/ada/notes/branches", json={"new_branch_name": "x"})
    ada.delete("/repos/ada/notes/branches/x")
    with clients.database.read() as connection:
        kinds = [row[0] for row in connection.exec_driver_sql("SELECT kind FROM events ORDER BY id")]
    assert kinds == ["repository", "create", "push", "delete"]
