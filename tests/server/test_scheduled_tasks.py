"""Scheduled tasks of the service: repetition, leases, compaction and times of last use."""

import math
import os
import time
from contextlib import closing
from pathlib import Path

import anyio
import pytest
import structlog
from sqlalchemy import update

from holdfast import logs
from holdfast.hosting.app import App
from holdfast.hosting.git.contributors import ContributorList
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.storage import compaction
from holdfast.hosting.store import accounts, repositories, repository_log, sessions, ssh_keys, tokens
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.leases import release_lease, take_lease
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.tables import ref_log
from holdfast.server import scheduled_tasks as scheduled_tasks_module
from holdfast.server.scheduled_tasks import (
    ScheduledTask,
    follow_pushes,
    run_scheduled_tasks,
    save_session_use,
    save_ssh_key_use,
    save_token_use,
    scheduled_tasks,
)
from holdfast.settings import Settings
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address
from tests.hosting.repository_helpers import add_commit, make_repository, with_branches


async def until(done: list[str], count: int) -> None:
    """Wait until a list has so many items."""
    with anyio.fail_after(10):
        while len(done) < count:  # noqa: ASYNC110  # it is filled by threads
            await anyio.sleep(0.01)


def test_a_task_is_repeated_also_after_a_failure(settings: Settings, database: Database) -> None:
    """A task that raises an exception runs again at its next time."""
    # As the service logs: without this, structlog draws every frame of a traceback, for seconds.
    logs.configure(level="warning")
    done: list[str] = []

    def fail(_host: App) -> None:
        done.append("tried")
        raise RuntimeError("this time it did not work")

    async def play() -> None:
        host = App.open(settings)
        async with run_scheduled_tasks(host, (ScheduledTask("fail", 0.01, fail),)):
            await until(done, 3)
        host.close()

    anyio.run(play)


def test_a_task_with_a_lease_runs_in_one_process(settings: Settings, database: Database) -> None:
    """A task with a lease runs in one process only, and in another one after the first has ended."""
    done: list[str] = []

    async def play() -> None:
        first, second = App.open(settings), App.open(settings)
        one = (ScheduledTask("sweep", 0.01, lambda _host: done.append("first"), needs_lease=True),)
        two = (ScheduledTask("sweep", 0.01, lambda _host: done.append("second"), needs_lease=True),)
        async with run_scheduled_tasks(second, two):
            await until(done, 1)
            async with run_scheduled_tasks(first, one):
                await until(done, 10)
        assert set(done) == {"second"}
        async with run_scheduled_tasks(first, one):
            await until(done, len(done) + 1)
        assert done[-1] == "first"
        first.close()
        second.close()

    anyio.run(play)


def test_a_service_without_leases_stops_while_others_write(settings: Settings, database: Database) -> None:
    """It has nothing to release, so its end needs no transaction, which would wait for theirs."""

    async def play() -> None:
        host = App.open(settings)
        async with run_scheduled_tasks(host):
            pass
        host.close()

    with structlog.testing.capture_logs() as logged, database.write():
        anyio.run(play)
    assert logged == []


def test_a_rare_task_is_not_repeated_by_the_next_process(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next process gets no lease of a daily task that has run; else each restart would repeat the task."""
    done: list[str] = []
    refused: list[str] = []

    def take(database: Database, name: str, holder: str, *, seconds: float) -> bool:
        is_taken = take_lease(database, name, holder, seconds=seconds)
        if not is_taken:
            refused.append(holder)
        return is_taken

    async def play() -> None:
        host = App.open(settings)
        daily = (ScheduledTask("pack", 86_400, lambda _host: done.append("packed"), needs_lease=True),)
        async with run_scheduled_tasks(host, daily):
            await until(done, 1)
        async with run_scheduled_tasks(host, daily):
            await until(refused, 2)
        host.close()

    monkeypatch.setattr(scheduled_tasks_module, "MAX_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(scheduled_tasks_module, "take_lease", take)
    anyio.run(play)
    assert done == ["packed"]


def test_the_last_use_of_tokens_is_recorded_at_shutdown(settings: Settings, database: Database) -> None:
    """Uses that no task has written yet are written when the service ends."""
    admin = accounts.find_user(database, "admin")
    token, _ = tokens.create_token(database, admin, "mine", ("all",))

    async def play() -> None:
        host = App.open(settings)
        async with run_scheduled_tasks(host):
            host.used_tokens[token.id] = 12345
        host.close()

    anyio.run(play)
    assert tokens.find_token(database, admin, "mine").last_used_at == 12345


def test_temporary_files_are_deleted_on_every_machine(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    """What a process that was killed has left, also on a machine without the lease of another cleanup."""
    (tmp_path / "second").mkdir()
    with closing(App.open(settings)) as host:
        host.copies.folders = Folders(tmp_path / "second" / "repositories")
        host.store.incoming = tmp_path / "second" / "incoming"
        left = [host.folders.root / ".making" / "left", host.store.incoming / "left"]
        left[0].mkdir(parents=True)
        left[1].parent.mkdir()
        left[1].touch()
        for path in left:
            os.utime(path, (1, 1))
        for task in scheduled_tasks(host):
            if not task.needs_lease:
                task.run(host)
    assert [path for path in left if path.exists()] == []


def test_compaction_can_be_disabled(tmp_path: Path) -> None:
    """The garbage collection is not scheduled if `gc_hours` is 0."""
    on, off = (App.open(Settings(data=tmp_path, gc_hours=hours)) for hours in (24, 0))
    assert "collect garbage" in {task.name for task in scheduled_tasks(on)}
    assert "collect garbage" not in {task.name for task in scheduled_tasks(off)}
    on.close()
    off.close()


def test_the_last_use_of_a_token_is_recorded_soon(clients: ServiceClients) -> None:
    """The last use of a token is kept in memory and written to the database by a scheduled task."""
    ada = clients.account("ada")
    token, _ = tokens.create_token(clients.database, ada, "t", ("all",), now=1)
    host = App.open(clients.service.settings)
    host.used_tokens[token.id] = 1_000_000
    save_token_use(host)
    assert host.used_tokens == {}
    assert tokens.find_token(clients.database, ada, "t").last_used_at == 1_000_000
    host.close()


def test_the_last_use_of_ssh_keys_is_recorded_soon_and_at_shutdown(settings: Settings, database: Database) -> None:
    """The last uses of all keys are written by a scheduled task, and those after it at shutdown."""
    admin = accounts.find_user(database, "admin")
    keys = [
        ssh_keys.create_key(database, admin, title="t", content=f"ssh-ed25519 {name}", fingerprint=name)
        for name in ("one", "two")
    ]

    def noted() -> list[int]:
        return [key.last_used_at for key in ssh_keys.keys_of(database, admin, skip=0, limit=9)[0]]

    async def play() -> None:
        host = App.open(settings)
        async with run_scheduled_tasks(host, ()):
            host.used_ssh_keys = {keys[0].id: 5, keys[1].id: 6}
            save_ssh_key_use(host)
            assert (host.used_ssh_keys, noted()) == ({}, [5, 6])
            host.used_ssh_keys[keys[0].id] = 7
        host.close()

    anyio.run(play)
    assert noted() == [7, 6]


def test_the_last_use_of_sessions_is_recorded_soon(clients: ServiceClients) -> None:
    """The last use of a session is kept in memory and written to the database by a scheduled task."""
    ada = clients.account("ada")
    token = sessions.start_session(clients.database, ada, days=1)
    host = App.open(clients.service.settings)
    save_session_use(host)
    host.seen_sessions[sessions.hashed(token)] = 4_000_000_000
    save_session_use(host)
    assert host.seen_sessions == {}
    (seen,) = sessions.sessions_of(clients.database, ada)
    assert seen.last_seen_at == 4_000_000_000
    host.close()


def test_a_pushed_repository_gets_its_history_index(clients: ServiceClients, tmp_path: Path) -> None:
    """A pushed repository gets a commit graph after a cooldown, and a deleted one is skipped."""
    clients.account("ada")
    clients.anonymous.post("/user/repos", json={"name": "notes"}, auth=("ada", PASSWORD))
    git = Git(tmp_path / "work")
    git("init", "-q")
    git.commit("a.txt", "x" * 100_000)
    git("push", "-q", address(clients.service.url, "ada", PASSWORD, "ada/notes"), "HEAD:main")
    host = App.open(clients.service.settings)
    repository = repositories.find_repository(host.database, "ada", "notes")
    host.pushed |= {repository.id, 999_999}
    host.contributors[repository.id] = ContributorList("", 0, ())
    follow_pushes(host)
    assert host.contributors[repository.id].total == 1
    index = "objects/info/commit-graph*"
    assert list(host.folders.path(repository.id).glob(index))
    assert host.pushed == set()
    # It rests now, for a time that depends on how long that took, and is not forgotten.
    assert host.cooldowns.keys() == {repository.id}
    host.pushed.add(repository.id)
    host.cooldowns[repository.id] = math.inf
    host.copies.discard(repository.id)
    follow_pushes(host)
    assert host.pushed == {repository.id}
    assert not host.folders.exists(repository.id)
    host.cooldowns[repository.id] = -math.inf
    follow_pushes(host)
    assert host.pushed == set()
    assert list(host.folders.path(repository.id).glob(index))
    host.close()


def test_a_repository_with_many_packs_is_compacted_by_any_process(
    clients: ServiceClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task after a push leaves few packs alone, and the hourly task compacts what is over the limit."""
    ada = clients.account("ada")
    repository = with_branches(clients, make_repository(clients.database, ada))
    add_commit(clients.database, repository, "more")
    host = App.open(clients.service.settings)

    def count() -> int:
        with host.database.read() as connection:
            return len(repository_log.live_packs(connection, repository.id, 0))

    host.pushed.add(repository.id)
    follow_pushes(host)
    assert count() == 2
    monkeypatch.setattr(compaction, "MOST_PACKS", 1)
    lease = f"compaction {repository.id}"
    take_lease(host.database, lease, "another", seconds=60)
    host.pushed.add(repository.id)
    host.cooldowns.clear()
    follow_pushes(host)
    assert (count(), host.pushed) == (2, {repository.id}), "it is compacted after the cooldown"
    release_lease(host.database, lease, "another")
    (compact,) = (task for task in scheduled_tasks(host) if task.name == "compact")
    compact.run(host)
    assert count() == 1
    host.close()


def test_objects_of_a_deleted_branch_are_collected_when_its_retention_ends(clients: ServiceClients) -> None:
    """The objects are kept until the retention ends, because the branch can be restored until then."""
    ada = clients.account("ada")
    repository = make_repository(clients.database, ada)
    commit = add_commit(clients.database, repository, "gone")
    deleted = RefUpdate("refs/heads/gone", commit, "0" * 40)
    with clients.database.write() as connection:
        repository_log.append(connection, repository.id, [(ada.id, deleted)])
    host = App.open(clients.service.settings)
    days = host.settings.ref_retention_days
    (collect,) = (task for task in scheduled_tasks(host) if task.name == "collect garbage")
    for age, left in ((days * 86_400 - 100, 1), (days * 86_400 + 100, 0)):
        with clients.database.write() as connection:
            connection.execute(update(ref_log).values(created_at=int(time.time()) - age))
        collect.run(host)
        with host.database.read() as connection:
            assert len(repository_log.live_packs(connection, repository.id, 0)) == left
    host.close()
