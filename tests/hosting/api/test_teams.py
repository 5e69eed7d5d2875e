"""The team endpoints: permissions, members and repositories of teams."""

import httpx
import pytest

from holdfast.hosting.store import accounts
from tests.hosting.api_clients import ServiceClients

KEYS = [
    *("id", "name", "description", "organization", "includes_all_repositories", "permission", "units"),
    *("units_map", "can_create_org_repo", "visibility"),
]


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Make an organization with a private repository, and return its owner."""
    client = clients.user("ada")
    client.post("/orgs", json={"username": "guild"})
    client.post("/orgs/guild/repos", json={"name": "engine", "private": True})
    return client


def test_a_team_has_every_key(ada: httpx.Client) -> None:
    """A new team has every key in order, and reading it returns the same."""
    response = ada.post(
        "/orgs/guild/teams",
        json={"name": "Makers", "description": "who make", "permission": "write", "units": ["repo.code"]},
    )
    assert response.status_code == 201
    assert list(response.json()) == KEYS
    assert response.json()["organization"]["name"] == "guild"
    assert (response.json()["permission"], response.json()["units"]) == ("write", ["repo.code"])
    assert response.json()["units_map"] == {"repo.code": "write"}
    assert ada.get(f"/teams/{response.json()['id']}").json() == response.json()


@pytest.mark.parametrize(
    ("body", "permission", "units_map"),
    [
        ({"permission": "admin", "units": ["repo.code"]}, "admin", None),
        ({"permission": "read"}, "read", None),
        ({}, "read", None),
        ({"units_map": {"repo.code": "read", "repo.issues": "write", "repo.wiki": "none"}}, "read", ...),
        ({"units_map": {"repo.code": "admin", "repo.ext_wiki": "admin"}}, "write", ...),
        ({"units_map": {"repo.code": "none"}}, "none", ...),
        ({"units_map": None, "units": None, "permission": ""}, "read", None),
    ],
)
def test_permissions_are_set_for_all_units_or_for_each(
    ada: httpx.Client, body: dict[str, object], permission: str, units_map: object
) -> None:
    """Without `units_map` a permission is for all units; with it, the team shows the lowest one, at most write."""
    team = ada.post("/orgs/guild/teams", json={"name": "team", **body}).json()
    assert team["permission"] == permission
    if units_map is None:
        assert len(team["units_map"]) == len(team["units"]) == 10
        assert set(team["units_map"].values()) == {permission}
    else:
        assert team["units_map"] == body["units_map"]
        assert team["units"] == [unit for unit, mode in team["units_map"].items() if mode != "none"]


@pytest.mark.parametrize(
    ("body", "beginning"),
    [
        ({}, "[Name]: Required"),
        ({"name": "x" * 256}, "[Name]: MaxSize"),
        ({"name": "a b"}, "[Name]: a team name must be"),
        ({"name": "../x"}, "[Name]: a team name must be"),
        ({"name": "new"}, "[Name]: the team name new is reserved"),
        ({"name": "OWNERS"}, "team already exists"),
        ({"name": "t", "permission": "owner"}, "[Permission]: Invalid enum value 'owner'"),
        ({"name": "t", "units": ["repo.magic"]}, "[Units]: Invalid enum value 'repo.magic'"),
        ({"name": "t", "units": "repo.code"}, "[Units]: Expected"),
        ({"name": "t", "units_map": {"repo.magic": "read"}}, "[UnitsMap]: Invalid enum value 'repo.magic'"),
        ({"name": "t", "units_map": {"repo.code": "root"}}, "[UnitsMap]: Invalid enum value 'root'"),
        ({"name": "t", "description": "a\0b"}, "[Description]: the character NUL"),
    ],
)
def test_a_bad_team_is_refused_by_the_name_of_the_field(
    ada: httpx.Client, body: dict[str, object], beginning: str
) -> None:
    """An invalid team gives 422 with a message, and no team is created."""
    response = ada.post("/orgs/guild/teams", json=body)
    assert response.status_code == 422
    assert response.json()["message"].startswith(beginning)
    assert len(ada.get("/orgs/guild/teams").json()) == 1


def test_an_edit_changes_only_the_given_fields_of_a_team(ada: httpx.Client) -> None:
    """Absent fields keep their values, and a new permission applies to the units of the team."""
    team = ada.post("/orgs/guild/teams", json={"name": "team", "units": ["repo.code", "repo.wiki"]}).json()
    path = f"/teams/{team['id']}"
    assert ada.patch(path, json={}).json() == team
    assert ada.patch(path, json={"description": "new"}).json() == {**team, "description": "new"}
    written = ada.patch(path, json={"permission": "write", "name": "TEAM"}).json()
    assert written["units_map"] == {"repo.code": "write", "repo.wiki": "write"}
    assert written["name"] == "TEAM"
    assert ada.patch(path, json={"units_map": {"repo.issues": "read"}}).json()["units"] == ["repo.issues"]
    assert ada.patch(path, json={"units": ["repo.pulls"]}).json()["units_map"] == {"repo.pulls": "read"}
    assert ada.patch(path, json={"permission": "admin"}).json()["units_map"]["repo.wiki"] == "admin"
    assert ada.patch(path, json={"permission": "owner"}).status_code == 422
    assert ada.patch(path, json={"units_map": {"repo.code": "owner"}}).status_code == 422
    assert ada.patch(path, json={"name": "Owners"}).status_code == 422
    assert ada.patch(path, json={"includes_all_repositories": True}).json()["includes_all_repositories"] is True


def test_the_owners_team_cannot_be_changed(ada: httpx.Client) -> None:
    """The permission, name and repositories of the owners' team are fixed, and it cannot be deleted."""
    owners = ada.get("/orgs/guild/teams").json()[0]
    path = f"/teams/{owners['id']}"
    for body in ({"permission": "read"}, {"name": "others"}, {"includes_all_repositories": False}):
        assert ada.patch(path, json=body).status_code == 422
    assert ada.patch(path, json={**owners, "description": "us"}).json() == {**owners, "description": "us"}
    assert ada.delete(path).status_code == 403
    assert ada.delete(f"{path}/repos/guild/engine").status_code == 422


def test_a_team_is_visible_to_members_of_its_organization(clients: ServiceClients, ada: httpx.Client) -> None:
    """Its members and owners see its details, other members its name, and strangers nothing."""
    inside, member, stranger = clients.user("ida"), clients.user("max"), clients.user("sam")
    created = {name: ada.post("/orgs/guild/teams", json={"name": name}).json()["id"] for name in ("one", "two")}
    ada.put(f"/teams/{created['one']}/members/ida")
    ada.put(f"/teams/{created['two']}/members/max")
    for path in ("", "/members", "/repos", "/members/ida"):
        address = f"/teams/{created['one']}{path}"
        assert [client.get(address).status_code for client in (inside, ada, clients.admin)] == [200] * 3
        refused = member.get(address)
        assert (refused.status_code, refused.json()["message"]) == (403, "Must be a team member")
        assert stranger.get(address).status_code == 404
        assert clients.anonymous.get(address).status_code == 401
    assert [team["name"] for team in member.get("/orgs/guild/teams").json()] == ["Owners", "one", "two"]
    assert stranger.get("/orgs/guild/teams").json()["message"] == "Must be an organization member"
    assert [team["name"] for team in inside.get("/user/teams").json()] == ["one"]
    assert inside.get("/user/teams").headers["x-total-count"] == "1"


def test_teams_are_searched_by_name_and_description(ada: httpx.Client) -> None:
    """The wildcards of SQL have no meaning in a search."""
    ada.post("/orgs/guild/teams", json={"name": "makers", "description": "100% of them"})
    ada.post("/orgs/guild/teams", json={"name": "breakers"})

    def found(**query: str) -> list[str]:
        response = ada.get("/orgs/guild/teams/search", params=query)
        assert response.json()["ok"] is True
        assert response.headers["x-total-count"] == str(len(response.json()["data"]))
        return [team["name"] for team in response.json()["data"]]

    assert found(q="AKERS") == ["breakers", "makers"]
    assert found(q="100%") == ["makers"]
    assert found(q="100%", include_desc="false") == []
    assert found(q="_") == []
    assert found() == ["Owners", "breakers", "makers"]
    assert ada.get("/orgs/guild/teams/search", params={"include_desc": "perhaps"}).status_code == 422


def test_a_team_gives_its_members_access_to_repositories(clients: ServiceClients, ada: httpx.Client) -> None:
    """Access is given to single repositories or to all of the organization, and can be withdrawn."""
    bob = clients.user("bob")
    team = ada.post("/orgs/guild/teams", json={"name": "writers", "permission": "write"}).json()["id"]
    ada.put(f"/teams/{team}/members/bob")
    assert bob.get("/repos/guild/engine").status_code == 404
    path = f"/teams/{team}/repos/guild/engine"
    assert ada.get(path).status_code == 404
    assert ada.put(path).status_code == 204
    assert ada.put(path).status_code == 204
    assert bob.get(path).json()["permissions"] == {"admin": False, "push": True, "pull": True}
    assert [repo["name"] for repo in bob.get(f"/teams/{team}/repos").json()] == ["engine"]
    assert bob.get("/repos/guild/engine").status_code == 200
    assert ada.delete(path).status_code == 204
    assert ada.delete(path).status_code == 204
    assert bob.get("/repos/guild/engine").status_code == 404
    assert bob.get(f"/teams/{team}/repos").json() == []
    ada.patch(f"/teams/{team}", json={"includes_all_repositories": True})
    assert bob.get("/repos/guild/engine").status_code == 200
    assert bob.get(f"/teams/{team}/repos").headers["x-total-count"] == "1"


def test_a_team_gets_only_repositories_of_its_organization(clients: ServiceClients, ada: httpx.Client) -> None:
    """Owners assign repositories to a team; repository administrators do so if the organization permits it."""
    bob, eve = clients.user("bob"), clients.user("eve")
    bob.post("/user/repos", json={"name": "engine"})
    admins = ada.post("/orgs/guild/teams", json={"name": "admins", "permission": "admin"}).json()["id"]
    ada.put(f"/teams/{admins}/members/bob")
    bob.post("/user/repos", json={"name": "sail"})
    for path, status in (("bob/sail", 404), ("guild/nothing", 404), ("guild/engine", 204)):
        assert ada.put(f"/teams/{admins}/repos/{path}").status_code == status
    path = f"/teams/{admins}/repos/guild/engine"
    assert eve.put(path).status_code == 404
    assert clients.anonymous.put(path).status_code == 401
    assert bob.delete(path).status_code == 403
    ada.patch("/orgs/guild", json={"repo_admin_change_team_access": True})
    assert bob.put(path).status_code == 204
    assert bob.delete(path).status_code == 204


def test_administering_one_unit_is_not_administering_the_repository(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """The mode `admin` of one unit gives access neither to settings nor to other units."""
    bob = clients.user("bob")
    body = {"name": "clerks", "units_map": {"repo.issues": "admin"}, "includes_all_repositories": True}
    team = ada.post("/orgs/guild/teams", json=body).json()["id"]
    ada.put(f"/teams/{team}/members/bob")
    assert bob.get("/repos/guild/engine").json()["permissions"] == {"admin": False, "push": False, "pull": False}
    assert bob.patch("/repos/guild/engine", json={"private": False}).status_code == 403


def test_owners_add_members_to_teams(clients: ServiceClients, ada: httpx.Client) -> None:
    """A user who is in no team any more leaves the organization; organizations cannot be members."""
    bob = clients.user("bob")
    ids = [ada.post("/orgs/guild/teams", json={"name": name}).json()["id"] for name in ("one", "two")]
    assert bob.put(f"/teams/{ids[0]}/members/bob").status_code == 404
    for number in ids:
        assert ada.put(f"/teams/{number}/members/bob").status_code == 204
        assert ada.put(f"/teams/{number}/members/bob").status_code == 204
    assert bob.put(f"/teams/{ids[0]}/members/admin").status_code == 403
    assert ada.put(f"/teams/{ids[0]}/members/guild").status_code == 404
    assert ada.put(f"/teams/{ids[0]}/members/nobody").status_code == 404
    assert ada.get(f"/teams/{ids[0]}/members/admin").status_code == 404
    assert ada.delete(f"/teams/{ids[0]}/members/bob").status_code == 204
    assert ada.delete(f"/teams/{ids[0]}/members/bob").status_code == 204
    assert ada.get("/orgs/guild/members/bob").status_code == 204
    assert ada.delete(f"/teams/{ids[1]}").status_code == 204
    assert ada.get("/orgs/guild/members/bob").status_code == 404
    assert ada.get(f"/teams/{ids[1]}").status_code == 404


@pytest.mark.parametrize("number", ["0", "-1", "999", "9223372036854775808", "x", "1.0", "%00", "٣"])
def test_an_invalid_team_id_is_not_found(clients: ServiceClients, number: str) -> None:
    """An unknown id and a text that is no number give 404."""
    assert clients.admin.get(f"/teams/{number}").status_code == 404
    assert clients.admin.put(f"/teams/{number}/members/admin").status_code == 404


def test_a_token_for_public_things_sees_no_team_of_a_private_organization(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """A `public-only` token neither finds nor lists the teams of a private organization."""
    number = ada.get("/user/teams").json()[0]["id"]
    ada.patch("/orgs/guild", json={"visibility": "private"})
    account = ada.get("/user").json()["login"]
    public_only = clients.with_token(accounts.find_user(clients.database, account), "all", "public-only")
    assert public_only.get(f"/teams/{number}").status_code == 404
    assert public_only.get("/user/teams").json() == []


@pytest.mark.parametrize("named", ["guild", "GUILD", "bob", "nobody", "undefined", "a%2Fb"])
def test_the_organization_in_the_path_of_a_repository_is_ignored(
    clients: ServiceClients, ada: httpx.Client, named: str
) -> None:
    """The organization of the team counts, since clients send other values; other repositories are unaffected."""
    bob = clients.user("bob")
    theirs = bob.post("/user/repos", json={"name": "engine"}).json()["id"]
    team = ada.post("/orgs/guild/teams", json={"name": "crew"}).json()["id"]
    path = f"/teams/{team}/repos/{named}/engine"
    assert ada.get(path).status_code == 404
    assert ada.put(path).status_code == 204
    assert ada.get(path).json()["full_name"] == "guild/engine"
    assert [repo["full_name"] for repo in ada.get(f"/teams/{team}/repos").json()] == ["guild/engine"]
    assert ada.delete(path).status_code == 204
    assert ada.get(f"/teams/{team}/repos").json() == []
    assert bob.get("/repos/bob/engine").json()["id"] == theirs
