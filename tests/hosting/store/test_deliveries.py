"""Webhook deliveries in the database: lists, redelivery and cancellation."""

import threading

import pytest
from sqlalchemy import insert

from holdfast.hosting.errors import NotWaiting, TooManyAtOnce
from holdfast.hosting.store import deliveries, hooks, tables
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.deliveries import DeliveryFilter
from holdfast.hosting.store.hooks import Hook, HookOwner


@pytest.fixture
def hook(database: Database, ada: Account) -> Hook:
    """Make a hook."""
    columns = {"type": "gitea", "url": "https://ci.example", "content_type": "json", "events": "push"}
    return hooks.add_hook(database, HookOwner("owner", ada.id), {**columns, "is_active": True})


def add_deliveries(database: Database, hook: Hook, count: int, **columns: object) -> list[int]:
    """Insert deliveries of new events, and return the events' ids."""
    with database.write() as connection:
        rows = [{"kind": "push", "created_at": 1}] * count
        statement = insert(tables.events).returning(tables.events.c.id, sort_by_parameter_order=True)
        events = list(connection.execute(statement, rows).scalars())
        created = [{**deliveries.new_delivery_row(hook.id, event, "push", now=1), **columns} for event in events]
        connection.execute(insert(tables.deliveries), created)
    return events


def test_a_list_omits_the_sent_content(database: Database, hook: Hook) -> None:
    """A list of deliveries omits headers, bodies and answers, and a single delivery has them."""
    add_deliveries(database, hook, 1, state="delivered", headers='{"a": "b"}', body="x", answer=b"\0y")
    ((listed,), total) = deliveries.deliveries_of(database, hook.id, DeliveryFilter(), skip=0, limit=10)
    assert (total, listed.headers, listed.body, listed.answer) == (1, "{}", "", b"")
    whole = deliveries.find_delivery(database, hook.id, listed.uuid)
    assert (whole.id, whole.headers, whole.body, whole.answer) == (listed.id, '{"a": "b"}', "x", b"\0y")


def test_too_many_redeliveries_are_refused(
    database: Database, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More redeliveries than the limit are refused completely, instead of queueing a part of them."""
    monkeypatch.setattr(deliveries, "MOST_AGAIN", 3)
    add_deliveries(database, hook, 4, state="failed")
    with pytest.raises(TooManyAtOnce, match="more than 3"):
        deliveries.redeliver_all(database, hook.id, DeliveryFilter(since=0))
    assert deliveries.deliveries_of(database, hook.id, DeliveryFilter(state="waiting"), skip=0, limit=1)[1] == 0


def test_concurrent_requests_queue_a_redelivery_once(database: Database, hook: Hook) -> None:
    """Of four concurrent requests one queues the redeliveries, and the others queue none."""
    add_deliveries(database, hook, 20, state="failed")
    counts: list[int] = []
    barrier = threading.Barrier(4)

    def ask() -> None:
        barrier.wait()
        counts.append(deliveries.redeliver_all(database, hook.id, DeliveryFilter(since=0)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counts) == [0, 0, 0, 20]


def test_a_delivery_that_ended_meanwhile_cannot_be_cancelled(database: Database, hook: Hook) -> None:
    """A delivery that ended after it was read cannot be cancelled, and keeps the first reason."""
    add_deliveries(database, hook, 1)
    ((seen,), _) = deliveries.deliveries_of(database, hook.id, DeliveryFilter(), skip=0, limit=1)
    deliveries.cancel(database, seen, "first")
    with pytest.raises(NotWaiting):
        deliveries.cancel(database, seen, "second")
    assert deliveries.find_delivery(database, hook.id, str(seen.id)).error == "first"
