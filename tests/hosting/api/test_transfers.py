"""Pending transfers of repositories: accept, reject, cancel and notify."""

import httpx
import pytest

from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.repositories import find_repository
from holdfast.hosting.store.teams import team_named
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import (
    READ,
    WRITE,
    let_in,
    make_organization,
    make_team,
    recorded_events,
)

SHIP = "/repos/ada/ship"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a private repository, and create Bob and Eve."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "private": True, "auto_init": True})
    clients.account("bob")
    clients.account("eve")
    return ada


def caller(clients: ServiceClients, name: str) -> httpx.Client:
    """Return a client of a user."""
    return clients.with_token(find_user(clients.database, name))


def offer(client: httpx.Client, name: str) -> httpx.Response:
    """Offer the repository to a user or an organization."""
    return client.post(f"{SHIP}/transfer", json={"new_owner": name})


def test_a_transfer_waits_until_the_new_owner_accepts(clients: ServiceClients, ada: httpx.Client) -> None:
    """Nothing changes before the recipient accepts, and only they can accept or reject."""
    bob, eve = caller(clients, "bob"), caller(clients, "eve")
    offered = offer(ada, "Bob")
    assert offered.status_code == 202
    waiting = offered.json()["repo_transfer"]
    assert (waiting["doer"]["login"], waiting["recipient"]["login"], waiting["teams"]) == ("ada", "bob", [])
    assert ada.get(SHIP).json()["repo_transfer"] == waiting
    assert ada.get(SHIP).json()["owner"]["login"] == "ada"
    assert bob.get(SHIP).status_code == 404
    for stranger in (eve, clients.anonymous):
        assert stranger.post(f"{SHIP}/transfer/accept").status_code == 404
        assert stranger.post(f"{SHIP}/transfer/reject").status_code == 404
    assert ada.post(f"{SHIP}/transfer/accept").status_code == 403
    assert not [item for kind, item in recorded_events(clients.database) if item.get("action") == "transferred"]
    accepted = bob.post(f"{SHIP}/transfer/accept")
    assert accepted.status_code == 202, accepted.text
    assert accepted.json()["full_name"] == "bob/ship"
    assert "repo_transfer" not in bob.get("/repos/bob/ship").json()
    assert ada.get("/repos/bob/ship").status_code == 404
    assert bob.post("/repos/bob/ship/transfer/accept").status_code == 404


def test_a_transfer_can_be_rejected_and_taken_back(clients: ServiceClients, ada: httpx.Client) -> None:
    """The recipient or the owner ends a transfer, and a repository has only one pending transfer."""
    bob = caller(clients, "bob")
    assert ada.post(f"{SHIP}/transfer/reject").status_code == 404
    assert offer(ada, "bob").status_code == 202
    assert offer(ada, "eve").status_code == 422
    rejected = bob.post(f"{SHIP}/transfer/reject")
    assert (rejected.status_code, rejected.json()["full_name"]) == (200, "ada/ship")
    assert "repo_transfer" not in ada.get(SHIP).json()
    assert bob.post(f"{SHIP}/transfer/accept").status_code == 404
    assert offer(ada, "eve").status_code == 202
    assert ada.post(f"{SHIP}/transfer/reject").status_code == 200
    assert caller(clients, "eve").post(f"{SHIP}/transfer/accept").status_code == 404


def test_readers_other_than_the_new_owner_are_forbidden(clients: ServiceClients, ada: httpx.Client) -> None:
    """Readers of a public repository get 403 if they accept, reject or start a transfer."""
    ada.patch(SHIP, json={"private": False})
    offer(ada, "bob")
    eve = caller(clients, "eve")
    for answer in ("accept", "reject"):
        assert clients.anonymous.post(f"{SHIP}/transfer/{answer}").status_code == 401
        assert eve.post(f"{SHIP}/transfer/{answer}").status_code == 403
    assert eve.post(f"{SHIP}/transfer", json={"new_owner": "eve"}).status_code == 403
    shown = ada.get(SHIP).json()
    assert (shown["full_name"], shown["repo_transfer"]["recipient"]["login"]) == ("ada/ship", "bob")


def test_a_waiting_transfer_is_shown_to_those_concerned_only(clients: ServiceClients, ada: httpx.Client) -> None:
    """Readers of a public repository do not learn to whom it is offered, which may be a private organization."""
    ada.patch(SHIP, json={"private": False})
    bob, eve = find_user(clients.database, "bob"), find_user(clients.database, "eve")
    make_organization(clients.database, "secret", bob, visibility="private")
    owner = clients.with_token(bob)
    crew = owner.post("/orgs/secret/teams", json={"name": "Crew", "permission": "read"}).json()["id"]
    owner.put(f"/teams/{crew}/members/ada")
    assert offer(ada, "secret").status_code == 202
    for client in (ada, owner, clients.admin):
        assert client.get(SHIP).json()["repo_transfer"]["recipient"]["login"] == "secret"
    let_in(clients.database, find_repository(clients.database, "ada", "ship"), eve, WRITE)
    for client in (clients.with_token(eve), clients.anonymous):
        assert "repo_transfer" not in client.get(SHIP).json()


def test_a_token_for_public_repositories_accepts_no_private_one(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """A private repository is not found, as long as it is private."""
    offer(ada, "bob")
    narrow = clients.with_token(find_user(clients.database, "bob"), "write:repository", "public-only")
    for answer in ("accept", "reject"):
        assert narrow.post(f"{SHIP}/transfer/{answer}").status_code == 404
    ada.patch(SHIP, json={"private": False})
    assert narrow.post(f"{SHIP}/transfer/accept").json()["full_name"] == "bob/ship"


def test_an_owner_accepts_for_an_organization(clients: ServiceClients, ada: httpx.Client) -> None:
    """An owner of the organization accepts; a private organization is not found by the sender."""
    bob = find_user(clients.database, "bob")
    make_organization(clients.database, "fleet", bob)
    make_organization(clients.database, "secret", bob, visibility="private")
    assert offer(ada, "secret").status_code == 404
    assert offer(ada, "fleet").status_code == 202
    assert caller(clients, "eve").post(f"{SHIP}/transfer/accept").status_code == 404
    assert clients.with_token(bob).post(f"{SHIP}/transfer/accept").json()["full_name"] == "fleet/ship"


def test_teams_of_the_new_owner_get_access(clients: ServiceClients, ada: httpx.Client) -> None:
    """Teams get access at once or when the transfer is accepted, and only teams of the new owner are allowed.

    Only members of the organization see which teams these are.
    """
    bob, eve = find_user(clients.database, "bob"), find_user(clients.database, "eve")
    fleet = make_organization(clients.database, "fleet", bob)
    second = make_organization(clients.database, "other", bob)
    make_team(clients.database, fleet, "Crew", [eve], mode=READ)
    make_team(clients.database, second, "Others", [eve], mode=READ)
    crew = team_named(clients.database, fleet, "Crew").id
    other = team_named(clients.database, second, "Others").id
    for name, teams in (("bob", [crew]), ("fleet", [crew, other]), ("fleet", [999_999])):
        refused = ada.post(f"{SHIP}/transfer", json={"new_owner": name, "team_ids": teams})
        assert refused.status_code == 422, refused.text
    offered = ada.post(f"{SHIP}/transfer", json={"new_owner": "fleet", "team_ids": [crew, crew]})
    assert offered.json()["repo_transfer"]["teams"] == []
    let_in(clients.database, find_repository(clients.database, "ada", "ship"), bob, READ)
    shown = clients.with_token(bob).get(SHIP).json()["repo_transfer"]
    assert [team["name"] for team in shown["teams"]] == ["Crew"]
    assert clients.with_token(bob).post(f"{SHIP}/transfer/accept").status_code == 202
    assert clients.with_token(eve).get("/repos/fleet/ship").status_code == 200
    back = {"new_owner": "other", "team_ids": [other]}
    assert clients.with_token(bob).post("/repos/fleet/ship/transfer", json=back).status_code == 202
    assert clients.with_token(eve).get("/repos/other/ship").status_code == 200
    assert clients.with_token(bob).get("/repos/other/ship/teams").json()[-1]["name"] == "Others"


@pytest.mark.parametrize("new_owner", ["bob", "ada"])
def test_the_teams_of_the_old_owner_leave_the_rules(clients: ServiceClients, new_owner: str) -> None:
    """Teams of an organization have no say in the branches and tags of a repository it has given away."""
    bob, eve = clients.account("bob"), clients.account("eve")
    make_organization(clients.database, "fleet", bob)
    owner, member = clients.with_token(bob), clients.with_token(eve)
    crew = owner.post("/orgs/fleet/teams", json={"name": "Crew", "permission": "read"}).json()["id"]
    owner.put(f"/teams/{crew}/members/eve")
    owner.post("/orgs/fleet/repos", json={"name": "ship", "auto_init": True})
    owner.post("/repos/fleet/ship/branches", json={"new_branch_name": "fix"})
    rule = {"enable_approvals_whitelist": True, "approvals_whitelist_teams": ["Crew"]}
    owner.post("/repos/fleet/ship/branch_protections", json={"rule_name": "main", **rule})
    owner.post("/repos/fleet/ship/tag_protections", json={"name_pattern": "v*", "whitelist_teams": ["Crew"]})
    owner.post("/repos/fleet/ship/pulls", json={"title": "Plug", "head": "fix", "base": "main"})
    ada = clients.user("ada")
    assert owner.post("/repos/fleet/ship/transfer", json={"new_owner": new_owner}).status_code == 202
    caller = owner
    if new_owner == "ada":
        caller = ada
        assert ada.post("/repos/fleet/ship/transfer/accept").status_code == 202
    (branches,) = caller.get(f"/repos/{new_owner}/ship/branch_protections").json()
    assert (branches["enable_approvals_whitelist"], branches["approvals_whitelist_teams"]) == (True, [])
    (tags,) = caller.get(f"/repos/{new_owner}/ship/tag_protections").json()
    assert (tags["name_pattern"], tags["whitelist_teams"]) == ("v*", [])
    reviews = f"/repos/{new_owner}/ship/pulls/1/reviews"
    assert member.post(reviews, json={"event": "APPROVED"}).json()["official"] is False


def test_a_taken_name_keeps_the_transfer_pending(clients: ServiceClients, ada: httpx.Client) -> None:
    """Accepting fails with 409 if the name is taken; an immediate transfer by an administrator ends the wait."""
    bob = caller(clients, "bob")
    bob.post("/user/repos", json={"name": "ship"})
    offer(ada, "bob")
    assert bob.post(f"{SHIP}/transfer/accept").status_code == 409
    assert ada.get(SHIP).json()["repo_transfer"]["recipient"]["login"] == "bob"
    moved = clients.admin.post(f"{SHIP}/transfer", json={"new_owner": "eve"})
    assert (moved.status_code, moved.json()["full_name"]) == (202, "eve/ship")
    assert "repo_transfer" not in moved.json()


def subjects(client: httpx.Client, **query: str | bool) -> list[tuple[str, str]]:
    """Return the types and titles of the subjects of a user's notifications."""
    response = client.get("/notifications", params=query)
    assert response.headers["x-total-count"] == str(len(response.json()))
    return [(item["subject"]["type"], item["subject"]["title"]) for item in response.json()]


def test_the_new_owner_is_notified_while_a_transfer_waits(clients: ServiceClients, ada: httpx.Client) -> None:
    """Only the recipient is notified, even of a private repository, and until they accept."""
    bob, eve = caller(clients, "bob"), caller(clients, "eve")
    bob.post("/user/repos", json={"name": "boat", "auto_init": True})
    eve.post("/repos/bob/boat/issues", json={"title": "Leak"})
    assert offer(ada, "bob").status_code == 202
    ship, leak = ("Repository", "ada/ship"), ("Issue", "Leak")
    assert sorted(subjects(bob)) == [leak, ship]
    assert subjects(bob, **{"subject-type": "repository"}) == [ship]
    assert subjects(bob, **{"subject-type": "issue"}) == [leak]
    assert subjects(bob, **{"subject-type": "commit"}) == []
    assert (subjects(ada), subjects(eve), subjects(clients.admin)) == ([], [], [])
    (thread,) = bob.get("/notifications", params={"subject-type": "repository"}).json()
    subject = thread["subject"]
    assert (thread["unread"], thread["pinned"], thread["repository"]["full_name"]) == (True, False, "ada/ship")
    assert (subject["state"], subject["latest_comment_url"]) == ("", "")
    assert (subject["url"].endswith("/api/v1/repos/ada/ship"), subject["html_url"].endswith("/ada/ship")) == (
        True,
        True,
    )
    assert bob.get(f"/notifications/threads/{thread['id']}").json() == thread
    assert eve.get(f"/notifications/threads/{thread['id']}").status_code == 404
    only_public = clients.with_token(find_user(clients.database, "bob"), "all", "public-only")
    assert subjects(only_public) == [leak]
    assert only_public.get(f"/notifications/threads/{thread['id']}").status_code == 404
    assert bob.get("/notifications/new").json() == {"new": 2}
    assert bob.patch(f"/notifications/threads/{thread['id']}").status_code == 205
    assert (subjects(bob), bob.get("/notifications/new").json()) == ([leak], {"new": 1})
    assert bob.put("/notifications", params={"all": True, "to-status": "unread"}).status_code == 205
    assert len(subjects(bob)) == 2
    assert bob.post(f"{SHIP}/transfer/accept").status_code == 202
    assert subjects(bob, all=True) == [leak]


def test_notifications_are_deleted_when_a_transfer_ends(clients: ServiceClients, ada: httpx.Client) -> None:
    """The notification is deleted if the transfer is rejected or taken back, or the repository is deleted."""
    bob = caller(clients, "bob")
    for who, method, path in (
        (bob, "POST", "/transfer/reject"),
        (ada, "POST", "/transfer/reject"),
        (ada, "DELETE", ""),
    ):
        assert offer(ada, "bob").status_code == 202
        assert subjects(bob) == [("Repository", "ada/ship")]
        assert who.request(method, f"{SHIP}{path}").status_code in {200, 204}
        assert subjects(bob, all=True) == []


def test_those_who_create_repositories_in_an_organization_are_notified(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """Owners at the time of the offer are notified as long as they are owners; other members are not."""
    bob, eve = caller(clients, "bob"), caller(clients, "eve")
    people = [find_user(clients.database, name) for name in ("bob", "eve")]
    fleet = make_organization(clients.database, "fleet", people[0])
    make_team(clients.database, fleet, "readers", [people[1]], mode=READ)
    assert offer(ada, "fleet").status_code == 202
    assert (subjects(bob), subjects(eve), subjects(ada)) == ([("Repository", "ada/ship")], [], [])
    owners = next(team["id"] for team in clients.admin.get("/orgs/fleet/teams").json() if team["name"] == "Owners")
    assert clients.admin.put(f"/teams/{owners}/members/eve").status_code == 204
    assert clients.admin.delete(f"/teams/{owners}/members/bob").status_code == 204
    assert (subjects(bob), subjects(eve)) == ([], [])
