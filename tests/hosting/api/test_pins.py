"""Pinned issues and pull requests."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients

HOME = "/repos/ada/ship"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with five issues and a pull request, and return her client."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship", "auto_init": True})
    for number in range(1, 6):
        client.post(f"{HOME}/issues", json={"title": f"Issue {number}"})
    client.post(f"{HOME}/contents/new.txt", json={"content": "", "branch": "main", "new_branch": "side"})
    client.post(f"{HOME}/pulls", json={"title": "New", "head": "side", "base": "main"})
    return client


def pinned(client: httpx.Client, kind: str = "issues") -> list[tuple[int, int]]:
    """List the numbers of pinned issues and their positions."""
    return [(item["number"], item["pin_order"]) for item in client.get(f"{HOME}/{kind}/pinned").json()]


def test_issues_are_pinned_in_order_up_to_a_limit(ada: httpx.Client) -> None:
    """At most three issues can be pinned, besides pull requests; pinning again has no effect."""
    for number in (3, 1, 2, 3):
        assert ada.post(f"{HOME}/issues/{number}/pin").status_code == 204
    assert pinned(ada) == [(3, 1), (1, 2), (2, 3)]
    assert ada.get(f"{HOME}/new_pin_allowed").json() == {"issues": False, "pull_requests": True}
    refused = ada.post(f"{HOME}/issues/4/pin")
    assert (refused.status_code, "at most 3" in refused.json()["message"]) == (400, True)
    assert ada.post(f"{HOME}/issues/6/pin").status_code == 204
    assert pinned(ada, "pulls") == [(6, 1)]
    assert ada.get(f"{HOME}/issues/4").json()["pin_order"] == 0


def test_unpinning_closes_the_gap(ada: httpx.Client) -> None:
    """Later pins move up when an issue is unpinned, and the timeline shows pins and unpins."""
    for number in (1, 2, 3):
        ada.post(f"{HOME}/issues/{number}/pin")
    assert ada.delete(f"{HOME}/issues/1/pin").status_code == 204
    assert ada.delete(f"{HOME}/issues/1/pin").status_code == 204
    assert pinned(ada) == [(2, 1), (3, 2)]
    assert [item["type"] for item in ada.get(f"{HOME}/issues/1/timeline").json()] == ["pin", "unpin"]
    assert ada.post(f"{HOME}/issues/4/pin").status_code == 204
    assert pinned(ada) == [(2, 1), (3, 2), (4, 3)]


@pytest.mark.parametrize(("position", "order"), [(1, [3, 1, 2]), (2, [1, 3, 2]), (3, [1, 2, 3]), (99, [1, 2, 3])])
def test_a_pin_is_moved(ada: httpx.Client, position: int, order: list[int]) -> None:
    """A position beyond the last one means the last one."""
    for number in (1, 2, 3):
        ada.post(f"{HOME}/issues/{number}/pin")
    assert ada.patch(f"{HOME}/issues/3/pin/{position}").status_code == 204
    assert pinned(ada) == [(number, position) for position, number in enumerate(order, start=1)]


def test_invalid_pins_are_refused(ada: httpx.Client, clients: ServiceClients) -> None:
    """Only administrators pin issues, positions begin at 1, and moving an unpinned issue has no effect."""
    max_ = clients.user("max")
    ada.put(f"{HOME}/collaborators/max", json={"permission": "write"})
    assert max_.post(f"{HOME}/issues/1/pin").status_code == 403
    ada.post(f"{HOME}/issues/1/pin")
    assert max_.delete(f"{HOME}/issues/1/pin").status_code == 403
    assert ada.patch(f"{HOME}/issues/1/pin/0").status_code == 422
    assert ada.patch(f"{HOME}/issues/2/pin/1").status_code == 204
    assert ada.post(f"{HOME}/issues/99/pin").status_code == 404
    assert pinned(clients.anonymous) == [(1, 1)]
    ada.patch(HOME, json={"archived": True})
    assert ada.post(f"{HOME}/issues/2/pin").status_code == 423
