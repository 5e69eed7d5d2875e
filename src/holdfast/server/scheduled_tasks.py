"""What the service does by itself while it runs.

Some chores every worker process does for itself. Others only one of them does, whichever holds the chore's lease;
when it ends, another takes over.
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
    "chores_of",
    "doing_chores",
    "find_unmeasured",
    "look_after_pushed",
    "note_sessions",
    "note_token_use",
]

LONGEST_WAIT: Final = 60.0
LEASE_SECONDS: Final = 60.0
# How many times as long as it took to look after a repository it is left alone.
REST: Final = 100
# How long the process of a push has for it before others look after it, and how many they take over at once.
UNMEASURED_SECONDS: Final = 30
MOST_UNMEASURED: Final = 1000
log = structlog.get_logger(__name__)
USED = update(tokens).where(tokens.c.id == bindparam("token")).values(last_used_at=bindparam("moment"))


@dataclass(frozen=True, slots=True)
class ScheduledTask:
    """Something to do again and again."""

    name: str
    every: float
    """Seconds between the end of one time and the beginning of the next."""
    work: Callable[[App], object]
    alone: bool = False
    """Whether only one of all processes on this database may do it."""


def note_token_use(app: App) -> None:
    """Write down when tokens were used, for all of them at once; what cannot be written is kept."""
    used, app.used_tokens = app.used_tokens, {}
    if used:
        try:
            with app.database.write() as connection:
                connection.execute(USED, [{"token": token, "moment": moment} for token, moment in used.items()])
        except DRIVER_ERRORS:
            app.used_tokens = {**used, **app.used_tokens}
            raise


def note_sessions(app: App) -> None:
    """Write down which browsers were seen, for all of them at once; what cannot be written is kept as well."""
    seen, app.seen_sessions = app.seen_sessions, {}
    if seen:
        try:
            sessions.note_seen(app.database, seen)
        except DRIVER_ERRORS:
            app.seen_sessions = {**seen, **app.seen_sessions}
            raise


def look_after_pushed(app: App) -> None:
    """Bring up to date what readers of a repository profit from after a push: its history index and its size.

    Both go through all of it. One that is pushed to all the time gets a hundredth of the time, and later its turn.
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
            # Deleted meanwhile, or damaged: `holdfast admin doctor` tells.
            continue
        ended = time.monotonic()
        app.resting[number] = ended + REST * (ended - started)
        try:
            with app.database.write() as connection:
                repositories.note_size(connection, number, size, measured_at=moment)
        except DRIVER_ERRORS:
            app.pushed.add(number)
            raise


def find_unmeasured(app: App) -> None:
    """Look after repositories as well whose process ended before it could: one that was killed left no word."""
    before = int(time.time()) - UNMEASURED_SECONDS
    app.pushed.update(repositories.unmeasured(app.database, before=before, most=MOST_UNMEASURED))


def chores_of(app: App) -> tuple[ScheduledTask, ...]:
    """List what a service does by itself."""
    chores = [
        ScheduledTask("note token use", 5, note_token_use),
        ScheduledTask("note sessions", 60, note_sessions),
        ScheduledTask("look after pushed", 5, look_after_pushed),
        ScheduledTask("find unmeasured", 60, find_unmeasured, alone=True),
        ScheduledTask("recover", 60, ref_changes.recover, alone=True),
        ScheduledTask("clean", 3600, maintenance.clean, alone=True),
        ScheduledTask("forget deliveries", 3600, maintenance.forget_deliveries, alone=True),
    ]
    if app.settings.gc_hours:
        chores.append(
            ScheduledTask("collect garbage", app.settings.gc_hours * 3600, maintenance.collect_needed, alone=True)
        )
    return tuple(chores)


async def do(app: App, chore: ScheduledTask) -> None:
    """Do a chore once; a failure is logged, and it is tried again next time."""
    try:
        # One that may take hours is left behind when the service ends; it is safe to be cut off.
        await to_thread.run_sync(chore.work, app, abandon_on_cancel=chore.alone)
    except Exception as error:  # noqa: BLE001  # it is logged, and the service goes on
        log_failure(chore.name, error)


def log_failure(chore: str, error: Exception) -> None:
    """Log that a chore failed: in a line while the database or the disk is unavailable, else as a bug."""
    if is_outage(error):
        log.warning(
            "a chore waits: the database or the disk is unavailable", chore=chore, error=type(error).__name__
        )
    else:
        log.error("a chore failed", chore=chore, exc_info=error)


async def do_alone(app: App, chore: ScheduledTask, holder: str) -> bool:
    """Do a chore while holding its lease; return false when another process holds it.

    The lease of a chore that is rarely done runs on after it, so that it is not done again too soon by another.
    """
    seconds = max(chore.every, LEASE_SECONDS)

    def take() -> bool:
        return take_lease(app.database, chore.name, holder, seconds=seconds)

    async def hold() -> None:
        while True:
            await anyio.sleep(seconds / 3)
            with suppress(Exception):
                await to_thread.run_sync(take)

    try:
        taken = await to_thread.run_sync(take)
    except Exception as error:  # noqa: BLE001  # it is logged, and the service goes on
        log_failure(chore.name, error)
        return False
    if taken:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold)
            await do(app, chore)
            tasks.cancel_scope.cancel()
    return taken


async def repeat(app: App, chore: ScheduledTask, holder: str) -> None:
    """Do a chore again and again."""
    wait = min(chore.every, LONGEST_WAIT)
    while True:
        await anyio.sleep(wait)
        if not chore.alone:
            await do(app, chore)
        elif await do_alone(app, chore, holder):
            wait = chore.every
        else:
            wait = min(chore.every, LONGEST_WAIT)


@asynccontextmanager
async def doing_chores(app: App, chores: tuple[ScheduledTask, ...] | None = None) -> AsyncIterator[None]:
    """Do the chores until the service ends, and note once more then which tokens were used and browsers seen."""
    chosen = chores_of(app) if chores is None else chores
    holder = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
    async with anyio.create_task_group() as tasks:
        for chore in chosen:
            tasks.start_soon(repeat, app, chore, holder)
        try:
            yield
        finally:
            tasks.cancel_scope.cancel()
    try:
        note_token_use(app)
        note_sessions(app)
        for chore in chosen:
            if chore.alone and chore.every <= LEASE_SECONDS:
                release_lease(app.database, chore.name, holder)
    except DRIVER_ERRORS as error:
        # A service ends also while its database is down; the leases run out by themselves.
        log_failure("end", error)
