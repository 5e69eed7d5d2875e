"""The branch protection endpoints."""

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


def test_a_protected_branch_cannot_be_deleted_or_created(ada: httpx.Client) -> None:
    """Even the owner can neither delete nor create a branch that a rule protects, until the rule is deleted."""
    ada.post("/repos/ada/notes/branches", json={"new_branch_name": "release/1"})
    assert ada.post("/repos/ada/notes/branch_protections", json={"rule_name": "release/*"}).status_code == 201
    shown = ada.get("/repos/ada/notes/branches/release/1").json()
    assert (shown["protected"], shown["user_can_push"]) == (True, False)
    assert shown["effective_branch_protection_name"] == "release/*"
    refused = ada.delete("/repos/ada/notes/branches/release/1")
    assert (refused.status_code, refused.json()["message"]) == (403, "Branch release/1 is protected from deletion")
    assert ada.post("/repos/ada/notes/branches", json={"new_branch_name": "release/2"}).status_code == 403
    assert ada.delete("/repos/ada/notes/branch_protections/release%2F*").status_code == 204
    assert ada.delete("/repos/ada/notes/branches/release/1").status_code == 204


def test_rules_name_only_existing_users(clients: ServiceClients, ada: httpx.Client) -> None:
    """A rule returns users by their current names; an unknown user and a duplicate rule are refused."""
    clients.user("bob")
    body = {"rule_name": "main", "enable_push": True, "enable_push_whitelist": True}
    refused = ada.post("/repos/ada/notes/branch_protections", json={**body, "push_whitelist_usernames": ["x"]})
    assert refused.status_code == 422
    response = ada.post("/repos/ada/notes/branch_protections", json={**body, "push_whitelist_usernames": ["BOB"]})
    assert (response.status_code, response.json()["push_whitelist_usernames"]) == (201, ["bob"])
    assert ada.post("/repos/ada/notes/branch_protections", json=body).status_code == 403
    stored = ada.patch("/repos/ada/notes/branch_protections/main", json={"required_approvals": 2}).json()
    assert (stored["required_approvals"], stored["push_whitelist_usernames"]) == (2, ["bob"])
    assert [rule["rule_name"] for rule in ada.get("/repos/ada/notes/branch_protections").json()] == ["main"]
