"""Who is told of an event: each hook that wants it gets a delivery, in the transaction that records the event.

Every commit asks who listens, so the question is one statement on the bare driver and mostly finds nobody.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import bindparam, literal, select, union_all

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.deliveries import add_waiting
from holdfast.hosting.store.globs import compile_glob
from holdfast.hosting.store.prepared_statements import Bare, Link, Statement
from holdfast.hosting.store.tables import hooks

__all__ = ["has_listeners", "is_pushed_to", "listening", "passes", "queue"]

# The kinds that are about a ref, and so are sifted by a hook's branch filter.
ABOUT_REFS: Final = frozenset({"push", "create", "delete"})
EVERYTHING: Final = frozenset({"", "*", "**"})
BRANCHES: Final = "refs/heads/"

# In the order they are told: the repository's own, its owner's, then those of the whole service.
LISTENING = Statement(
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
STILL_THERE = (
    select(hooks.c.id)
    .where(hooks.c.id.in_(bindparam("ids", expanding=True)))
    .with_for_update(read=True, key_share=True)
)


def passes(branch_filter: str, ref: str) -> bool:
    """Tell whether a hook's filter lets a ref through: by the name of its branch, or by the whole ref."""
    if branch_filter in EVERYTHING:
        return True
    glob = compile_glob(branch_filter)
    return glob.matches(ref.removeprefix(BRANCHES)) or glob.matches(ref)


def is_silent(link: Link) -> bool:
    """Tell whether nobody is to be told of anything, as where webhooks are switched off."""
    if isinstance(link, Bare):
        return link.is_silent
    return bool(link.get_execution_options().get("holdfast_silent"))


def has_listeners(connection: Link, *, owner_id: int | None, repository_id: int | None) -> bool:
    """Tell whether any active hook could be told of what happens to a repository."""
    return not is_silent(connection) and bool(
        LISTENING.read(connection, repository_id=repository_id, owner_id=owner_id)
    )


def listening(
    connection: Link,
    kind: str,
    *,
    owner_id: int | None,
    repository_id: int | None,
    details: Mapping[str, object],
) -> list[int]:
    """Return the active hooks that want an event, in the order they are told."""
    if is_silent(connection):
        return []
    found = LISTENING.read(connection, repository_id=repository_id, owner_id=owner_id)
    return wanting(found, kind, str(details.get("ref", ""))) if found else []


def wanting(found: Sequence[tuple[Any, ...]], kind: str, ref: str) -> list[int]:
    """Return which of some active hooks want an event."""
    is_sifted = kind in ABOUT_REFS
    return [
        number
        for _, number, names, branch_filter in found
        if kind in names.split(",") and (not is_sifted or passes(branch_filter, ref))
    ]


def is_pushed_to(database: Database, *, owner_id: int, repository_id: int, refs: Iterable[str]) -> bool:
    """Tell whether some hook would be told of pushes to one of these refs, before they are recorded."""
    if database.is_silent:
        return False
    found = database.rows(LISTENING, repository_id=repository_id, owner_id=owner_id)
    return bool(found) and any(wanting(found, "push", ref) for ref in refs)


def queue(connection: Link, hook_ids: list[int], event_id: int, kind: str, *, now: int) -> None:
    """Write a delivery of an event for each of some hooks that is still there."""
    if not isinstance(connection, Bare) and connection.dialect.name == "postgresql":
        # One that is being removed right now must not take the commit along that it would have been told of.
        there = set(connection.execute(STILL_THERE, {"ids": hook_ids}).scalars())
        hook_ids = [number for number in hook_ids if number in there]
    if hook_ids:
        add_waiting(connection, hook_ids, event_id, kind, now=now)
