"""Events and their webhook deliveries, recorded in the transaction of the change."""

import json

import pytest
from sqlalchemy import select

from holdfast.hosting.store import events
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hooks import Hook
from holdfast.hosting.store.prepared_statements import Link
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import deliveries
from tests.hosting.webhooks.event_helpers import add_hook, recorded

PUSH = {"ref": "refs/heads/main", "before": "1" * 40, "after": "2" * 40, "ref_type": "branch"}


@pytest.fixture
def hook(database: Database, ada: Account) -> Hook:
    """Make a webhook that is subscribed to pushes to main, and a renderer of payloads."""
    database.render_with(lambda _link, event, known: f"{event.kind} {known}")
    return add_hook(database, ada, branch_filter="main")


def record(link: Link, repository: Repository, kind: str = "push", **details: str) -> int:
    """Record an event of a repository."""
    about = {"owner_id": repository.owner.id, "repository_id": repository.id, "actor_id": repository.owner.id}
    return events.record(link, kind, **about, details={**PUSH, **details}, now=1000, preloaded="read before")


def delivered(database: Database) -> list[tuple[int, int]]:
    """Return the queued deliveries: webhooks and events."""
    with database.read() as connection:
        rows = connection.execute(select(deliveries.c.hook_id, deliveries.c.event_id).order_by(deliveries.c.id))
        return [(hook_id, event_id) for hook_id, event_id in rows]


def test_an_event_keeps_what_cannot_be_looked_up_later(database: Database, repository: Repository) -> None:
    """An event stores its details; without a webhook no payload is rendered and no delivery is queued."""
    with database.quick_write() as link:
        number = record(link, repository)
    (event,) = recorded(database)
    assert (event.id, event.kind, event.repository_id, event.created_at) == (number, "push", repository.id, 1000)
    assert json.loads(event.details) == PUSH
    assert event.payload == ""
    assert delivered(database) == []


def test_a_subscribed_webhook_gets_a_delivery_and_a_payload(
    database: Database, repository: Repository, hook: Hook
) -> None:
    """Events of another kind or another branch queue no delivery and have no payload."""
    with database.quick_write() as link:
        number = record(link, repository)
        record(link, repository, ref="refs/heads/other")
        record(link, repository, "create")
    first, *others = recorded(database)
    assert delivered(database) == [(hook.id, number)]
    assert first.payload == "push read before"
    assert [event.payload for event in others] == ["", ""]


def test_an_event_is_rolled_back_with_its_transaction(
    database: Database, repository: Repository, hook: Hook
) -> None:
    """After a rollback there is neither the event nor a delivery."""
    del hook
    with pytest.raises(ZeroDivisionError), database.quick_write() as link:
        record(link, repository)
        raise ZeroDivisionError
    assert recorded(database) == []
    assert delivered(database) == []


def test_many_events_are_recorded_without_deliveries(
    database: Database, repository: Repository, hook: Hook
) -> None:
    """A batch of events is recorded in order with one time, without payloads and deliveries."""
    del hook
    about = {"owner_id": repository.owner.id, "repository_id": repository.id, "actor_id": None}
    many = [("push", {**PUSH, "ref": f"refs/heads/{number}"}) for number in range(20)]
    with database.quick_write() as link:
        events.record_without_deliveries(link, many, **about, now=7)
    found_events = recorded(database)
    assert [json.loads(event.details)["ref"] for event in found_events] == [details["ref"] for _, details in many]
    assert {(event.created_at, event.actor_id, event.payload) for event in found_events} == {(7, None, "")}
    assert delivered(database) == []
