"""Rendering of pending payloads before the rows they describe are deleted.

Existing events are rendered before in small batches, without long transactions; the deleting transaction renders
the few that were added meanwhile, so that none is missed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, exists, or_, select

from holdfast.hosting.app import App
from holdfast.hosting.store.database import TransactionDatabase
from holdfast.hosting.store.events import EVENT, Event
from holdfast.hosting.store.outbox import STORE_PAYLOAD
from holdfast.hosting.store.tables import deliveries, events, repositories
from holdfast.hosting.webhooks.payloads.render import KINDS, payload_of

__all__ = ["DeletedEntity", "before_deleting", "render_ahead", "render_pending"]

BATCH: Final = 50
BETWEEN_ISSUES: Final = events.c.kind.in_(("issue_dependency", "issue_unblocked"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedEntity:
    """The ids of the entity about to be deleted."""

    repository_id: int = 0
    owner_id: int = 0
    """A user, deleted with all their repositories."""
    issue_id: int = 0
    comment_id: int = 0


def before_deleting(app: App, doomed: DeletedEntity) -> Callable[[Connection], None]:
    """Render pending payloads, and return the function to call first in the deleting transaction."""
    render_ahead(app, doomed)
    return partial(render_pending, app, doomed)


def render_ahead(app: App, doomed: DeletedEntity) -> None:
    """Render the pending payloads in batches."""
    while True:
        with app.database.read() as connection:
            pending_events = find_events(connection, pending_statement(doomed).limit(BATCH))
        if not pending_events:
            return
        payloads = [{"event": event.id, "payload": payload_of(app, event)} for event in pending_events]
        with app.database.write() as connection:
            connection.execute(STORE_PAYLOAD, payloads)


def render_pending(app: App, doomed: DeletedEntity, connection: Connection) -> None:
    """Render the remaining payloads, in the deleting transaction."""
    pending_events = find_events(connection, pending_statement(doomed))
    if pending_events:
        inside = replace(app, database=TransactionDatabase(app.database, connection))
        connection.execute(
            STORE_PAYLOAD, [{"event": event.id, "payload": payload_of(inside, event)} for event in pending_events]
        )


def find_events(connection: Connection, statement: Select[*tuple[Any, ...]]) -> list[Event]:
    """Run a query for events."""
    return [Event(*row) for row in connection.execute(statement)]


def pending_statement(doomed: DeletedEntity) -> Select[*tuple[Any, ...]]:
    """Return the query for events that have deliveries but no payload."""
    concerned: list[ColumnElement[bool]] = []
    if doomed.repository_id:
        concerned.append(events.c.repository_id == doomed.repository_id)
    if doomed.owner_id:
        owned = select(repositories.c.id).where(repositories.c.owner_id == doomed.owner_id)
        concerned += [events.c.repository_id.in_(owned), events.c.actor_id == doomed.owner_id]
    if doomed.repository_id or doomed.owner_id:
        # Issues of other repositories may be blocked by deleted ones.
        concerned.append(BETWEEN_ISSUES)
    if doomed.issue_id:
        concerned += [
            detail_condition("issue_id", doomed.issue_id),
            detail_condition("blocker_id", doomed.issue_id),
        ]
    if doomed.comment_id:
        concerned.append(detail_condition("comment_id", doomed.comment_id))
    has_deliveries = exists().where(deliveries.c.event_id == events.c.id)
    supported = events.c.kind.in_(list(KINDS))
    return (
        select(*EVENT)
        .where(events.c.payload == "", supported, or_(*concerned), has_deliveries)
        .order_by(events.c.id)
    )


def detail_condition(key: str, number: int) -> ColumnElement[bool]:
    """Return the condition that an event's JSON details have a number; quotes in strings are escaped."""
    pair = f'"{key}":{number}'
    details = events.c.details
    return details.contains(f"{pair},", autoescape=True) | details.endswith(f"{pair}}}", autoescape=True)
