"""Garbage collection of objects that rows refer to by uuid: those of attachments and of uploaded chat backups."""

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Final

from holdfast.hosting.storage import instance
from holdfast.hosting.storage.backup_lease import is_backup_running
from holdfast.hosting.storage.object_store import ObjectStore, StoredFile
from holdfast.hosting.store.database import Database

__all__ = ["delete_unused", "list_by_uuid"]

BATCH: Final = 100


def list_by_uuid(
    store: ObjectStore, prefix: str, key_of: Callable[[str], str]
) -> Iterator[tuple[str, StoredFile]]:
    """Yield the objects below a prefix with their uuids; objects with other keys are skipped."""
    for file in store.list(prefix):
        uuid = file.key.rpartition("/")[2]
        if file.key == key_of(uuid):
            yield uuid, file


def delete_unused(
    database: Database,
    store: ObjectStore,
    prefix: str,
    key_of: Callable[[str], str],
    used: Callable[[Database, Sequence[str]], Set[str]],
    *,
    before: float,
) -> int:
    """Delete the objects below a prefix that were written before a time and are not `used`; return their number.

    Nothing is deleted from the store of another instance, nor while a backup of the service runs.
    """
    if not instance.owns_store(database, store):
        return 0
    old = [uuid for uuid, file in list_by_uuid(store, prefix, key_of) if file.written_at < before]
    deleted = 0
    for start in range(0, len(old), BATCH):
        batch = old[start : start + BATCH]
        unused = set(batch) - used(database, batch)
        # Checked after the rows were read: a backup that begins later does not have these either.
        if is_backup_running(database):
            break
        for uuid in unused:
            store.delete(key_of(uuid))
            deleted += 1
    return deleted
