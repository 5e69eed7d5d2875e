"""Webhook subscriptions: each subscribed webhook gets a delivery in the transaction that records the event.

Every commit looks up subscriptions, so the lookup is one prepared statement on the raw driver.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import bindparam, literal, select, union_all

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.deliveries import queue_for_hooks
from holdfast.hosting.store.event_types import OPTIONS
from holdfast.hosting.store.globs import compile_glob
from holdfast.hosting.store.prepared_statements import Bare, Link, Statement
from holdfast.hosting.store.tables import hooks

__all__ = [
    "has_push_subscribers",
    "has_subscribers",
    "matches_branch_filter",
    "queue_deliveries",
    "subscribed_hooks",
]

# Events of a ref, to which a webhook's branch filter applies.
REF_EVENTS: Final = frozenset({"push", "create", "delete"})
EVERYTHING: Final = frozenset({"", "*", "**"})
BRANCHES: Final = "refs/heads/"

# Delivery order: webhooks of the repository, of its owner, of the system.
SUBSCRIBED = Statement(
    union_all(
        *(
            select(literal(place).label("place"), hooks.c.id, hooks.c.events, hooks.c.branch_filter).where(
                hooks.c.is_active, condition
            )
            for place, condition in enumerate(
                (
                    hooks.c.repository_id == bindparam("repository_id"),
                    hooks.c.owner_id == bindparam("owner_id"),
                    hooks.c.scope == "system",
                )
            )
        )
    ).order_by("place", "id")
)
EXISTING = (
    select(hooks.c.id)
    .where(hooks.c.id.in_(bindparam("ids", expanding=True)))
    .with_for_update(read=True, key_share=True)
)


def matches_branch_filter(branch_filter: str, ref: str) -> bool:
    """Return whether a branch filter matches a ref, by branch name or by full ref name."""
    if branch_filter in EVERYTHING:
        return True
    glob = compile_glob(branch_filter)
    return glob.matches(ref.removeprefix(BRANCHES)) or glob.matches(ref)


def webhooks_disabled(link: Link) -> bool:
    """Return whether webhooks are disabled."""
    if isinstance(link, Bare):
        return link.webhooks_disabled
    return bool(link.get_execution_options().get("holdfast_webhooks_disabled"))


def has_subscribers(connection: Link, *, owner_id: int | None, repository_id: int | None) -> bool:
    """Return whether any active webhook could receive events of a repository."""
    return not webhooks_disabled(connection) and bool(
        SUBSCRIBED.read(connection, repository_id=repository_id, owner_id=owner_id)
    )


def subscribed_hooks(
    connection: Link,
    kind: str,
    *,
    owner_id: int | None,
    repository_id: int | None,
    details: Mapping[str, object],
) -> list[int]:
    """Return the ids of the active webhooks subscribed to an event, in delivery order."""
    if webhooks_disabled(connection):
        return []
    rows = SUBSCRIBED.read(connection, repository_id=repository_id, owner_id=owner_id)
    return matching_hooks(rows, kind, str(details.get("ref", ""))) if rows else []


def matching_hooks(rows: Sequence[tuple[Any, ...]], kind: str, ref: str) -> list[int]:
    """Return which of these webhooks are subscribed to an event."""
    is_sifted, option = kind in REF_EVENTS, OPTIONS.get(kind, kind)
    return [
        number
        for _, number, names, branch_filter in rows
        if option in names.split(",") and (not is_sifted or matches_branch_filter(branch_filter, ref))
    ]


def has_push_subscribers(database: Database, *, owner_id: int, repository_id: int, refs: Iterable[str]) -> bool:
    """Return whether any webhook is subscribed to pushes to one of these refs."""
    if database.webhooks_disabled:
        return False
    rows = database.rows(SUBSCRIBED, repository_id=repository_id, owner_id=owner_id)
    return bool(rows) and any(matching_hooks(rows, "push", ref) for ref in refs)


def queue_deliveries(connection: Link, hook_ids: list[int], event_id: int, kind: str, *, now: int) -> None:
    """Queue a delivery of an event for each of these webhooks that still exists."""
    if not isinstance(connection, Bare) and connection.dialect.name == "postgresql":
        # A concurrent deletion of a webhook must not fail the commit by its foreign key.
        existing = set(connection.execute(EXISTING, {"ids": hook_ids}).scalars())
        hook_ids = [number for number in hook_ids if number in existing]
    if hook_ids:
        queue_for_hooks(connection, hook_ids, event_id, kind, now=now)
