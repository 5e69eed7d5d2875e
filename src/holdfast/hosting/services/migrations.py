"""Migration of repositories from another service: branches, tags, notes, LFS objects, and the contents of its API.

The repository is created first, read-only and empty, to reserve its name and show the progress. Fetched refs
become visible in one transaction. A failed migration deletes the repository again.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

import msgspec
from sqlalchemy import Connection

from holdfast.hosting.access import Actor, RepositoryAccess, Unit, require_read
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchMigration, NoSuchRepository, RemoteFailed, TooManyAtOnce
from holdfast.hosting.git import remotes as git_remotes
from holdfast.hosting.git.remotes import GitRemote
from holdfast.hosting.services import mirrors, remotes, repositories
from holdfast.hosting.services.durations import checked_interval, format_duration
from holdfast.hosting.services.fields import check_length, check_required
from holdfast.hosting.services.migration_client import MigrationClient
from holdfast.hosting.services.migration_files import fetch_lfs_objects
from holdfast.hosting.services.migration_imports import ImportParts, import_parts
from holdfast.hosting.services.migration_sources import SourceService, open_source
from holdfast.hosting.services.remotes import Credentials
from holdfast.hosting.storage.adoption import pack_files
from holdfast.hosting.storage.local_copies import create_repository
from holdfast.hosting.storage.pack_files import store_pack_file
from holdfast.hosting.store import hooks, repository_log, subscriptions
from holdfast.hosting.store import mirrors as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.mirrors import Migration
from holdfast.hosting.store.repositories import (
    DeclaredSettings,
    Repository,
    add_repository,
    change_repository,
    repository_by_id,
)
from holdfast.hosting.store.repository_events import record_created
from holdfast.http_client.urls import HttpUrl
from holdfast.redacted_repr import redacted

__all__ = ["NewMigration", "migrate", "remove_abandoned", "show_progress"]

# Concurrency limits: each migration occupies a thread until it ends.
MOST_AT_ONCE: Final = 4
MOST_PER_USER: Final = 2
LONGEST_SECRET: Final = 2048
FETCH: Final = "git"


@redacted
@dataclass(frozen=True, slots=True, kw_only=True)
class NewMigration:
    """A repository to migrate."""

    address: str
    name: str
    description: str = ""
    is_private: bool = False
    credentials: Credentials
    token: str = ""
    """A token of the remote service, which its API expects in its own format."""
    is_mirror: bool = False
    mirror_interval: str = ""
    service: SourceService | None = None
    """The kind of remote API to import from."""
    parts: ImportParts = ImportParts()  # noqa: RUF009  # it is frozen
    with_lfs: bool = False
    lfs_address: str = ""
    """The URL of the LFS API; empty to derive it from the clone URL."""


@redacted
@dataclass(frozen=True, slots=True)
class NewMirror:
    """The remote of a mirror, and the interval of its updates."""

    address: str
    credentials: Credentials
    interval: int


class MigrationSlots:
    """Limits the migrations that run in this process, in total and per user."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Counter[int] = Counter()

    @contextmanager
    def slot(self, user: Account) -> Iterator[None]:
        """Hold a slot; raise `TooManyAtOnce` if none is free."""
        with self._lock:
            if self._running.total() >= MOST_AT_ONCE or self._running[user.id] >= MOST_PER_USER:
                raise TooManyAtOnce("too many repositories are being migrated at the moment; try again later")
            self._running[user.id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[user.id] -= 1
                if not self._running[user.id]:
                    del self._running[user.id]


slots: Final = MigrationSlots()


def migrate(app: App, actor: Actor, owner: Account, new: NewMigration) -> Repository:
    """Create a repository from a remote one, and return it when the migration is complete.

    Raises `RemoteFailed` if it cannot be fetched; the repository is then deleted.
    """
    user = repositories.require_create_for(app, actor, owner)
    check_required(new.name, "RepoName")
    check_length(new.name, "RepoName", repositories.LONGEST_NAME)
    check_length(new.description, "Description", repositories.LONGEST_DESCRIPTION)
    check_length(new.credentials.username, "AuthUsername", LONGEST_SECRET)
    check_length(new.credentials.password, "AuthPassword", LONGEST_SECRET)
    url = remotes.parse_address(new.address, "CloneAddr")
    credentials = remotes.credentials_for(url, new.credentials)
    lfs_url = remotes.parse_address(new.lfs_address or lfs_address(url), "LFSEndpoint") if new.with_lfs else None
    interval = checked_interval(new.mirror_interval, "MirrorInterval") if new.is_mirror else 0
    with slots.slot(user):
        remote = remotes.open_remote(app, url, credentials)
        mirror = NewMirror(url.url, credentials, interval) if new.is_mirror else None
        repository = create(app, owner, user, new, url=url.url, mirror=mirror)
        try:
            fetch_content(app, user, repository, remote)
            source = None
            if new.service is not None and new.parts != ImportParts():
                source = open_source(app, new.service, url, token=new.token, credentials=credentials)
                import_parts(app, repository, user, source, new.parts)
            if lfs_url is not None:
                # The size limit is for all files together.
                left = source.client.bytes_left if source is not None else None
                client = MigrationClient.open(app, url, credentials.authorization, left)
                fetch_lfs_objects(app, client, repository, lfs_url)
            with app.database.write() as connection:
                finish(app, connection, repository, mirror)
        except BaseException:
            remove(app, repository, user)
            raise
    return repository_by_id(app.database, repository.id)


def lfs_address(url: HttpUrl) -> str:
    """Return the URL of a repository's LFS API, as git-lfs derives it."""
    return f"{url.url.removesuffix('.git')}.git/info/lfs"


def create(
    app: App, owner: Account, user: Account, new: NewMigration, *, url: str, mirror: NewMirror | None
) -> Repository:
    """Create the empty repository; like a mirror, it is read-only until the migration ends."""
    interval = "" if mirror is None else format_duration(mirror.interval)
    declared = DeclaredSettings(original_url=url, mirror_interval=interval)
    with app.database.write() as connection:
        number = add_repository(
            connection,
            owner,
            new.name,
            description=new.description,
            is_private=new.is_private,
            is_mirror=True,
            # Nobody may open an issue under a number that is still to be imported.
            has_issues=False,
            has_pulls=False,
            default_branch="main",
            declared=msgspec.json.encode(declared).decode(),
        )
        store.add_migration(connection, number, user.id, FETCH)
        hooks.copy_defaults(connection, number)
        subscriptions.watch_new(connection, number, user)
        record_created(connection, number, owner, user)
    return repository_by_id(app.database, number)


def fetch_content(app: App, user: Account, repository: Repository, remote: GitRemote) -> None:
    """Fetch the refs and objects of the remote repository, and record them in one transaction."""
    limits = remotes.limits_of(app)
    with app.folders.incoming() as aside:
        folder = aside / "repository.git"
        create_repository(folder, repository.default_branch)
        remote_refs = git_remotes.list_refs(folder, remote, limits)
        if any(len(target) != 40 for target in remote_refs.targets.values()):
            raise RemoteFailed("the remote repository has SHA-256 ids, which are not supported")
        if not remote_refs.targets:
            return
        git_remotes.fetch(folder, remote, limits)
        targets = mirrors.fetched_refs(folder)
        packs = [store_pack_file(app.store, path) for path in pack_files(folder)]
    head = remote_refs.default_branch
    current = head if f"refs/heads/{head}" in targets else repository.default_branch
    with app.database.write() as connection:
        repository_log.import_refs(connection, repository.id, user.id, targets, packs)
        change_repository(
            connection,
            repository,
            is_empty=not targets,
            branch_count=sum(ref.startswith("refs/heads/") for ref in targets),
            size=sum(pack.size for pack in packs),
            default_branch=mirrors.choose_default_branch(targets, head, current),
        )
    app.pushed.add(repository.id)


def finish(app: App, connection: Connection, repository: Repository, mirror: NewMirror | None) -> None:
    """Make the repository writable, or a mirror."""
    change_repository(connection, repository, is_mirror=mirror is not None, has_issues=True, has_pulls=True)
    if mirror is not None:
        store.add_mirror(
            connection,
            repository.id,
            mirror.address,
            username=mirror.credentials.username,
            secret=app.cipher.encrypt(mirror.credentials.password),
            interval=mirror.interval,
        )
        store.set_mirrored(connection, repository.id)
    store.set_progress(connection, repository.id, status="done", phase="")


def remove(app: App, repository: Repository, user: Account) -> None:
    """Delete the repository of a failed migration, unless it is already deleted."""
    try:
        current = repository_by_id(app.database, repository.id)
    except NoSuchRepository:
        return
    repositories.remove(app, current, user)


def remove_abandoned(app: App, *, now: float | None = None) -> int:
    """Delete the repositories of migrations interrupted by a server stop; return how many."""
    # Each git command, the import and the LFS objects may take up to the timeout without reporting progress.
    longest = 4 * app.settings.migration_timeout + 3600
    abandoned_ids = store.abandoned_migrations(app.database, int(time.time() if now is None else now) - longest)
    for number in abandoned_ids:
        with suppress(NoSuchRepository):
            repository = repository_by_id(app.database, number)
            repositories.remove(app, repository, repository.owner)
    return len(abandoned_ids)


def show_progress(app: App, target: RepositoryAccess) -> Migration:
    """Return the progress of a repository's migration; raise `NoSuchMigration` if it was not migrated."""
    require_read(target, Unit.CODE)
    migration = store.find_migration(app.database, target.repository.id)
    if migration is None:
        raise NoSuchMigration
    return migration
