"""Members of organizations: lists, public membership and removal."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients


@pytest.fixture
def people(clients: ServiceClients) -> dict[str, httpx.Client]:
    """Create an organization with an owner and a member, and a user outside of it."""
    users = {name: clients.user(name) for name in ("ada", "bob", "eve")}
    users["ada"].post("/orgs", json={"username": "guild"})
    team = users["ada"].post("/orgs/guild/teams", json={"name": "readers"}).json()["id"]
    assert users["ada"].put(f"/teams/{team}/members/bob").status_code == 204
    return users


def member_names(client: httpx.Client, path: str) -> list[str]:
    """Return the logins in a list of members."""
    return [user["login"] for user in client.get(path).json()]


def test_other_users_see_public_members_only(clients: ServiceClients, people: dict[str, httpx.Client]) -> None:
    """Members and administrators see all members; other users see public members only."""
    ada, bob, eve = people.values()
    for client in (ada, bob, clients.admin):
        assert member_names(client, "/orgs/guild/members") == ["ada", "bob"]
        assert client.get("/orgs/guild/members/bob").status_code == 204
        assert client.get("/orgs/guild/members/eve").status_code == 404
    for client in (eve, clients.anonymous):
        assert member_names(client, "/orgs/guild/members") == []
    assert eve.get("/orgs/guild/members/bob").status_code == 404
    assert clients.anonymous.get("/orgs/guild/members/bob").status_code == 401
    assert bob.put("/orgs/guild/public_members/bob").status_code == 204
    for client in (eve, clients.anonymous):
        assert member_names(client, "/orgs/guild/members") == ["bob"]
        assert member_names(client, "/orgs/guild/public_members") == ["bob"]
        assert client.get("/orgs/guild/public_members/bob").status_code == 204
        assert client.get("/orgs/guild/public_members/ada").status_code == 404
    assert eve.get("/orgs/guild/members/bob").status_code == 204
    assert bob.delete("/orgs/guild/public_members/bob").status_code == 204
    assert member_names(eve, "/orgs/guild/public_members") == []


def test_users_publish_only_their_own_membership(clients: ServiceClients, people: dict[str, httpx.Client]) -> None:
    """Owners and administrators cannot publish or hide the membership of somebody else."""
    ada, bob, eve = people.values()
    for is_public in (False, True):
        if is_public:
            assert bob.put("/orgs/guild/public_members/bob").status_code == 204
        for client in (ada, clients.admin):
            for method in ("PUT", "DELETE"):
                assert client.request(method, "/orgs/guild/public_members/bob").status_code == 403
        assert member_names(eve, "/orgs/guild/public_members") == (["bob"] if is_public else [])
    assert eve.put("/orgs/guild/public_members/eve").status_code == 403
    assert clients.admin.put("/orgs/guild/public_members/admin").status_code == 404
    assert clients.anonymous.put("/orgs/guild/public_members/bob").status_code == 401


def test_owners_remove_members(clients: ServiceClients, people: dict[str, httpx.Client]) -> None:
    """A removed member leaves every team; members cannot remove others, and a non-member is not found."""
    ada, bob, eve = people.values()
    for client in (bob, eve):
        assert client.delete("/orgs/guild/members/ada").status_code == 403
    assert ada.delete("/orgs/guild/members/eve").status_code == 404
    assert ada.delete("/orgs/guild/members/nobody").status_code == 404
    assert ada.delete("/orgs/guild/members/bob").status_code == 204
    assert member_names(ada, "/orgs/guild/members") == ["ada"]
    assert bob.get("/user/teams").json() == []
    assert bob.get("/orgs/guild/teams").status_code == 403


def test_the_last_owner_cannot_leave(clients: ServiceClients, people: dict[str, httpx.Client]) -> None:
    """The last owner can leave neither the organization nor the team of owners; with a second owner they can."""
    ada, bob, _ = people.values()
    owners = ada.get("/orgs/guild/teams").json()[0]["id"]
    for path in ("/orgs/guild/members/ada", f"/teams/{owners}/members/ada"):
        for client in (ada, clients.admin):
            refused = client.delete(path)
            assert refused.status_code == 403
            assert "last owner" in refused.json()["message"]
    assert member_names(ada, f"/teams/{owners}/members") == ["ada"]
    assert ada.put(f"/teams/{owners}/members/bob").status_code == 204
    assert ada.delete("/orgs/guild/members/ada").status_code == 204
    assert member_names(bob, "/orgs/guild/members") == ["bob"]
    assert bob.patch("/orgs/guild", json={"location": "here"}).status_code == 200
