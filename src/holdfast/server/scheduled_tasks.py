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

from holdfast.hosting.app import Host
from holdfast.hosting.errors import GitError
from holdfast.hosting.git.history import refresh_commit_graph
from holdfast.hosting.services import maintenance, ref_changes
from holdfast.hosting.store import repositories, sessions
from holdfast.hosting.store.faults import DRIVER_ERRORS, is_outage
from holdfast.hosting.store.leases import release_lease, take_lease
from holdfast.hosting.store.tables import tokens

__all__ = [
    "Chore",
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
class Chore:
    """Something to do again and again."""

    name: str
    every: float
    """Seconds between the end of one time and the beginning of the next."""
    work: Callable[[Host], object]
    alone: bool = False
    """Whether only one of all processes on this database may do it."""


def note_token_use(host: Host) -> None:
    """Write down when tokens were used, for all of them at once; what cannot be written is kept."""
    used, host.used_tokens = host.used_tokens, {}
    if used:
        try:
            with host.database.write() as connection:
                connection.execute(USED, [{"token": token, "moment": moment} for token, moment in used.items()])
        except DRIVER_ERRORS:
            host.used_tokens = {**used, **host.used_tokens}
            raise


def note_sessions(host: Host) -> None:
    """Write down which browsers were seen, for all of them at once; what cannot be written is kept as well."""
    seen, host.seen_sessions = host.seen_sessions, {}
    if seen:
        try:
            sessions.note_seen(host.database, seen)
        except DRIVER_ERRORS:
            host.seen_sessions = {**seen, **host.seen_sessions}
            raise


def look_after_pushed(host: Host) -> None:
    """Bring up to date what readers of a repository profit from after a push: its history index and its size.

    Both go through all of it. One that is pushed to all the time gets a hundredth of the time, and later its turn.
    """
    now = time.monotonic()
    host.resting = {number: until for number, until in host.resting.items() if until > now}
    for number in host.pushed - host.resting.keys():
        host.pushed.discard(number)
        started, moment = time.monotonic(), int(time.time())
        try:
            refresh_commit_graph(host.folders.existing(number))
            size = host.folders.size(number)
        except (GitError, OSError):
            # Deleted meanwhile, or damaged: `holdfast admin doctor` tells.
            continue
        ended = time.monotonic()
        host.resting[number] = ended + REST * (ended - started)
        try:
            with host.database.write() as connection:
                repositories.note_size(connection, number, size, measured_at=moment)
        except DRIVER_ERRORS:
            host.pushed.add(number)
            raise


def find_unmeasured(host: Host) -> None:
    """Look after repositories as well whose process ended before it could: one that was killed left no word."""
    before = int(time.time()) - UNMEASURED_SECONDS
    host.pushed.update(repositories.unmeasured(host.database, before=before, most=MOST_UNMEASURED))


def chores_of(host: Host) -> tuple[Chore, ...]:
    """List what a service does by itself."""
    chores = [
        Chore("note token use", 5, note_token_use),
        Chore("note sessions", 60, note_sessions),
        Chore("look after pushed", 5, look_after_pushed),
        Chore("find unmeasured", 60, find_unmeasured, alone=True),
        Chore("recover", 60, ref_changes.recover, alone=True),
        Chore("clean", 3600, maintenance.clean, alone=True),
        Chore("forget deliveries", 3600, maintenance.forget_deliveries, alone=True),
    ]
    if host.settings.gc_hours:
        chores.append(
            Chore("collect garbage", host.settings.gc_hours * 3600, maintenance.collect_needed, alone=True)
        )
    return tuple(chores)


async def do(host: Host, chore: Chore) -> None:
    """Do a chore once; a failure is logged, and it is tried again next time."""
    try:
        # One that may take hours is left behind when the service ends; it is safe to be cut off.
        await to_thread.run_sync(chore.work, host, abandon_on_cancel=chore.alone)
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


async def do_alone(host: Host, chore: Chore, holder: str) -> bool:
    """Do a chore while holding its lease; return false when another process holds it.

    The lease of a chore that is rarely done runs on after it, so that it is not done again too soon by another.
    """
    seconds = max(chore.every, LEASE_SECONDS)

    def take() -> bool:
        return take_lease(host.database, chore.name, holder, seconds=seconds)

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
            await do(host, chore)
            tasks.cancel_scope.cancel()
    return taken


async def repeat(host: Host, chore: Chore, holder: str) -> None:
    """Do a chore again and again."""
    wait = min(chore.every, LONGEST_WAIT)
    while True:
        await anyio.sleep(wait)
        if not chore.alone:
            await do(host, chore)
        elif await do_alone(host, chore, holder):
            wait = chore.every
        else:
            wait = min(chore.every, LONGEST_WAIT)


@asynccontextmanager
async def doing_chores(host: Host, chores: tuple[Chore, ...] | None = None) -> AsyncIterator[None]:
    """Do the chores until the service ends, and note once more then which tokens were used and browsers seen."""
    chosen = chores_of(host) if chores is None else chores
    holder = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
    async with anyio.create_task_group() as tasks:
        for chore in chosen:
            tasks.start_soon(repeat, host, chore, holder)
        try:
            yield
        finally:
            tasks.cancel_scope.cancel()
    try:
        note_token_use(host)
        note_sessions(host)
        for chore in chosen:
            if chore.alone and chore.every <= LEASE_SECONDS:
                release_lease(host.database, chore.name, holder)
    except DRIVER_ERRORS as error:
        # A service ends also while its database is down; the leases run out by themselves.
        log_failure("end", error)
