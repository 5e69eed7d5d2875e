"""The organization endpoints: create, edit, rename, delete and list."""

import httpx
import pytest

from holdfast.hosting.store import accounts
from tests.hosting.api_clients import ServiceClients

KEYS = [
    *("id", "name", "full_name", "email", "avatar_url", "description", "website", "location", "visibility"),
    *("repo_admin_change_team_access", "username"),
]


def test_the_creator_of_an_organization_owns_it(clients: ServiceClients) -> None:
    """The response has every key in order, and the creator is in the team of owners."""
    ada = clients.user("ada")
    body = {"username": "Analytics", "full_name": "Analytical Society", "website": "https://example.org"}
    response = ada.post("/orgs", json=body)
    assert response.status_code == 201
    assert list(response.json()) == KEYS
    assert response.json() == clients.anonymous.get("/orgs/ANALYTICS").json()
    assert (response.json()["username"], response.json()["visibility"]) == ("Analytics", "public")
    (owners,) = ada.get("/orgs/analytics/teams").json()
    assert (owners["name"], owners["permission"], owners["can_create_org_repo"]) == ("Owners", "owner", True)
    assert owners["includes_all_repositories"] is True
    assert set(owners["units_map"].values()) == {"owner"}
    assert [user["login"] for user in ada.get("/orgs/analytics/members").json()] == ["ada"]
    assert ada.post("/orgs/analytics/repos", json={"name": "engine"}).status_code == 201


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "[UserName]: Required"),
        ({"username": "x" * 41}, "[UserName]: MaxSize"),
        ({"username": 7}, "[UserName]: Expected `str`, got `int`"),
        ({"username": "a\0b"}, "[UserName]: the character NUL is not allowed"),
        ({"username": "orgs"}, "the name orgs is reserved"),
        ({"username": "ADMIN"}, "user already exists [name: ADMIN]"),
        ({"username": "a", "visibility": "secret"}, "[Visibility]: Invalid enum value 'secret'"),
        ({"username": "a", "email": "nobody"}, "that is not an e-mail address"),
        ({"username": "a", "description": "x" * 256}, "[Description]: MaxSize"),
    ],
)
def test_a_bad_organization_is_refused_by_the_name_of_the_field(
    clients: ServiceClients, body: dict[str, object], message: str
) -> None:
    """An invalid organization gives 422 with a message, and nothing is created."""
    response = clients.user("ada").post("/orgs", json=body)
    assert (response.status_code, response.json()["message"]) == (422, message)
    assert clients.admin.get("/admin/orgs").json() == []


def test_a_website_cannot_be_a_script_url(clients: ServiceClients) -> None:
    """A website with the scheme `javascript` is refused, since pages link to it."""
    response = clients.user("ada").post("/orgs", json={"username": "a", "website": "javascript:alert(1)"})
    assert response.status_code == 422
    assert response.json()["message"].startswith("[Website]: ")


def test_users_without_the_permission_create_no_organizations(clients: ServiceClients) -> None:
    """An administrator can create an organization for a user who may not."""
    bob = clients.user("bob", may_create_organizations=False)
    assert clients.anonymous.post("/orgs", json={"username": "a"}).status_code == 401
    assert bob.post("/orgs", json={"username": "a"}).status_code == 403
    assert bob.post("/admin/users/bob/orgs", json={"username": "a"}).status_code == 403
    assert clients.admin.post("/admin/users/nobody/orgs", json={"username": "a"}).status_code == 404
    assert clients.admin.post("/admin/users/bob/orgs", json={"username": "a"}).status_code == 201
    assert [org["name"] for org in bob.get("/user/orgs").json()] == ["a"]
    assert clients.admin.get("/user/orgs").json() == []


def test_only_owners_change_an_organization(clients: ServiceClients) -> None:
    """Members get 403 and strangers 404; absent fields keep their values."""
    ada, bob = clients.user("ada"), clients.user("bob")
    ada.post("/orgs", json={"username": "guild", "location": "London", "visibility": "limited"})
    team = ada.post("/orgs/guild/teams", json={"name": "readers"}).json()["id"]
    ada.put(f"/teams/{team}/members/bob")
    for method, path, body in (
        ("PATCH", "/orgs/guild", {"location": "Paris"}),
        ("DELETE", "/orgs/guild", None),
        ("POST", "/orgs/guild/rename", {"new_name": "league"}),
        ("POST", "/orgs/guild/teams", {"name": "writers"}),
    ):
        assert clients.anonymous.request(method, path, json=body).status_code == 404
        refused = bob.request(method, path, json=body)
        assert (refused.status_code, refused.json()["message"]) == (403, "Must be an organization owner")
    changed = ada.patch("/orgs/guild", json={"full_name": "The Guild", "repo_admin_change_team_access": True})
    assert changed.status_code == 200
    assert (changed.json()["full_name"], changed.json()["location"]) == ("The Guild", "London")
    assert (changed.json()["visibility"], changed.json()["repo_admin_change_team_access"]) == ("limited", True)
    assert ada.patch("/orgs/guild", json={"visibility": None, "location": ""}).json()["location"] == ""
    assert ada.patch("/orgs/guild", json={"visibility": "open"}).status_code == 422


def test_a_former_name_redirects_to_the_current_one(clients: ServiceClients) -> None:
    """Only those who may see the organization are redirected; a name that occurs elsewhere in the URL works."""
    ada = clients.user("ada")
    ada.post("/orgs", json={"username": "a", "visibility": "private"})
    ada.post("/orgs", json={"username": "b"})
    assert ada.post("/orgs/a/rename", json={"new_name": "B"}).status_code == 422
    assert ada.post("/orgs/a/rename", json={"new_name": ""}).json()["message"] == "[NewName]: Required"
    assert ada.post("/orgs/a/rename", json={"new_name": "league"}).status_code == 204
    moved = ada.get("/orgs/a/teams", params={"page": "1"})
    assert moved.status_code == 307
    assert moved.headers["location"] == f"{clients.service.url}/api/v1/orgs/league/teams?page=1"
    assert clients.anonymous.get("/orgs/a").status_code == 404
    assert clients.anonymous.get("/users/a").status_code == 404
    assert ada.get("/users/a").status_code == 307


def test_an_organization_without_repositories_can_be_deleted(clients: ServiceClients) -> None:
    """Deleting an organization with repositories gives 409 with their number."""
    ada = clients.user("ada")
    ada.post("/orgs", json={"username": "guild"})
    for name in ("one", "two"):
        ada.post("/orgs/guild/repos", json={"name": name})
    refused = ada.delete("/orgs/guild")
    assert refused.status_code == 409
    assert refused.json()["message"] == "guild still owns 2 repositories; delete or transfer them first"
    for name in ("one", "two"):
        assert ada.delete(f"/repos/guild/{name}").status_code == 204
    assert ada.delete("/orgs/guild").status_code == 204
    assert ada.get("/orgs/guild").status_code == 404
    assert ada.get("/user/teams").json() == []
    assert ada.post("/orgs", json={"username": "guild"}).status_code == 201


def test_lists_show_visible_organizations_only(clients: ServiceClients) -> None:
    """Public ones are listed to all, limited ones to signed-in users, and private ones to members."""
    ada, bob, eve = clients.user("ada"), clients.user("bob"), clients.user("eve", is_restricted=True)
    for visibility in ("public", "limited", "private"):
        ada.post("/orgs", json={"username": f"the-{visibility}", "visibility": visibility})
    everything = ["the-limited", "the-private", "the-public"]

    def names(client: object, path: str) -> list[str]:
        response = client.get(path)  # type: ignore[attr-defined]  # a client of httpx
        assert response.headers["x-total-count"] == str(len(response.json()))
        return [org["name"] for org in response.json()]

    assert names(clients.anonymous, "/orgs") == ["the-public"]
    assert names(bob, "/orgs") == ["the-limited", "the-public"]
    assert names(eve, "/orgs") == []
    assert (
        names(ada, "/orgs") == names(clients.admin, "/orgs") == names(clients.admin, "/admin/orgs") == everything
    )
    assert bob.get("/admin/orgs").status_code == 403
    public_only = clients.with_token(accounts.find_user(clients.database, "ada"), "all", "public-only")
    assert names(public_only, "/orgs") == names(public_only, "/user/orgs") == ["the-public"]
    hidden, absent = public_only.get("/orgs/the-private"), public_only.get("/orgs/no-such-thing")
    assert (hidden.status_code, hidden.json()) == (absent.status_code, absent.json())
    assert hidden.status_code == 404
    page = ada.get("/orgs", params={"limit": "2", "page": "2"})
    assert [org["name"] for org in page.json()] == ["the-public"]
    assert page.headers["x-total-count"] == "3"
    assert 'rel="prev"' in page.headers["link"]


def test_memberships_are_shown_to_permitted_users_only(clients: ServiceClients) -> None:
    """Memberships are shown to the user, administrators and fellow members, and to all if they are public."""
    ada, bob, eve = clients.user("ada"), clients.user("bob"), clients.user("eve")
    ada.post("/orgs", json={"username": "guild"})
    ada.post("/orgs", json={"username": "hidden", "visibility": "private"})
    ada.post("/orgs", json={"username": "society"})
    team = ada.post("/orgs/guild/teams", json={"name": "readers"}).json()["id"]
    ada.put(f"/teams/{team}/members/bob")

    def names(client: httpx.Client) -> list[str]:
        return [org["name"] for org in client.get("/users/ada/orgs").json()]

    assert names(ada) == names(clients.admin) == ["guild", "hidden", "society"]
    assert names(bob) == ["guild"]
    assert names(eve) == names(clients.anonymous) == []
    ada.put("/orgs/guild/public_members/ada")
    ada.put("/orgs/hidden/public_members/ada")
    assert names(bob) == names(eve) == names(clients.anonymous) == ["guild"]
    assert clients.anonymous.get("/users/guild/orgs").status_code == 404


def test_permissions_in_an_organization(clients: ServiceClients) -> None:
    """Users see their own permissions, and administrators those of everybody."""
    ada, bob = clients.user("ada"), clients.user("bob")
    ada.post("/orgs", json={"username": "guild", "visibility": "private"})
    path = "/users/{}/orgs/guild/permissions"
    assert ada.get(path.format("ada")).json() == {
        "is_owner": True,
        "is_admin": True,
        "can_write": True,
        "can_read": True,
        "can_create_repository": True,
    }
    assert bob.get(path.format("bob")).status_code == 404
    assert clients.admin.get(path.format("bob")).status_code == 404
    team = ada.post(
        "/orgs/guild/teams", json={"name": "writers", "permission": "write", "can_create_org_repo": True}
    ).json()["id"]
    ada.put(f"/teams/{team}/members/bob")
    for client in (bob, clients.admin):
        assert client.get(path.format("bob")).json() == {
            "is_owner": False,
            "is_admin": False,
            "can_write": True,
            "can_read": True,
            "can_create_repository": True,
        }
    assert bob.get(path.format("ada")).status_code == 403
    assert clients.anonymous.get(path.format("ada")).status_code == 401


def test_a_private_organization_is_visible_to_its_members_only(clients: ServiceClients) -> None:
    """A private user is visible to members of a common organization only."""
    ada, bob, eve = clients.user("ada", visibility="private"), clients.user("bob"), clients.user("eve")
    ada.post("/orgs", json={"username": "guild", "visibility": "private"})
    team = ada.post("/orgs/guild/teams", json={"name": "readers"}).json()["id"]
    ada.put(f"/teams/{team}/members/bob")
    for name in ("ada", "guild"):
        for client in (ada, bob, clients.admin):
            assert client.get(f"/users/{name}").json()["login"] == name
        for client in (eve, clients.anonymous):
            assert client.get(f"/users/{name}").status_code == 404
    public_only = clients.with_token(accounts.find_user(clients.database, "bob"), "all", "public-only")
    assert public_only.get("/users/guild").status_code == 404
    assert eve.put(f"/teams/{team}/members/ada").status_code == 404


def test_organizations_require_the_scope_of_a_token(clients: ServiceClients) -> None:
    """A token with `read:organization` cannot create an organization."""
    ada = clients.account("ada")
    reading = clients.with_token(ada, "read:organization")
    assert reading.get("/orgs").status_code == 200
    assert reading.post("/orgs", json={"username": "a"}).status_code == 403
    assert reading.get("/user/orgs").status_code == 403
    assert clients.with_token(ada, "write:organization").post("/orgs", json={"username": "a"}).status_code == 201


@pytest.mark.parametrize("name", ["a%00b", "%2E%2E", "%F0%9F%90%99", "a%2Fb", "x" * 3000])
def test_no_organization_has_an_impossible_name(clients: ServiceClients, name: str) -> None:
    """Impossible names give 404 in paths and as the user to act for, and 401 as a login."""
    for path in (f"/orgs/{name}/teams", f"/users/{name}/orgs", f"/orgs/{name}/members"):
        assert clients.admin.get(path).status_code == 404
    assert clients.admin.get("/user", headers={"Sudo": "a\tb"}).status_code == 404
    assert clients.admin.get("/user", params={"sudo": "a\0b"}).status_code == 404
    assert clients.anonymous.get("/user", auth=("a\0b", "a password")).status_code == 401
