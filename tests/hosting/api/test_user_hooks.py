"""A user's own webhooks: for everything they own, and nothing else."""

from tests.hosting.api.hook_helpers import create_hook
from tests.hosting.api_clients import ServiceClients


def test_each_user_has_hooks_of_their_own(clients: ServiceClients) -> None:
    """Nobody sees those of others, not even an administrator as their own."""
    ada, bob = clients.user("ada"), clients.user("bob")
    hook = create_hook(ada, "/user/hooks")
    assert ada.get("/user/hooks").json() == [hook]
    for other in (bob, clients.admin):
        assert other.get("/user/hooks").json() == []
        assert other.get(f"/user/hooks/{hook['id']}").status_code == 404
    assert clients.anonymous.get("/user/hooks").status_code == 401


def test_a_hook_of_a_user_receives_events_of_their_repositories(clients: ServiceClients) -> None:
    """Also when somebody else did it; not of what they do elsewhere."""
    ada, bob = clients.user("ada"), clients.user("bob")
    hook = f"/user/hooks/{create_hook(ada, '/user/hooks', active=True, events=['issues_only'])['id']}"
    for client in (ada, bob):
        assert client.post("/user/repos", json={"name": "ship"}).status_code == 201
    bob.post("/repos/ada/ship/issues", json={"title": "Mine"})
    ada.post("/repos/bob/ship/issues", json={"title": "Yours"})
    assert len(ada.get(f"{hook}/deliveries").json()) == 1


def test_a_user_who_is_removed_leaves_no_hooks(clients: ServiceClients) -> None:
    """They go with the account."""
    hook = create_hook(clients.user("ada"), "/user/hooks")
    assert clients.admin.delete("/admin/users/ada").status_code == 204
    create_hook(clients.admin, "/user/hooks")
    assert hook["id"] not in {hook["id"] for hook in clients.admin.get("/user/hooks").json()}
