"""Commits of files: concurrency, crashes, idempotency keys, LFS objects and validation."""

import multiprocessing
import os
import random
import signal
import subprocess
import threading
import time
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import func, select

from holdfast.hosting.access import ANONYMOUS, Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    FileRefused,
    Forbidden,
    HostingError,
    InvalidField,
    InvalidValue,
    LoginRequired,
    NoSuchRef,
    Outdated,
    Permission,
    PushRefused,
    RefMoved,
    RefRefused,
    RepositoryReadOnly,
    ShaMismatch,
)
from holdfast.hosting.git import refs, special_files
from holdfast.hosting.git.identities import commit_name
from holdfast.hosting.git.packs import object_id
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.services import file_commits, lfs_objects, maintenance, ref_updates, repositories
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import (
    CommitRequest,
    CommitResult,
    FileCommit,
    commit_all,
    commit_files,
)
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.storage.batch_queue import MAX_BATCH, QueuedRequest
from holdfast.hosting.storage.pack_files import INLINE_LIMIT
from holdfast.hosting.store import accounts, commit_keys, lfs, protections, repository_log
from holdfast.hosting.store.commit_keys import IdempotencyKey
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository, repository_by_id
from holdfast.hosting.store.tables import commit_keys as key_rows
from holdfast.hosting.store.tables import lfs_links
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import wait_for
from tests.hosting.repository_helpers import recorded_events
from tests.hosting.services.commit_helpers import AUTHOR, commit_request, file_change


@pytest.fixture
def repository(app: App) -> Repository:
    """Make a repository with one commit."""
    admin = accounts.find_user(app.database, "admin")
    return repositories.create(app, admin, admin, NewRepository(name="notes"), {"a.txt": b"one\n"})


def git(path: Path, *arguments: str) -> str:
    """Run git in a folder, and return its output."""
    return subprocess.run(["git", "-C", str(path), *arguments], check=True, capture_output=True).stdout.decode()


def target_of(app: App, actor: Actor, repository: Repository) -> RepositoryAccess:
    """Return a repository with what an actor may do there."""
    return RepositoryAccess(repository, repositories.permissions_in(app, actor, repository))


def pushes(app: App) -> list[tuple[str, str]]:
    """Return the recorded pushes, in order."""
    return [
        (details["before"], details["after"]) for kind, details in recorded_events(app.database) if kind == "push"
    ]


def copy(app: App, repository: Repository) -> Path:
    """Return the local copy of a repository, as it is now."""
    return app.copies.update(repository.id).folder


def log(app: App, repository: Repository, branch: str = "main") -> list[str]:
    """Return the commits of a branch after the first, oldest first."""
    return git(copy(app, repository), "rev-list", "--reverse", branch).split()[1:]


def check_events_and_log(app: App, repository: Repository) -> None:
    """Check that each commit has one event and one entry of the ref log, and that the repository is intact."""
    created = log(app, repository)
    assert [after for _, after in pushes(app)] == created
    with app.database.read() as connection:
        entries = repository_log.log_entries(connection, repository.id, ref="refs/heads/main", limit=10_000)
    assert [entry.update.new for entry in reversed(entries)][1:] == created
    for _ in range(2):
        git(copy(app, repository), "fsck", "--strict")
        app.copies.discard(repository.id)


def test_writers_of_different_files_all_succeed(app: App, repository: Repository) -> None:
    """Sixteen threads commit to one branch, and every commit has its file and its event."""

    def write(name: str) -> None:
        for number in range(6):
            commit_files(
                app, commit_request(app, repository, file_change(f"{name}/{number}", name.encode(), "create"))
            )

    threads = [threading.Thread(target=write, args=(f"writer-{number}",)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(log(app, repository)) == 96
    assert len(git(copy(app, repository), "ls-tree", "-r", "--name-only", "main").split()) == 97
    check_events_and_log(app, repository)


def test_more_writers_than_one_batch_all_succeed(app: App, repository: Repository) -> None:
    """Commits that wait for a locked repository are all made, although they are more than one batch."""
    count = MAX_BATCH + 8

    def write(number: int) -> None:
        commit_files(app, commit_request(app, repository, file_change(f"f{number}", b"x", "create")))

    threads = [threading.Thread(target=write, args=(number,), daemon=True) for number in range(count)]
    with app.copies.locked(repository.id):
        threads[0].start()
        wait_for(lambda: app.commit_queue._waiting.get(repository.id) == [])
        for thread in threads[1:]:
            thread.start()
        wait_for(lambda: len(app.commit_queue._waiting[repository.id]) == count - 1)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a commit waits for a turn that never comes"
    assert len(log(app, repository)) == count
    check_events_and_log(app, repository)


def test_an_expected_head_requires_the_branch(app: App, repository: Repository) -> None:
    """A commit with an expected head is refused if the branch does not exist or is at another commit."""
    admin = accounts.find_user(app.database, "admin")
    empty = repositories.create(app, admin, admin, NewRepository(name="empty"))
    seen = repository_log.find_ref(app.database, repository.id, "refs/heads/main") or ""
    for dry_run in (True, False):
        with pytest.raises(Outdated, match="the branch main is at nothing"):
            commit_files(app, commit_request(app, empty, file_change("a"), expected_head=seen, dry_run=dry_run))
        with pytest.raises(NoSuchRef):
            request = commit_request(
                app, repository, file_change("a"), branch="gone", expected_head=seen, dry_run=dry_run
            )
            commit_files(app, request)
        with pytest.raises(Outdated, match="the branch main is at"):
            request = commit_request(
                app, repository, file_change("a"), new_branch="x", expected_head="1" * 40, dry_run=dry_run
            )
            commit_files(app, request)
    assert refs.all_refs(app.copies.update(empty.id)) == []
    assert pushes(app) == []
    commit_files(app, commit_request(app, repository, file_change("a"), new_branch="x", expected_head=seen))
    commit_files(app, commit_request(app, empty, file_change("a")))
    assert len(pushes(app)) == 2


def test_concurrent_writers_of_one_file_do_not_overwrite_each_other(app: App, repository: Repository) -> None:
    """Of eight updates of the same blob one succeeds, and the errors of the others have its new id."""
    before = git(copy(app, repository), "rev-parse", "main:a.txt").strip()
    results: list[CommitResult | HostingError] = []

    def write(number: int) -> None:
        try:
            request = commit_request(app, repository, file_change("a.txt", b"%d" % number, "update", sha=before))
            results.append(commit_files(app, request))
        except HostingError as error:
            results.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now = git(copy(app, repository), "rev-parse", "main:a.txt").strip()
    refused = [result for result in results if isinstance(result, ShaMismatch)]
    assert len(refused) == 7
    assert {str(error) for error in refused} == {f"sha does not match [given: {before}, expected: {now}]"}
    check_events_and_log(app, repository)


def write_in_process(place: tuple[Path, str | None], number: int, name: str, count: int, ready: Any) -> None:
    """Write files in a process of its own until done or killed, and report each commit after it was made."""
    url = None if place[1] is None else Secret(place[1])
    host = App.open(Settings(data=place[0], database_url=url))
    repository = repository_by_id(host.database, number)
    for index in range(count):
        commit_result = commit_files(
            host, commit_request(host, repository, file_change(f"{name}/{index}", os.urandom(20), "create"))
        )
        ready.put((f"{name}/{index}", commit_result.commit.id))
    host.close()


def place_of(settings: Settings) -> tuple[Path, str | None]:
    """Return where everything is, in a form another process can be given."""
    return settings.data, None if settings.database_url is None else settings.database_url.reveal()


@pytest.mark.long
def test_processes_commit_one_after_the_other(settings: Settings, app: App, repository: Repository) -> None:
    """Four processes commit to one branch, and no commit is lost."""
    context = multiprocessing.get_context("spawn")
    told_by = context.Queue()
    arguments = [(place_of(settings), repository.id, f"process-{number}", 8, told_by) for number in range(4)]
    processes = [context.Process(target=write_in_process, args=given) for given in arguments]
    for process in processes:
        process.start()
    written = dict(told_by.get(timeout=120) for _ in range(32))
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert sorted(written.values()) == sorted(log(app, repository))
    check_events_and_log(app, repository)


@pytest.mark.long
def test_a_killed_process_loses_no_confirmed_commit(settings: Settings, app: App, repository: Repository) -> None:
    """After SIGKILL every commit that a process had reported is there, and another process can commit."""
    context = multiprocessing.get_context("spawn")
    dice = random.Random(5)
    known: dict[str, str] = {}
    for attempt in range(4):
        told_by = context.Queue()
        given = (place_of(settings), repository.id, f"attempt-{attempt}", 10_000, told_by)
        process = context.Process(target=write_in_process, args=given)
        process.start()
        for _ in range(dice.randrange(2, 9)):
            path, commit = told_by.get(timeout=120)
            known[path] = commit
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join(60)
        commit_files(app, commit_request(app, repository, file_change(f"after-{attempt}", b"", "create")))
    created = log(app, repository)
    assert set(known.values()) <= set(created)
    tree = git(copy(app, repository), "ls-tree", "-r", "--name-only", "main").split()
    assert set(known) <= set(tree)
    check_events_and_log(app, repository)


def test_a_crash_before_the_end_of_the_transaction_leaves_no_commit(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash leaves no ref, no event and no pack, and the next commit succeeds."""
    before = repository_log.current_version(app.database, repository.id)

    class Crash(BaseException):
        """An exception that `except Exception` does not catch."""

    def crash(*_arguments: object, **_named: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(ref_updates, "note_refs", crash)
        with pytest.raises(Crash):
            commit_files(app, commit_request(app, repository, file_change("b.txt", b"b", "create")))
    assert pushes(app) == []
    assert repository_log.current_version(app.database, repository.id) == before
    with app.database.read() as connection:
        assert len(repository_log.live_packs(connection, repository.id, 0)) == 1
    commit_files(app, commit_request(app, repository, file_change("c.txt", b"c", "create")))
    assert git(copy(app, repository), "ls-tree", "--name-only", "main").split() == ["a.txt", "c.txt"]
    check_events_and_log(app, repository)


def test_an_update_in_between_makes_the_checks_run_again(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit is made on top of an update by another machine that came after its first checks."""
    tries: list[str] = []
    real = ref_updates.record

    def record(*arguments: Any, **named: Any) -> Any:
        if not tries:
            head = repository_log.find_ref(app.database, repository.id, "refs/heads/main") or ""
            commit, pack = repositories.initial_commit({"other.txt": b"theirs"}, AUTHOR)
            with app.database.write() as connection:
                update = RefUpdate("refs/heads/main", head, commit)
                repository_log.append(connection, repository.id, [(None, update)], [pack])
            tries.append(commit)
        return real(*arguments, **named)

    monkeypatch.setattr(ref_updates, "record", record)
    commit_result = commit_files(app, commit_request(app, repository, file_change("b.txt", b"b", "create")))
    assert commit_result.commit.parents == (tries[0],)
    assert [after for _, after in pushes(app)] == [commit_result.commit.id]
    assert git(copy(app, repository), "ls-tree", "--name-only", "main").split() == ["b.txt", "other.txt"]


def test_a_key_is_remembered_after_a_restart(settings: Settings, app: App, repository: Repository) -> None:
    """A request with the same idempotency key gets the same commit, and a different request is refused."""
    admin = accounts.find_user(app.database, "admin")
    key = IdempotencyKey(admin.id, "once", "print")
    first = commit_files(app, commit_request(app, repository, file_change("k", b"k", "create"), key=key))
    again = App.open(settings)
    try:
        second = commit_files(again, commit_request(again, repository, file_change("k", b"k", "create"), key=key))
    finally:
        again.close()
    assert second == first
    with pytest.raises(FileRefused, match="another request"):
        commit_files(
            app, commit_request(app, repository, file_change("l"), key=IdempotencyKey(admin.id, "once", "other"))
        )
    assert len(log(app, repository)) == 1


def test_commits_take_the_advisory_lock_after_another_machine_was_faster(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commits take the lock for a while after a conflict with another machine, and none without a conflict."""
    locked: list[int] = []

    def note(number: int) -> AbstractContextManager[None]:
        locked.append(number)
        return nullcontext()

    monkeypatch.setattr(app.database, "advisory_lock", note)
    commit_files(app, commit_request(app, repository, file_change("a")))
    assert locked == []
    record, lost = ref_updates.record, [RefMoved("moved")]

    def lose_once(*given: Any, **named: Any) -> Any:
        if lost:
            raise lost.pop()
        return record(*given, **named)

    monkeypatch.setattr(ref_updates, "record", lose_once)
    commit_files(app, commit_request(app, repository, file_change("b")))
    commit_files(app, commit_request(app, repository, file_change("c")))
    assert locked == [repository.id, repository.id]
    app.contended[repository.id] = 0.0
    commit_files(app, commit_request(app, repository, file_change("d")))
    assert len(locked) == 2


def test_commits_wait_for_a_machine_that_was_too_slow(
    settings: Settings, app: App, repository: Repository
) -> None:
    """A commit waits for a machine that holds the advisory lock, which could otherwise never commit.

    SQLite has only one machine and no such lock.
    """
    done = threading.Event()
    waits = not app.database.is_sqlite

    def commit() -> None:
        commit_files(app, commit_request(app, repository, file_change("a")))
        done.set()

    writer = threading.Thread(target=commit)
    with closing(App.open(settings)) as slow, slow.database.advisory_lock(repository.id):
        writer.start()
        assert done.wait(0.5 if waits else 30) is not waits
        assert (app.contended.get(repository.id, 0.0) > time.monotonic()) is waits
    assert done.wait(30)
    writer.join()


def test_a_key_that_another_machine_uses_at_the_same_time_makes_one_commit(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is used by another machine after the first look-up is found by the second attempt."""
    admin = accounts.find_user(app.database, "admin")
    key = IdempotencyKey(admin.id, "once", "print")
    first = commit_files(app, commit_request(app, repository, file_change("k", b"k", "create"), key=key))
    replay, early = file_commits.replay, [None]
    monkeypatch.setattr(file_commits, "replay", lambda *given: early.pop() if early else replay(*given))
    second = commit_files(app, commit_request(app, repository, file_change("l", b"l", "create"), key=key))
    assert second.commit.id == first.commit.id
    assert early == []
    assert log(app, repository) == [first.commit.id]


def test_the_same_key_at_once_makes_one_commit(app: App, repository: Repository) -> None:
    """Three concurrent requests with the same idempotency key make one commit."""
    admin = accounts.find_user(app.database, "admin")
    results: list[CommitResult] = []

    def write() -> None:
        key = IdempotencyKey(admin.id, "once", "print")
        results.append(
            commit_files(app, commit_request(app, repository, file_change("k", b"k", "create"), key=key))
        )

    with app.copies.locked(repository.id):
        threads = [threading.Thread(target=write) for _ in range(3)]
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join()
    assert len({result.commit.id for result in results}) == 1
    assert len(results) == 3
    assert len(log(app, repository)) == 1


def test_an_idempotency_key_expires_after_its_retention(app: App, repository: Repository) -> None:
    """The key is stored with its commit until the retention time has passed."""
    admin = accounts.find_user(app.database, "admin")
    key = IdempotencyKey(admin.id, "once", "print")
    commit_result = commit_files(app, commit_request(app, repository, file_change("k", b"k", "create"), key=key))
    for later, count in ((-10, 1), (10, 0)):
        with app.database.write() as connection:
            commit_keys.delete_old(connection, now=int(time.time()) + commit_keys.RETENTION_SECONDS + later)
            rows = connection.execute(select(key_rows.c.commit_id, key_rows.c.ref)).all()
        assert [tuple(row) for row in rows] == [(commit_result.commit.id, "refs/heads/main")] * count


@pytest.mark.parametrize(("first", "second"), [("a", "a/b"), ("a/b", "a"), ("main", "main/x")])
def test_a_branch_that_cannot_be_beside_another_is_refused_at_once(
    app: App, repository: Repository, first: str, second: str
) -> None:
    """Of two names that git cannot have together one is refused, and the rest of the batch succeeds."""
    requests = [
        commit_request(app, repository, file_change("x"), new_branch=name) for name in (first, second, "fine")
    ]
    results: dict[str, CommitResult | HostingError] = {}

    def write(request: CommitRequest) -> None:
        try:
            results[request.target] = commit_files(app, request)
        except HostingError as error:
            results[request.target] = error

    if first == "main":
        requests = requests[1:]
    threads = [threading.Thread(target=write, args=(request,)) for request in requests]
    with app.copies.locked(repository.id):
        for number, thread in enumerate(threads):
            thread.start()
            wait_for(lambda count=number: len(results) == 0 and waiting(app, repository) >= count)  # type: ignore[misc]  # mypy does not infer a lambda with a default value
    for thread in threads:
        thread.join()
    refused = [name for name, result in results.items() if isinstance(result, RefRefused)]
    assert len(refused) == 1
    assert set(refused) < {first, second}
    assert isinstance(results["fine"], CommitResult)


def waiting(app: App, repository: Repository) -> int:
    """Return how many commits wait for the one that is being made."""
    return len(app.commit_queue._waiting.get(repository.id, []))


def never_lands(*_arguments: object, **_named: object) -> None:
    """Raise the error of a branch that another machine has updated."""
    raise RefMoved("moved")


def test_a_branch_that_keeps_moving_is_an_error(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After many conflicts with other updates the commit is refused, and nothing is recorded."""
    before = repository_log.current_version(app.database, repository.id)
    monkeypatch.setattr(ref_updates, "record", never_lands)
    with pytest.raises(HostingError, match="updated by others all the time"):
        commit_files(app, commit_request(app, repository, file_change("b")))
    assert repository_log.current_version(app.database, repository.id) == before


ATTRIBUTES = b"*.bin filter=lfs diff=lfs merge=lfs -text\n"


def stored(app: App, repository: Repository, path: str) -> bytes:
    """Return the content of a file on main."""
    target_path = copy(app, repository)
    return subprocess.run(
        ["git", "-C", str(target_path), "show", f"main:{path}"], check=True, capture_output=True
    ).stdout


def test_large_files_are_stored_as_the_attributes_say(app: App, repository: Repository) -> None:
    """A file that `.gitattributes` assigns to LFS is stored as an object, and its pointer is committed.

    A rename converts the file to a pointer or back if the attributes of its path differ.
    """
    commit_files(app, commit_request(app, repository, file_change(".gitattributes", ATTRIBUTES)))
    commit_files(
        app, commit_request(app, repository, file_change("d/x.bin", b"\0" * 5000), file_change("d/x.txt", b"text"))
    )
    pointer = LfsPointer.parse(stored(app, repository, "d/x.bin"))
    assert pointer is not None
    assert pointer.size == 5000
    assert lfs.linked_sizes(app.database, repository, [pointer.oid]) == {pointer.oid: 5000}
    assert stored(app, repository, "d/x.txt") == b"text"
    for old, new, content in (("d/x.bin", "d/y.dat", b"\0" * 5000), ("d/y.dat", "z.bin", pointer.format())):
        sha = git(copy(app, repository), "rev-parse", f"main:{old}").strip()
        change = FileChange(operation="rename", path=new, from_path=old, sha=sha)
        commit_files(app, commit_request(app, repository, change))
        assert stored(app, repository, new) == content
    commit_files(app, commit_request(app, repository, file_change("p.bin", pointer.format())))
    assert stored(app, repository, "p.bin") == pointer.format()
    check_events_and_log(app, repository)


def test_many_small_files_are_not_stored_in_a_row(app: App, repository: Repository) -> None:
    """Contents that are large only together are in the object store, as those of a large file are."""
    names = [f"f{number}" for number in range(10)]
    changes = [file_change(name, os.urandom(50_000)) for name in names]
    commit_files(app, commit_request(app, repository, *changes, file_change("small", b"1")))
    with app.database.read() as connection:
        rows = repository_log.live_packs(connection, repository.id, 0)
    assert all(pack.size < INLINE_LIMIT for pack in rows if not pack.store_key)
    assert sum(pack.size for pack in rows if pack.store_key) > 500_000
    app.copies.discard(repository.id)
    assert [len(stored(app, repository, name)) for name in [*names, "small"]] == [50_000] * 10 + [1]
    check_events_and_log(app, repository)


def test_the_last_commit_may_be_newer_than_the_local_copy(app: App, repository: Repository) -> None:
    """An update on top of a commit that was just acknowledged is no conflict."""
    app.copies.update(repository.id)
    first = commit_files(app, commit_request(app, repository, file_change("a.txt", b"two\n")))
    change = file_change("a.txt", b"three\n", "update", last_commit_id=first.commit.id)
    commit_files(app, commit_request(app, repository, change))
    assert stored(app, repository, "a.txt") == b"three\n"


def test_a_protected_branch_may_begin_at_a_commit_that_the_local_copy_lacks(
    app: App, repository: Repository
) -> None:
    """The rules are checked with the parent commit, also if it was made in the same batch."""
    rule = ProtectionRule(enable_push=True, protected_file_patterns="secret/*")
    protections.create_protection(app.database, repository, "release/*", rule)
    app.copies.update(repository.id)
    commit_files(app, commit_request(app, repository, file_change("a.txt", b"two\n")))
    commit_files(app, commit_request(app, repository, file_change("b"), new_branch="release/1"))
    commit_files(app, commit_request(app, repository, file_change("secret/a")))
    with pytest.raises(PushRefused, match="force"):
        commit_files(app, commit_request(app, repository, file_change("c"), new_branch="release/1", force=True))
    requests = [
        commit_request(app, repository, file_change(path), new_branch=branch)
        for path, branch in (("d", "main"), ("e", "release/2"))
    ]
    jobs = [QueuedRequest[CommitRequest, CommitResult](request) for request in requests]
    commit_all(app, jobs)
    assert [job.error for job in jobs] == [None, None]


def test_a_large_file_is_stored_if_the_attributes_change_meanwhile(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was to become an LFS object when it arrived, and is a blob when it is committed."""
    commit_files(app, commit_request(app, repository, file_change(".gitattributes", ATTRIBUTES)))
    pack_ahead = file_commits.pack_ahead
    content = os.urandom(200_000)

    def pack_and_change(*arguments: Any) -> Any:
        packs = pack_ahead(*arguments)
        commit_files(app, commit_request(app, repository, file_change(".gitattributes", b"")))
        return packs

    monkeypatch.setattr(file_commits, "pack_ahead", pack_and_change)
    commit_files(app, commit_request(app, repository, file_change("x.bin", content)))
    app.copies.discard(repository.id)
    assert stored(app, repository, "x.bin") == content
    check_events_and_log(app, repository)


def test_lfs_objects_of_a_failed_commit_are_not_kept(
    app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The object of a failed commit is not linked to the repository, and maintenance deletes it."""
    commit_files(app, commit_request(app, repository, file_change(".gitattributes", ATTRIBUTES)))
    monkeypatch.setattr(ref_updates, "record", never_lands)
    with pytest.raises(HostingError):
        commit_files(app, commit_request(app, repository, file_change("x.bin", b"large")))
    with app.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(lfs_links)).scalar_one() == 0
    assert len(lfs_objects.stored_objects(app)) == 1
    assert maintenance.clean(app, now=time.time() + lfs_objects.GRACE + 60).lfs_objects == 1
    assert not lfs_objects.stored_objects(app)


@pytest.mark.parametrize("durable", [True, False])
def test_without_durable_writes_the_same_happens(
    settings: Settings, app: App, repository: Repository, monkeypatch: pytest.MonkeyPatch, *, durable: bool
) -> None:
    """The setting `durable_writes` changes only whether the transaction waits for the disk."""
    quick = App.open(msgspec.structs.replace(settings, durable_writes=durable))
    real = quick.database.quick_write
    asked: list[bool] = []

    def quick_write(*, durable: bool = True) -> Any:
        asked.append(durable)
        return real(durable=durable)

    monkeypatch.setattr(quick.database, "quick_write", quick_write)
    try:
        commit_files(quick, commit_request(quick, repository, file_change("q", b"q", "create")))
    finally:
        quick.close()
    assert asked == [durable]
    check_events_and_log(app, repository)


@pytest.mark.parametrize("requests", [300, pytest.param(5000, marks=[pytest.mark.long, pytest.mark.timeout(600)])])
def test_random_changes_agree_with_a_model(
    app: App, repository: Repository, tmp_path: Path, requests: int
) -> None:
    """After many random requests the tree in git and in a new clone is that of a model."""
    dice = random.Random(requests)
    model: dict[str, tuple[int, bytes]] = {"a.txt": (0o100644, b"one\n")}
    names = [f"{a}{b}" for a in ("", "d/", "d/e/", "f/") for b in ("x", "y", "z", "w.txt")]
    accepted = 0
    for number in range(requests):
        changes = [random_change(dice, names, model, number + index) for index in range(dice.randrange(1, 4))]
        after = dict(model)
        expected = all(model_apply(model, after, change) for change in changes)
        expected = expected and len({change.path for change in changes}) == len(changes)
        try:
            commit_files(app, commit_request(app, repository, *changes))
            happened = True
        except HostingError:
            happened = False
        assert happened == expected, changes
        if happened:
            model = after
            accepted += 1
    assert accepted > requests // 4
    target_path = copy(app, repository)
    subprocess.run(["git", "clone", "-q", str(target_path), str(tmp_path / "clone")], check=True)
    tree = {}
    for line in git(target_path, "ls-tree", "-r", "main").splitlines():
        meta, _, path = line.partition("\t")
        tree[path] = (int(meta.split()[0], 8), (tmp_path / "clone" / path).read_bytes())
    assert tree == model
    check_events_and_log(app, repository)


def random_change(
    dice: random.Random, names: list[str], model: dict[str, tuple[int, bytes]], number: int
) -> FileChange:
    """Return a random change, which may be invalid."""
    operation = dice.choice(["create", "update", "upload", "rename", "delete"])
    path = dice.choice(names)
    source = dice.choice(names) if operation == "rename" else path
    sha = object_id("blob", model[source][1]) if source in model else "0" * 40
    content = None if operation in {"rename", "delete"} else FileContent(b"%d" % number)
    mode = dice.choice([None, None, 0o100755]) if content is not None else None
    given = "" if operation in {"create", "upload"} else sha
    return FileChange(operation=operation, path=path, from_path=source, content=content, sha=given, mode=mode)  # type: ignore[arg-type]  # strings from a strategy, which are valid


def folders_of(files: dict[str, tuple[int, bytes]]) -> set[str]:
    """Return every directory that holds something."""
    return {"/".join(path.split("/")[:count]) for path in files for count in range(1, path.count("/") + 1)}


def can_lie(files: dict[str, tuple[int, bytes]], path: str) -> bool:
    """Return whether a file can be at a path: no file is above it, and it is no directory."""
    above = {"/".join(path.split("/")[:count]) for count in range(1, path.count("/") + 1)}
    return not above & files.keys() and path not in folders_of(files)


def model_apply(
    base: dict[str, tuple[int, bytes]], files: dict[str, tuple[int, bytes]], change: FileChange
) -> bool:
    """Apply a change to the model, and return whether it is valid."""
    if change.operation in {"update", "rename", "delete"} and not (
        change.from_path in base and change.from_path in files
    ):
        return False
    if change.operation == "delete":
        del files[change.path]
        return True
    if not can_lie(base, change.path) or not can_lie(files, change.path):
        return False
    if change.operation in {"create", "rename"} and (change.path in base or change.path in files):
        return False
    if change.operation == "rename":
        files[change.path] = files.pop(change.from_path)
        return True
    previous_mode = files.get(change.path, (0o100644, b""))[0] if change.operation != "create" else 0o100644
    content = change.content._source  # type: ignore[union-attr]  # a change that has content
    files[change.path] = (change.mode or previous_mode, content)  # type: ignore[assignment]  # a changed file has content
    return True


def test_a_commit_requires_write_access(app: App, repository: Repository) -> None:
    """The service refuses readers, anonymous users, archives and mirrors, and nothing is committed."""
    owner = Actor(repository.owner)
    reader = Actor(accounts.create_user(app.database, "rea", Secret("a long password")))
    before = repository_log.current_version(app.database, repository.id)
    new = FileCommit(changes=[file_change("b.txt", b"b", "create")])
    with pytest.raises(LoginRequired):
        file_commits.commit(app, ANONYMOUS, target_of(app, ANONYMOUS, repository), new)
    with pytest.raises(Forbidden) as excinfo:
        file_commits.commit(app, reader, target_of(app, reader, repository), new)
    assert excinfo.value.permission is Permission.WRITE_BRANCH
    for column in ("archived_at", "is_mirror"):
        frozen = msgspec.structs.replace(repository, **{column: 1})
        with pytest.raises(RepositoryReadOnly):
            file_commits.commit(app, owner, target_of(app, owner, frozen), new)
    assert repository_log.current_version(app.database, repository.id) == before


def test_a_commit_is_the_actors_unless_others_are_named(app: App, repository: Repository) -> None:
    """Author and committer are the actor unless the request names another author."""
    owner = Actor(repository.owner)
    target = target_of(app, owner, repository)
    made = file_commits.commit(app, owner, target, FileCommit(changes=[file_change("b.txt")]))
    assert {made.commit.author.name, made.commit.committer.name} == {commit_name(repository.owner)}
    made = file_commits.commit(app, owner, target, FileCommit(changes=[file_change("c.txt")], author=AUTHOR))
    assert (made.commit.author.name, made.commit.committer.name) == ("Ada", commit_name(repository.owner))


@pytest.mark.parametrize(
    ("more", "path", "field"),
    [
        ({"branch": "a..b"}, "x", "BranchName"),
        ({"new_branch": "a" * 101}, "x", "NewBranchName"),
        ({}, "", "Path"),
    ],
)
def test_the_fields_of_a_commit_are_validated(
    app: App, repository: Repository, more: dict[str, Any], path: str, field: str
) -> None:
    """The error for an invalid branch or path names the field."""
    owner = Actor(repository.owner)
    with pytest.raises(InvalidField) as excinfo:
        file_commits.commit(
            app, owner, target_of(app, owner, repository), FileCommit(changes=[file_change(path)], **more)
        )
    assert excinfo.value.field == field


def test_a_file_that_git_reads_is_checked_when_a_file_is_renamed_to_it(app: App, repository: Repository) -> None:
    """A file of another name may have any content and size, but not become one that git refuses."""
    files = (
        file_change("option", b'[submodule "a"]\npath = a\nurl = -u./payload\n'),
        file_change("large", b"#" * (special_files.LARGEST + 1)),
        file_change("fine", b"[core]\n"),
    )
    made = commit_files(app, commit_request(app, repository, *files)).files
    option, large, fine = (file.entry.id for file in made if file is not None)

    def rename(source: str, sha: str, **more: bool) -> None:
        change = FileChange(operation="rename", path="lib/.gitmodules", from_path=source, sha=sha)
        commit_files(app, commit_request(app, repository, change, **more))

    before = log(app, repository)
    for source, sha, problem in (("option", option, "looks like an option"), ("large", large, "more than")):
        for dry_run in (True, False):
            with pytest.raises(InvalidValue, match=problem):
                rename(source, sha, dry_run=dry_run)
    assert log(app, repository) == before
    rename("fine", fine)
    assert len(log(app, repository)) == len(before) + 1
