"""Who is told of an event: each hook that wants it gets a delivery, in the transaction that records the event.

Every commit asks who listens, so the question is one statement on the bare driver and mostly finds nobody.
"""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import bindparam, literal, select, union_all

from holdfast.hosting.globs import compile_glob
from holdfast.hosting.store.deliveries import add_waiting
from holdfast.hosting.store.statement import Bare, Link, Statement
from holdfast.hosting.store.tables import hooks

__all__ = ["passes", "queue"]

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


def queue(
    connection: Link,
    event_id: int,
    kind: str,
    *,
    owner_id: int | None,
    repository_id: int | None,
    details: Mapping[str, object],
    now: int,
) -> None:
    """Write a delivery of an event for every active hook that wants it."""
    if is_silent(connection):
        return
    found = LISTENING.run(connection, repository_id=repository_id, owner_id=owner_id)
    if not found:
        return
    ref = str(details.get("ref", "")) if kind in ABOUT_REFS else None
    wanting = [
        number
        for _, number, names, branch_filter in found
        if kind in names.split(",") and (ref is None or passes(branch_filter, ref))
    ]
    if wanting and not isinstance(connection, Bare) and connection.dialect.name == "postgresql":
        # One that is being removed right now must not take the commit along that it would have been told of.
        there = set(connection.execute(STILL_THERE, {"ids": wanting}).scalars())
        wanting = [number for number in wanting if number in there]
    if wanting:
        add_waiting(connection, wanting, event_id, kind, now=now)
