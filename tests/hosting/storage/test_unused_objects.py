"""Deletion of objects without a row."""

from collections.abc import Sequence
from contextlib import ExitStack

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.storage import instance, unused_objects
from holdfast.hosting.storage.backup_lease import backup_lease
from holdfast.hosting.storage.object_store import ATTACHMENTS
from holdfast.hosting.storage.unused_objects import delete_unused, list_by_uuid
from holdfast.hosting.store.database import Database

USED = frozenset({"aa-1", "bb-3"})
ALL = {"aa-1", "aa-2", "bb-3", "bb-4", "cc-5"}
NEVER, ALWAYS = 0.0, 1e12


def key_of(uuid: str) -> str:
    """Return the key of an object."""
    return f"{ATTACHMENTS}{uuid[:2]}/{uuid}"


def used(_database: Database, uuids: Sequence[str]) -> set[str]:
    """Return those of some objects that have a row."""
    return set(uuids) & USED


def stored_uuids(app: App) -> set[str]:
    """Return the uuids of the objects in the store."""
    return {uuid for uuid, _ in list_by_uuid(app.store, ATTACHMENTS, key_of)}


@pytest.fixture
def stored_objects(app: App, monkeypatch: pytest.MonkeyPatch) -> App:
    """Put some objects into the store, and one with another key; batches are small."""
    monkeypatch.setattr(unused_objects, "BATCH", 2)
    for uuid in ALL:
        app.store.put(key_of(uuid), b"content")
    app.store.put(f"{ATTACHMENTS}xx/aa-9", b"content")
    return app


def collect(app: App, before: float) -> int:
    """Delete unused objects."""
    return delete_unused(app.database, app.store, ATTACHMENTS, key_of, used, before=before)


def test_old_objects_without_a_row_are_deleted(stored_objects: App) -> None:
    """Old objects without a database row are deleted, but not one whose key does not fit its UUID."""
    assert stored_uuids(stored_objects) == ALL
    assert collect(stored_objects, NEVER) == 0
    assert collect(stored_objects, ALWAYS) == 3
    assert stored_uuids(stored_objects) == USED
    assert stored_objects.store.read_bytes(f"{ATTACHMENTS}xx/aa-9") == b"content"
    assert collect(stored_objects, ALWAYS) == 0


def test_a_single_object_is_deleted_once_it_is_older_than_the_limit(app: App) -> None:
    """An object written at the very time is kept, because its row may still be written."""
    app.store.put(key_of("aa-2"), b"content")
    (stored_file,) = app.store.list(ATTACHMENTS)
    assert collect(app, stored_file.written_at) == 0
    assert collect(app, stored_file.written_at + 0.001) == 1
    assert stored_uuids(app) == set()


def test_nothing_is_deleted_during_a_backup(stored_objects: App) -> None:
    """Unused objects are kept while a backup runs, which may be about to read them."""
    with backup_lease(stored_objects.database):
        assert collect(stored_objects, ALWAYS) == 0
    assert stored_uuids(stored_objects) == ALL
    assert collect(stored_objects, ALWAYS) == 3


def test_what_is_deleted_during_a_backup_stays(stored_objects: App) -> None:
    """The backup may begin between the listing of the objects and that of their rows."""
    with ExitStack() as backup:

        def used_later(_database: Database, _uuids: Sequence[str]) -> set[str]:
            backup.enter_context(backup_lease(stored_objects.database))
            return set()

        arguments = (stored_objects.database, stored_objects.store, ATTACHMENTS, key_of, used_later)
        assert delete_unused(*arguments, before=ALWAYS) == 0
    assert stored_uuids(stored_objects) == ALL


def test_objects_of_another_installation_are_not_deleted(
    stored_objects: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is deleted from a store of another installation, whose rows are in another database."""
    monkeypatch.setattr(instance, "owns_store", lambda *_given: False)
    assert collect(stored_objects, ALWAYS) == 0
    assert stored_uuids(stored_objects) == ALL
