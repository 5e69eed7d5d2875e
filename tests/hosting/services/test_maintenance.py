"""Maintenance: expired rows, LFS objects, compaction, garbage collection and local copies."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete, func, insert, select, update
from structlog.testing import capture_logs

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged, NoSuchFolder, StorageUnavailable
from holdfast.hosting.git.commits import Signature
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.git.fsck import fsck
from holdfast.hosting.services import maintenance, ref_updates, repositories
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitRequest, commit_files
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.storage import compaction, instance
from holdfast.hosting.storage.backup_lease import backup_lease
from holdfast.hosting.store import accounts, lfs, login_rate_limit, repository_log, sessions
from holdfast.hosting.store.leases import release_lease, take_lease
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.repository_log import PackRow
from holdfast.hosting.store.tables import events, packs, ref_log


@pytest.fixture
def repository(app: App) -> Repository:
    """Make a repository with a commit."""
    admin = accounts.find_user(app.database, "admin")
    return repositories.create(app, admin, admin, repositories.NewRepository(name="one"), {"a": b"a"})


def test_expired_rows_are_deleted(app: App) -> None:
    """Expired sessions and login failures are deleted, and a session that is valid stays."""
    admin = accounts.find_user(app.database, "admin")
    old = sessions.start_session(app.database, admin, days=1, now=1_000_000_000)
    login_rate_limit.reserve_attempt(app.database, "ada", "192.0.2.1", limit=10, window=900, now=1_000_000_000)
    new = sessions.start_session(app.database, admin, days=1)
    cleaned = maintenance.clean(app)
    assert (cleaned.sessions, cleaned.login_failures) in {(0, 3), (1, 3)}  # logging in clears old ones away too
    assert sessions.user_of(app.database, new) is not None
    assert sessions.user_of(app.database, old) is None
    assert maintenance.clean(app) == maintenance.CleanupResult(0, 0, 0, 0)


def test_events_are_deleted_after_their_retention(app: App) -> None:
    """An event without deliveries is deleted after seven days, and a newer one stays."""
    now = 2_000_000_000
    with app.database.write() as connection:
        connection.execute(delete(events))
        for days in (8, 6):
            connection.execute(insert(events), {"kind": "push", "created_at": now - days * 86_400})
    maintenance.delete_old_deliveries(app, now=now)
    with app.database.read() as connection:
        assert connection.execute(select(events.c.created_at)).scalars().all() == [now - 6 * 86_400]


def large_file(app: App, oid: str, *, old: bool) -> Path:
    """Write an LFS object to its path in the store."""
    path = app.settings.data / "lfs" / oid[:2] / oid[2:4] / oid
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"large")
    if old:
        os.utime(path, (1, 1))
    return path


def test_only_unused_lfs_objects_are_deleted(app: App, repository: Repository) -> None:
    """LFS objects that are linked or new are not deleted, and none is deleted during a backup."""
    linked = large_file(app, "aa" * 32, old=True)
    lfs.link(app.database, repository, "aa" * 32, 5)
    new = large_file(app, "bb" * 32, old=False)
    unlinked = large_file(app, "cc" * 32, old=True)
    with backup_lease(app.database):
        assert maintenance.clean(app).lfs_objects == 0
    assert unlinked.exists()
    assert maintenance.clean(app).lfs_objects == 1
    assert (linked.exists(), new.exists(), unlinked.exists()) == (True, True, False)


@pytest.fixture
def compact_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two packs be too many."""
    monkeypatch.setattr(compaction, "MOST_PACKS", 1)


def commits(app: App, repository: Repository, count: int) -> None:
    """Commit a file several times."""
    who = Signature("Ada", "ada@example.org", 1_700_000_000)
    for number in range(count):
        change = FileChange(operation="upload", path="b", content=FileContent(b"%d" % number))
        commit_files(
            app,
            CommitRequest(
                repository=repository, actor=repository.owner, changes=[change], author=who, committer=who
            ),
        )


def live_packs(app: App, repository: Repository) -> list[PackRow]:
    """Return the packs a repository has."""
    with app.database.read() as connection:
        return repository_log.live_packs(connection, repository.id, 0)


@pytest.fixture
def few_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limit of packs to three."""
    monkeypatch.setattr(compaction, "MOST_PACKS", 3)


@pytest.mark.usefixtures("few_packs")
def test_repositories_with_many_packs_are_compacted(app: App, repository: Repository) -> None:
    """Repositories with few packs are not compacted, and one that another machine compacts is reported as busy.

    A repository that does not exist is no error.
    """
    seen: list[int] = []
    commits(app, repository, 2)
    assert maintenance.compact_all(app) == maintenance.CompactionResult((), (), ())
    commits(app, repository, 1)
    lease = f"compaction {repository.id}"
    take_lease(app.database, lease, "another machine", seconds=60)
    assert maintenance.compact(app, [repository.id]).busy == (repository.id,)
    release_lease(app.database, lease, "another machine")
    done = maintenance.compact(app, [99, repository.id], progress=seen.append)
    assert done == maintenance.CompactionResult((repository.id,), (), ())
    assert seen == [99, repository.id]
    assert len(live_packs(app, repository)) == 1
    assert maintenance.compact_all(app).compacted == ()
    for _ in range(2):
        assert fsck(app.copies.open(repository).folder).whole
        app.copies.discard(repository.id)


@pytest.mark.usefixtures("few_packs")
@pytest.mark.parametrize("work", ["compact", "collect"])
def test_a_failed_compaction_does_not_stop_the_others(app: App, repository: Repository, work: str) -> None:
    """The result names the damaged repository as failed and the other one as compacted."""
    owner = repository.owner
    damaged = repositories.create(app, owner, owner, repositories.NewRepository(name="two"), {"a": b"b"})
    for target_repository in (repository, damaged):
        commits(app, target_repository, 3)
    with app.database.write() as connection:
        connection.execute(update(packs).where(packs.c.repository_id == damaged.id).values(content=b"PACK"))
    run = maintenance.compact if work == "compact" else maintenance.collect_garbage
    app.copies.discard(damaged.id)
    assert run(app, [damaged.id, repository.id]) == maintenance.CompactionResult(
        (repository.id,), (), (damaged.id,)
    )


def test_garbage_is_deleted_after_its_retention(app: App, repository: Repository) -> None:
    """Commits that the ref log names are kept for the retention time, so that a ref can be restored."""
    first = repository_log.find_ref(app.database, repository.id, "refs/heads/main") or ""
    commits(app, repository, 1)
    second = repository_log.find_ref(app.database, repository.id, "refs/heads/main") or ""
    back = RefUpdate("refs/heads/main", second, first)
    ref_updates.update_refs(app, repository, repository.owner, [back])

    def has_second() -> bool:
        app.copies.discard(repository.id)
        return app.copies.open(repository).header(second) is not None

    assert maintenance.collect_garbage(app, [repository.id]).compacted == (repository.id,)
    assert has_second()
    old = int(time.time()) - app.settings.ref_retention_days * 86_400 - 10
    with app.database.write() as connection:
        connection.execute(update(ref_log).values(created_at=old))
    assert maintenance.collect_garbage(app, [repository.id]).compacted == (repository.id,)
    assert not has_second()
    assert app.copies.open(repository).header(first) is not None


def test_a_branch_that_is_created_during_a_garbage_collection_has_its_objects(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a retention time, another machine may delete the branch whose commits the new one shares."""
    app = replace(app, settings=msgspec.structs.replace(app.settings, ref_retention_days=0))
    first = repository_log.find_ref(app.database, repository.id, "refs/heads/main") or ""
    commits(app, repository, 1)
    second = repository_log.find_ref(app.database, repository.id, "refs/heads/main") or ""
    record = ref_updates.record

    def record_late(*arguments: Any, **named: Any) -> list[RefUpdate]:
        monkeypatch.setattr(ref_updates, "record", record)
        back = RefUpdate("refs/heads/main", second, first)
        ref_updates.update_refs(app, repository, repository.owner, [back])
        with app.database.write() as connection:
            connection.execute(update(ref_log).values(created_at=ref_log.c.created_at - 60))
        assert maintenance.collect_garbage(app, [repository.id]).compacted == (repository.id,)
        return record(*arguments, **named)

    monkeypatch.setattr(ref_updates, "record", record_late)
    new = RefUpdate("refs/heads/new", "0" * 40, second)
    ref_updates.update_refs(app, repository, repository.owner, [new])
    app.copies.discard(repository.id)
    assert fsck(app.copies.open(repository).folder).whole


def expire(app: App, *, days: float) -> None:
    """Let the retention time of all former ref targets end some days ago."""
    old = int(time.time() - (app.settings.ref_retention_days + days) * 86_400)
    with app.database.write() as connection:
        connection.execute(update(ref_log).values(created_at=old))


def reset(app: App, repository: Repository) -> str:
    """Force-push the first commit of a branch, and return the commit that it had."""
    with app.database.read() as connection:
        first = repository_log.log_entries(connection, repository.id)[-1].update.new
    grown = repository_log.find_ref(app.database, repository.id, "refs/heads/main") or ""
    ref_updates.update_refs(app, repository, repository.owner, [RefUpdate("refs/heads/main", grown, first)])
    return grown


def has_commit(app: App, repository: Repository, commit: str) -> bool:
    """Return whether a commit is in the packs of a repository."""
    app.copies.discard(repository.id)
    return app.copies.open(repository).header(commit) is not None


def test_only_what_a_force_push_or_a_deletion_left_is_collected_on_schedule(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository that only grew is not packed again."""
    commits(app, repository, 2)
    expire(app, days=3)
    two_days_ago = time.time() - 2 * 86_400
    assert maintenance.collect_expired(app, now=two_days_ago) == maintenance.CompactionResult((), (), ())
    grown = reset(app, repository)
    assert maintenance.collect_expired(app, now=two_days_ago).compacted == ()
    expire(app, days=1)
    assert maintenance.collect_expired(app).compacted == (repository.id,)
    assert not has_commit(app, repository, grown)
    monkeypatch.setattr(app.compactor, "has_garbage", lambda *_, **__: pytest.fail("it was collected"))
    assert maintenance.collect_expired(app).compacted == ()


def test_what_expired_while_the_service_was_stopped_is_collected(app: App, repository: Repository) -> None:
    """It is collected by the next run, however long ago the last one was."""
    commits(app, repository, 2)
    grown = reset(app, repository)
    expire(app, days=400)
    assert maintenance.collect_expired(app).compacted == (repository.id,)
    assert not has_commit(app, repository, grown)


def test_a_repository_that_could_not_be_collected_is_collected_later(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is damaged, or another machine compacts it, for longer than the interval of the collections."""
    commits(app, repository, 2)
    reset(app, repository)
    expire(app, days=1)

    def fail(*_: object, **__: object) -> bool:
        raise GitDamaged("damaged")

    with monkeypatch.context() as patch:
        patch.setattr(app.compactor, "has_garbage", fail)
        assert maintenance.collect_expired(app) == maintenance.CompactionResult((), (), ())
    with monkeypatch.context() as patch:
        patch.setattr(app.compactor, "collect_garbage", fail)
        assert maintenance.collect_expired(app).failed == (repository.id,)
    lease = f"compaction {repository.id}"
    assert take_lease(app.database, lease, "other", seconds=60)
    assert maintenance.collect_expired(app).busy == (repository.id,)
    release_lease(app.database, lease, "other")
    year_later = time.time() + 365 * 86_400
    assert maintenance.collect_expired(app, now=year_later).compacted == (repository.id,)


def test_what_is_kept_for_an_hour_without_a_retention_time_is_collected_then(
    app: App, repository: Repository
) -> None:
    """A collection within the hour does not count as one of these commits."""
    app.settings = msgspec.structs.replace(app.settings, ref_retention_days=0)
    commits(app, repository, 2)
    grown = reset(app, repository)
    assert maintenance.collect_expired(app, now=time.time() + 10).compacted == ()
    expire(app, days=3601 / 86_400)
    assert maintenance.collect_expired(app).compacted == (repository.id,)
    assert not has_commit(app, repository, grown)


@pytest.mark.usefixtures("few_packs")
def test_replaced_packs_are_deleted_after_the_grace_period_and_not_while_a_backup_is_made(
    app: App, repository: Repository
) -> None:
    """Another machine or a backup may still read packs that a compaction has replaced."""
    commits(app, repository, 3)
    maintenance.compact_all(app)

    def rows() -> int:
        with app.database.read() as connection:
            return connection.execute(select(func.count()).select_from(packs)).scalar_one()

    maintenance.delete_packs(app)
    assert rows() == 5
    with app.database.write() as connection:
        old = packs.c.superseded_at - compaction.GRACE_SECONDS - 10
        connection.execute(update(packs).where(packs.c.superseded_at > 0).values(superseded_at=old))
    with backup_lease(app.database):
        maintenance.delete_packs(app)
    assert rows() == 5
    maintenance.delete_packs(app)
    assert rows() == 1


def test_copies_are_evicted_down_to_the_size_of_the_setting(app: App, repository: Repository) -> None:
    """Without a limit no copy is evicted, and a copy that was just used is not evicted either."""
    app.copies.open(repository)
    state = app.folders.path(repository.id) / "holdfast-copy"
    app.settings = msgspec.structs.replace(app.settings, local_copies_mb=0)
    os.utime(state, (1, 1))
    assert maintenance.evict_copies(app) == 0
    app.settings = msgspec.structs.replace(app.settings, local_copies_mb=1)
    assert maintenance.evict_copies(app) == 0
    (state.parent / "large").write_bytes(bytes(2 * 2**20))
    os.utime(state)
    assert maintenance.evict_copies(app) == 0
    os.utime(state, (1, 1))
    assert maintenance.evict_copies(app) == 1
    assert not state.exists()
    assert app.copies.open(repository).header(
        repository_log.find_ref(app.database, repository.id, "refs/heads/main") or ""
    )


@pytest.fixture
def second_machine(app: App, tmp_path: Path) -> Iterator[App]:
    """Open the service with the same database and another folder of copies, as on another machine."""
    opened = App.open(app.settings)
    (tmp_path / "second").mkdir()
    opened.copies.folders = Folders(tmp_path / "second" / "repositories")
    yield opened
    opened.close()


def test_copies_of_deleted_repositories_are_deleted_on_every_machine(
    app: App, repository: Repository, second_machine: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without a limit of their size, a day after their last use, and a bounded number at a time."""
    admin = accounts.find_user(app.database, "admin")
    others = [
        repositories.create(app, admin, admin, repositories.NewRepository(name=name), {"a": b"a"})
        for name in ("two", "three", "four")
    ]
    for item in (repository, *others):
        second_machine.copies.open(item)
    for item in others:
        repositories.remove(app, item, admin)
    monkeypatch.setattr(maintenance, "ORPHANS_AT_ONCE", 2)
    now = time.time()
    assert maintenance.delete_orphaned_copies(second_machine, now=now + 86_300) == 0
    assert len(list(second_machine.folders.all_ids())) == 4
    assert [maintenance.delete_orphaned_copies(second_machine, now=now + 86_500) for _ in range(3)] == [2, 1, 0]
    assert list(second_machine.folders.all_ids()) == [repository.id]


def test_no_copy_is_deleted_if_the_database_is_another_one(
    app: App, repository: Repository, second_machine: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the wrong database every copy looks like that of a deleted repository."""
    second_machine.copies.open(repository)
    repositories.remove(app, repository, accounts.find_user(app.database, "admin"))
    with monkeypatch.context() as patch:
        patch.setattr(instance, "mismatch", lambda *_: "another installation")
        assert maintenance.delete_orphaned_copies(second_machine, now=time.time() + 90_000) == 0
    assert maintenance.delete_orphaned_copies(second_machine, now=time.time() + 90_000) == 1


@pytest.mark.usefixtures("compact_always")
def test_local_copies_follow_the_compaction_of_another_machine(
    app: App, repository: Repository, second_machine: App
) -> None:
    """The copy gets the merged pack and a commit-graph, once."""
    folder = second_machine.copies.update(repository.id).folder
    for _ in range(3):
        commits(app, repository, 1)
        second_machine.copies.update(repository.id)
    assert maintenance.tidy_copies(second_machine) == 0
    assert maintenance.compact(app, [repository.id]).compacted == (repository.id,)
    assert maintenance.tidy_copies(second_machine) == 1
    assert not list(folder.glob("objects/??/*"))
    assert list(folder.glob("objects/info/commit-graphs/*.graph"))
    assert fsck(folder).whole
    assert maintenance.tidy_copies(second_machine) == 0


@pytest.mark.usefixtures("compact_always")
def test_a_copy_that_cannot_be_tidied_is_logged_and_tried_again(
    app: App, repository: Repository, second_machine: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while the object store is unavailable; of a deleted repository nothing is logged."""
    commits(app, repository, 1)
    second_machine.copies.update(repository.id)
    maintenance.compact(app, [repository.id])

    def fail(_repository_id: int) -> None:
        raise StorageUnavailable("the object store does not respond")

    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr(second_machine.copies, "tidy", fail)
        assert maintenance.tidy_copies(second_machine) == 0
    assert [entry["event"] for entry in logs] == ["local copy not tidied"]
    assert maintenance.tidy_copies(second_machine) == 1

    commits(app, repository, 1)
    maintenance.compact(app, [repository.id])

    def remove(_repository_id: int) -> None:
        repositories.remove(app, repository, accounts.find_user(app.database, "admin"))
        raise NoSuchFolder("there is no repository")

    with capture_logs() as logs:
        monkeypatch.setattr(second_machine.copies, "tidy", remove)
        assert maintenance.tidy_copies(second_machine) == 0
    assert [entry for entry in logs if entry["log_level"] == "warning"] == []
    assert maintenance.tidy_copies(second_machine) == 0
