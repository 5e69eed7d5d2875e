"""Clearing away what has run out, and packing repositories."""

import os
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, select

from holdfast.hosting.app import App
from holdfast.hosting.git.gc import fsck
from holdfast.hosting.git.repository import locked
from holdfast.hosting.services import maintenance, repositories
from holdfast.hosting.snapshot.folders import shared_gc_lock
from holdfast.hosting.storage.backup_lock import shared_backup_lock
from holdfast.hosting.store import accounts, lfs, login_rate_limit, sessions
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import events


@pytest.fixture
def repository(app: App) -> Repository:
    """Make a repository with a commit."""
    admin = accounts.find_user(app.database, "admin")
    return repositories.create(app, admin, admin, repositories.NewRepository(name="one"), {"a": b"a"})


def test_what_has_run_out_is_cleared_away(app: App) -> None:
    """And what has not stays."""
    admin = accounts.find_user(app.database, "admin")
    old = sessions.start_session(app.database, admin, days=1, now=1_000_000_000)
    login_rate_limit.reserve_attempt(app.database, "ada", "192.0.2.1", limit=10, window=900, now=1_000_000_000)
    new = sessions.start_session(app.database, admin, days=1)
    cleaned = maintenance.clean(app)
    assert (cleaned.sessions, cleaned.login_failures) in {(0, 3), (1, 3)}  # logging in clears old ones away too
    assert sessions.user_of(app.database, new) is not None
    assert sessions.user_of(app.database, old) is None
    assert maintenance.clean(app) == maintenance.CleanupResult(0, 0, 0, 0)


def test_what_webhooks_were_told_is_forgotten_after_the_days_of_the_setting(app: App) -> None:
    """And what happened that nobody still has to hear of."""
    now = 2_000_000_000
    with app.database.write() as connection:
        connection.execute(delete(events))
        for days in (8, 6):
            connection.execute(insert(events), {"kind": "push", "created_at": now - days * 86_400})
    maintenance.delete_old_deliveries(app, now=now)
    with app.database.read() as connection:
        assert connection.execute(select(events.c.created_at)).scalars().all() == [now - 6 * 86_400]


def large_file(app: App, oid: str, *, old: bool) -> Path:
    """Put a large file where the store keeps it."""
    path = app.settings.data / "lfs" / oid[:2] / oid[2:4] / oid
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"large")
    if old:
        os.utime(path, (1, 1))
    return path


def test_only_large_files_nobody_has_had_for_a_while_are_removed(app: App, repository: Repository) -> None:
    """Not those of a repository, not those just sent, and none while a backup is made."""
    linked = large_file(app, "aa" * 32, old=True)
    lfs.link(app.database, repository, "aa" * 32, 5)
    new = large_file(app, "bb" * 32, old=False)
    unlinked = large_file(app, "cc" * 32, old=True)
    with shared_backup_lock(app.settings.data):
        assert maintenance.clean(app).lfs_objects == 0
    assert unlinked.exists()
    assert maintenance.clean(app).lfs_objects == 1
    assert (linked.exists(), new.exists(), unlinked.exists()) == (True, True, False)


def test_repositories_are_packed(app: App, repository: Repository) -> None:
    """One that a backup is being made of is left for later; one that vanished is no error."""
    folder = app.folders.path(repository.id)
    with shared_gc_lock(folder):
        assert maintenance.collect_repositories(app, [repository.id]).busy == (repository.id,)
    seen: list[int] = []
    assert maintenance.collect_repositories(app, [99, repository.id], passed=seen.append).packed == (
        repository.id,
    )
    assert seen == [repository.id]
    assert len(list(folder.glob("objects/pack/*.pack"))) == 1
    assert list(folder.glob("objects/??/*")) == []
    assert fsck(folder).whole
    with locked(folder):
        pass


def test_a_repository_that_cannot_be_packed_does_not_keep_the_others_from_it(
    app: App, repository: Repository
) -> None:
    """It is named."""
    damaged = app.folders.create(50)
    (damaged / "packed-refs").write_text(f"{'1' * 40} refs/heads/main\n")
    (damaged / "objects" / "pack" / f"pack-{'0' * 40}.idx").write_bytes(b"nonsense")
    collected = maintenance.collect_repositories(app, [50, repository.id])
    assert collected.failed == (50,)
    assert collected.packed == (repository.id,)


def test_only_repositories_with_much_to_pack_need_it(app: App, repository: Repository) -> None:
    """Many loose objects, or many packs."""
    folder = app.folders.path(repository.id)
    assert not maintenance.needs_gc(folder)
    assert maintenance.collect_where_needed(app).packed == ()
    for number in range(maintenance.MANY_PACKS + 1):
        (folder / "objects" / "pack" / f"pack-{number:040}.pack").touch()
    assert maintenance.needs_gc(folder)
    for path in folder.glob("objects/pack/*"):
        path.unlink()
    loose = folder / "objects" / "17"
    loose.mkdir(exist_ok=True)
    for number in range(maintenance.MANY_LOOSE + 1):
        (loose / f"{number:038}").touch()
    assert maintenance.needs_gc(folder)
