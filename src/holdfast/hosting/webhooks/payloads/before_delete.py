"""Renders pending payloads before the rows they describe are deleted.

Afterwards nothing could be looked up any more. What is already waiting is made ahead, in small steps that hold up
nobody; the transaction that deletes makes the little that came meanwhile, and sees to it that nothing is missed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, bindparam, exists, or_, select, update

from holdfast.hosting.app import App
from holdfast.hosting.store.database import Within
from holdfast.hosting.store.events import EVENT, Event
from holdfast.hosting.store.tables import deliveries, events, repositories
from holdfast.hosting.webhooks.payloads.render import KINDS, payload_of

__all__ = ["DeletedEntity", "before_deleting", "render_ahead", "render_pending"]

AT_ONCE: Final = 50
BETWEEN_ISSUES: Final = events.c.kind.in_(("issue_dependency", "issue_unblocked"))
KEEP: Final = (
    update(events)
    .where(events.c.id == bindparam("event"), events.c.payload == "")
    .values(payload=bindparam("made"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedEntity:
    """The ids of the entity about to be deleted."""

    repository_id: int = 0
    owner_id: int = 0
    """Somebody who goes with all repositories they own."""
    issue_id: int = 0
    comment_id: int = 0


def before_deleting(app: App, doomed: DeletedEntity) -> Callable[[Connection], None]:
    """Make the payloads of what is waiting, and return what has to be called first in the deleting transaction."""
    render_ahead(app, doomed)
    return partial(render_pending, app, doomed)


def render_ahead(app: App, doomed: DeletedEntity) -> None:
    """Make the payloads of what is waiting to be told, a few at a time."""
    while True:
        with app.database.read() as connection:
            found = find_events(connection, pending_statement(doomed).limit(AT_ONCE))
        if not found:
            return
        made = [{"event": event.id, "made": payload_of(app, event)} for event in found]
        with app.database.write() as connection:
            connection.execute(KEEP, made)


def render_pending(app: App, doomed: DeletedEntity, connection: Connection) -> None:
    """Make all payloads that are not made yet, inside the transaction that is about to delete."""
    found = find_events(connection, pending_statement(doomed))
    if found:
        inside = replace(app, database=Within(app.database, connection))
        connection.execute(KEEP, [{"event": event.id, "made": payload_of(inside, event)} for event in found])


def find_events(connection: Connection, statement: Select[*tuple[Any, ...]]) -> list[Event]:
    """Run a statement that finds events."""
    return [Event(*row) for row in connection.execute(statement)]


def pending_statement(doomed: DeletedEntity) -> Select[*tuple[Any, ...]]:
    """Return the statement that finds the events somebody is to be told whose payload is not made yet."""
    concerned: list[ColumnElement[bool]] = []
    if doomed.repository_id:
        concerned.append(events.c.repository_id == doomed.repository_id)
    if doomed.owner_id:
        owned = select(repositories.c.id).where(repositories.c.owner_id == doomed.owner_id)
        concerned += [events.c.repository_id.in_(owned), events.c.actor_id == doomed.owner_id]
    if doomed.repository_id or doomed.owner_id:
        # Any issue elsewhere may wait for one that goes with its repository.
        concerned.append(BETWEEN_ISSUES)
    if doomed.issue_id:
        concerned += [
            detail_condition("issue_id", doomed.issue_id),
            detail_condition("blocker_id", doomed.issue_id),
        ]
    if doomed.comment_id:
        concerned.append(detail_condition("comment_id", doomed.comment_id))
    is_told = exists().where(deliveries.c.event_id == events.c.id)
    known = events.c.kind.in_(list(KINDS))
    return select(*EVENT).where(events.c.payload == "", known, or_(*concerned), is_told).order_by(events.c.id)


def detail_condition(key: str, number: int) -> ColumnElement[bool]:
    """Return the condition that an event's details name a number; a quote in somebody's words is never bare."""
    said = f'"{key}":{number}'
    details = events.c.details
    return details.contains(f"{said},", autoescape=True) | details.endswith(f"{said}}}", autoescape=True)
