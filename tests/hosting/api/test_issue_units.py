"""Permissions of teams for the units of issues and pull requests."""

from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import (
    READ,
    WRITE,
    make_organization,
    make_repository,
    make_team,
    with_branches,
)


def test_a_team_has_access_to_its_units(clients: ServiceClients) -> None:
    """A team that reads issues and writes pull requests can change pull requests and no issues."""
    ada, bob = clients.account("ada"), clients.account("bob")
    acme = make_organization(clients.database, "acme", ada)
    boat = make_repository(clients.database, acme, "boat", is_private=True)
    with_branches(clients, boat)
    units = {"repo.issues": READ, "repo.pulls": WRITE}
    make_team(clients.database, acme, "Crew", [bob], units=units, places=(boat,))
    owner, crew, there = clients.with_token(ada), clients.with_token(bob), "/repos/acme/boat"
    owner.post(f"{there}/issues", json={"title": "i"})
    owner.post(f"{there}/pulls", json={"title": "p", "head": "fix", "base": "main"})
    assert crew.put(f"{there}/issues/1/lock", json={}).status_code == 403
    assert crew.put(f"{there}/issues/2/lock", json={}).status_code == 204
    assert crew.patch(f"{there}/issues/1", json={"title": "x"}).status_code == 403
    assert crew.patch(f"{there}/issues/2", json={"title": "x"}).status_code == 201
    assert crew.post(f"{there}/issues/2/comments", json={"body": "still open to me"}).status_code == 201
    assert clients.user("eve").get(f"{there}/issues/1").status_code == 404
