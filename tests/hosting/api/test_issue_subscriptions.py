"""The issue subscription endpoints."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients

HOME = "/repos/ada/ship"
PLACE = f"{HOME}/issues/1/subscriptions"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository with an issue, and return her client."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship"})
    client.post(f"{HOME}/issues", json={"title": "Leak"})
    return client


def subscribed(client: httpx.Client) -> bool:
    """Return whether the user of the client is subscribed."""
    payload = client.get(f"{PLACE}/check").json()
    assert payload["ignored"] is not payload["subscribed"]
    assert payload["url"].endswith("/repos/ada/ship/issues/1/subscriptions")
    answer: bool = payload["subscribed"]
    return answer


def subscriber_names(client: httpx.Client) -> list[str]:
    """List the logins of the subscribers."""
    return [item["login"] for item in client.get(PLACE).json()]


def test_a_subscription_is_stored(ada: httpx.Client, clients: ServiceClients) -> None:
    """A change gives 201 and a repetition 200, and only explicit subscriptions are listed."""
    eve = clients.user("eve")
    assert not subscribed(eve)
    assert [eve.put(f"{PLACE}/eve").status_code for _ in range(2)] == [201, 200]
    assert subscribed(eve)
    assert subscriber_names(ada) == ["eve"]
    assert [eve.delete(f"{PLACE}/EVE").status_code for _ in range(2)] == [201, 200]
    assert not subscribed(eve)
    assert subscriber_names(ada) == []


def test_who_takes_part_or_watches_is_subscribed(ada: httpx.Client, clients: ServiceClients) -> None:
    """Authors, commenters, assignees and watchers are subscribed until they unsubscribe."""
    eve, max_, wim = (clients.user(name) for name in ("eve", "max", "wim"))
    ada.put(f"{HOME}/collaborators/max", json={"permission": "write"})
    assert subscribed(ada)
    assert not any(subscribed(client) for client in (eve, max_, wim))
    eve.post(f"{HOME}/issues/1/comments", json={"body": "Me too"})
    ada.patch(f"{HOME}/issues/1", json={"assignees": ["max"]})
    wim.put(f"{HOME}/subscription")
    assert all(subscribed(client) for client in (eve, max_, wim))
    for name, client in (("ada", ada), ("eve", eve), ("max", max_), ("wim", wim)):
        assert client.delete(f"{PLACE}/{name}").status_code == 201
        assert not subscribed(client)


def test_users_change_only_their_own_subscription(ada: httpx.Client, clients: ServiceClients) -> None:
    """Administrators change those of others; unknown users and issues are not found."""
    eve = clients.user("eve")
    assert eve.put(f"{PLACE}/ada").status_code == 403
    assert eve.delete(f"{PLACE}/ada").status_code == 403
    assert clients.admin.put(f"{PLACE}/eve").status_code == 201
    assert subscriber_names(clients.anonymous) == ["eve"]
    assert clients.anonymous.get(f"{PLACE}/check").status_code == 401
    assert eve.put(f"{PLACE}/nobody").status_code == 404
    assert eve.put(f"{HOME}/issues/9/subscriptions/eve").status_code == 404
