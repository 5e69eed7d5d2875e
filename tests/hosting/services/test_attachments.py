"""Attachments: garbage collection, download counts, limits and file names."""

import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import AttachmentTaken, InvalidField, InvalidValue, TooManyAtOnce
from holdfast.hosting.services import attachments, maintenance, release_assets, releases, repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.storage.backup_lease import backup_lease
from holdfast.hosting.storage.object_store import open_object_store
from holdfast.hosting.store import attachments as store
from holdfast.hosting.store.accounts import find_user
from holdfast.hosting.store.faults import DRIVER_ERRORS
from holdfast.hosting.store.releases import Release, ReleaseFields, holder_of
from tests.hosting.services.scenario import Caller, accessed
from tests.hosting.storage.fake_bucket import bucket_settings, serve_bucket

LATER = attachments.GRACE + 60


@pytest.fixture
def ada(app: App) -> Caller:
    """Make a repository, and return the arguments of a service that its owner calls."""
    user = find_user(app.database, "admin")
    ship = repositories.create(app, user, user, NewRepository(name="ship"), {"a.txt": b"one\n"})
    return app, Actor(user), accessed(app, Actor(user), ship)


@pytest.fixture
def release(ada: Caller) -> Release:
    """Make a release."""
    return releases.create(*ada, ReleaseFields(tag_name="v1"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a file."""
    (tmp_path / "file").write_bytes(b"content")
    return tmp_path / "file"


def keys(app: App) -> set[str]:
    """Return the uuids of the files in the object store."""
    return {number for number, _ in attachments.stored(app)}


def test_bytes_without_a_row_are_garbage_after_a_day(app: App, ada: Caller, release: Release, path: Path) -> None:
    """The bytes of deleted files and failed uploads are deleted after a day, but not during a backup.

    The bytes of existing files stay.
    """
    attachment = release_assets.add(*ada, release, name="kept", path=path)
    deleted = release_assets.add(*ada, release, name="deleted", path=path)
    with pytest.raises(AttachmentTaken):
        release_assets.add(*ada, release, name="kept", path=path)
    release_assets.delete(*ada, deleted)
    assert len(keys(app)) == 3
    maintenance.clean(app)
    assert len(keys(app)) == 3
    with backup_lease(app.database):
        assert attachments.collect_garbage(app, now=time.time() + LATER) == 0
    maintenance.clean(app, now=time.time() + LATER)
    assert keys(app) == {attachment.uuid}
    releases.delete(*ada, release)
    assert attachments.collect_garbage(app, now=time.time() + LATER) == 1
    assert keys(app) == set()


def test_downloads_are_counted_in_batches(app: App, ada: Caller, release: Release, path: Path) -> None:
    """Downloads that were saved are not counted again by the next save."""
    attachment = release_assets.add(*ada, release, name="a", path=path)
    app.downloads += [attachment.id, attachment.id]
    attachments.save_downloads(app)
    attachments.save_downloads(app)
    assert store.attachments_of(app.database, holder_of(release))[0].download_count == 2


def test_download_counts_that_cannot_be_written_are_kept(
    app: App, ada: Caller, release: Release, path: Path
) -> None:
    """Counts that a failed save could not store are stored by the next one, with those counted since."""
    attachment = release_assets.add(*ada, release, name="a", path=path)
    app.downloads += [attachment.id, attachment.id]
    with app.database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE attachments RENAME TO away")
    with pytest.raises(DRIVER_ERRORS):
        attachments.save_downloads(app)
    app.downloads.append(attachment.id)
    with app.database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE away RENAME TO attachments")
    attachments.save_downloads(app)
    assert store.attachments_of(app.database, holder_of(release))[0].download_count == 3


def test_the_key_of_a_file_does_not_change() -> None:
    """The object key has its fixed form, so that files of earlier versions are found."""
    assert attachments.object_key("0f3a-uuid") == "attachments/0f/0f3a-uuid"


def test_garbage_of_a_store_that_cannot_be_listed_is_left(app: App) -> None:
    """A bucket that refuses requests raises no error, no attachment is deleted, and the failure is logged."""
    with serve_bucket() as bucket:
        app.store = open_object_store(bucket_settings(app.settings.data, bucket, "STRANGER"))
        with capture_logs() as lines:
            assert attachments.collect_garbage(app, now=time.time() + LATER) == 0
    assert [line["event"] for line in lines] == ["garbage collection of attachments failed"]


def test_a_release_has_a_limited_number_of_files(
    app: App, ada: Caller, release: Release, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file more than the limit is refused, so that no list of releases grows without bounds."""
    monkeypatch.setattr(attachments, "MOST_FILES", 1)
    release_assets.add(*ada, release, name="a", path=path)
    with pytest.raises(TooManyAtOnce):
        release_assets.add(*ada, release, name="b", path=path)
    assert [item.name for item in store.attachments_of(app.database, holder_of(release))] == ["a"]


@pytest.mark.parametrize("name", ["a/b", "a\\b", ".", "..", "a\x00b", "a\nb", "a\ufffdb"])
def test_invalid_file_names_are_refused(name: str) -> None:
    """File names with slashes or control characters, dot names, and empty or overlong names are refused."""
    with pytest.raises(InvalidValue):
        attachments.check_file_name(name)
    for empty in ("", " ", "x" * 256):
        with pytest.raises(InvalidField):
            attachments.check_file_name(empty)
