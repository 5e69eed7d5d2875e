"""SSH keys of users, and deploy keys of repositories."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients
from tests.hosting.ssh_key_helpers import new_key, public_text


def test_a_user_adds_lists_shows_and_deletes_keys(clients: ServiceClients) -> None:
    """The keys of a user are listed to everybody, and only the user deletes them."""
    ada, bob = clients.user("ada"), clients.user("bob")
    key = new_key()
    response = ada.post("/user/keys", json={"title": "laptop", "key": public_text(key) + " ada@laptop"})
    assert response.status_code == 201
    shown = response.json()
    assert shown["fingerprint"] == key.get_fingerprint("sha256")
    assert shown["key"] == public_text(key)
    assert (shown["title"], shown["key_type"], shown["user"]["login"]) == ("laptop", "user", "ada")
    assert shown["url"].endswith(f"/api/v1/user/keys/{shown['id']}")
    assert ada.get(f"/user/keys/{shown['id']}").json() == shown
    assert bob.get(f"/user/keys/{shown['id']}").status_code == 404
    assert bob.delete(f"/user/keys/{shown['id']}").status_code == 404
    listed = clients.anonymous.get("/users/ada/keys")
    assert [item["id"] for item in listed.json()] == [shown["id"]]
    assert listed.headers["X-Total-Count"] == "1"
    assert ada.get("/user/keys", params={"fingerprint": shown["fingerprint"]}).json()[0]["id"] == shown["id"]
    assert ada.get("/user/keys", params={"fingerprint": "SHA256:other"}).json() == []
    assert ada.delete(f"/user/keys/{shown['id']}").status_code == 204
    assert ada.get("/user/keys").json() == []


def test_the_same_key_twice_is_refused_everywhere(clients: ServiceClients, ada: httpx.Client) -> None:
    """A key is unique among the keys of all users and all deploy keys."""
    mine, deployed = public_text(new_key()), public_text(new_key())
    bob = clients.user("bob")
    assert ada.post("/user/keys", json={"title": "a", "key": mine}).status_code == 201
    assert ada.post("/repos/ada/ship/keys", json={"title": "a", "key": deployed}).status_code == 201
    for client, path, key in (
        (ada, "/user/keys", mine),
        (bob, "/user/keys", f"{mine} with another comment"),
        (bob, "/user/keys", deployed),
        (ada, "/repos/ada/ship/keys", mine),
        (ada, "/repos/ada/ship/keys", deployed),
    ):
        assert client.post(path, json={"title": "b", "key": key}).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {"title": "a"},
        {"key": "ssh-ed25519 AAAA"},
        {"title": "  ", "key": public_text(new_key())},
        {"title": "x" * 256, "key": public_text(new_key())},
        {"title": "a", "key": "ssh-ed25519 AAAA"},
        {"title": "a", "key": 7},
    ],
)
def test_an_invalid_key_is_refused(clients: ServiceClients, body: dict[str, object]) -> None:
    """A key without a title or with invalid text is refused with 422 and a message."""
    refused = clients.admin.post("/user/keys", json=body)
    assert refused.status_code == 422
    assert refused.json()["message"]
    assert clients.admin.get("/user/keys").json() == []


def test_deploy_keys_belong_to_a_repository(clients: ServiceClients, ada: httpx.Client) -> None:
    """Deploy keys are found by id and by fingerprint, and can be read-only."""
    keys = [new_key(), new_key()]
    for number, key in enumerate(keys):
        body = {"title": f"key {number}", "key": public_text(key), "read_only": not number}
        response = ada.post("/repos/ada/ship/keys", json=body)
        assert response.status_code == 201
        assert response.json()["repository"]["full_name"] == "ada/ship"
    first, second = ada.get("/repos/ada/ship/keys").json()
    assert (first["read_only"], second["read_only"]) == (True, False)
    assert first["url"].endswith(f"/api/v1/repos/ada/ship/keys/{first['id']}")
    assert ada.get(f"/repos/ada/ship/keys/{second['id']}").json() == second
    assert ada.get("/repos/ada/ship/keys", params={"key_id": second["key_id"]}).json() == [second]
    assert ada.get("/repos/ada/ship/keys", params={"fingerprint": first["fingerprint"]}).json() == [first]
    assert len(ada.get("/repos/ada/ship/keys", params={"limit": 1}).json()) == 1
    assert ada.get("/user/keys").json() == []
    assert ada.delete(f"/user/keys/{first['id']}").status_code == 404
    assert ada.delete(f"/repos/ada/ship/keys/{first['id']}").status_code == 204
    assert ada.get(f"/repos/ada/ship/keys/{first['id']}").status_code == 404


def test_administrators_manage_the_keys_of_users(clients: ServiceClients) -> None:
    """Only administrators use the endpoints for keys of other users."""
    bob = clients.user("bob")
    body = {"title": "a", "key": public_text(new_key())}
    assert bob.post("/admin/users/bob/keys", json=body).status_code == 403
    assert bob.get("/user/keys").json() == []
    response = clients.admin.post("/admin/users/bob/keys", json=body)
    assert response.status_code == 201
    number = response.json()["id"]
    assert bob.get("/user/keys").json()[0]["id"] == number
    assert bob.delete(f"/admin/users/bob/keys/{number}").status_code == 403
    assert [key["id"] for key in bob.get("/user/keys").json()] == [number]
    assert clients.admin.delete(f"/admin/users/bob/keys/{number}").status_code == 204
    assert bob.get("/user/keys").json() == []


def test_keys_need_the_scope_of_users(clients: ServiceClients) -> None:
    """Reading keys requires the scope `read:user`; adding one needs more, and `write:repository` is not enough."""
    account = clients.account("ada")
    assert clients.with_token(account, "read:user").get("/user/keys").status_code == 200
    assert clients.with_token(account, "read:user").post("/user/keys", json={}).status_code == 403
    assert clients.with_token(account, "write:repository").get("/user/keys").status_code == 403
