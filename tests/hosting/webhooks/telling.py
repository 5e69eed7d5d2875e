"""What the tests of webhooks share: a host with people in it, hooks, and what is told of what happened."""

import json
from typing import Any

from sqlalchemy import insert, select

from holdfast.hosting.app import App
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.events import EVENT, Event
from holdfast.hosting.store.hooks import HOOK, Hook
from holdfast.hosting.store.tables import deliveries, events, hooks
from holdfast.hosting.webhooks.payloads import payload_of

__all__ = ["add_hook", "await_delivery", "kept", "last", "payload", "recorded"]


def recorded(database: Database) -> list[Event]:
    """Return every event, in order."""
    with database.read() as connection:
        return [Event(*row) for row in connection.execute(select(*EVENT).order_by(events.c.id))]


def last(database: Database, kind: str) -> Event:
    """Return the newest event of a kind."""
    return [event for event in recorded(database) if event.kind == kind][-1]


def payload(app: App, kind: str) -> dict[str, Any]:
    """Return what is told of the newest event of a kind."""
    made: dict[str, Any] = json.loads(payload_of(app, last(app.database, kind)))
    return made


def add_hook(database: Database, owner: Account, **columns: object) -> Hook:
    """Add a hook of an owner's, or of whatever the columns say."""
    row = {
        "scope": "owner",
        "owner_id": owner.id,
        "type": "gitea",
        "url": "http://127.0.0.1:9/hook",
        "content_type": "json",
        "events": "push",
        "is_active": True,
        **columns,
    }
    with database.write() as connection:
        return Hook(*connection.execute(insert(hooks).returning(*HOOK), row).one())


def await_delivery(database: Database, hook: Hook) -> None:
    """Let a hook wait to be told of everything that was recorded so far."""
    rows = [
        {
            "uuid": f"{hook.id}-{event.id}",
            "hook_id": hook.id,
            "event_id": event.id,
            "kind": event.kind,
            "state": "waiting",
        }
        for event in recorded(database)
    ]
    with database.write() as connection:
        connection.execute(insert(deliveries), rows)


def kept(database: Database) -> dict[int, str]:
    """Return the payloads that were made, by the numbers of their events."""
    return {event.id: event.payload for event in recorded(database) if event.payload}
