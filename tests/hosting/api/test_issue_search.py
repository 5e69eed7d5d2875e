"""The issue search over all repositories."""

import httpx
import pytest

from holdfast.hosting.store.accounts import find_account, find_user
from holdfast.hosting.store.repositories import find_repository
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import READ, make_organization, make_repository, make_team, with_branches

SEARCH = "/repos/issues/search"


def found(client: httpx.Client, **query: str | int | bool) -> list[str]:
    """Return the repositories and titles a search finds, oldest first."""
    response = client.get(SEARCH, params={"sort": "oldest", **query})
    assert response.status_code == 200, response.text
    assert response.headers["X-Total-Count"] == str(len(response.json()))
    return [f"{issue['repository']['name']} {issue['title']}" for issue in response.json()]


@pytest.fixture
def people(clients: ServiceClients) -> dict[str, httpx.Client]:
    """Make Ada's repositories and an organization's, with an issue and a pull request in each."""
    ada, bob, eve = (clients.account(name) for name in ("ada", "bob", "eve"))
    acme = make_organization(clients.database, "acme", ada, visibility="private")
    with_branches(clients, make_repository(clients.database, ada, "open"))
    with_branches(clients, make_repository(clients.database, ada, "secret", is_private=True))
    shared = make_repository(clients.database, acme, "shared", is_private=True)
    with_branches(clients, shared)
    units = {"repo.issues": READ, "repo.pulls": 0}
    make_team(clients.database, acme, "Talkers", [bob], units=units, places=(shared,))
    make_repository(clients.database, acme, "apart", is_private=True)
    owner = clients.with_token(ada)
    owner.post("/repos/acme/apart/issues", json={"title": "closed", "closed": True})
    for path in ("ada/open", "ada/secret", "acme/shared"):
        assert owner.post(f"/repos/{path}/issues", json={"title": "issue"}).status_code == 201
        pull = {"title": "pull", "head": "fix", "base": "main"}
        assert owner.post(f"/repos/{path}/pulls", json=pull).status_code == 201
    return {"ada": owner, "bob": clients.with_token(bob), "eve": clients.with_token(eve), "": clients.anonymous}


def test_a_search_finds_only_readable_issues(clients: ServiceClients, people: dict[str, httpx.Client]) -> None:
    """Access is checked for each unit: a team that reads only issues finds no pull requests."""
    public = ["open issue", "open pull"]
    everything = [*public, "secret issue", "secret pull", "shared issue", "shared pull"]
    assert found(people[""]) == found(people["eve"]) == public
    assert found(people["ada"]) == found(clients.admin) == everything
    assert found(people["bob"]) == [*public, "shared issue"]
    public_only = clients.with_token(find_user(clients.database, "ada"), "all", "public-only")
    assert found(public_only) == public


def test_searches_have_filters(clients: ServiceClients, people: dict[str, httpx.Client]) -> None:
    """Issues can be searched by type, owner, team, state and the role of the caller."""
    ada, bob = people["ada"], people["bob"]
    assert found(ada, type="pulls", owner="ADA") == ["open pull", "secret pull"]
    assert found(ada, owner="acme", team="talkers") == ["shared issue", "shared pull"]
    assert found(ada, owner="acme", state="all") == ["apart closed", "shared issue", "shared pull"]
    assert found(ada, owner="acme", team="talkers", state="all") == ["shared issue", "shared pull"]
    assert found(ada, owner="acme", team="nobody") == found(ada, owner="nobody") == []
    assert ada.get(SEARCH, params={"team": "talkers"}).status_code == 400
    bob.post("/repos/ada/open/issues", json={"title": "mine", "body": "@ada look"})
    assert found(bob, created=True) == ["open mine"]
    assert found(ada, mentioned=True) == ["open mine"]
    ada.post("/repos/ada/open/issues/1/assignees", json={"assignees": ["ada"]})
    assert found(ada, assigned=True) == ["open issue"]
    assert found(people[""], assigned=True) == found(ada, reviewed=True) == found(ada, review_requested=True) == []
    assert found(ada, created_by="bob", q="MINE", state="all") == ["open mine"]


def test_pull_requests_are_found_by_reviewer(clients: ServiceClients, people: dict[str, httpx.Client]) -> None:
    """A request to a user or their team matches until the review is submitted; pending reviews do not count."""
    ada, admin = people["ada"], clients.admin
    acme = find_account(clients.database, "acme")
    carl = clients.account("carl")
    shared = find_repository(clients.database, "acme", "shared")
    make_team(clients.database, acme, "Menders", [carl], units={"repo.pulls": READ}, places=(shared,))
    member = clients.with_token(carl)
    asked = {"team_reviewers": ["Menders"]}
    assert ada.post("/repos/acme/shared/pulls/2/requested_reviewers", json=asked).status_code == 201
    asked = {"reviewers": ["carl"]}
    assert ada.post("/repos/ada/open/pulls/2/requested_reviewers", json=asked).status_code == 201
    both = ["open pull", "shared pull"]
    assert found(member, review_requested=True) == found(member, review_requested=True, type="pulls") == both
    assert found(member, review_requested=True, type="issues") == found(member, reviewed=True) == []
    assert found(people["bob"], review_requested=True) == found(ada, review_requested=True) == []
    assert found(people[""], review_requested=True) == found(people[""], reviewed=True) == []

    draft = member.post("/repos/ada/open/pulls/2/reviews", json={"body": "To be continued"})
    assert draft.json()["state"] == "PENDING"
    assert found(member, reviewed=True) == []
    for path in ("ada/open", "acme/shared"):
        body = {"event": "COMMENT", "body": "Good work"}
        if path == "ada/open":
            number = draft.json()["id"]
            assert member.post(f"/repos/{path}/pulls/2/reviews/{number}", json=body).status_code == 200
        else:
            assert member.post(f"/repos/{path}/pulls/2/reviews", json=body).status_code == 200
    assert found(member, reviewed=True) == both
    assert found(member, review_requested=True) == []
    assert found(admin, reviewed=True) == found(ada, reviewed=True) == []


def test_a_repository_can_come_first(people: dict[str, httpx.Client]) -> None:
    """Issues of the repository `priority_repo_id` come first."""
    ada = people["ada"]
    number = ada.get("/repos/acme/shared/issues/1").json()["repository"]["id"]
    assert found(ada, priority_repo_id=number)[:2] == ["shared issue", "shared pull"]
    response = ada.get(SEARCH, params={"limit": 4, "page": 2})
    assert (len(response.json()), response.headers["X-Total-Count"]) == (2, "6")
