"""Invalidates cached conversations whose file or upload, read permission or login session is gone.

Permissions are checked at every request, so this is not access control: it deletes entries that nobody may read
any more. Repositories, accounts and sessions are changed by requests that are not GET, so all entries are checked
soon after one. Changes made by commands are noticed within a minute.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

import structlog
from anyio import to_thread
from sqlalchemy import select
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import DoesNotExist, NoSuchFolder, NoSuchObject, NoSuchRef
from holdfast.hosting.git import refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import argument
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.services import chat_backups
from holdfast.hosting.store import accounts, repositories
from holdfast.hosting.store.chat_backups import find_by_id
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import sessions
from holdfast.web.chats.cache import ConversationCache, cache_of
from holdfast.web.chats.cache_entries import CacheEntry, FileOrigin, UploadOrigin

__all__ = ["Revocation", "is_current", "revoke"]

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
# The pause between two checks of all entries, the polling interval, and the interval of checks without a change.
PAUSE_S: Final = 0.5
CHECK_INTERVAL_S: Final = 5.0
EVERY_S: Final = 60.0
FIRST_ERROR: Final = 400
log = structlog.get_logger(__name__)


def revoke(app: App) -> None:
    """Delete conversations whose file was deleted, replaced or made private, or whose reader lost access."""
    cache_of(app.settings).drop(lambda record: not is_current(app, record))


def is_current(app: App, record: CacheEntry) -> bool:
    """Return whether an entry may stay in the cache."""
    if record.session and not is_logged_in(app, record.session):
        return False
    origin = record.origin
    if origin is None:
        return True
    try:
        if isinstance(origin, UploadOrigin):
            backup = find_by_id(app.database, origin.backup)
            return record.account is None or chat_backups.may_read(app, backup, record.account)
        repository = repositories.repository_by_id(app.database, origin.repository)
        return (
            repository.owner.id == origin.owner
            and (is_public(repository) or not origin.public)
            and may_read(app, repository, record)
            and file_exists(app, origin)
        )
    except (DoesNotExist, NoSuchFolder, NoSuchObject, NoSuchRef):
        return False


def is_logged_in(app: App, session: str) -> bool:
    """Return whether a session is still valid."""
    query = select(sessions.c.user_id).where(
        sessions.c.token_hash == session, sessions.c.expires_at > int(time.time())
    )
    with app.database.read() as connection:
        return connection.execute(query).first() is not None


def is_public(repository: Repository) -> bool:
    """Return whether visitors can read a repository."""
    return not repository.is_private and repository.owner.visibility == "public"


def may_read(app: App, repository: Repository, record: CacheEntry) -> bool:
    """Return whether the reader of an encrypted entry may still read its file; True for other entries."""
    if not record.browser:
        return True
    if record.account is None:
        return is_public(repository)
    user = accounts.find_account(app.database, record.account)
    if not user.is_active or user.may_not_log_in:
        return False
    grants = repositories.grants_of(app.database, user, repository)
    return access.repository_access(Actor(user), repository, grants).may_read(Unit.CODE)


def file_exists(app: App, origin: FileOrigin) -> bool:
    """Return whether a file still exists where it was opened."""
    repo = app.copies.update(origin.repository)
    if origin.kind == "commit":
        commit = refs.rev_parse(repo, origin.ref)
    else:
        ref = refs.branch(repo, origin.ref) if origin.kind == "branch" else refs.tag(repo, origin.ref)
        commit = None if ref is None else refs.commit_of(repo, ref.id)
    if commit is None:
        return False
    entry = trees.find(repo, read_commit(repo, commit).tree, argument(origin.path))
    return isinstance(entry, TreeEntry) and entry.id == origin.blob


class Revocation:
    """Checks the cached conversations after every write request, and periodically."""

    def __init__(self, app: App) -> None:
        self._host = app
        self._changed: asyncio.Event | None = None

    def after(self, app: ASGIApp) -> ASGIApp:
        """Wrap an application: a successful write request triggers a check."""

        def serve(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
            if scope["type"] != "http" or scope["method"] in SAFE:
                return app(scope, receive, send)

            async def answer(message: Message) -> None:
                await send(message)
                if message["type"] == "http.response.start" and message["status"] < FIRST_ERROR and self._changed:
                    self._changed.set()

            return app(scope, receive, answer)

        return serve

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Poll until the service stops; first delete the leftovers of a process that was killed.

        At the end the archives that are open are closed.
        """
        self._changed = asyncio.Event()
        task = asyncio.create_task(self._watch(self._changed))
        try:
            yield
        finally:
            self._changed = None
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            cache_of(self._host.settings).close()

    async def _watch(self, changed: asyncio.Event) -> None:
        cache: ConversationCache = cache_of(self._host.settings)
        await self._do(cache.clear_leftovers)
        looked = -EVERY_S
        while True:
            # Not `wait_for`: before Python 3.12 it loses a cancellation that arrives together with the result.
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_INTERVAL_S):
                    await changed.wait()
            now = time.monotonic()
            if changed.is_set() or now - looked > EVERY_S:
                if now - looked > EVERY_S:
                    looked = now
                    await self._do(cache.tidy)
                changed.clear()
                await self._do(lambda: revoke(self._host))
                await asyncio.sleep(PAUSE_S)
            else:
                await self._do(cache.close_removed)

    @staticmethod
    async def _do(work: Callable[[], None]) -> None:
        """Run a task in a thread; errors are logged, and the next check tries again."""
        try:
            await to_thread.run_sync(work)
        except Exception as error:  # noqa: BLE001  # the next check retries
            log.warning("conversation cache check failed", error=type(error).__name__)
