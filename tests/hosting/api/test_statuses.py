"""The commit status endpoints."""

from typing import Any

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with a commit, and return her client."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship", "auto_init": True})
    return client


def head(ada: httpx.Client) -> str:
    """Return the commit Ada's branch points to."""
    sha: str = ada.get("/repos/ada/ship/branches/main").json()["commit"]["id"]
    return sha


def test_a_commit_without_statuses_has_an_empty_list(ada: httpx.Client) -> None:
    """The list is empty for a branch, a branch with a slash in its name, a tag and a commit id."""
    ada.post("/repos/ada/ship/branches", json={"new_branch_name": "feature/x", "old_ref_name": "main"})
    ada.post("/repos/ada/ship/tags", json={"tag_name": "v1", "target": "main"})
    for ref in ("main", "feature/x", "feature%2Fx", "v1", head(ada), head(ada)[:10]):
        response = ada.get(f"/repos/ada/ship/commits/{ref}/statuses")
        assert (response.status_code, response.json(), response.headers["x-total-count"]) == (200, [], "0")
    response = ada.get(f"/repos/ada/ship/statuses/{head(ada)}", params={"state": "success", "sort": "oldest"})
    assert (response.status_code, response.json(), response.headers["x-total-count"]) == (200, [], "0")


def test_the_combined_status_of_no_statuses_has_no_state(ada: httpx.Client) -> None:
    """The state is empty, since a client that waits for checks must not take it for success or pending."""
    response = ada.get("/repos/ada/ship/commits/main/status")
    assert (response.status_code, response.headers["x-total-count"]) == (200, "0")
    payload = response.json()
    assert (payload["state"], payload["total_count"], payload["statuses"]) == ("", 0, [])
    assert (payload["sha"], payload["repository"]["full_name"]) == (head(ada), "ada/ship")
    assert ada.get(payload["commit_url"]).json()["sha"] == head(ada)
    assert ada.get(payload["url"]).json() == payload


@pytest.mark.parametrize("path", ["commits/{}/statuses", "commits/{}/status", "statuses/{}"])
@pytest.mark.parametrize("ref", ["nowhere", "0" * 40, "refs/heads/nowhere"])
def test_an_unknown_ref_is_not_found(ada: httpx.Client, path: str, ref: str) -> None:
    """All three endpoints answer 404 for an unknown ref."""
    assert ada.get(f"/repos/ada/ship/{path.format(ref)}").status_code == 404


def test_an_unknown_state_or_order_is_refused(ada: httpx.Client) -> None:
    """An unknown state or sort order gives 400 and is not ignored."""
    for query in ({"state": "purple"}, {"sort": "sideways"}):
        assert ada.get("/repos/ada/ship/commits/main/statuses", params=query).status_code == 400


def test_statuses_of_an_empty_repository_are_not_found(clients: ServiceClients) -> None:
    """The status of an empty repository gives 404, because its default branch does not exist."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship"})
    assert ada.get("/repos/ada/ship/commits/main/status").status_code == 404


def test_statuses_are_created_and_listed(ada: httpx.Client) -> None:
    """Statuses are found by commit id, branch and tag, newest first by default, and filtered by state."""
    ada.post("/repos/ada/ship/tags", json={"tag_name": "v1", "target": "main"})
    sha = head(ada)
    body: dict[str, Any] = {}
    for state, context in (("pending", "ci/build"), ("success", "ci/build"), ("skipped", "")):
        response = ada.post(
            f"/repos/ada/ship/statuses/{sha}",
            json={"state": state, "context": context, "description": "d", "target_url": "https://ci.example.org/"},
        )
        assert response.status_code == 201
        body = response.json()
    assert (body["status"], body["context"], body["description"]) == ("skipped", "default", "d")
    assert (body["target_url"], body["creator"]["login"]) == ("https://ci.example.org/", "ada")
    assert ada.get(body["url"]).json()[0] == body
    for path in (f"statuses/{sha}", "commits/main/statuses", "commits/v1/statuses"):
        listed = ada.get(f"/repos/ada/ship/{path}")
        assert listed.headers["x-total-count"] == "3"
        assert [item["status"] for item in listed.json()] == ["skipped", "success", "pending"]
    for sort in ("oldest", "leastupdate", "leastindex"):
        listed = ada.get("/repos/ada/ship/commits/main/statuses", params={"sort": sort, "limit": 1, "page": 2})
        assert [item["status"] for item in listed.json()] == ["success"]
        assert 'rel="next"' in listed.headers["link"]
    assert [
        item["context"] for item in ada.get(f"/repos/ada/ship/statuses/{sha}", params={"state": "success"}).json()
    ] == ["ci/build"]
    combined = ada.get("/repos/ada/ship/commits/main/status").json()
    assert (combined["state"], combined["total_count"]) == ("success", 2)
    assert [status["context"] for status in combined["statuses"]] == ["default", "ci/build"]


def test_a_status_of_an_unknown_commit_or_state_is_refused(ada: httpx.Client) -> None:
    """An unknown commit gives 404; an invalid state or target URL gives 422."""
    assert ada.post(f"/repos/ada/ship/statuses/{'1' * 40}", json={"state": "success"}).status_code == 404
    for body in ({"state": "purple"}, {}, {"state": "success", "target_url": "javascript:alert(1)"}):
        assert ada.post("/repos/ada/ship/statuses/main", json=body).status_code == 422
    assert ada.get("/repos/ada/ship/commits/main/statuses").json() == []
