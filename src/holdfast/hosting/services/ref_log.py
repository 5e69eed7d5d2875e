"""The ref log (reflog) of a repository: who updated which ref from which object to which, and restoring a ref.

Entries are immutable. The objects of a deleted or moved ref are kept for `ref_retention_days`; until then a branch
or tag can be restored to its target before an entry.
"""

from typing import Literal

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchLogEntry, NoSuchObject
from holdfast.hosting.git import history
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services import ref_updates
from holdfast.hosting.services.branches import require_code_write
from holdfast.hosting.services.ref_updates import BRANCHES
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store import accounts, repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.ref_updates import RefUpdate

__all__ = ["Kind", "RefLogEntry", "list_entries", "restore"]

Kind = Literal["create", "update", "force-update", "delete"]
TAGS = "refs/tags/"


class RefLogEntry(msgspec.Struct, frozen=True):
    """An update of a ref."""

    version: int
    update: RefUpdate
    kind: Kind
    actor: Account | None
    """The user who made the update; None for a deleted user, and for the service itself."""
    created_at: int
    is_restorable: bool
    """Whether the ref can be restored to its old target: it is a branch or tag whose old object is kept."""


def list_entries(
    app: App, target: RepositoryAccess, *, ref: str = "", skip: int = 0, limit: int = 30
) -> tuple[list[RefLogEntry], int]:
    """Return one page of the log, newest first, and the total; of a single ref if its full name is given."""
    access.require_read(target, Unit.CODE)
    repository = target.repository
    with app.database.read() as connection:
        total = repository_log.count_log_entries(connection, repository.id, ref=ref or None)
        log_entries = repository_log.log_entries(
            connection, repository.id, ref=ref or None, skip=skip, limit=limit
        )
        actors = accounts.accounts_by_id(
            connection, {log_entry.actor_id for log_entry in log_entries if log_entry.actor_id is not None}
        )
    repo = open_git(app, target)
    entries = [
        RefLogEntry(
            log_entry.version,
            log_entry.update,
            kind_of(repo, log_entry.update),
            None if log_entry.actor_id is None else actors.get(log_entry.actor_id),
            log_entry.created_at,
            is_restorable(repo, log_entry.update),
        )
        for log_entry in log_entries
    ]
    return entries, total


def kind_of(repo: Repo, update: RefUpdate) -> Kind:
    """Return the kind of an update; it counts as forced if one of its commits is no longer kept."""
    if update.creates:
        return "create"
    if update.deletes:
        return "delete"
    is_kept = all(repo.header(oid) is not None for oid in (update.old, update.new))
    is_branch = update.ref.startswith(BRANCHES)
    is_forward = is_branch and is_kept and history.merge_base(repo, update.old, update.new) == update.old
    return "update" if is_forward else "force-update"


def is_restorable(repo: Repo, update: RefUpdate) -> bool:
    """Return whether a ref can be restored to its target before an update."""
    return not update.creates and update.ref.startswith((BRANCHES, TAGS)) and repo.header(update.old) is not None


def restore(app: App, actor: Actor, target: RepositoryAccess, version: int) -> RefUpdate:
    """Restore a branch or tag to its target before an entry; branch protection applies as to a force push.

    Raises `NoSuchLogEntry` if the entry is missing or cannot be restored, and `NoSuchObject` after the retention
    time.
    """
    user = require_code_write(actor, target)
    repository = target.repository
    with app.database.read() as connection:
        entry = repository_log.log_entry(connection, repository.id, version)
    if entry is None or entry.update.creates or not entry.update.ref.startswith((BRANCHES, TAGS)):
        raise NoSuchLogEntry(version)
    repo = open_git(app, target)
    if repo.header(entry.update.old) is None:
        raise NoSuchObject(f"{entry.update.old} is not kept any more")
    ref = entry.update.ref
    current = repository_log.find_ref(app.database, repository.id, ref)
    update = RefUpdate(ref, current or ref_updates.zero_id(repository), entry.update.old)
    ref_updates.update_refs(app, repository, user, [update])
    return update
