"""Scheduled tasks: the work a server does by itself, at intervals.

Some tasks run in every worker process. Others run in one of them at a time: the one that holds the task's lease.
When it ends, the lease expires and another process takes over.
"""

import os
import secrets
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

import anyio
import structlog
from anyio import to_thread
from sqlalchemy import bindparam, update

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitError
from holdfast.hosting.git.history import refresh_commit_graph
from holdfast.hosting.services import maintenance, ref_changes
from holdfast.hosting.store import repositories, sessions
from holdfast.hosting.store.faults import DRIVER_ERRORS, is_outage
from holdfast.hosting.store.leases import release_lease, take_lease
from holdfast.hosting.store.tables import tokens

__all__ = [
    "ScheduledTask",
    "refresh_pushed",
    "refresh_unmeasured",
    "run_scheduled_tasks",
    "save_session_use",
    "save_token_use",
    "scheduled_tasks",
]

MAX_WAIT_SECONDS: Final = 60.0
LEASE_SECONDS: Final = 60.0
# The cooldown of a repository after a refresh, as a multiple of the time the refresh took.
COOLDOWN_FACTOR: Final = 100
# How long the process of a push has for its refresh before others take over, and how many they take at once.
UNMEASURED_SECONDS: Final = 30
MAX_UNMEASURED: Final = 1000
log = structlog.get_logger(__name__)
USED = update(tokens).where(tokens.c.id == bindparam("token")).values(last_used_at=bindparam("moment"))


@dataclass(frozen=True, slots=True)
class ScheduledTask:
    """A task that runs at an interval."""

    name: str
    interval: float
    """Seconds between the end of one run and the start of the next."""
    run: Callable[[App], object]
    needs_lease: bool = False
    """Whether it runs in only one of all processes on this database at a time."""


def save_token_use(app: App) -> None:
    """Write the last use of access tokens in one transaction; the times are kept when that fails."""
    used, app.used_tokens = app.used_tokens, {}
    if used:
        try:
            with app.database.write() as connection:
                connection.execute(USED, [{"token": token, "moment": moment} for token, moment in used.items()])
        except DRIVER_ERRORS:
            app.used_tokens = {**used, **app.used_tokens}
            raise


def save_session_use(app: App) -> None:
    """Write the last use of sessions in one transaction; the times are kept when that fails."""
    seen, app.seen_sessions = app.seen_sessions, {}
    if seen:
        try:
            sessions.note_seen(app.database, seen)
        except DRIVER_ERRORS:
            app.seen_sessions = {**seen, **app.seen_sessions}
            raise


def refresh_pushed(app: App) -> None:
    """Update the commit-graph and the size of repositories that were pushed to.

    Both read the whole repository, so a cooldown bounds the time spent on one that is pushed to all the time to a
    hundredth.
    """
    now = time.monotonic()
    app.resting = {number: until for number, until in app.resting.items() if until > now}
    for number in app.pushed - app.resting.keys():
        app.pushed.discard(number)
        started, moment = time.monotonic(), int(time.time())
        try:
            refresh_commit_graph(app.folders.existing(number))
            size = app.folders.size(number)
        except (GitError, OSError):
            # Deleted concurrently, or damaged: `holdfast admin doctor` reports it.
            continue
        ended = time.monotonic()
        app.resting[number] = ended + COOLDOWN_FACTOR * (ended - started)
        try:
            with app.database.write() as connection:
                repositories.set_size(connection, number, size, measured_at=moment)
        except DRIVER_ERRORS:
            app.pushed.add(number)
            raise


def refresh_unmeasured(app: App) -> None:
    """Queue repositories whose refresh was lost because the process of the push was killed."""
    before = int(time.time()) - UNMEASURED_SECONDS
    app.pushed.update(repositories.unmeasured(app.database, before=before, most=MAX_UNMEASURED))


def scheduled_tasks(app: App) -> tuple[ScheduledTask, ...]:
    """List the scheduled tasks of a server."""
    tasks = [
        ScheduledTask("save token use", 5, save_token_use),
        ScheduledTask("save session use", 60, save_session_use),
        ScheduledTask("refresh pushed", 5, refresh_pushed),
        ScheduledTask("refresh unmeasured", 60, refresh_unmeasured, needs_lease=True),
        ScheduledTask("recover", 60, ref_changes.recover, needs_lease=True),
        ScheduledTask("clean", 3600, maintenance.clean, needs_lease=True),
        ScheduledTask("forget deliveries", 3600, maintenance.delete_old_deliveries, needs_lease=True),
    ]
    if app.settings.gc_hours:
        tasks.append(
            ScheduledTask(
                "collect garbage", app.settings.gc_hours * 3600, maintenance.collect_where_needed, needs_lease=True
            )
        )
    return tuple(tasks)


async def run_once(app: App, task: ScheduledTask) -> None:
    """Run a task once; a failure is logged, and the task runs again at its next time."""
    try:
        # A task that may take hours is abandoned at shutdown; it is safe to interrupt.
        await to_thread.run_sync(task.run, app, abandon_on_cancel=task.needs_lease)
    except Exception as error:  # noqa: BLE001  # it is logged, and the service goes on
        log_failure(task.name, error)


def log_failure(task: str, error: Exception) -> None:
    """Log that a task failed: a warning while the database or disk is unavailable, else a traceback."""
    if is_outage(error):
        log.warning(
            "scheduled task postponed: database or disk unavailable",
            task=task,
            error=type(error).__name__,
        )
    else:
        log.error("scheduled task failed", task=task, exc_info=error)


async def run_with_lease(app: App, task: ScheduledTask, holder: str) -> bool:
    """Run a task while holding its lease; return false when another process holds it.

    The lease of a task with a long interval is kept afterwards, so that no other process runs it again too soon.
    """
    seconds = max(task.interval, LEASE_SECONDS)

    def take() -> bool:
        return take_lease(app.database, task.name, holder, seconds=seconds)

    async def hold() -> None:
        while True:
            await anyio.sleep(seconds / 3)
            with suppress(Exception):
                await to_thread.run_sync(take)

    try:
        taken = await to_thread.run_sync(take)
    except Exception as error:  # noqa: BLE001  # it is logged, and the service goes on
        log_failure(task.name, error)
        return False
    if taken:
        async with anyio.create_task_group() as group:
            group.start_soon(hold)
            await run_once(app, task)
            group.cancel_scope.cancel()
    return taken


async def repeat(app: App, task: ScheduledTask, holder: str) -> None:
    """Run a task at its interval, forever."""
    wait = min(task.interval, MAX_WAIT_SECONDS)
    while True:
        await anyio.sleep(wait)
        if not task.needs_lease:
            await run_once(app, task)
        elif await run_with_lease(app, task, holder):
            wait = task.interval
        else:
            wait = min(task.interval, MAX_WAIT_SECONDS)


@asynccontextmanager
async def run_scheduled_tasks(app: App, tasks: tuple[ScheduledTask, ...] | None = None) -> AsyncIterator[None]:
    """Run the scheduled tasks until the server stops, then write the last use of tokens and sessions once more."""
    chosen = scheduled_tasks(app) if tasks is None else tasks
    holder = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
    async with anyio.create_task_group() as group:
        for task in chosen:
            group.start_soon(repeat, app, task, holder)
        try:
            yield
        finally:
            group.cancel_scope.cancel()
    try:
        save_token_use(app)
        save_session_use(app)
        for task in chosen:
            if task.needs_lease and task.interval <= LEASE_SECONDS:
                release_lease(app.database, task.name, holder)
    except DRIVER_ERRORS as error:
        # A server also stops while its database is down; the leases expire by themselves.
        log_failure("shutdown", error)
