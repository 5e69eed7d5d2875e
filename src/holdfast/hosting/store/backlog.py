"""Delivery backlog: pending deliveries and the last result of each webhook."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, literal_column, or_, select

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.deliveries import LISTED, Delivery
from holdfast.hosting.store.tables import deliveries, hooks, repositories, users

__all__ = ["HookBacklog", "hooks_with_backlog", "last_deliveries"]

STATES: Final = ("waiting", "delivered", "failed", "cancelled")

waits = (
    select(
        deliveries.c.hook_id,
        func.count().label("waiting"),
        func.min(deliveries.c.created_at).label("oldest"),
        func.min(deliveries.c.id).label("first"),
    )
    # Literals, so that the query planner can use the partial index of waiting deliveries.
    .where(deliveries.c.state == literal_column("'waiting'"))
    .group_by(deliveries.c.hook_id)
    .subquery()
)
failures = (
    select(
        deliveries.c.hook_id,
        func.count().label("failed"),
        func.max(deliveries.c.id).label("newest"),
    )
    .where(deliveries.c.state == "failed")
    .group_by(deliveries.c.hook_id)
    .subquery()
)
last_failure = deliveries.alias("last_failure")
keeper, owner = users.alias("keeper"), users.alias("owner")
BACKLOG = (
    select(
        *(hooks.c.id, hooks.c.scope, hooks.c.type, hooks.c.name, hooks.c.url),
        *(hooks.c.is_active, hooks.c.paused_at, hooks.c.pause_reason),
        func.coalesce(keeper.c.name, owner.c.name, "").label("owner"),
        func.coalesce(repositories.c.name, "").label("repository"),
        func.coalesce(waits.c.waiting, 0).label("waiting"),
        func.coalesce(waits.c.oldest, 0).label("oldest"),
        func.coalesce(deliveries.c.tries, 0).label("tries"),
        func.coalesce(deliveries.c.error, last_failure.c.error, "").label("error"),
        func.coalesce(deliveries.c.due_at, 0).label("due_at"),
        func.coalesce(owner.c.is_organization, False).label("of_organization"),  # an SQL value
        func.coalesce(failures.c.failed, 0).label("failed"),
    )
    .select_from(
        hooks.outerjoin(waits, waits.c.hook_id == hooks.c.id)
        .outerjoin(deliveries, deliveries.c.id == waits.c.first)
        .outerjoin(failures, failures.c.hook_id == hooks.c.id)
        .outerjoin(last_failure, last_failure.c.id == failures.c.newest)
        .outerjoin(repositories, repositories.c.id == hooks.c.repository_id)
        .outerjoin(keeper, keeper.c.id == repositories.c.owner_id)
        .outerjoin(owner, owner.c.id == hooks.c.owner_id)
    )
    .where(or_(waits.c.waiting > 0, failures.c.failed > 0, hooks.c.paused_at > 0))
    .order_by(
        (hooks.c.paused_at > 0).desc(),
        (func.coalesce(waits.c.waiting, 0) > 0).desc(),
        func.coalesce(waits.c.oldest, 0),
        hooks.c.id,
    )
)


@dataclass(frozen=True, slots=True)
class HookBacklog:
    """A webhook that is paused, behind or has failures; `tries` and `due_at` are those of its next delivery.

    `error` is that of the next delivery, or else of the last one that failed.
    """

    id: int
    scope: str
    type: str
    name: str
    url: str
    is_active: bool
    paused_at: int
    pause_reason: str
    owner: str
    repository: str
    waiting: int
    oldest: int
    tries: int
    error: str
    due_at: int
    of_organization: bool
    failed: int
    """Deliveries that failed for good, within the retention period."""


def hooks_with_backlog(database: Database, *, skip: int, limit: int) -> tuple[list[HookBacklog], int]:
    """Return one page of the webhooks that are paused, behind or have failures, paused first, and the total."""
    with database.read() as connection:
        rows = connection.execute(BACKLOG.offset(skip).limit(limit)).all()
        counted = select(func.count()).select_from(BACKLOG.order_by(None).subquery())
        total = connection.execute(counted).scalar_one()
    return [HookBacklog(*tuple(row)) for row in rows], total


def last_deliveries(database: Database, hook_ids: Collection[int]) -> dict[int, Delivery]:
    """Return the newest delivery of each webhook, without its body."""
    if not hook_ids:
        return {}
    # The newest delivery in each state is the end of an index range; the newest over all states would need a scan.
    newest = [
        select(func.max(deliveries.c.id))
        .where(deliveries.c.hook_id == hooks.c.id, deliveries.c.state == state)
        .correlate(hooks)
        .scalar_subquery()
        for state in STATES
    ]
    with database.read() as connection:
        rows = connection.execute(select(*newest).where(hooks.c.id.in_(hook_ids))).all()
        ids = [max(number for number in row if number is not None) for row in rows if any(row)]
        delivery_rows = connection.execute(select(*LISTED).where(deliveries.c.id.in_(ids))).all() if ids else []
    return {delivery.hook_id: delivery for delivery in (Delivery(*row) for row in delivery_rows)}
