"""Events as rows, and the payloads that are rendered in the transaction that records one.

What a webhook sends of an event shows everything as it was when the event was recorded, however long the delivery
waits. The store does not know what payloads look like: `Database.render_with` is given what renders them.
"""

import sqlite3
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from sqlalchemy.exc import SQLAlchemyError

from holdfast.hosting.store.prepared_statements import Bare, Link
from holdfast.hosting.store.tables import events

__all__ = ["EVENT", "Event", "PayloadRenderer", "render_payload"]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Event:
    """One event; the fields are the columns of the table, in this order."""

    id: int
    kind: str
    owner_id: int | None
    repository_id: int | None
    actor_id: int | None
    details: str
    """What cannot be looked up later, as JSON."""
    created_at: int
    payload: str
    """What webhooks send of it; empty where no hook listened, and where an older version recorded it."""


EVENT: Final = tuple(events.c[name] for name in Event.__dataclass_fields__)


class PayloadRenderer(Protocol):
    """Renders the payload of an event that is about to be recorded in a transaction."""

    def __call__(self, link: Link, event: Event, known: object) -> str:
        """Return the payload; `known` is what was read for it before the transaction began, or None."""


def render_payload(link: Link, event: Event, known: object = None) -> str:
    """Return what webhooks send of an event, as things are in the transaction.

    Empty where nothing renders payloads, and where an unexpected error keeps this one from being rendered: then it
    is rendered when it is first sent, because a commit must not fail for the sake of a webhook.
    """
    renderer: PayloadRenderer | None = (
        link.renderer if isinstance(link, Bare) else link.get_execution_options().get("holdfast_renderer")
    )
    if renderer is None:
        return ""
    try:
        return renderer(link, event, known)
    except (SQLAlchemyError, sqlite3.Error):
        raise
    except Exception:
        log.exception("the payload of an event could not be rendered", kind=event.kind)
        return ""
