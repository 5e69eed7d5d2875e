"""Events, and their payloads, which are rendered in the transaction that records the event.

A payload shows the state at the time of the event, however late it is delivered. The store does not know the
payload format: the renderer is set with `Database.render_with`.
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
    """An event; the fields are the columns of the table, in this order."""

    id: int
    kind: str
    owner_id: int | None
    repository_id: int | None
    actor_id: int | None
    details: str
    """JSON with data that cannot be looked up later."""
    created_at: int
    payload: str
    """The webhook payload; empty if no webhook was subscribed, or if an older version recorded it."""


EVENT: Final = tuple(events.c[name] for name in Event.__dataclass_fields__)


class PayloadRenderer(Protocol):
    """Renders the payload of an event in the transaction that records it."""

    def __call__(self, link: Link, event: Event, preloaded: object) -> str:
        """Return the payload; `preloaded` is data read for it before the transaction began, or None."""


def render_payload(link: Link, event: Event, preloaded: object = None) -> str:
    """Return the payload of an event as of the transaction.

    Empty if there is no renderer, or if rendering failed unexpectedly: then it is rendered when it is first sent,
    since a webhook must not make a commit fail.
    """
    renderer: PayloadRenderer | None = (
        link.renderer if isinstance(link, Bare) else link.get_execution_options().get("holdfast_renderer")
    )
    if renderer is None:
        return ""
    try:
        return renderer(link, event, preloaded)
    except (SQLAlchemyError, sqlite3.Error):
        raise
    except Exception:
        log.exception("event payload rendering failed", kind=event.kind)
        return ""
