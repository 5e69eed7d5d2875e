"""Numbers and counts of pull requests and issues."""

import httpx

from holdfast.hosting.store import repositories
from tests.hosting.api_clients import ServiceClients

PULLS = "/repos/ada/ship/pulls"
NEW = {"title": "Plug it", "head": "fix", "base": "main"}


def test_a_pull_request_is_an_issue_too(clients: ServiceClients, ada: httpx.Client) -> None:
    """Pull requests and issues share their numbers and have separate counts."""
    ada.post("/repos/ada/ship/issues", json={"title": "It leaks"})
    response = ada.post(PULLS, json={**NEW, "body": "b", "assignee": "ada"})
    assert response.status_code == 201
    pull = response.json()
    assert (pull["number"], pull["state"], pull["mergeable"], pull["merged"]) == (2, "open", True, False)
    assert (pull["head"]["ref"], pull["base"]["ref"]) == ("fix", "main")
    assert pull["head"]["repo"]["full_name"] == pull["base"]["repo"]["full_name"] == "ada/ship"
    root = clients.service.url
    assert (pull["url"], pull["html_url"]) == (f"{root}/api/v1{PULLS}/2", f"{root}/ada/ship/pulls/2")
    assert clients.anonymous.get(f"{PULLS}/2").json()["title"] == "Plug it"
    issue = ada.get("/repos/ada/ship/issues/2").json()
    assert issue["html_url"] == pull["html_url"]
    assert issue["pull_request"] == {
        "merged": False,
        "merged_at": None,
        "draft": False,
        "html_url": pull["html_url"],
    }
    repository = repositories.find_repository(clients.database, "ada", "ship")
    assert (repository.open_issues, repository.open_pulls) == (1, 1)
    assert ada.get(f"{PULLS}/1").status_code == 404
