"""Upgrade of a data folder from before the repository log: imports its repositories and pending ref updates.

Earlier versions stored a pending row before a ref update and recorded its event after it. Pending rows left by a
killed process are decided by the ref: if the update happened, its event is recorded; otherwise the row is deleted.
"""

from collections.abc import Callable, Sequence
from itertools import groupby

import structlog

from holdfast.hosting.app import App
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services import commit_references, ref_updates
from holdfast.hosting.services.ref_updates import ActorUpdates
from holdfast.hosting.storage.adoption import adopt_all
from holdfast.hosting.store import pending_ref_updates, ref_events, repositories
from holdfast.hosting.store.pending_ref_updates import PendingUpdate
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repository_log import NOT_ADOPTED

__all__ = ["adopt", "has_happened", "record_pending_updates"]

log = structlog.get_logger(__name__)


def adopt(app: App, progress: Callable[[int, int], None] = lambda *_: None) -> None:
    """Adopt all repositories that are not adopted yet, and record the updates of refs that were pending.

    `progress` is called after each repository with the number adopted and the total. Can be run again after an
    interruption.
    """
    adopt_all(app.database, app.store, app.copies, progress)
    recorded = record_pending_updates(app)
    if recorded:
        log.warning("interrupted ref updates recorded", count=recorded)


def record_pending_updates(app: App) -> int:
    """Record the pending updates that happened in adopted repositories, delete the others; return the number."""
    pending_updates = pending_ref_updates.pending_updates(app.database)
    return sum(
        record_pending_in(app, repository_id, list(its))
        for repository_id, its in groupby(pending_updates, key=lambda pending: pending.repository_id)
    )


def record_pending_in(app: App, repository_id: int, pending_updates: Sequence[PendingUpdate]) -> int:
    """Record the pending updates of one repository, in one transaction."""
    repository = repositories.repository_by_id(app.database, repository_id)
    if repository.version == NOT_ADOPTED:
        # Its refs are unknown: its updates stay pending.
        return 0
    repo = app.copies.open(repository)
    since = min(pending.created_at for pending in pending_updates)
    recorded = pending_ref_updates.recorded_since(app.database, repository_id, since)
    happened = [pending for pending in pending_updates if has_happened(repo, pending.update)]
    # The same update may be pending twice, after a retried request.
    once = {pending.update: pending for pending in reversed(happened) if pending.update not in recorded}
    new = [pending for pending in happened if once.get(pending.update) is pending]
    actor_updates = [
        ActorUpdates(actor_id, [pending.update for pending in its])
        for actor_id, its in groupby(new, key=lambda pending: pending.actor_id)
    ]
    references = [
        reference
        for batch in actor_updates
        if batch.actor_id is not None
        for update in batch.updates
        for reference in commit_references.find_references(app, repository, batch.actor_id, update, None)
    ]
    references = commit_references.newest(references) if references else references
    pushes = ref_updates.read_pushes(app, repository, actor_updates, repository.default_branch)
    with app.database.write() as connection:
        locked = commit_references.lock_repositories(app.database, connection, repository, references)
        if any(not pending.update.deletes for pending in new):
            repositories.set_refs_changed(connection, repository, branch_change=0, pushed=True, bytes_added=0)
        for batch in actor_updates:
            ref_events.record_updates(connection, repository, batch.actor_id, batch.updates, preloaded=pushes)
        if references:
            commit_references.apply(app.database, connection, repository, locked, references)
        for pending in pending_updates:
            if pending not in happened:
                pending_ref_updates.delete_key_of(connection, pending)
        pending_ref_updates.delete_pending(connection, pending_updates)
    return len(new)


def has_happened(repo: Repo, update: RefUpdate) -> bool:
    """Return whether a pending update has happened; later updates may have followed it."""
    at = refs.target(repo, update.ref)
    if not update.has_effect:
        return False
    if update.deletes:
        return at is None
    if at is None or at == update.old:
        return False
    if at == update.new:
        return True
    if not leads_to(repo, update.new, at):
        return False
    # If a branch was to be reset to an ancestor but went on from its old commit, its history has both commits.
    return update.creates or not (leads_to(repo, update.new, update.old) and leads_to(repo, update.old, at))


def leads_to(repo: Repo, earlier: str, later: str) -> bool:
    """Return whether a commit is an ancestor of another."""
    if not (refs.is_commit(repo, earlier) and refs.is_commit(repo, later)):
        return False
    return history.merge_base(repo, earlier, later) == earlier
