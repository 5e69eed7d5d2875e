"""The LFS object store: adding an object, and garbage collection.

Links between repositories and objects are in the database. An object is stored before it is linked, so an unlinked
one may be an upload in progress: an upload holds a lease on its object from its first byte until it had time to be
linked, and a removal holds the same lease. So the two exclude each other, on all machines.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from holdfast.hosting.app import App
from holdfast.hosting.errors import LfsError, LfsUnavailable
from holdfast.hosting.lfs.store import StoredLfsObject
from holdfast.hosting.storage.backup_lock import exclusive_backup_lock
from holdfast.hosting.store import lfs

__all__ = ["GRACE", "RemovedObjects", "add_object", "collect_garbage", "stored"]

# Grace period: an LFS object is uploaded before the commit that names it, possibly by days.
GRACE: Final = 7 * 86_400
# Batch size of a removal, its timeout, and the duration of its leases.
BATCH: Final = 100
REMOVAL_TIMEOUT: Final = 60.0
REMOVAL_LEASE: Final = 600.0
# How long an upload waits for a removal of the same object, and the polling interval.
WAIT_SECONDS: Final = 10.0
POLL_SECONDS: Final = 0.1
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RemovedObjects:
    """What was removed: unlinked objects, and incomplete uploads."""

    objects: int
    unfinished: int


async def add_object(app: App, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
    """Store an object after verifying its size and hash; it is not collected before it can be linked."""
    waited = time.monotonic() + WAIT_SECONDS
    while not await asyncio.to_thread(lfs.claim_upload, app.database, oid, seconds=GRACE):
        if time.monotonic() > waited:
            raise LfsUnavailable(f"object {oid} is being removed right now; try again in a few minutes")
        await asyncio.sleep(POLL_SECONDS)
    await app.lfs.write(oid, size, chunks)


def stored(app: App) -> dict[str, StoredLfsObject]:
    """Yield all objects of the store."""

    async def gather() -> dict[str, StoredLfsObject]:
        return {one.oid: one async for one in app.lfs.stored()}

    return asyncio.run(gather())


def collect_garbage(app: App, *, now: float) -> RemovedObjects:
    """Remove unlinked objects and incomplete uploads; a failing store is logged."""
    try:
        return asyncio.run(remove_garbage(app, now))
    except LfsError as error:
        log.warning("LFS garbage collection failed", error=str(error))
        return RemovedObjects(0, 0)


async def remove_garbage(app: App, now: float) -> RemovedObjects:
    """Remove unlinked objects and incomplete uploads after the grace period."""
    before, begun = now - GRACE, time.monotonic()
    if not await app.lfs.may_be_cleared(before):
        return RemovedObjects(0, 0)
    old = [one.oid async for one in app.lfs.stored() if one.written_at < before]
    removed = 0
    for start in range(0, len(old), BATCH):
        # The current time, not that of the start: a scan may take longer than a lease.
        moment = now + time.monotonic() - begun
        removed += await remove_unlinked(app, old[start : start + BATCH], moment)
    return RemovedObjects(removed, await app.lfs.drop_unfinished(before))


async def remove_unlinked(app: App, oids: Sequence[str], now: float) -> int:
    """Remove those objects that no repository links to; none during a backup."""
    with exclusive_backup_lock(app.settings.data) as allowed:
        if not allowed:
            return 0
        taken = await asyncio.to_thread(lfs.claim_unlinked, app.database, oids, seconds=REMOVAL_LEASE, now=now)
        if not taken:
            return 0
        # If this fails, a removal may still be running: the leases block uploads until they expire.
        try:
            async with asyncio.timeout(REMOVAL_TIMEOUT):
                await asyncio.gather(*(app.lfs.delete(oid) for oid in taken))
        except TimeoutError:
            raise LfsUnavailable(f"removing took longer than {REMOVAL_TIMEOUT:g} seconds") from None
        await asyncio.to_thread(lfs.release_unlinked, app.database, taken)
        return len(taken)
