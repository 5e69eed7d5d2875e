"""Helpers that read events and payloads, and create webhooks and deliveries."""

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

__all__ = ["add_hook", "last", "payload", "queue_all_events", "recorded", "stored_payloads"]


def recorded(database: Database) -> list[Event]:
    """Return every event, in order."""
    with database.read() as connection:
        return [Event(*row) for row in connection.execute(select(*EVENT).order_by(events.c.id))]


def last(database: Database, kind: str) -> Event:
    """Return the newest event of a kind."""
    return [event for event in recorded(database) if event.kind == kind][-1]


def payload(app: App, kind: str) -> dict[str, Any]:
    """Return the payload of the newest event of a kind."""
    body: dict[str, Any] = json.loads(payload_of(app, last(app.database, kind)))
    return body


def add_hook(database: Database, owner: Account, **columns: object) -> Hook:
    """Add a webhook of an owner, or of what the columns say."""
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


def queue_all_events(database: Database, hook: Hook) -> None:
    """Queue deliveries of all recorded events for a webhook."""
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


def stored_payloads(database: Database) -> dict[int, str]:
    """Return the stored payloads by event id."""
    return {event.id: event.payload for event in recorded(database) if event.payload}
