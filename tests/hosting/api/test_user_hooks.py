"""Webhooks of users."""

from tests.hosting.api.hook_helpers import create_hook, hook_ids
from tests.hosting.api_clients import ServiceClients


def test_each_user_has_hooks_of_their_own(clients: ServiceClients) -> None:
    """A user's hooks are not found by other users, including administrators."""
    ada, bob = clients.user("ada"), clients.user("bob")
    hook = create_hook(ada, "/user/hooks")
    assert ada.get("/user/hooks").json() == [hook]
    for other in (bob, clients.admin):
        assert other.get("/user/hooks").json() == []
        assert other.get(f"/user/hooks/{hook['id']}").status_code == 404
        assert other.patch(f"/user/hooks/{hook['id']}", json={"name": "mine"}).status_code == 404
        assert other.delete(f"/user/hooks/{hook['id']}").status_code == 404
    assert clients.anonymous.get("/user/hooks").status_code == 401
    assert ada.get("/user/hooks").json() == [hook]


def test_a_hook_of_a_user_receives_events_of_their_repositories(clients: ServiceClients) -> None:
    """A user's hook receives what others do in their repositories, and not what they do elsewhere."""
    ada, bob = clients.user("ada"), clients.user("bob")
    hook = f"/user/hooks/{create_hook(ada, '/user/hooks', active=True, events=['issues_only'])['id']}"
    for client in (ada, bob):
        assert client.post("/user/repos", json={"name": "ship"}).status_code == 201
    ada.post("/repos/bob/ship/issues", json={"title": "Yours"})
    assert ada.get(f"{hook}/deliveries").json() == []
    bob.post("/repos/ada/ship/issues", json={"title": "Mine"})
    assert [delivery["event"] for delivery in ada.get(f"{hook}/deliveries").json()] == ["issues"]


def test_a_user_who_is_removed_leaves_no_hooks(clients: ServiceClients) -> None:
    """The hooks of other users stay."""
    create_hook(clients.user("ada"), "/user/hooks")
    other = create_hook(clients.admin, "/user/hooks")["id"]
    assert clients.admin.delete("/admin/users/ada").status_code == 204
    assert hook_ids(clients.database) == [other]
