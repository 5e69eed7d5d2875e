"""The endpoints of the teams of a repository."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients

HOME = "/repos/fleet/ship"


@pytest.fixture
def eve(clients: ServiceClients) -> httpx.Client:
    """Return a client of Eve."""
    return clients.user("eve")


@pytest.fixture
def ada(clients: ServiceClients, eve: httpx.Client) -> httpx.Client:
    """Give Ada an organization with a repository and two teams, one of which Eve is in."""
    client = clients.user("ada")
    client.post("/orgs", json={"username": "fleet"})
    client.post("/orgs/fleet/repos", json={"name": "ship"})
    for name in ("Crew", "Guests"):
        settings = {"name": name, "permission": "write", "units": ["repo.code"]}
        team = client.post("/orgs/fleet/teams", json=settings).json()
        if name == "Crew":
            client.put(f"/teams/{team['id']}/members/eve")
    return client


def team_names(client: httpx.Client) -> list[str]:
    """List the teams of the repository."""
    return [team["name"] for team in client.get(f"{HOME}/teams").json()]


def test_teams_are_added_and_removed(ada: httpx.Client, eve: httpx.Client) -> None:
    """A team is named in any case, is added only once, and is visible to members."""
    assert team_names(ada) == ["Owners"]
    assert ada.put(f"{HOME}/teams/crew").status_code == 204
    assert ada.put(f"{HOME}/teams/Crew").status_code == 422
    assert team_names(eve) == ["Owners", "Crew"]
    shown = ada.get(f"{HOME}/teams/CREW")
    assert (shown.status_code, shown.json()["name"], shown.json()["permission"]) == (200, "Crew", "write")
    assert ada.get(f"{HOME}/teams/Guests").status_code == 404
    assert ada.delete(f"{HOME}/teams/Guests").status_code == 422
    assert ada.delete(f"{HOME}/teams/Crew").status_code == 204
    assert team_names(ada) == ["Owners"]
    assert ada.delete(f"{HOME}/teams/Owners").status_code == 422
    assert ada.put(f"{HOME}/teams/nobody").status_code == 404


def test_managing_teams_requires_administrators(
    ada: httpx.Client, eve: httpx.Client, clients: ServiceClients
) -> None:
    """Members get 403, others 404, and a repository of a user gives 405."""
    max_ = clients.user("max")
    ada.put(f"{HOME}/teams/Crew")
    assert eve.put(f"{HOME}/teams/Guests").status_code == 403
    assert eve.delete(f"{HOME}/teams/Crew").status_code == 403
    assert max_.get(f"{HOME}/teams").status_code == 404
    assert max_.get(f"{HOME}/teams/Crew").status_code == 404
    assert max_.put(f"{HOME}/teams/Guests").status_code == 404
    assert clients.anonymous.get(f"{HOME}/teams").status_code == 401
    assert team_names(ada) == ["Owners", "Crew"]
    ada.post("/user/repos", json={"name": "boat"})
    for response in (ada.get("/repos/ada/boat/teams"), ada.put("/repos/ada/boat/teams/Crew")):
        assert response.status_code == 405
