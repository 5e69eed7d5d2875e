"""Garbage collection of LFS objects, and concurrent uploads."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from holdfast.hosting.app import App
from holdfast.hosting.doctor.disk import check_lfs_objects
from holdfast.hosting.errors import HostingError, LfsUnavailable, RefMoved
from holdfast.hosting.lfs.store import LfsStore, object_key
from holdfast.hosting.services import lfs_objects, maintenance, ref_updates, repositories
from holdfast.hosting.services.file_commits import commit_files
from holdfast.hosting.services.lfs_objects import GRACE, add_object, collect_garbage
from holdfast.hosting.storage import instance
from holdfast.hosting.storage.backup_lease import backup_lease
from holdfast.hosting.store import accounts, lfs
from holdfast.hosting.store.repositories import Repository
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.hosting.lfs.objects import name, pieces
from tests.hosting.services.commit_helpers import commit_request, file_change
from tests.hosting.storage.fake_bucket import ACCESS_KEY, Bucket, serve_bucket

LATER = GRACE + 3600


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    """Run an S3 server with a bucket."""
    with serve_bucket() as served:
        yield served


@pytest.fixture
def far(settings: Settings, app: App, bucket: Bucket) -> Iterator[App]:
    """Open an app whose objects are in a bucket."""
    del app
    opened = App.open(in_bucket(settings, bucket))
    instance.adopt(opened.database, opened.settings)
    yield opened
    opened.close()


@pytest.fixture
def repository(app: App) -> Repository:
    """Make a repository that stores `*.bin` files in LFS."""
    admin = accounts.find_user(app.database, "admin")
    files = {".gitattributes": b"*.bin filter=lfs\n"}
    return repositories.create(app, admin, admin, repositories.NewRepository(name="ship"), files)


def in_bucket(settings: Settings, bucket: Bucket) -> Settings:
    """Return settings that name a bucket."""
    return msgspec.structs.replace(
        settings,
        s3_bucket="bucket",
        s3_endpoint=bucket.url,
        s3_region="x",
        s3_access_key=Secret(ACCESS_KEY),
        s3_secret_key=Secret("hunter2"),
    )


def key(content: bytes) -> str:
    """Return the key of an object in the bucket."""
    return object_key(name(content))


def bring(app: App, content: bytes) -> None:
    """Upload an LFS object."""
    asyncio.run(add_object(app, name(content), len(content), pieces(content)))


def test_only_objects_unused_for_the_retention_are_deleted(
    far: App, bucket: Bucket, repository: Repository
) -> None:
    """Objects that are linked or new, and objects under other keys, are not deleted.

    During a backup nothing is deleted.
    """
    old = time.time() - LATER
    for content in (b"linked", b"left", b"new"):
        bucket.objects[key(content)] = content
    for content in (b"linked", b"left"):
        bucket.written[key(content)] = old
    strange = ("lfs/notes.txt", f"lfs/ff/ff/{name(b'left')}", f"other/{object_key(name(b'left'))}")
    for item in strange:
        bucket.objects[item] = b"?"
        bucket.written[item] = old
    lfs.link(far.database, repository, name(b"linked"), 6)
    findings = [(finding.kind.value, finding.where) for finding in check_lfs_objects(far)]
    assert findings == [("lfs-unlinked", name(b"left"))]
    bucket.page = 2
    with backup_lease(far.database):
        assert collect_garbage(far, now=time.time()) == 0
    assert collect_garbage(far, now=time.time()) == 1
    assert set(bucket.objects) == {key(b"linked"), key(b"new"), "instance", *strange}
    assert collect_garbage(far, now=time.time()) == 0
    assert list(check_lfs_objects(far)) == []


def test_an_object_that_is_unlinked_during_a_backup_is_not_deleted(
    far: App, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backup may begin just before the links are read; the object can be uploaded again at once."""
    bucket.objects[key(b"left")] = b"left"
    bucket.written[key(b"left")] = time.time() - LATER
    claim_unlinked = lfs.claim_unlinked
    with ExitStack() as backup:

        def claim(*arguments: Any, **named: Any) -> list[str]:
            backup.enter_context(backup_lease(far.database))
            return claim_unlinked(*arguments, **named)

        monkeypatch.setattr(lfs, "claim_unlinked", claim)
        assert collect_garbage(far, now=time.time()) == 0
    assert key(b"left") in bucket.objects
    assert lfs.claim_upload(far.database, name(b"left"), seconds=60)


def test_objects_left_by_a_failed_commit_are_deleted(
    far: App, bucket: Bucket, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The object of a failed commit is deleted after the retention time, and one that is linked stays."""

    def moved(*_arguments: object, **_named: object) -> str:
        raise RefMoved("moved")

    commit_files(far, commit_request(far, repository, file_change("kept.bin", b"kept")))
    with monkeypatch.context() as patch:
        patch.setattr(ref_updates, "record", moved)
        with pytest.raises(HostingError):
            commit_files(far, commit_request(far, repository, file_change("x.bin", b"large")))
    assert key(b"large") in bucket.objects
    now = time.time()
    for content in (b"large", b"kept"):
        bucket.written[key(content)] = now - LATER
    assert collect_garbage(far, now=now) == 0
    assert collect_garbage(far, now=now + LATER) == 1
    assert (key(b"large") in bucket.objects, key(b"kept") in bucket.objects) == (False, True)


def test_objects_are_deleted_only_by_the_installation_that_owns_the_bucket(far: App, bucket: Bucket) -> None:
    """An installation that shares the bucket by mistake, such as a restored copy, deletes nothing."""
    bucket.objects[key(b"left")] = b"left"
    bucket.written[key(b"left")] = time.time() - LATER
    bucket.objects["instance"] = b"another"
    assert collect_garbage(far, now=time.time()) == 0
    del bucket.objects["instance"]
    assert collect_garbage(far, now=time.time()) == 0
    instance.adopt(far.database, far.settings)
    assert collect_garbage(far, now=time.time()) == 1


def test_an_unavailable_bucket_does_not_fail_maintenance(far: App, bucket: Bucket) -> None:
    """The failure is logged without secrets, and it is a finding of the doctor."""
    stranger = msgspec.structs.replace(far.settings, s3_access_key=Secret("STRANGER"))
    refused = App.open(stranger)
    with capture_logs() as lines:
        assert collect_garbage(refused, now=time.time()) == 0
    assert [line["event"] for line in lines] == ["LFS garbage collection failed"]
    assert "hunter2" not in str(lines)
    assert [finding.kind.value for finding in check_lfs_objects(refused)] == ["lfs-store"]
    refused.close()
    assert "instance" in bucket.objects


def test_an_object_being_uploaded_is_not_deleted(app: App) -> None:
    """The lease of an upload protects an object that looks old, until the lease has expired."""
    bring(app, b"again")
    path = app.settings.data / object_key(name(b"again"))
    os.utime(path, (1, 1))
    assert collect_garbage(app, now=time.time()) == 0
    assert collect_garbage(app, now=time.time() + LATER) == 1
    assert not path.exists()


def test_an_upload_waits_for_a_deletion(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upload of an object that is being deleted waits for the deletion, or fails with advice to try again."""
    oid = name(b"again")
    assert lfs.claim_unlinked(app.database, [oid], seconds=60, now=time.time()) == [oid]
    assert lfs.claim_unlinked(app.database, [oid], seconds=60, now=time.time()) == []
    with monkeypatch.context() as patch:
        patch.setattr(lfs_objects, "WAIT_SECONDS", 0.0)
        with pytest.raises(LfsUnavailable, match="is being removed right now; try again"):
            bring(app, b"again")
    asked = threading.Event()
    claim_upload = lfs.claim_upload

    def claim(*arguments: Any, **options: Any) -> bool:
        granted = claim_upload(*arguments, **options)
        asked.set()
        return granted

    monkeypatch.setattr(lfs, "claim_upload", claim)
    bringing = threading.Thread(target=bring, args=(app, b"again"))
    bringing.start()
    assert asked.wait(10)
    assert list(lfs_objects.stored_objects(app)) == []
    lfs.release_unlinked(app.database, [oid])
    bringing.join()
    assert list(lfs_objects.stored_objects(app)) == [oid]


def test_an_upload_waits_for_a_deletion_by_a_node_whose_clock_is_behind(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease of the deletion expires by the clock of the database."""
    oid, now = name(b"again"), time.time()
    path = app.settings.data / object_key(oid)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"again")
    os.utime(path, (1, 1))
    granted: list[bool] = []
    delete = LfsStore.delete

    async def delete_late(self: LfsStore, oid: str) -> None:
        granted.append(lfs.claim_upload(app.database, oid, seconds=60))
        await delete(self, oid)

    monkeypatch.setattr(LfsStore, "delete", delete_late)
    monkeypatch.setattr(time, "time", lambda: now - 86_400)
    assert maintenance.clean(app).lfs_objects == 1
    assert granted == [False]


def test_a_node_whose_clock_is_ahead_deletes_no_object_that_is_uploaded(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease of the upload expires by the clock of the database."""
    bring(app, b"again")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + LATER)
    assert maintenance.clean(app).lfs_objects == 0
    assert list(lfs_objects.stored_objects(app)) == [name(b"again")]


def test_concurrent_deletion_and_upload_lose_no_object(app: App, repository: Repository) -> None:
    """An object that was uploaded and linked exists, while garbage collection runs all the time."""
    content = b"the same bytes again and again"
    oid, path = name(content), app.settings.data / object_key(name(content))
    path.parent.mkdir(parents=True)
    ended = threading.Event()
    failed: list[BaseException] = []

    def clear_always() -> None:
        try:
            while not ended.is_set():
                collect_garbage(app, now=time.time())
        except BaseException as error:  # noqa: BLE001  # whatever it is, the test fails with it
            failed.append(error)

    clearing = threading.Thread(target=clear_always)
    clearing.start()
    try:
        for _ in range(40):
            old = app.settings.data / "old"
            old.write_bytes(content)
            os.utime(old, (1, 1))
            old.replace(path)  # at once: what was there may be removed at any moment
            bring(app, content)
            lfs.link(app.database, repository, oid, len(content))
            assert path.exists()
            with app.database.write() as connection:
                lfs.remove_links(connection, repository, [oid])
                lfs.delete_expired_leases(app.database, connection, now=time.time() + LATER)
    finally:
        ended.set()
        clearing.join()
    assert failed == []
