"""Scheduled tasks, which the server runs at intervals.

Some tasks run in every worker process. Others run in one process at a time: the one that holds the task's lease.
When it exits, the lease expires and another process takes over.
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
from holdfast.hosting.errors import HostingError
from holdfast.hosting.git.history import refresh_commit_graph
from holdfast.hosting.services import (
    contributors,
    languages,
    maintenance,
    migrations,
    mirrors,
    pull_comparisons,
    pull_merges,
    push_mirrors,
)
from holdfast.hosting.services.attachments import save_downloads
from holdfast.hosting.store import sessions, ssh_keys
from holdfast.hosting.store.faults import DRIVER_ERRORS, is_outage
from holdfast.hosting.store.leases import release_leases, take_lease
from holdfast.hosting.store.tables import tokens

__all__ = [
    "ScheduledTask",
    "follow_pushes",
    "run_scheduled_tasks",
    "save_session_use",
    "save_ssh_key_use",
    "save_token_use",
    "scheduled_tasks",
]

MAX_WAIT_SECONDS: Final = 60.0
LEASE_SECONDS: Final = 60.0
# The cooldown of a repository after a compaction, as a multiple of its duration. A much higher factor would leave
# the packs of a burst of commits uncompacted for many minutes.
COOLDOWN_FACTOR: Final = 10
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
    """Write the last use of access tokens in one transaction; the times are kept if that fails."""
    used, app.used_tokens = app.used_tokens, {}
    if used:
        try:
            with app.database.write() as connection:
                connection.execute(USED, [{"token": token, "moment": moment} for token, moment in used.items()])
        except DRIVER_ERRORS:
            app.used_tokens = {**used, **app.used_tokens}
            raise


def save_session_use(app: App) -> None:
    """Write the last use of sessions in one transaction; the times are kept if that fails."""
    seen, app.seen_sessions = app.seen_sessions, {}
    if seen:
        try:
            sessions.note_seen(app.database, seen)
        except DRIVER_ERRORS:
            app.seen_sessions = {**seen, **app.seen_sessions}
            raise


def save_ssh_key_use(app: App) -> None:
    """Write the last use of SSH keys in one transaction; the times are kept if that fails."""
    used, app.used_ssh_keys = app.used_ssh_keys, {}
    if used:
        try:
            ssh_keys.note_use(app.database, used)
        except DRIVER_ERRORS:
            app.used_ssh_keys = {**used, **app.used_ssh_keys}
            raise


def follow_pushes(app: App) -> None:
    """Count languages and contributors of changed repositories, compact them, and update their commit-graphs.

    This reads much of a repository, so a cooldown limits the time spent on one that is written to continuously to
    a tenth.
    """
    now = time.monotonic()
    app.cooldowns = {number: until for number, until in app.cooldowns.items() if until > now}
    app.contended = {number: until for number, until in app.contended.items() if until > now}
    for number in app.pushed - app.cooldowns.keys():
        app.pushed.discard(number)
        started = time.monotonic()
        try:
            languages.count(app, number)
            contributors.count(app, number)
            if maintenance.compact(app, [number]).busy:
                # The packs of this push may be newer than those that are being compacted.
                app.pushed.add(number)
            refresh_commit_graph(app.copies.update(number).folder)
        except (HostingError, OSError):
            # Deleted meanwhile, or damaged, which `holdfast admin doctor` reports.
            continue
        ended = time.monotonic()
        app.cooldowns[number] = ended + COOLDOWN_FACTOR * (ended - started)


def scheduled_tasks(app: App) -> tuple[ScheduledTask, ...]:
    """List the scheduled tasks of a server."""
    tasks = [
        ScheduledTask("save token use", 5, save_token_use),
        ScheduledTask("save session use", 60, save_session_use),
        ScheduledTask("save SSH key use", 5, save_ssh_key_use),
        ScheduledTask("save downloads", 5, save_downloads),
        ScheduledTask("follow pushes", 5, follow_pushes),
        ScheduledTask("compare pull requests", 1, pull_comparisons.compare_all),
        ScheduledTask("compare missed pull requests", 30, pull_comparisons.compare_missed, needs_lease=True),
        ScheduledTask("retry scheduled merges", 60, pull_merges.retry_scheduled, needs_lease=True),
        ScheduledTask("count languages", 60, languages.count_missed, needs_lease=True),
        ScheduledTask("tidy local copies", 60, maintenance.tidy_copies),
        ScheduledTask("evict local copies", 300, maintenance.evict_copies),
        ScheduledTask("delete orphaned copies", 3600, maintenance.delete_orphaned_copies),
        ScheduledTask("delete temporary files", 3600, maintenance.delete_temporary_files),
        ScheduledTask("verify local copies", 60, maintenance.verify_copies),
        ScheduledTask("update mirrors", 5, mirrors.sync_due, needs_lease=True),
        ScheduledTask("remove abandoned migrations", 3600, migrations.remove_abandoned, needs_lease=True),
        ScheduledTask("push to mirrors", 5, push_mirrors.push_due, needs_lease=True),
        ScheduledTask("compact", 3600, maintenance.compact_all, needs_lease=True),
        ScheduledTask("delete packs", 3600, maintenance.delete_packs, needs_lease=True),
        ScheduledTask("clean", 3600, maintenance.clean, needs_lease=True),
        ScheduledTask("forget deliveries", 3600, maintenance.delete_old_deliveries, needs_lease=True),
    ]
    if app.settings.gc_hours:
        tasks.append(
            ScheduledTask(
                "collect garbage", app.settings.gc_hours * 3600, maintenance.collect_expired, needs_lease=True
            )
        )
    return tuple(tasks)


async def run_once(app: App, task: ScheduledTask) -> None:
    """Run a task once; a failure is logged, and the task runs again after its interval."""
    try:
        # A task that may take hours is abandoned at shutdown; it is safe to interrupt.
        await to_thread.run_sync(task.run, app, abandon_on_cancel=task.needs_lease)
    except Exception as error:  # noqa: BLE001  # logged, and the service continues
        log_failure(task.name, error)


def log_failure(task: str, error: Exception) -> None:
    """Log that a task failed: a warning while the database or disk is unavailable, otherwise a traceback."""
    if is_outage(error):
        log.warning(
            "scheduled task postponed: database or disk unavailable",
            task=task,
            error=type(error).__name__,
        )
    else:
        log.error("scheduled task failed", task=task, exc_info=error)


async def run_with_lease(app: App, task: ScheduledTask, holder: str) -> bool:
    """Run a task while holding its lease; return false if another process holds it.

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
    except Exception as error:  # noqa: BLE001  # logged, and the service continues
        log_failure(task.name, error)
        return False
    if taken:
        async with anyio.create_task_group() as group:
            group.start_soon(hold)
            await run_once(app, task)
            group.cancel_scope.cancel()
    return taken


async def repeat(app: App, task: ScheduledTask, holder: str, requested: set[str]) -> None:
    """Run a task at its interval, forever; add its name to `requested` before its lease is requested."""
    wait = min(task.interval, MAX_WAIT_SECONDS)
    while True:
        await anyio.sleep(wait)
        if not task.needs_lease:
            await run_once(app, task)
            continue
        requested.add(task.name)
        taken = await run_with_lease(app, task, holder)
        wait = task.interval if taken else min(task.interval, MAX_WAIT_SECONDS)


@asynccontextmanager
async def run_scheduled_tasks(app: App, tasks: tuple[ScheduledTask, ...] | None = None) -> AsyncIterator[None]:
    """Run the scheduled tasks until the server stops, then write the last use of tokens and sessions once more."""
    chosen = scheduled_tasks(app) if tasks is None else tasks
    holder = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
    # A request that is cancelled may still get its lease.
    requested: set[str] = set()
    async with anyio.create_task_group() as group:
        for task in chosen:
            group.start_soon(repeat, app, task, holder, requested)
        try:
            yield
        finally:
            group.cancel_scope.cancel()
    try:
        save_token_use(app)
        save_session_use(app)
        save_ssh_key_use(app)
        save_downloads(app)
        short = {task.name for task in chosen if task.interval <= LEASE_SECONDS}
        release_leases(app.database, sorted(requested & short), holder)
    except DRIVER_ERRORS as error:
        # A server also stops while its database is down; the leases expire by themselves.
        log_failure("shutdown", error)
