"""Webhooks of repositories."""

import httpx
import pytest

from tests.hosting.api.hook_helpers import create_hook, hook_ids
from tests.hosting.api_clients import ServiceClients

PATH = "/repos/ada/ship/hooks"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository, and return her client."""
    client = clients.user("ada")
    assert client.post("/user/repos", json={"name": "ship", "auto_init": True}).status_code == 201
    return client


def kinds(client: httpx.Client, hook: str) -> list[str]:
    """Return the events of the deliveries of a hook, oldest first."""
    return [answer["event"] for answer in reversed(client.get(f"{hook}/deliveries").json())]


def test_a_hook_receives_the_events_it_subscribes_to(ada: httpx.Client) -> None:
    """Events arrive in order; a new branch is a `create` before a `push`, and a deleted one is no `push`."""
    hook = f"{PATH}/{create_hook(ada, PATH, active=True, events=['push', 'create', 'delete', 'issues'])['id']}"
    ada.post("/repos/ada/ship/contents/a.txt", json={"content": "", "new_branch": "side"})
    ada.post("/repos/ada/ship/issues", json={"title": "One"})
    ada.post("/repos/ada/ship/issues/1/comments", json={"body": "Two"})
    ada.delete("/repos/ada/ship/branches/side")
    assert kinds(ada, hook) == ["create", "push", "issues", "issue_comment", "delete"]


def test_a_branch_filter_selects_events(ada: httpx.Client) -> None:
    """A branch filter selects pushes; events of issues have no branch and are always sent."""
    hook = f"{PATH}/{create_hook(ada, PATH, active=True, events=['push', 'issues'], branch_filter='rel*')['id']}"
    ada.post("/repos/ada/ship/contents/a.txt", json={"content": "", "new_branch": "other"})
    ada.post("/repos/ada/ship/contents/a.txt", json={"content": "", "new_branch": "release/1"})
    ada.post("/repos/ada/ship/issues", json={"title": "One"})
    assert kinds(ada, hook) == ["push", "issues"]


def test_an_inactive_hook_receives_nothing(ada: httpx.Client) -> None:
    """An inactive hook gets no deliveries, and deactivating a hook cancels those that wait."""
    hook = f"{PATH}/{create_hook(ada, PATH, events=['issues'])['id']}"
    ada.post("/repos/ada/ship/issues", json={"title": "One"})
    assert kinds(ada, hook) == []
    ada.patch(hook, json={"active": True})
    ada.post("/repos/ada/ship/issues", json={"title": "Two"})
    ada.patch(hook, json={"active": False})
    ada.post("/repos/ada/ship/issues", json={"title": "Three"})
    assert [delivery["status"] for delivery in ada.get(f"{hook}/deliveries").json()] == ["cancelled"]


def test_hooks_are_kept_with_a_moved_repository_and_deleted_with_it(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """A renamed or transferred repository keeps its hooks; those of the new owner get its events."""
    own = create_hook(ada, PATH, active=True, events=["issues"])["id"]
    before = f"/user/hooks/{create_hook(ada, '/user/hooks', active=True, events=['issues'])['id']}"
    ada.patch("/repos/ada/ship", json={"name": "boat"})
    assert ada.get(f"/repos/ada/boat/hooks/{own}").status_code == 200
    assert ada.get(f"{PATH}/{own}").status_code == 301
    ada.post("/orgs", json={"username": "guild"})
    after = f"/orgs/guild/hooks/{create_hook(ada, '/orgs/guild/hooks', active=True, events=['issues'])['id']}"
    assert ada.post("/repos/ada/boat/transfer", json={"new_owner": "guild"}).status_code == 202
    ada.post("/repos/guild/boat/issues", json={"title": "One"})
    assert kinds(ada, f"/repos/guild/boat/hooks/{own}") == ["issues"]
    assert (kinds(ada, before), kinds(ada, after)) == ([], ["issues"])
    assert own in hook_ids(clients.database)
    assert ada.delete("/repos/guild/boat").status_code == 204
    assert own not in hook_ids(clients.database)


def test_hooks_of_the_owner_receive_the_deletion_of_a_repository(ada: httpx.Client) -> None:
    """The user's hook receives the event although the repository and its hooks are gone."""
    create_hook(ada, PATH, active=True, events=["repository"])
    hook = f"/user/hooks/{create_hook(ada, '/user/hooks', active=True, events=['repository'])['id']}"
    assert ada.delete("/repos/ada/ship").status_code == 204
    assert kinds(ada, hook) == ["repository"]
    assert ada.get(PATH).status_code == 404


def test_writers_may_not_list_hooks(clients: ServiceClients, ada: httpx.Client) -> None:
    """Hooks are shown to administrators only, because their URLs can be secret."""
    bob = clients.user("bob")
    ada.put("/repos/ada/ship/collaborators/bob", json={"permission": "write"})
    hook = create_hook(ada, PATH)["id"]
    assert {bob.get(PATH).status_code, bob.get(f"{PATH}/{hook}").status_code} == {403}
    ada.put("/repos/ada/ship/collaborators/bob", json={"permission": "admin"})
    assert bob.get(f"{PATH}/{hook}").status_code == 200
