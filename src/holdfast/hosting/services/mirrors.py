"""Pull mirrors: repositories updated from a remote one, at an interval and on request.

A remote is fetched to a temporary folder that has the local copy as an alternate. Then the refs are compared and
updated as by a push, with its events, but without permission checks and without closing issues.
"""

import os
import time
from pathlib import Path
from typing import Final

import structlog

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    HostingError,
    NoSuchRepository,
    NotAMirror,
    RemoteFailed,
)
from holdfast.hosting.git import remotes as git_remotes
from holdfast.hosting.git.folders import in_use
from holdfast.hosting.git.program import run
from holdfast.hosting.git.quarantine import refused_name
from holdfast.hosting.git.remotes import RemoteRefs
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services import ref_updates, remotes
from holdfast.hosting.services.durations import SHORTEST_INTERVAL
from holdfast.hosting.services.ref_updates import ActorUpdates
from holdfast.hosting.services.remotes import Credentials
from holdfast.hosting.storage.local_copies import create_repository
from holdfast.hosting.storage.pack_files import store_pack_file
from holdfast.hosting.store import mirrors as store
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.mirrors import Mirror
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, change_repository, repository_by_id
from holdfast.hosting.store.repository_log import NewPack

__all__ = [
    "choose_default_branch",
    "fetched_refs",
    "request_sync",
    "sync",
    "sync_due",
]

MIRRORED: Final = ("refs/heads/", "refs/tags/", "refs/notes/")
PACK_SECONDS: Final = 3600.0
log = structlog.get_logger(__name__)


def request_sync(app: App, actor: Actor, target: RepositoryAccess) -> None:
    """Schedule an update of a mirror; raise `NotAMirror` if the repository is not a mirror."""
    access.require_login(actor)
    access.require_write(target, Unit.CODE)
    access.require_unarchived(target)
    if not store.request_sync(app.database, target.repository.id):
        raise NotAMirror(target.repository.full_name)


def sync_due(app: App) -> int:
    """Update the mirrors that are due, one after the other; return how many."""
    count = 0
    while True:
        now = int(time.time())
        claim = app.settings.migration_timeout * 2 + 600
        mirror = store.claim_due(app.database, seconds=claim, now=now)
        if mirror is None:
            return count
        count += 1
        sync(app, mirror)


def sync(app: App, mirror: Mirror) -> None:
    """Update a mirror; an error is stored with the mirror."""
    error = ""
    try:
        repository = repository_by_id(app.database, mirror.repository_id)
        if not repository.is_archived:
            fetch_changes(app, repository, mirror)
    except NoSuchRepository:
        return
    except RemoteFailed as failure:
        error = str(failure)
    except HostingError as failure:
        log.warning("mirror not updated", repository_id=mirror.repository_id, error=type(failure).__name__)
        error = "the mirror could not be updated"
    store.end_sync(app.database, mirror, error=error, retry_after=SHORTEST_INTERVAL, now=int(time.time()))


def fetch_changes(app: App, repository: Repository, mirror: Mirror) -> None:
    """Fetch the changes of the remote, and update the refs of a mirror."""
    credentials = Credentials(mirror.username, app.cipher.decrypt(mirror.secret))
    remote = remotes.open_remote(app, remotes.parse_address(mirror.remote_address, "RemoteAddress"), credentials)
    limits = remotes.limits_of(app)
    with app.folders.incoming() as aside:
        folder = aside / "repository.git"
        create_repository(folder, repository.default_branch)
        remote_refs = git_remotes.list_refs(folder, remote, limits)
        if not remote_refs.targets and not repository.is_empty:
            raise RemoteFailed("the remote repository is empty; the mirror stays as it is")
        if remote_refs.targets == mirrored_refs(app, repository):
            return
        copy = app.copies.open(repository)
        (folder / "objects" / "info").mkdir(exist_ok=True)
        (folder / "objects" / "info" / "alternates").write_bytes(os.fsencode(copy.folder / "objects") + b"\n")
        with in_use(copy.folder):
            git_remotes.fetch(folder, remote, limits)
        apply(app, repository, fetched_refs(folder), remote_refs, folder)


def apply(app: App, repository: Repository, new: dict[str, str], remote_refs: RemoteRefs, folder: Path) -> None:
    """Update the refs of a mirror to those of the fetched folder, unless it was archived meanwhile."""
    with app.copies.writing(repository.id) as copy:
        # The fetch may take an hour: it may also have been transferred, and its events are for the new owner.
        repository = repository_by_id(app.database, repository.id)
        if repository.is_archived:
            return
        old = mirrored_refs(app, repository)
        zero = ref_updates.zero_id(repository)
        updates = [RefUpdate(ref, old.get(ref, zero), target) for ref, target in new.items()]
        updates += [RefUpdate(ref, target, zero) for ref, target in old.items() if ref not in new]
        updates = [update for update in updates if update.has_effect]
        if not updates:
            return
        branch = choose_default_branch(new, remote_refs.default_branch, repository.default_branch)
        if branch != repository.default_branch:
            with app.database.write() as connection:
                change_repository(connection, repository, default_branch=branch)
            repository = repository_by_id(app.database, repository.id)
        pack = add_objects(app, copy, folder, {update.new for update in updates if not update.deletes})
        # Without commits: issue references in their messages are to another repository.
        actor_updates = ActorUpdates(repository.owner.id, updates, commits=())
        # The default branch too, where the remote has no branch left.
        packs = [] if pack is None else [pack]
        ref_updates.record(app, repository, [actor_updates], packs, atomic=False, may_delete_default=True)
        app.copies.update(repository.id)
    app.pushed.add(repository.id)


def add_objects(app: App, copy: Repo, folder: Path, ids: set[str]) -> NewPack | None:
    """Pack objects reachable from `ids` of a folder, but no ref of a local copy, into the copy and the store."""
    existing_ids = run(copy.folder, "for-each-ref", "--format=%(objectname)")
    packs = copy.folder / "objects" / "pack"
    packs.mkdir(exist_ok=True)
    revisions = "".join(f"{oid}\n" for oid in sorted(ids)).encode() + b"--not\n" + existing_ids
    name = run(
        copy.folder,
        "pack-objects",
        *("-q", "--non-empty", "--revs", "--delta-base-offset", str(packs / "pack")),
        input=revisions,
        timeout=PACK_SECONDS,
        variables={"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(folder / "objects")},
    )
    return store_pack_file(app.store, packs / f"pack-{name.decode().strip()}.pack") if name.strip() else None


def mirrored_refs(app: App, repository: Repository) -> dict[str, str]:
    """Return the refs of a mirror that are mirrored from the remote."""
    with app.database.read() as connection:
        refs = repository_log.read_refs(connection, repository.id)
    return {ref: target for ref, target in refs.items() if ref.startswith(MIRRORED)}


def fetched_refs(folder: Path) -> dict[str, str]:
    """Return the refs of a fetched folder, without those that are not allowed here."""
    output = run(folder, "for-each-ref", "--format=%(objectname) %(refname)")
    lines = (os.fsdecode(line).partition(" ") for line in output.splitlines())
    return {ref: target for target, _, ref in lines if refused_name(ref, deletes=False) is None}


def choose_default_branch(targets: dict[str, str], head: str, current: str) -> str:
    """Return the default branch: the current one if it exists, else the remote's, else any branch."""
    branches = [ref.removeprefix("refs/heads/") for ref in targets if ref.startswith("refs/heads/")]
    for name in (current, head, "main", "master", *sorted(branches)):
        if name in branches and name.isprintable():
            return name
    return current
