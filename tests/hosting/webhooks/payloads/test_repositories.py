"""Webhook payloads of created, changed and deleted repositories."""

import json
from typing import Any

import httpx
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.webhooks.payloads import payload_of
from holdfast.settings import Settings
from tests.hosting.api.conftest import ada as ada_with_a_ship
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import make_organization
from tests.hosting.webhooks.event_helpers import payload, recorded

__all__ = ["ada_with_a_ship"]
SHIP = "/repos/ada/ship"


def payloads(clients: ServiceClients, settings: Settings) -> list[dict[str, Any]]:
    """Return the payloads of repository events, in order."""
    host = App.open(settings)
    events = [event for event in recorded(clients.database) if event.kind == "repository"]
    texts = [json.loads(payload_of(host, event)) for event in events]
    host.close()
    return texts


@pytest.fixture
def ada(ada_with_a_ship: httpx.Client) -> httpx.Client:
    """Return Ada's client."""
    return ada_with_a_ship


def test_a_created_and_a_deleted_repository_have_payloads(
    clients: ServiceClients, ada: httpx.Client, settings: Settings
) -> None:
    """A deleted repository is complete in its payload, and its owner is called an organization."""
    assert ada.post("/user/repos", json={"name": "boat", "description": "small", "private": True}).is_success
    shown = ada.get("/repos/ada/boat").json()
    assert ada.delete("/repos/ada/boat").status_code == 204
    created, deleted = payloads(clients, settings)
    assert list(deleted) == ["action", "repository", "organization", "sender"]
    assert (created["action"], deleted["action"]) == ("created", "deleted")
    assert created["repository"] is None
    boat = deleted["repository"]
    assert list(boat) == list(shown)
    assert (boat["full_name"], boat["description"], boat["private"]) == ("ada/boat", "small", True)
    assert boat["permissions"] == {"admin": True, "push": True, "pull": True}
    assert (deleted["organization"]["login"], deleted["sender"]["login"]) == ("ada", "ada")
    assert "ada@example.org" not in json.dumps(deleted)


def test_a_renamed_and_a_transferred_repository_have_payloads(
    clients: ServiceClients, ada: httpx.Client, settings: Settings
) -> None:
    """The changes of a renamed repository have the old name, and those of a transferred one the old owner."""
    assert ada.post("/orgs", json={"username": "guild"}).is_success
    assert ada.patch(SHIP, json={"name": "barque"}).is_success
    assert ada.post("/repos/ada/barque/transfer", json={"new_owner": "guild"}).status_code == 202
    renamed, transferred = payloads(clients, settings)
    assert list(renamed) == ["action", "repository", "organization", "sender", "changes"]
    assert (renamed["action"], renamed["changes"]) == ("renamed", {"name": {"from": "ship"}})
    assert (transferred["action"], transferred["changes"]) == ("transferred", {"owner": {"from": "ada"}})
    assert transferred["organization"]["login"] == "guild"
    assert recorded(clients.database)[-1].owner_id == transferred["organization"]["id"]


CHANGES: list[tuple[dict[str, object], str, dict[str, object] | None]] = [
    ({"archived": True}, "archived", None),
    ({"archived": False}, "unarchived", None),
    ({"private": True}, "privatized", None),
    ({"private": False}, "publicized", None),
    ({"description": "new", "website": ""}, "edited", {"description": {"from": ""}}),
    ({"has_wiki": True}, "edited", {"has_wiki": {"from": False}}),
    ({"default_branch": "fix"}, "edited", {"default_branch": {"from": "main"}}),
    ({"allow_rebase": False}, "edited", {"allow_rebase": {"from": True}}),
    (
        {"internal_tracker": {"enable_issue_dependencies": False}},
        "edited",
        {"enable_issue_dependencies": {"from": True}},
    ),
]


def test_changed_settings_have_payloads(clients: ServiceClients, ada: httpx.Client, settings: Settings) -> None:
    """Each changed setting has a payload with its old value, and setting it again has none."""
    for change, _, _ in CHANGES:
        for _ in range(2):
            assert ada.patch(SHIP, json=change).is_success
    assert ada.put(f"{SHIP}/topics", json={"topics": ["sail"]}).is_success
    *events, topics = payloads(clients, settings)
    assert [(event["action"], event.get("changes")) for event in events] == [
        (action, changes) for _, action, changes in CHANGES
    ]
    assert (topics["changes"], topics["repository"]["topics"]) == ({"topics": {"from": []}}, ["sail"])


def test_a_renamed_default_branch_has_a_payload(
    clients: ServiceClients, ada: httpx.Client, settings: Settings
) -> None:
    """A renamed default branch is a changed setting with the old name."""
    assert ada.post("/user/repos", json={"name": "boat", "auto_init": True}).is_success
    assert ada.patch("/repos/ada/boat/branches/main", json={"name": "trunk"}).is_success
    _, event = payloads(clients, settings)
    assert event["changes"] == {"default_branch": {"from": "main"}}
    assert event["repository"]["default_branch"] == "trunk"


def test_a_fork_the_owner_may_not_see_is_not_in_payloads(
    clients: ServiceClients, ada: httpx.Client, app: App
) -> None:
    """The fork of a private organization is left out of its event and of pull requests; a public one is shown."""
    bob = clients.account("bob")
    make_organization(clients.database, "smugglers", bob, visibility="private")
    make_organization(clients.database, "guild", bob)
    client = clients.with_token(bob)
    for name, shown in (("smugglers", None), ("guild", "guild/ship")):
        assert client.post(f"{SHIP}/forks", json={"organization": name}).status_code == 202
        repository = payload(app, "fork")["repository"]
        assert (repository and repository["full_name"]) == shown
        pull = {"title": "Plug", "head": f"{name}:fix", "base": "main"}
        created = client.post(f"{SHIP}/pulls", json=pull)
        assert created.status_code == 201, created.text
        head = payload(app, "pull_request")["pull_request"]["head"]
        assert (head["repo"] and head["repo"]["full_name"]) == shown
        assert head["sha"] == created.json()["head"]["sha"]
        assert client.patch(f"{SHIP}/pulls/{created.json()['number']}", json={"state": "closed"}).is_success
