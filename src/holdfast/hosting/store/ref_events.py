"""Events of ref updates: pushes, and created or deleted branches and tags."""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from holdfast.hosting.store import events, hook_subscriptions
from holdfast.hosting.store.prepared_statements import Link
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository

__all__ = ["record_updates"]

BRANCHES: Final = "refs/heads/"
TAGS: Final = "refs/tags/"
NOTHING_KNOWN: Final[Mapping[Any, object]] = MappingProxyType({})
# From this many events on, one statement for all of them costs less than one for each.
MANY: Final = 16


def record_updates(
    connection: Link,
    repository: Repository,
    actor_id: int | None,
    updates: Sequence[RefUpdate],
    *,
    options: Sequence[str] = (),
    preloaded: Mapping[RefUpdate, object] = NOTHING_KNOWN,
) -> None:
    """Record the events of updated refs: `create` comes before `push`; deleting a branch is not a push.

    Refs that are neither branches nor tags have no events. The options of a push are part of its push events.
    `preloaded` is data that the payload renderer has read for updates already.
    """
    recorded = [(update, kind, event) for update in updates for kind, event in events_of(update)]
    about = {"owner_id": repository.owner.id, "repository_id": repository.id, "actor_id": actor_id}
    if len(recorded) >= MANY and not hook_subscriptions.has_subscribers(
        connection, owner_id=repository.owner.id, repository_id=repository.id
    ):
        event_details = [(event, details_of(update, kind, event, options)) for update, kind, event in recorded]
        events.record_without_deliveries(connection, event_details, **about)
        return
    for update, kind, event in recorded:
        details = details_of(update, kind, event, options)
        events.record(connection, event, **about, details=details, preloaded=preloaded.get(update))


def events_of(update: RefUpdate) -> list[tuple[str, str]]:
    """Return the events of an update, each with the kind of ref (branch or tag)."""
    if not update.has_effect:
        return []
    if update.ref.startswith(BRANCHES):
        kinds = ["delete"] if update.deletes else (["create"] if update.creates else []) + ["push"]
        return [("branch", kind) for kind in kinds]
    if update.ref.startswith(TAGS):
        kinds = ["push", "delete"] if update.deletes else ["push", *(["create"] if update.creates else [])]
        return [("tag", kind) for kind in kinds]
    return []


def details_of(update: RefUpdate, kind: str, event: str, options: Sequence[str]) -> dict[str, object]:
    """Return the details of an event of an update."""
    details: dict[str, object] = {
        "ref": display_ref(update.ref),
        "before": update.old,
        "after": update.new,
        "ref_type": kind,
    }
    return {**details, "push_options": list(options)} if options and event == "push" else details


def display_ref(ref: str) -> str:
    """Return the short name of a ref, as shown to users."""
    return ref if ref.isascii() else os.fsencode(ref).decode(errors="replace")
