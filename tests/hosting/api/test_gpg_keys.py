"""The GPG key endpoints, which list no keys and accept none."""

from tests.hosting.api_clients import ServiceClients


def test_nobody_has_gpg_keys_and_none_can_be_added(clients: ServiceClients) -> None:
    """Lists of GPG keys are empty, and adding a key gives 404 with a message."""
    ada = clients.user("ada")
    assert ada.get("/user/gpg_keys").json() == []
    assert clients.anonymous.get("/users/ada/gpg_keys").json() == []
    assert clients.anonymous.get("/user/gpg_keys").status_code == 401
    refused = ada.post("/user/gpg_keys", json={"armored_public_key": "-----BEGIN"})
    assert (refused.status_code, "GPG keys" in refused.json()["message"]) == (404, True)
    assert ada.get("/user/gpg_keys/1").status_code == 404
    assert ada.get("/user/gpg_key_token").status_code == 404
