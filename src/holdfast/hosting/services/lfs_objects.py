"""The store of large files as a whole: bringing an object in, and clearing away those nobody has.

What repositories have is written down in the database. An object is in the store before that is, so one nobody has
may be on its way: whoever brings an object holds a lease on it from before its first byte until long after it was
to be written down, and whoever removes one holds its lease too. So neither meets the other, on any machine.
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

__all__ = ["GRACE", "Cleared", "bring_in", "clear", "stored"]

# A large file is sent before the commit that names it; somebody may take days between the two.
GRACE: Final = 7 * 86_400
# How many objects are removed at once, how long that may take, and for how long nobody brings them meanwhile.
BATCH: Final = 100
REMOVING: Final = 60.0
KEPT_AWAY: Final = 600.0
# How long somebody who brings an object waits for its removal, and how often that is looked after.
PATIENCE: Final = 10.0
PAUSE: Final = 0.1
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was removed: objects nobody had, and what was left of those that never arrived."""

    objects: int
    unfinished: int


async def bring_in(app: App, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
    """Keep an object that is what it was announced to be; there is time to link it before it is cleared away."""
    waited = time.monotonic() + PATIENCE
    while not await asyncio.to_thread(lfs.claim, app.database, oid, seconds=GRACE):
        if time.monotonic() > waited:
            raise LfsUnavailable(f"object {oid} is being removed right now; try again in a few minutes")
        await asyncio.sleep(PAUSE)
    await app.lfs.write(oid, size, chunks)


def stored(app: App) -> dict[str, StoredLfsObject]:
    """Return all objects of the store by their names."""

    async def gather() -> dict[str, StoredLfsObject]:
        return {one.oid: one async for one in app.lfs.stored()}

    return asyncio.run(gather())


def clear(app: App, *, now: float) -> Cleared:
    """Remove what nobody has had for a while and what never arrived; a store that cannot be used is left alone."""
    try:
        return asyncio.run(cleared(app, now))
    except LfsError as error:
        log.warning("the store of large files cannot be cleared", error=str(error))
        return Cleared(0, 0)


async def cleared(app: App, now: float) -> Cleared:
    """Remove what nobody has had for a while, and what never arrived."""
    before, begun = now - GRACE, time.monotonic()
    if not await app.lfs.may_be_cleared(before):
        return Cleared(0, 0)
    old = [one.oid async for one in app.lfs.stored() if one.written_at < before]
    removed = 0
    for start in range(0, len(old), BATCH):
        # Not the time it began: going through a store may take longer than a lease lasts.
        moment = now + time.monotonic() - begun
        removed += await remove_unlinked(app, old[start : start + BATCH], moment)
    return Cleared(removed, await app.lfs.drop_unfinished(before))


async def remove_unlinked(app: App, oids: Sequence[str], now: float) -> int:
    """Remove those of some objects that nobody has; none while a backup is made."""
    with exclusive_backup_lock(app.settings.data) as allowed:
        if not allowed:
            return 0
        taken = await asyncio.to_thread(lfs.take_unlinked, app.database, oids, seconds=KEPT_AWAY, now=now)
        if not taken:
            return 0
        # When this fails, a removal may still be under way: nobody brings these until their leases have run out.
        try:
            async with asyncio.timeout(REMOVING):
                await asyncio.gather(*(app.lfs.delete(oid) for oid in taken))
        except TimeoutError:
            raise LfsUnavailable(f"removing took longer than {REMOVING:g} seconds") from None
        await asyncio.to_thread(lfs.give_back, app.database, taken)
        return len(taken)
