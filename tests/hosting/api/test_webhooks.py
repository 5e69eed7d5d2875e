"""Deliveries of webhooks: list, show, redeliver and cancel."""

import time

import httpx
import pytest
from sqlalchemy import select, update

from holdfast.hosting.schemas.times import moment
from holdfast.hosting.store.tables import deliveries, events, hooks
from tests.hosting.api.hook_helpers import CONFIG, OWNERS, create_hook, deliver_tests, with_answer
from tests.hosting.api_clients import ServiceClients

KEYS = [
    *("id", "uuid", "hook_id", "event", "status", "again_of", "tries", "next_try_at", "created_at", "ended_at"),
    *("response_status", "duration_ms", "error"),
]
ORG = "/orgs/guild/hooks"


@pytest.fixture
def people(clients: ServiceClients) -> dict[str, httpx.Client]:
    """Let Ada own an organization with a repository and a repository of her own."""
    ada = clients.user("ada")
    assert ada.post("/orgs", json={"username": "guild"}).status_code == 201
    assert ada.post("/orgs/guild/repos", json={"name": "ship", "auto_init": True}).status_code == 201
    assert ada.post("/user/repos", json={"name": "own", "auto_init": True}).status_code == 201
    return {"ada": ada, "admin": clients.admin}


@pytest.fixture
def ada(people: dict[str, httpx.Client]) -> httpx.Client:
    """Return the client of the owner."""
    return people["ada"]


@pytest.mark.parametrize("path", OWNERS)
def test_a_hook_has_deliveries_whoever_owns_it(
    clients: ServiceClients, people: dict[str, httpx.Client], path: str
) -> None:
    """All delivery endpoints work for hooks of repositories, organizations, users and the instance."""
    client = people[OWNERS[path]]
    hook = f"{path}/{create_hook(client, path, active=True)['id']}"
    where = {"repository": "own"} if path == "/user/hooks" else {}
    assert client.post(f"{hook}/tests", params=where).status_code == 204
    (listed,) = client.get(f"{hook}/deliveries").json()
    assert list(listed) == KEYS
    assert (listed["event"], listed["status"], listed["tries"], listed["ended_at"]) == ("push", "waiting", 0, None)
    assert listed["next_try_at"] is not None
    result = client.get(f"{hook}/deliveries/{listed['id']}").json()
    assert result == {**listed, "request": None, "response": None}
    assert client.get(f"{hook}/deliveries/{listed['uuid'].upper()}").json() == result
    assert client.delete(f"{hook}/deliveries/{listed['id']}").status_code == 204
    again = client.post(f"{hook}/deliveries/{listed['uuid']}/redeliver")
    assert (again.status_code, again.json()["again_of"]) == (202, listed["id"])
    assert client.post(f"{hook}/redeliver", json={"since": "2020-01-01T00:00:00Z"}).json() == {"count": 0}
    assert client.post(f"{hook}/resume").status_code == 200
    assert client.patch(hook, json={"name": "still here"}).status_code == 200
    assert client.delete(hook).status_code == 204
    with clients.database.read() as connection:
        assert connection.execute(select(deliveries.c.id)).all() == []


def test_a_delivery_shows_what_was_sent_and_what_came_back(clients: ServiceClients, ada: httpx.Client) -> None:
    """The Authorization header is masked, and bytes that are not UTF-8 are replaced."""
    hook = create_hook(ada, ORG, active=True)["id"]
    (number,) = deliver_tests(ada, ORG, hook)
    with_answer(clients.database, number, answer=b"thank you \xff", body='{"text": "own words"}')
    result = ada.get(f"{ORG}/{hook}/deliveries/{number}").json()
    assert result["request"] == {
        "method": "POST",
        "url": "https://ci.example/h",
        "headers": {"Authorization": "********", "X-Gitea-Event": "push"},
        "body": '{"text": "own words"}',
    }
    assert result["response"] == {
        "status": 200,
        "headers": {"Content-Type": "text/plain"},
        "body": "thank you \ufffd",
    }
    assert (result["status"], result["response_status"], result["duration_ms"]) == ("delivered", 200, 12)
    assert (result["next_try_at"], result["ended_at"]) == (None, "2023-11-14T22:13:20Z")


def test_the_body_of_a_delivery_is_the_payload_of_the_event(clients: ServiceClients, ada: httpx.Client) -> None:
    """If a delivery has no body of its own, its request shows the stored payload of the event."""
    hook = create_hook(ada, ORG, active=True)["id"]
    (number,) = deliver_tests(ada, ORG, hook)
    with_answer(clients.database, number, state="failed", status=0, error="refused", answer=b"")
    with clients.database.write() as connection:
        connection.execute(update(events).values(payload='{"ref": "refs/heads/main"}'))
    result = ada.get(f"{ORG}/{hook}/deliveries/{number}").json()
    assert result["request"]["body"] == '{"ref": "refs/heads/main"}'
    assert (result["response"], result["response_status"], result["error"]) == (None, None, "refused")


def test_deliveries_are_listed_newest_first_in_pages(ada: httpx.Client) -> None:
    """A page of deliveries has the total and a link to the next page."""
    hook = create_hook(ada, ORG, active=True)["id"]
    numbers = deliver_tests(ada, ORG, hook, 5)
    response = ada.get(f"{ORG}/{hook}/deliveries", params={"limit": 2, "page": 2})
    assert [item["id"] for item in response.json()] == [numbers[2], numbers[1]]
    assert response.headers["x-total-count"] == "5"
    assert 'rel="next"' in response.headers["link"]


def test_deliveries_can_be_filtered(clients: ServiceClients, ada: httpx.Client) -> None:
    """Deliveries can be filtered by status, event and time."""
    hook = create_hook(ada, ORG, active=True, events=["push", "issues_only"])["id"]
    first, second = deliver_tests(ada, ORG, hook, 2)
    with_answer(clients.database, first, created_at=1_700_000_000)
    assert ada.post("/repos/guild/ship/issues", json={"title": "x"}).status_code == 201
    third = ada.get(f"{ORG}/{hook}/deliveries").json()[0]["id"]

    def found(**asked: str) -> list[int]:
        response = ada.get(f"{ORG}/{hook}/deliveries", params=asked)
        assert response.headers["x-total-count"] == str(len(response.json()))
        return [item["id"] for item in response.json()]

    assert found() == [third, second, first]
    assert found(status="waiting") == [third, second]
    assert found(status="delivered") == [first]
    assert found(event="issues") == [third]
    assert found(event="push", status="waiting") == [second]
    assert found(since="2024-01-01T00:00:00Z") == [third, second]
    assert found(before="2024-01-01T00:00:00+02:00") == [first]
    assert found(since="2023-11-14T22:13:20Z", before="2023-11-14T22:13:21Z") == [first]
    assert found(since="9999-12-31T23:59:59-23:59") == []
    assert found(before="0001-01-01T00:00:00+23:59") == []


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"status": "lost"}, "[Status]: Invalid enum value 'lost'"),
        ({"event": "pushes"}, "[Event]: unknown event 'pushes'"),
        ({"since": "yesterday"}, "[Since]: not a time such as 2026-08-22T10:00:00Z"),
        ({"before": "10000-01-01"}, "[Before]: not a time such as 2026-08-22T10:00:00Z"),
    ],
)
@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_an_invalid_filter_is_refused(ada: httpx.Client, asked: dict[str, str], message: str) -> None:
    """An invalid filter is refused by the list and by the redelivery of a period."""
    hook = create_hook(ada, ORG, active=True)["id"]
    response = ada.get(f"{ORG}/{hook}/deliveries", params=asked)
    assert (response.status_code, response.json()["message"]) == (422, message)
    again = ada.post(f"{ORG}/{hook}/redeliver", json={"since": "2020-01-01", **asked})
    assert (again.status_code, again.json()["message"]) == (422, message)


@pytest.mark.parametrize(
    "key", ["0", "999999", "x", "-1", "9" * 30, "00000000-0000-4000-8000-000000000000", "%00"]
)
def test_an_unknown_delivery_is_not_found(ada: httpx.Client, key: str) -> None:
    """Showing, cancelling and redelivering an unknown delivery all give 404."""
    hook = create_hook(ada, ORG, active=True)["id"]
    path = f"{ORG}/{hook}/deliveries/{key}"
    for response in (ada.get(path), ada.delete(path), ada.post(f"{path}/redeliver")):
        assert (response.status_code, response.json()["message"]) == (404, "not found")


def test_deliveries_of_another_hook_are_not_found(ada: httpx.Client) -> None:
    """A delivery is not found at another hook, even one of the same owner."""
    first, second = create_hook(ada, ORG, active=True)["id"], create_hook(ada, ORG, active=True)["id"]
    (number,) = deliver_tests(ada, ORG, first)
    path = f"{ORG}/{second}/deliveries/{number}"
    assert ada.get(path).status_code == ada.delete(path).status_code == 404
    assert ada.post(f"{path}/redeliver").status_code == 404
    assert ada.get(f"{ORG}/{second}/deliveries").json() == []
    (delivery,) = ada.get(f"{ORG}/{first}/deliveries").json()
    assert (delivery["id"], delivery["status"]) == (number, "waiting")


def test_a_redelivery_is_queued_last(clients: ServiceClients, ada: httpx.Client) -> None:
    """A redelivery is a new delivery with its own UUID, and names the one that it repeats."""
    hook = create_hook(ada, ORG, active=True)["id"]
    first, second = deliver_tests(ada, ORG, hook, 2)
    with_answer(clients.database, first)
    again = ada.post(f"{ORG}/{hook}/deliveries/{first}/redeliver").json()
    assert again["id"] > second
    assert (again["again_of"], again["status"], again["tries"]) == (first, "waiting", 0)
    old = ada.get(f"{ORG}/{hook}/deliveries/{first}").json()
    assert again["uuid"] != old["uuid"]
    assert old["status"] == "delivered"


def test_deliveries_of_a_period_are_redelivered_in_order_each_event_once(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """Events with a waiting delivery are skipped, so that a repeated request has no effect."""
    hook = create_hook(ada, ORG, active=True)["id"]
    numbers = deliver_tests(ada, ORG, hook, 4)
    for number in numbers[:3]:
        with_answer(clients.database, number, created_at=1_700_000_000 + number)
    again = ada.post(f"{ORG}/{hook}/deliveries/{numbers[1]}/redeliver").json()["id"]
    with_answer(clients.database, again, created_at=1_700_000_000 + again, state="failed")
    since = {"since": "2023-11-14T22:13:20Z"}
    path = f"{ORG}/{hook}/redeliver"
    assert ada.post(path, json={**since, "status": "cancelled"}).json() == {"count": 0}
    assert ada.post(path, json={**since, "event": "issues"}).json() == {"count": 0}
    assert ada.post(path, json={"since": "2023-01-01", "before": "2023-02-01"}).json() == {"count": 0}
    response = ada.post(path, json={**since, "before": "2023-11-15T00:00:00Z"})
    assert (response.status_code, response.json()) == (202, {"count": 3})
    waiting = ada.get(f"{ORG}/{hook}/deliveries", params={"status": "waiting"}).json()
    assert [item["again_of"] for item in reversed(waiting)] == [None, numbers[0], again, numbers[2]]
    assert ada.post(path, json=since).json() == {"count": 0}


def test_nothing_is_queued_for_an_inactive_hook(ada: httpx.Client) -> None:
    """A test delivery is cancelled with the reason, and a redelivery is refused with 409."""
    hook = create_hook(ada, ORG)["id"]
    (number,) = deliver_tests(ada, ORG, hook)
    result = ada.get(f"{ORG}/{hook}/deliveries/{number}").json()
    inactive = "the hook is not active; make it active first"
    assert (result["status"], result["error"]) == ("cancelled", inactive)
    for response in (
        ada.post(f"{ORG}/{hook}/deliveries/{number}/redeliver"),
        ada.post(f"{ORG}/{hook}/redeliver", json={"since": "2020-01-01"}),
    ):
        assert (response.status_code, response.json()["message"]) == (409, inactive)
    ada.patch(f"{ORG}/{hook}", json={"active": True})
    assert ada.post(f"{ORG}/{hook}/redeliver", json={"since": "2020-01-01"}).json() == {"count": 1}


def test_a_redelivery_of_a_period_requires_its_start(ada: httpx.Client) -> None:
    """A redelivery without `since` is refused, so that nobody redelivers everything by accident."""
    hook = create_hook(ada, ORG, active=True)["id"]
    response = ada.post(f"{ORG}/{hook}/redeliver", json={})
    assert (response.status_code, response.json()["message"]) == (422, "[Since]: Required")


def test_only_pending_deliveries_can_be_cancelled(clients: ServiceClients, ada: httpx.Client) -> None:
    """A cancelled delivery names the user; one that has ended gives 409."""
    hook = create_hook(ada, ORG, active=True)["id"]
    first, second = deliver_tests(ada, ORG, hook, 2)
    with_answer(clients.database, first)
    response = ada.delete(f"{ORG}/{hook}/deliveries/{first}")
    assert (response.status_code, response.json()["message"]) == (409, "only a waiting delivery can be cancelled")
    assert ada.delete(f"{ORG}/{hook}/deliveries/{second}").status_code == 204
    result = ada.get(f"{ORG}/{hook}/deliveries/{second}").json()
    assert (result["status"], result["error"], result["next_try_at"]) == ("cancelled", "cancelled by ada", None)
    assert result["ended_at"] is not None
    assert ada.delete(f"{ORG}/{hook}/deliveries/{second}").status_code == 409


def paused(clients: ServiceClients, hook: object, delivery: int) -> None:
    """Pause a hook whose first delivery has failed for the last time, as the deliverer does."""
    with clients.database.write() as connection:
        connection.execute(
            update(hooks).where(hooks.c.id == hook).values(paused_at=1_700_000_000, pause_reason="8 tries failed")
        )
        far = (int(time.time()) + 86400) * 1000
        connection.execute(update(deliveries).where(deliveries.c.id == delivery).values(tries=8, due_at=far))


@pytest.mark.parametrize("how", ["resume", "url", "inactive"])
def test_a_pause_is_shown_and_ended(clients: ServiceClients, ada: httpx.Client, how: str) -> None:
    """A pause ends on request, by a new URL, or by deactivating the hook, which cancels its deliveries."""
    hook = create_hook(ada, ORG, active=True)["id"]
    (number,) = deliver_tests(ada, ORG, hook)
    paused(clients, hook, number)
    seen = ada.get(f"{ORG}/{hook}").json()
    assert (seen["paused_at"], seen["pause_reason"]) == ("2023-11-14T22:13:20Z", "8 tries failed")
    assert ada.patch(f"{ORG}/{hook}", json={"name": "x", "config": CONFIG}).json()["paused_at"] is not None
    if how == "resume":
        response = ada.post(f"{ORG}/{hook}/resume")
    elif how == "url":
        response = ada.patch(f"{ORG}/{hook}", json={"config": {"url": "https://new.example/"}})
    else:
        response = ada.patch(f"{ORG}/{hook}", json={"active": False})
    assert (response.status_code, response.json()["paused_at"], response.json()["pause_reason"]) == (200, None, "")
    result = ada.get(f"{ORG}/{hook}/deliveries/{number}").json()
    if how == "inactive":
        assert (result["status"], result["error"]) == ("cancelled", "the webhook was deactivated")
    else:
        assert (result["status"], result["tries"]) == ("waiting", 0)
        assert result["next_try_at"] <= moment(int(time.time()))
