"""Push mirrors: remote repositories to which branches, tags and notes are pushed."""

import secrets
import time
from typing import Final

import structlog

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import HostingError, NoSuchRepository, RemoteFailed, TooManyAtOnce
from holdfast.hosting.git import remotes as git_remotes
from holdfast.hosting.services import remotes
from holdfast.hosting.services.durations import SHORTEST_INTERVAL, checked_interval
from holdfast.hosting.services.fields import check_length
from holdfast.hosting.services.remotes import Credentials
from holdfast.hosting.store import push_mirrors as store
from holdfast.hosting.store.push_mirrors import PushMirror
from holdfast.hosting.store.repositories import Repository, repository_by_id

__all__ = ["create", "delete", "find", "list_push_mirrors", "push_due", "request_push"]

MOST: Final = 20
LONGEST_SECRET: Final = 2048
log = structlog.get_logger(__name__)


def create(
    app: App,
    actor: Actor,
    target: RepositoryAccess,
    *,
    address: str,
    credentials: Credentials,
    interval: str = "",
    sync_on_commit: bool = False,
) -> PushMirror:
    """Add a push mirror; its address must be allowed, but need not be reachable yet."""
    access.require_repository_admin(actor, target)
    check_length(credentials.username, "RemoteUsername", LONGEST_SECRET)
    check_length(credentials.password, "RemotePassword", LONGEST_SECRET)
    seconds = checked_interval(interval, "Interval")
    url = remotes.parse_address(address, "RemoteAddress")
    if store.count_push_mirrors(app.database, target.repository) >= MOST:
        raise TooManyAtOnce(f"a repository has at most {MOST} push mirrors")
    remotes.checked_addresses(app, url)
    used = remotes.credentials_for(url, credentials)
    return store.add_push_mirror(
        app.database,
        target.repository,
        name=f"remote_mirror_{secrets.token_urlsafe(8)}",
        remote_address=url.url,
        username=used.username,
        secret=app.cipher.encrypt(used.password),
        interval=seconds,
        sync_on_commit=sync_on_commit,
    )


def list_push_mirrors(
    app: App, actor: Actor, target: RepositoryAccess, *, skip: int, limit: int
) -> tuple[list[PushMirror], int]:
    """Return a page of the push mirrors of a repository, and the total."""
    access.require_repository_admin(actor, target)
    return store.list_push_mirrors(app.database, target.repository, skip=skip, limit=limit)


def find(app: App, actor: Actor, target: RepositoryAccess, name: str) -> PushMirror:
    """Return a push mirror by name."""
    access.require_repository_admin(actor, target)
    return store.find_push_mirror(app.database, target.repository, name)


def delete(app: App, actor: Actor, target: RepositoryAccess, name: str) -> None:
    """Delete a push mirror; the remote repository is not changed."""
    store.remove_push_mirror(app.database, find(app, actor, target, name))


def request_push(app: App, actor: Actor, target: RepositoryAccess) -> None:
    """Schedule a push to the mirrors of a repository."""
    access.require_repository_admin(actor, target)
    store.request_push(app.database, target.repository)


def push_due(app: App) -> int:
    """Push to the mirrors that are due, one after the other; return how many."""
    count = 0
    while True:
        claim = app.settings.migration_timeout + 600
        mirror = store.claim_due(app.database, seconds=claim, now=int(time.time()))
        if mirror is None:
            return count
        count += 1
        push(app, mirror)


def push(app: App, mirror: PushMirror) -> None:
    """Push to a mirror; an error is stored with the mirror."""
    error, version = "", 0
    try:
        repository = repository_by_id(app.database, mirror.repository_id)
        version = repository.version
        if not repository.is_empty:
            push_refs(app, repository, mirror)
    except NoSuchRepository:
        return
    except RemoteFailed as failure:
        error = str(failure)
    except HostingError as failure:
        log.warning("push mirror not updated", repository_id=mirror.repository_id, error=type(failure).__name__)
        error = "the mirror could not be updated"
    wait = mirror.interval
    if error and (wait or mirror.sync_on_commit):
        wait = max(wait, SHORTEST_INTERVAL)
    store.end_push(app.database, mirror, error=error, version=version, wait=wait)


def push_refs(app: App, repository: Repository, mirror: PushMirror) -> None:
    """Push the refs of a repository."""
    credentials = Credentials(mirror.username, app.cipher.decrypt(mirror.secret))
    url = remotes.parse_address(mirror.remote_address, "RemoteAddress")
    remote = remotes.open_remote(app, url, credentials, "git-receive-pack")
    # Its refs are compared with the database: git deletes in the remote what a damaged copy lacks.
    folder = app.copies.path(repository)
    with app.folders.incoming() as aside:
        git_remotes.push(folder, remote, remotes.limits_of(app), aside=aside)
