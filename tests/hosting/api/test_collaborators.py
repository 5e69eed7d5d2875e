"""The collaborator endpoints."""

import pytest

from tests.hosting.api_clients import ServiceClients


def test_a_collaborator_is_added_and_removed(clients: ServiceClients) -> None:
    """A collaborator can read a private repository until they are removed."""
    ada, bob = clients.user("ada"), clients.user("bob")
    ada.post("/user/repos", json={"name": "diary", "private": True})
    path = "/repos/ada/diary/collaborators"
    assert ada.get(f"{path}/bob").status_code == 404
    assert ada.put(f"{path}/bob", json={"permission": "read"}).status_code == 204
    assert ada.get(f"{path}/bob").status_code == 204
    assert [user["login"] for user in ada.get(path).json()] == ["bob"]
    assert bob.get("/repos/ada/diary").json()["permissions"] == {"admin": False, "push": False, "pull": True}
    assert bob.get(f"{path}/bob/permission").json()["permission"] == "read"
    assert bob.get(f"{path}/ada/permission").status_code == 403
    assert [repo["name"] for repo in bob.get("/user/repos").json()] == ["diary"]
    assert ada.delete(f"{path}/bob").status_code == 204
    assert bob.get("/repos/ada/diary").status_code == 404


@pytest.mark.parametrize(
    ("who", "body", "status"),
    [
        ("nobody", {}, 422),
        ("bob", {"permission": "owner"}, 422),
        ("ada", {"permission": "read"}, 422),
        ("bob", {}, 204),
    ],
)
def test_who_can_become_a_collaborator(
    clients: ServiceClients, who: str, body: dict[str, str], status: int
) -> None:
    """Unknown users, the owner and unknown permissions are refused; the default permission is write."""
    ada, bob = clients.user("ada"), clients.user("bob")
    ada.post("/user/repos", json={"name": "notes"})
    assert ada.put(f"/repos/ada/notes/collaborators/{who}", json=body).status_code == status
    assert bob.get("/repos/ada/notes").json()["permissions"]["push"] is (status == 204)
