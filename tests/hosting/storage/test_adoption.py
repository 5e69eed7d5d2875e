"""Adoption into the repository log of repositories from earlier versions."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.doctor.checks import examine
from holdfast.hosting.errors import NoSuchFolder, StorageUnavailable
from holdfast.hosting.storage import adoption
from holdfast.hosting.storage.adoption import adopt_all, adopt_repository
from holdfast.hosting.storage.pack_files import INLINE_LIMIT
from holdfast.hosting.store import migrate, repository_log
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import repository_by_id
from holdfast.settings import Settings
from tests.hosting.git import oracle
from tests.hosting.old_data_folder import EMPTY, LOOSE, PACKED, OldDataFolder, make_old_data_folder, refs_of


@pytest.fixture
def old(settings: Settings, empty_database: Database) -> OldDataFolder:
    """Make a data folder of the last version before the log, and migrate its database."""
    old_data_folder = make_old_data_folder(settings, empty_database)
    migrate.upgrade(empty_database)
    return old_data_folder


@pytest.fixture
def app(settings: Settings, old: OldDataFolder) -> Iterator[App]:
    """Open the application on the old data folder."""
    opened = App.open(settings)
    yield opened
    opened.close()


def adopt(app: App) -> list[tuple[int, int]]:
    """Adopt everything, and return the progress that was reported."""
    progress: list[tuple[int, int]] = []
    adopt_all(app.database, app.store, app.copies, lambda done, total: progress.append((done, total)))
    return progress


def rebuilt(app: App, number: int) -> Path:
    """Delete the folder of a repository, and return the copy that is made of it from the log."""
    app.copies.discard(number)
    return app.copies.update(number).folder


def test_refs_and_objects_are_the_same_in_a_copy_made_from_the_log(app: App, old: OldDataFolder) -> None:
    """Loose and packed repositories are recorded once, names in any bytes included, and rebuilt the same."""
    before = {number: refs_of(app.folders.path(number)) for number in (LOOSE, PACKED, EMPTY)}
    assert adopt(app) == [(1, 3), (2, 3), (3, 3)]
    assert adopt(app) == []
    for number, refs in before.items():
        folder = rebuilt(app, number)
        assert refs_of(folder) == refs
        oracle.git(folder, "fsck", "--strict", "--connectivity-only")
    assert b"refs/heads/caf\xe9" in before[LOOSE]
    with app.database.read() as connection:
        (large,) = (pack for pack in repository_log.live_packs(connection, PACKED, 0) if pack.size > INLINE_LIMIT)
    assert app.store.size(large.store_key) == large.size


def test_rows_say_what_the_folders_have(app: App, old: OldDataFolder) -> None:
    """The rows have the default branch and emptiness of the repositories, and the doctor finds no problem."""
    oracle.git(old.packed, "branch", "-m", "main", "trunk")
    oracle.git(old.packed, "symbolic-ref", "HEAD", "refs/heads/trunk")
    adopt(app)
    repositories = [repository_by_id(app.database, number) for number in (LOOSE, PACKED, EMPTY)]
    assert [item.default_branch for item in repositories] == ["main", "trunk", "main"]
    assert [item.is_empty for item in repositories] == [False, False, True]
    assert list(examine(app, deep=True)) == []


@pytest.mark.parametrize("step", ["run", "open_repository", "store_pack_file", "record"])
def test_an_interrupted_adoption_is_continued(
    app: App, old: OldDataFolder, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An adoption interrupted after any step is completed by the next one without a loss."""
    before = {number: refs_of(app.folders.path(number)) for number in (LOOSE, PACKED, EMPTY)}
    with monkeypatch.context() as patched:
        real = getattr(adoption, step)

        def interrupted(*arguments: object, **named: object) -> object:
            real(*arguments, **named)
            raise KeyboardInterrupt

        patched.setattr(adoption, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            adopt(app)
    assert adopt(app) == [(1, 3), (2, 3), (3, 3)]
    assert {number: refs_of(rebuilt(app, number)) for number in before} == before
    assert list(examine(app, deep=True)) == []


def test_a_copy_without_its_adoption_mark_is_rebuilt(
    app: App, old: OldDataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process killed before it writes the state file of the copy loses no refs."""
    before = refs_of(old.loose)
    with monkeypatch.context() as patched:
        patched.setattr(app.copies, "mark", lambda *_: None)
        adopt(app)
    assert refs_of(app.copies.open(repository_by_id(app.database, LOOSE)).folder) == before


def test_locks_that_a_killed_process_left_do_no_harm(app: App, old: OldDataFolder) -> None:
    """Lock files are removed by the adoption, and the ref can be updated afterwards."""
    locks = [old.loose / "refs" / "heads" / "main.lock", old.loose / "packed-refs.lock"]
    for lock in locks:
        lock.write_bytes(b"")
    adopt(app)
    assert not any(lock.exists() for lock in locks)
    head, parent = oracle.line(old.loose, "rev-parse", "main"), oracle.line(old.loose, "rev-parse", "main~1")
    with app.database.write() as connection:
        repository_log.append(connection, LOOSE, [(None, RefUpdate("refs/heads/main", head, parent))])
    folder = app.copies.update(LOOSE).folder
    assert oracle.line(folder, "rev-parse", "main") == parent


def test_a_folder_that_was_adopted_is_the_copy_and_is_not_recorded_again(app: App, old: OldDataFolder) -> None:
    """The folder becomes the local copy, so that no pack is read again, and a second adoption is ignored."""
    adopt(app)
    mark = old.loose / "kept"
    mark.touch()
    folder = app.copies.open(repository_by_id(app.database, LOOSE)).folder
    assert folder == old.loose
    assert mark.exists()
    head, parent = oracle.line(old.loose, "rev-parse", "main"), oracle.line(old.loose, "rev-parse", "main~1")
    with app.database.write() as connection:
        repository_log.append(connection, LOOSE, [(None, RefUpdate("refs/heads/main", head, parent))])
    adopt_repository(app.database, app.store, app.copies, LOOSE)
    assert repository_log.find_ref(app.database, LOOSE, "refs/heads/main") == parent
    assert oracle.line(app.copies.update(LOOSE).folder, "rev-parse", "main") == parent


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_a_folder_that_cannot_be_adopted_is_not_changed(app: App, old: OldDataFolder, damage: str) -> None:
    """A missing or damaged folder is not replaced or written to, and the doctor reports it."""
    away = old.loose.with_name("away")
    if damage == "missing":
        shutil.move(old.loose, away)
    else:
        commit = oracle.line(old.loose, "rev-parse", "main~1")
        (old.loose / "objects" / commit[:2] / commit[2:]).unlink()
    before = {path: path.read_bytes() for path in old.loose.rglob("*") if path.is_file()}
    adopt(app)
    repository = repository_by_id(app.database, LOOSE)
    assert repository.version == repository_log.NOT_ADOPTED
    assert repository_by_id(app.database, PACKED).version == 1
    if damage == "missing":
        with pytest.raises(NoSuchFolder):
            app.copies.open(repository)
        with pytest.raises(NoSuchFolder):
            app.copies.update(LOOSE)
    else:
        assert b"refs/heads/main" in refs_of(app.copies.update(LOOSE).folder)
    with (
        pytest.raises(StorageUnavailable, match="not adopted"),
        app.database.write() as connection,
    ):
        repository_log.append(connection, LOOSE, [(None, RefUpdate("refs/heads/x", "0" * 40, "1" * 40))])
    assert [finding.kind.value for finding in examine(app)] == ["not-adopted"]
    assert {path: path.read_bytes() for path in old.loose.rglob("*") if path.is_file()} == before
    if damage == "missing":
        shutil.move(away, old.loose)
        adopt_repository(app.database, app.store, app.copies, LOOSE)
        assert list(examine(app, deep=True)) == []
