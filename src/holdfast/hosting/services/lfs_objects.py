"""The LFS object store: adding an object, and garbage collection.

Links between repositories and objects are in the database. An object is stored before it is linked, so an unlinked
object may be an upload in progress. An upload holds a lease on its object from the first byte to the end of the
grace period, and a removal takes the same lease, so that the two exclude each other on all machines. A merge takes
the lease of an upload on the objects that another repository has and that it is about to link.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Final

import structlog

from holdfast.hosting.app import App
from holdfast.hosting.errors import LfsError, LfsUnavailable, StorageError
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.lfs.pointer import MOST_BYTES, LfsPointer
from holdfast.hosting.lfs.store import StoredLfsObject
from holdfast.hosting.storage import instance
from holdfast.hosting.storage.backup_lease import is_backup_running
from holdfast.hosting.store import lfs
from holdfast.hosting.store.repositories import Repository

__all__ = ["GRACE", "add_object", "collect_garbage", "new_objects", "stored_objects"]

# Grace period: an LFS object is uploaded before the commit that names it, possibly by days.
GRACE: Final = 7 * 86_400
# Batch size of a removal, its timeout, and the duration of its leases.
BATCH: Final = 100
REMOVAL_TIMEOUT: Final = 60.0
REMOVAL_LEASE: Final = 600.0
# How long an upload waits for a removal of the same object, and the polling interval.
WAIT_SECONDS: Final = 10.0
POLL_SECONDS: Final = 0.1
# Listing the new objects of a merge: git's timeout, the maximum read, and the batch size of a query.
LIST_SECONDS: Final = 60.0
MOST_READ: Final = 200_000
AT_ONCE: Final = 500
log = structlog.get_logger(__name__)


async def add_object(app: App, oid: str, size: int, chunks: AsyncIterator[bytes]) -> None:
    """Store an object after verifying its size and hash; a lease keeps it from garbage collection until linked."""
    waited = time.monotonic() + WAIT_SECONDS
    while not await asyncio.to_thread(lfs.claim_upload, app.database, oid, seconds=GRACE):
        if time.monotonic() > waited:
            raise LfsUnavailable(f"object {oid} is being removed right now; try again in a few minutes")
        await asyncio.sleep(POLL_SECONDS)
    await app.lfs.write(oid, size, chunks)


def new_objects(app: App, repo: Repo, source: Repository, new: str, old: str) -> dict[str, int]:
    """Return the LFS objects of `source`, with sizes, whose pointers are reachable from `new` but not `old`.

    The upload lease keeps them from garbage collection until they are linked to another repository.
    """
    if not lfs.has_links(app.database, source):
        return {}
    object_names = run(
        repo.folder,
        *("rev-list", "--objects", "--no-object-names", f"--filter=blob:limit={MOST_BYTES + 1}", "--stdin"),
        input=f"{new}\n^{old}\n".encode(),
        timeout=LIST_SECONDS,
    )
    pointers: set[str] = set()
    for name in object_names.decode().split()[:MOST_READ]:
        header = repo.header(name)
        if header is not None and header[0] == "blob" and header[1] <= MOST_BYTES:
            pointer = LfsPointer.parse(repo.read(name, "blob"))
            if pointer is not None:
                pointers.add(pointer.oid)
    oids = sorted(pointers)
    sizes: dict[str, int] = {}
    for start in range(0, len(oids), AT_ONCE):
        sizes |= lfs.claim_linked(app.database, source, oids[start : start + AT_ONCE], seconds=GRACE)
    return sizes


def stored_objects(app: App) -> dict[str, StoredLfsObject]:
    """Return all objects of the store by id."""
    return {lfs_object.oid: lfs_object for lfs_object in app.lfs.stored()}


def collect_garbage(app: App, *, now: float | None = None) -> int:
    """Remove unlinked objects, and return how many; errors of the store are logged."""
    try:
        return asyncio.run(remove_garbage(app, now))
    except (LfsError, StorageError) as error:
        log.warning("LFS garbage collection failed", error=str(error))
        return 0


async def remove_garbage(app: App, now: float | None) -> int:
    """Remove unlinked objects after the grace period."""
    before = (time.time() if now is None else now) - GRACE
    if not await asyncio.to_thread(instance.owns_store, app.database, app.store):
        return 0
    old = await asyncio.to_thread(
        lambda: [lfs_object.oid for lfs_object in app.lfs.stored() if lfs_object.written_at < before]
    )
    removed = 0
    for start in range(0, len(old), BATCH):
        removed += await remove_unlinked(app, old[start : start + BATCH], now)
    return removed


async def remove_unlinked(app: App, oids: Sequence[str], now: float | None) -> int:
    """Remove the objects that no repository links to; none during a backup."""
    taken = await asyncio.to_thread(lfs.claim_unlinked, app.database, oids, seconds=REMOVAL_LEASE, now=now)
    if not taken:
        return 0
    # Checked after the links were read: a backup that begins later does not have these either.
    if await asyncio.to_thread(is_backup_running, app.database):
        await asyncio.to_thread(lfs.release_unlinked, app.database, taken)
        return 0
    # If this fails, a removal may still be running: the leases block uploads until they expire.
    try:
        async with asyncio.timeout(REMOVAL_TIMEOUT):
            await asyncio.gather(*(app.lfs.delete(oid) for oid in taken))
    except TimeoutError:
        raise LfsUnavailable(f"removing took longer than {REMOVAL_TIMEOUT:g} seconds") from None
    await asyncio.to_thread(lfs.release_unlinked, app.database, taken)
    return len(taken)
