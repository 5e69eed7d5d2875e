"""Local copies of repositories: updates from the log, crashes, damage and eviction."""

import gc
import json
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import anyio
import pygit2
import pytest
from sqlalchemy import delete, func, select, update

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged, GitError, NoSuchFolder, StorageUnavailable
from holdfast.hosting.git import local_refs, refs
from holdfast.hosting.git import process as git_process
from holdfast.hosting.git.folders import is_in_use
from holdfast.hosting.git.packs import PackedObject
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.storage import local_copies, pack_files
from holdfast.hosting.storage.local_copies import STATE_FILE, UNPACK_LIMIT, LocalCopies, create_repository
from holdfast.hosting.store import repositories, repository_log, tables
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.ref_updates import RefUpdate
from tests.conftest import wait_for
from tests.hosting.repository_helpers import make_people
from tests.hosting.storage.log_helpers import MAIN, ZERO, LogRepository, snapshot


@pytest.fixture
def owner(app: App) -> Account:
    """Make a user who has repositories."""
    return make_people(app.database, "ada")[0]


@pytest.fixture
def ship(app: App, owner: Account) -> LogRepository:
    """Make a repository with a commit."""
    log_repository = LogRepository(app, owner)
    log_repository.commit()
    return log_repository


def copied(ship: LogRepository) -> dict[str, str]:
    """Return the refs of the local copy after it was opened."""
    return snapshot(ship.app.copies.open(ship.row).folder)


def test_a_new_copy_is_empty_bare_and_has_its_branch(tmp_path: Path) -> None:
    """HEAD names the branch, and the repository has no refs, hooks or description."""
    create_repository(tmp_path / "7.git", "trunk/v2")
    repository = pygit2.Repository(str(tmp_path / "7.git"))
    assert repository.is_bare
    assert repository.head_is_unborn
    assert not list(repository.references)
    assert (tmp_path / "7.git" / "HEAD").read_text() == "ref: refs/heads/trunk/v2\n"
    assert not {"hooks", "description"} & {path.name for path in (tmp_path / "7.git").iterdir()}


def test_a_reader_has_what_the_log_has(ship: LogRepository) -> None:
    """The copy has the created, updated and deleted refs of the log and its default branch."""
    copied(ship)
    for _ in range(3):
        ship.commit()
    head = ship.commit("refs/heads/side")
    ship.set(RefUpdate("refs/tags/v1", ZERO, head), RefUpdate("refs/heads/side", head, ZERO))
    assert copied(ship) == ship.refs()
    assert set(ship.refs()) == {MAIN, "refs/tags/v1"}
    with ship.app.database.write() as connection:
        repositories.change_repository(connection, ship.row, default_branch="trunk")
    assert refs.head(ship.app.copies.open(ship.row)) == "trunk"


@pytest.mark.parametrize("count", [1, UNPACK_LIMIT, 3 * UNPACK_LIMIT])
def test_many_versions_are_applied_at_once(ship: LogRepository, count: int) -> None:
    """Many versions become loose objects or one pack in the copy, and all their refs are set or deleted."""
    copied(ship)
    head = ship.commit(size=300_000)
    ship.set(*(RefUpdate(f"refs/heads/b{number}", ZERO, head) for number in range(count)))
    for _ in range(count):
        ship.commit()
    assert copied(ship) == ship.refs()
    folder = ship.app.folders.path(ship.id)
    assert len(list(folder.glob("objects/pack/*.pack"))) == (1 if count == 1 else 2)
    ship.set(*(RefUpdate(f"refs/heads/b{number}", head, ZERO) for number in range(count)))
    assert copied(ship) == ship.refs()


@pytest.mark.parametrize("count", [1, 3])
def test_a_copy_contains_an_object_of_small_packs_once(ship: LogRepository, count: int) -> None:
    """Objects are repeated among small packs or within one, which would damage a multi-pack index."""
    head = ship.refs()[MAIN]
    copied(ship)
    repeated = [PackedObject("blob", b"%d" % number) for number in range(UNPACK_LIMIT)]
    for number in range(count):
        single = PackedObject("blob", b"only %d" % number)
        pack = pack_files.new_pack([single, *repeated, *(repeated if count == 1 else [])])
        assert ship.set(RefUpdate(f"refs/heads/b{number}", ZERO, head), packs=(pack,)) == []
    folder = ship.app.copies.update(ship.id).folder
    for _ in range(2):
        (index,) = folder.glob("objects/pack/*.idx")
        listed = [line.split()[1] for line in run(folder, "show-index", input=index.read_bytes()).splitlines()]
        assert len(listed) == len(set(listed)) >= count + len(repeated)
        ship.app.copies.discard(ship.id)
        ship.app.copies.tidy(ship.id)
        assert list(folder.glob("objects/pack/multi-pack-index"))
        assert copied(ship) == ship.refs()


def test_names_that_are_not_utf8_and_names_that_replace_folders(ship: LogRepository) -> None:
    """A ref name may be any bytes, and a branch `a` may be replaced by `a/b`."""
    head = ship.refs()[MAIN]
    odd = b"refs/heads/caf\xe9".decode(errors="surrogateescape")
    ship.set(RefUpdate("refs/heads/a", ZERO, head), RefUpdate(odd, ZERO, head))
    ship.app.copies.open(ship.row)
    ship.set(RefUpdate("refs/heads/a", head, ZERO), RefUpdate("refs/heads/a/b", ZERO, head))
    folder = ship.app.copies.open(ship.row).folder
    listed = run(folder, "for-each-ref", "--format=%(refname)").splitlines()
    assert listed == [b"refs/heads/a/b", b"refs/heads/caf\xe9", b"refs/heads/main"]


def test_applying_a_version_twice_does_no_harm(ship: LogRepository) -> None:
    """Versions are applied again, as after a crash before the state was written, with the same refs."""
    copies = ship.app.copies
    ship.set(RefUpdate("refs/heads/gone", ZERO, ship.refs()[MAIN]))
    copied(ship)
    state = ship.app.folders.path(ship.id) / STATE_FILE
    before = state.read_bytes()
    ship.commit(size=300_000)
    ship.commit("refs/heads/side")
    ship.set(RefUpdate("refs/heads/gone", ship.refs()["refs/heads/gone"], ZERO))
    for _ in range(2):
        assert snapshot(copies.update(ship.id).folder) == ship.refs()
        state.write_bytes(before)
    assert snapshot(copies.update(ship.id).folder) == ship.refs()


@pytest.mark.parametrize("step", ["write_refs", "set_head", "mark"])
def test_a_crash_while_a_copy_is_updated_is_made_up_for(
    ship: LogRepository, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The next update completes a copy whose update crashed before the refs, HEAD or the state."""
    copied(ship)
    ship.commit()
    ship.commit("refs/heads/side", size=300_000)

    class Crash(BaseException):
        """Simulates the crash of a process, without clean-up."""

    def crash(*_arguments: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(ship.app.copies if step == "mark" else local_refs, step, crash)
        with pytest.raises(Crash):
            ship.app.copies.open(ship.row)
    assert copied(ship) == ship.refs()


def leave_lock(folder: Path) -> None:
    """Create the lock file of a ref, as a killed process leaves it."""
    (folder / "refs" / "heads" / "main.lock").touch()


def lose_config(folder: Path) -> None:
    """Delete the config file, without which git does not recognize a repository."""
    (folder / "config").unlink()


def tear_state(folder: Path) -> None:
    """Truncate the state file."""
    (folder / STATE_FILE).write_bytes((folder / STATE_FILE).read_bytes()[:9])


def lose_state(folder: Path) -> None:
    """Delete the state file."""
    (folder / STATE_FILE).unlink()


def age_state(folder: Path) -> None:
    """Set the boot id of the state file to another one, and delete the loose objects, as a power failure may."""
    text = (folder / STATE_FILE).read_text()
    (folder / STATE_FILE).write_text(text.replace('"boot":"', '"boot":"0'))
    for path in folder.glob("objects/??/*"):
        path.unlink()


def cut_pack(folder: Path) -> None:
    """Truncate a pack, but not its file in the store."""
    pack = next((folder / "objects" / "pack").glob("*.pack"))
    content = pack.read_bytes()
    pack.unlink()
    pack.write_bytes(content[:-30])


@pytest.mark.parametrize(
    "damage", [shutil.rmtree, leave_lock, lose_config, tear_state, lose_state, age_state, cut_pack]
)
@pytest.mark.parametrize("is_newer", [True, False])
def test_a_copy_that_is_missing_or_damaged_is_made_anew(
    ship: LogRepository, damage: Callable[[Path], None], *, is_newer: bool
) -> None:
    """A damaged or missing copy is built again in any process, with or without new versions in the log."""
    ship.commit(size=300_000)
    copied(ship)
    damage(ship.app.folders.path(ship.id))
    if is_newer:
        ship.commit()
    other = LocalCopies(ship.app.folders, ship.app.database, ship.app.store)
    with ThreadPoolExecutor(1) as another_thread:
        folder = another_thread.submit(lambda: other.update(ship.id).folder).result()
    assert snapshot(folder) == ship.refs()
    assert copied(ship) == ship.refs()
    assert not list((ship.app.folders.root / ".making").iterdir())


def test_a_copy_is_rebuilt_while_others_read_it(ship: LogRepository) -> None:
    """Threads that read the copy during a rebuild see the right refs or a missing folder, never wrong refs."""
    for _ in range(5):
        ship.commit()
    head = ship.refs()[MAIN]
    faults: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                repo = ship.app.copies.open(ship.row)
                # The folder may go away while it is read; then nothing is found in it.
                with suppress(GitError):
                    assert refs.target(repo, MAIN) in {None, head}
        except BaseException as error:  # noqa: BLE001  # the test fails with it
            faults.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        ship.app.copies.discard(ship.id)
        assert copied(ship) == ship.refs()
    done.set()
    for thread in threads:
        thread.join()
    assert faults == []


def test_of_concurrent_readers_one_builds_the_copy(ship: LogRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy is built once, and the other readers wait for it."""
    built: list[int] = []
    real = LocalCopies.build

    def build(copies: LocalCopies, repository_id: int, folder: Path) -> int:
        built.append(repository_id)
        time.sleep(0.05)
        return real(copies, repository_id, folder)

    monkeypatch.setattr(LocalCopies, "build", build)
    row = ship.row
    results: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: results.append(refs.target(ship.app.copies.open(row), MAIN)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [ship.refs()[MAIN]] * 6
    assert built == [ship.id]


def test_one_writer_holds_the_lock_and_may_take_it_again(ship: LogRepository) -> None:
    """The lock is reentrant in a thread, excludes other threads, and is separate for each repository."""
    order: list[str] = []
    copies = ship.app.copies

    def other() -> None:
        with copies.locked(ship.id):
            order.append("second")

    with copies.locked(ship.id), copies.locked(ship.id), copies.locked(ship.id + 1):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_damaged_copy_is_deleted_unless_it_replaced_one_just_now(ship: LogRepository) -> None:
    """A copy that replaced a damaged one is kept despite damage: it is in the log then, and would occur again."""
    copied(ship)
    copies, folder = ship.app.copies, ship.app.folders.path(ship.id)
    assert copies.discard_damaged(ship.id)
    assert not folder.exists()
    assert copied(ship) == ship.refs()
    assert not copies.discard_damaged(ship.id)
    assert folder.exists()
    os.utime(folder.with_suffix(".damaged"), (1, 1))
    assert copies.discard_damaged(ship.id)
    assert not folder.exists()
    assert copied(ship) == ship.refs()


@pytest.mark.parametrize(
    ("built_ms", "seconds_ago", "is_deleted"),
    [
        (0, 1, False),
        (0, 10, True),
        (5_000, 50, False),
        (5_000, 150, True),
        (10**9, 500, False),
        (10**9, 700, True),
    ],
)
def test_a_copy_that_is_damaged_again_is_rebuilt_soon_if_that_is_cheap(
    ship: LogRepository, built_ms: int, seconds_ago: float, *, is_deleted: bool
) -> None:
    """The interval is that in which rebuilding takes a small part of the time, and ten minutes at most."""
    copied(ship)
    copies, folder = ship.app.copies, ship.app.folders.path(ship.id)
    assert copies.discard_damaged(ship.id)
    assert copied(ship) == ship.refs()
    state = json.loads((folder / STATE_FILE).read_bytes())
    (folder / STATE_FILE).write_text(json.dumps({**state, "built_ms": built_ms}))
    moment = time.time() - seconds_ago
    os.utime(folder.with_suffix(".damaged"), (moment, moment))
    assert copies.discard_damaged(ship.id) is is_deleted
    assert copied(ship) == ship.refs()


def test_the_time_in_which_a_copy_was_built_is_kept(ship: LogRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when new versions are applied to it."""
    real = LocalCopies.build

    def build(copies: LocalCopies, repository_id: int, folder: Path) -> int:
        time.sleep(0.2)
        return real(copies, repository_id, folder)

    monkeypatch.setattr(LocalCopies, "build", build)
    copied(ship)
    ship.commit()
    copied(ship)
    state = json.loads((ship.app.folders.path(ship.id) / STATE_FILE).read_bytes())
    assert 200 <= state["built_ms"] < 100_000


def lose_packs(folder: Path) -> None:
    """Remove all objects."""
    shutil.rmtree(folder / "objects")
    (folder / "objects").mkdir()


def lose_refs(folder: Path) -> None:
    """Remove all refs."""
    shutil.rmtree(folder / "refs" / "heads")
    (folder / "packed-refs").unlink(missing_ok=True)
    (folder / "refs" / "heads").mkdir()


def garble_ref(folder: Path) -> None:
    """Overwrite the file of a ref."""
    for ref in (folder / "refs" / "heads").iterdir():
        ref.write_text("garbage\n")


@pytest.mark.parametrize("damage", [lose_packs, lose_refs, garble_ref, cut_pack])
@pytest.mark.parametrize("reader", ["libgit2", "git"])
def test_a_copy_that_loses_its_default_branch_is_rebuilt_by_its_next_reader(
    ship: LogRepository, damage: Callable[[Path], None], reader: str
) -> None:
    """Otherwise it would be served as an empty repository, to a clone that succeeds."""
    for _ in range(UNPACK_LIMIT):
        ship.commit()
    copied(ship)
    damage(ship.app.folders.path(ship.id))
    if reader == "libgit2":
        # A thread that has nothing open yet.
        with ThreadPoolExecutor(1) as threads:
            folder = threads.submit(lambda: ship.app.copies.open(ship.row).folder).result()
    else:
        folder = ship.app.copies.path(ship.row)
    assert snapshot(folder) == ship.refs()


def test_other_threads_stop_reading_a_damaged_pack(ship: LogRepository) -> None:
    """libgit2 shares open packs between the threads of a process, which a rebuilt copy would be read from."""
    commits = [ship.commit(size=300_000) for _ in range(3)]
    copied(ship)
    folder = ship.app.folders.path(ship.id)
    packs = list((folder / "objects" / "pack").glob("*.pack"))
    for pack in packs:
        content = bytearray(pack.read_bytes())
        content[12:-20] = bytes(len(content) - 32)
        pack.unlink()
        pack.write_bytes(content)

    def read_folder() -> int:
        repo = open_repository(folder)
        return sum(len(repo.read(commit, "commit")) for commit in commits)

    def read() -> int:
        ship.app.copies.open(ship.row)
        return read_folder()

    with ThreadPoolExecutor(1) as another_thread:
        for reader in (read_folder, another_thread.submit(read_folder).result):
            with pytest.raises(GitDamaged):
                reader()
        assert another_thread.submit(read).result() == read()
        # It is also written to as before.
        ship.commit()
        assert copied(ship) == ship.refs()
        gc.collect()
        assert another_thread.submit(read).result() == read()


def test_a_repository_without_its_default_branch_is_not_damaged(ship: LogRepository) -> None:
    """It is neither rebuilt nor refused."""
    head = ship.refs()[MAIN]
    ship.set(RefUpdate("refs/heads/other", ZERO, head), RefUpdate(MAIN, head, ZERO))
    folder = ship.app.copies.path(ship.row)
    built = (folder / "config").stat()
    assert ship.app.copies.path(ship.row) == folder
    assert (folder / "config").stat() == built
    assert snapshot(folder) == ship.refs() == {"refs/heads/other": head}


def test_damage_that_is_in_the_log_does_not_rebuild_the_copy_for_every_reader(ship: LogRepository) -> None:
    """The copy is rebuilt once, and then served as it is."""
    missing = "1" * 40
    ship.set(RefUpdate(MAIN, ship.refs()[MAIN], missing))
    folder = ship.app.copies.path(ship.row)
    built = (folder / "config").stat().st_ino
    for _ in range(3):
        assert ship.app.copies.path(ship.row) == folder
        ship.app.copies.open(ship.row)
    assert (folder / "config").stat().st_ino == built


def test_a_copy_that_is_newer_than_the_database_is_rebuilt(ship: LogRepository) -> None:
    """After the database was restored to an earlier time, or failed over to a replica that was behind."""
    restored = ship.refs()
    older = ship.row.version
    with ship.app.database.write() as connection:
        log_rows = tables.ref_log.c.repository_id == ship.id
        its_packs = tables.packs.c.repository_id == ship.id
        last_pack = connection.execute(select(func.max(tables.packs.c.id)).where(its_packs)).scalar_one()
    ship.commit()
    ship.commit("refs/heads/lost")
    copied(ship)
    with ship.app.database.write() as connection:
        connection.execute(delete(tables.ref_log).where(log_rows, tables.ref_log.c.version > older))
        connection.execute(delete(tables.packs).where(tables.packs.c.id > last_pack))
        connection.execute(delete(tables.refs).where(tables.refs.c.repository_id == ship.id))
        repository_log.set_refs(connection, ship.id, restored)
        connection.execute(
            update(tables.repositories).where(tables.repositories.c.id == ship.id).values(version=older)
        )
    assert snapshot(ship.app.copies.update(ship.id).folder) == restored


def test_a_folder_that_is_not_yet_a_copy_is_never_deleted(ship: LogRepository) -> None:
    """A folder without a state file is neither deleted as damaged nor evicted, because it may be the only data."""
    copied(ship)
    folder = ship.app.folders.path(ship.id)
    (folder / STATE_FILE).unlink()
    os.utime(folder / "config", (1, 1))
    ship.app.copies.discard_damaged(ship.id)
    ship.app.copies.evict(0)
    assert folder.exists()


def test_copies_used_least_recently_are_evicted(app: App, owner: Account) -> None:
    """Copies are evicted down to the limit, except those used recently, and built again when read."""
    log_repositories = [LogRepository(app, owner, f"r{number}") for number in range(4)]
    now = time.time()
    for number, target_repository in enumerate(log_repositories):
        target_repository.commit(size=1000)
        copied(target_repository)
        os.utime(app.folders.path(target_repository.id) / STATE_FILE, (now - 10_000 + number, now))
    size = app.folders.size(log_repositories[0].id)
    assert app.copies.evict(10 * size) == 0
    os.utime(app.folders.path(log_repositories[0].id) / STATE_FILE, (now, now))
    assert app.copies.evict(int(2.5 * size)) == 2
    assert [app.folders.exists(repository.id) for repository in log_repositories] == [True, False, False, True]
    assert app.copies.evict(0) == 1
    assert [app.folders.exists(repository.id) for repository in log_repositories] == [True, False, False, False]
    for target_repository in log_repositories:
        assert copied(target_repository) == target_repository.refs()


def test_reading_a_copy_puts_its_eviction_off(ship: LogRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a copy updates the access time of its state file, at most once in an interval."""
    copied(ship)
    state = ship.app.folders.path(ship.id) / STATE_FILE
    os.utime(state, (1, 1))
    ship.app.copies.open(ship.row)
    assert state.stat().st_atime == 1
    monkeypatch.setattr(local_copies, "USED_SECONDS", -1)
    ship.app.copies.open(ship.row)
    assert state.stat().st_atime > time.time() - 60
    assert state.stat().st_mtime == 1


def test_two_machines_agree(ship: LogRepository, tmp_path: Path) -> None:
    """Two machines have the same refs after writes, a compaction and the loss of either local copy."""
    here = ship.app.copies
    there, _ = ship.node(tmp_path / "second")
    for round_ in range(4):
        ship.commit(size=300_000 if round_ == 2 else 10)
        ship.commit("refs/heads/side")
        assert snapshot(there.open(ship.row).folder) == ship.refs() == copied(ship)
        if round_ == 1:
            there.discard(ship.id)
            assert ship.app.compactor.compact(ship.id)
        if round_ == 2:
            here.discard(ship.id)
    assert snapshot(there.open(ship.row).folder) == ship.refs() == copied(ship)


def test_a_repository_that_does_not_exist_has_no_copy(ship: LogRepository) -> None:
    """A deleted repository raises `NoSuchFolder` and no copy of it is built."""
    row = ship.row
    with ship.app.database.write() as connection:
        repositories.remove_row(connection, row)
    with pytest.raises(NoSuchFolder):
        ship.app.copies.open(row)
    assert list(ship.app.folders.all_ids()) == []


def test_a_missing_data_folder_is_not_created_again(ship: LogRepository, tmp_path: Path) -> None:
    """A missing data folder is an error, since files in a new one would be missing when it is back."""
    there, _ = ship.node(tmp_path / "second")
    (tmp_path / "second").rmdir()
    with pytest.raises(StorageUnavailable):
        there.update(ship.id)
    assert not (tmp_path / "second").exists()


def test_a_copy_is_private(ship: LogRepository, tmp_path: Path) -> None:
    """Folders have mode 0700 and the state and lock files 0600, even with a umask of 0."""
    there, _ = ship.node(tmp_path / "second")
    before = os.umask(0)
    try:
        folder = there.update(ship.id).folder
    finally:
        os.umask(before)
    for path in (folder.parent, folder.parent.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for path in (folder / STATE_FILE, folder.with_suffix(".lock")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_boot_id_is_empty_where_the_system_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The boot id, which reveals copies written before a crash, is read from a file and empty without it."""
    monkeypatch.setattr(local_copies, "BOOT_ID", tmp_path / "boot_id")
    assert local_copies.boot_id() == ""
    (tmp_path / "boot_id").write_text("6e0f\n", encoding="utf-8")
    assert local_copies.boot_id() == "6e0f"


def test_a_copy_is_not_read_before_the_version_a_request_has_seen(ship: LogRepository) -> None:
    """A copy is updated for a newer version only, and not if it has the version of the request."""
    copied(ship)
    old = ship.row
    ship.commit()
    state = ship.app.folders.path(ship.id) / STATE_FILE
    before = state.stat().st_mtime_ns
    ship.app.copies.open(old)
    assert state.stat().st_mtime_ns == before
    wait_for(lambda: time.time_ns() > before)
    assert refs.target(ship.app.copies.open(ship.row), MAIN) == ship.refs()[MAIN]


def lose_side_ref(folder: Path) -> None:
    """Remove the ref of another branch."""
    run(folder, "update-ref", "-d", "refs/heads/side")


def move_side_ref(folder: Path) -> None:
    """Point another branch to the commit of the default branch."""
    run(folder, "update-ref", "refs/heads/side", "refs/heads/main")


def garble_side_ref(folder: Path) -> None:
    """Overwrite the file of another branch, of which git then warns only."""
    (folder / "refs" / "heads" / "side").write_text("garbage\n")


def lose_side_commit(folder: Path) -> None:
    """Remove the loose object of the commit of another branch."""
    commit = run(folder, "rev-parse", "refs/heads/side").decode().strip()
    (folder / "objects" / commit[:2] / commit[2:]).unlink()


def add_ref(folder: Path) -> None:
    """Create a branch that the log does not have."""
    run(folder, "update-ref", "refs/heads/more", "refs/heads/main")


@pytest.mark.parametrize("damage", [lose_side_ref, move_side_ref, garble_side_ref, lose_side_commit, add_ref])
def test_a_copy_with_other_refs_than_the_log_is_rebuilt_before_git_serves_it(
    ship: LogRepository, damage: Callable[[Path], None]
) -> None:
    """Otherwise a clone succeeds without a branch, or fails."""
    ship.commit("refs/heads/side")
    damage(ship.app.copies.open(ship.row).folder)
    assert snapshot(ship.app.copies.path(ship.row)) == ship.refs()


@pytest.mark.parametrize(("seconds", "factor", "is_compared"), [(60, 0, False), (0, 1e6, False), (0, 0, True)])
def test_refs_are_compared_at_most_once_in_an_interval(
    ship: LogRepository, monkeypatch: pytest.MonkeyPatch, seconds: float, factor: float, *, is_compared: bool
) -> None:
    """The interval is a number of seconds, or a multiple of the duration of a comparison."""
    monkeypatch.setattr(local_copies, "REFS_SECONDS", seconds)
    monkeypatch.setattr(local_copies, "REFS_FACTOR", factor)
    ship.commit("refs/heads/side")
    folder = ship.app.copies.path(ship.row)
    lose_side_ref(folder)
    ship.app.copies.path(ship.row)
    assert (snapshot(folder) == ship.refs()) is is_compared


@pytest.mark.parametrize("name", ["refs/heads/caf\udce9", "refs/heads/größe", "refs/tags/v1"])
def test_refs_of_any_name_are_compared(ship: LogRepository, name: str) -> None:
    """A copy with the refs of the log is not rebuilt, whatever their names."""
    ship.set(RefUpdate(name, ZERO, ship.refs()[MAIN]))
    folder = ship.app.copies.path(ship.row)
    built = (folder / "config").stat().st_ino
    other = LocalCopies(ship.app.folders, ship.app.database, ship.app.store)
    assert (other.path(ship.row) / "config").stat().st_ino == built
    run(folder, "update-ref", "-d", os.fsencode(name))  # type: ignore[arg-type]  # as bytes
    other = LocalCopies(ship.app.folders, ship.app.database, ship.app.store)
    other.path(ship.row)
    assert os.fsencode(name) in run(folder, "for-each-ref", "--format=%(refname)").splitlines()


def test_an_empty_repository_has_no_refs_to_compare(app: App, owner: Account) -> None:
    """It is not taken for damaged."""
    empty = LogRepository(app, owner, "empty")
    folder = app.copies.path(empty.row)
    built = (folder / "config").stat().st_ino
    other = LocalCopies(app.folders, app.database, app.store)
    assert (other.path(empty.row) / "config").stat().st_ino == built
    assert other.last_damage(empty.id) == 0


def make_old(folder: Path, seconds: float = 100_000) -> None:
    """Set the time of last use of a copy."""
    os.utime(folder / STATE_FILE, (time.time() - seconds, time.time()))


def test_a_copy_that_git_reads_is_not_evicted(ship: LogRepository) -> None:
    """A clone may take longer than the time in which a copy counts as used."""
    folder = ship.app.copies.path(ship.row)
    make_old(folder)
    reading, writing = os.pipe()
    try:

        async def clone() -> None:
            process = await git_process.start(folder, "cat-file", "--batch", stdin=reading)
            assert ship.app.copies.evict(0) == 0
            assert not ship.app.copies.delete_orphan(ship.id, time.time())
            os.close(writing)
            assert await process.wait() == 0
            process.end()

        anyio.run(clone)
    finally:
        os.close(reading)
    assert not is_in_use(folder)
    assert ship.app.copies.evict(0) == 1
    assert not folder.exists()


def test_a_copy_that_is_used_while_others_are_evicted_is_kept(
    ship: LogRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sizes of all copies are read first, which takes a while."""
    folder = ship.app.copies.path(ship.row)
    make_old(folder)
    real = ship.app.folders.size

    def size(number: int) -> int:
        os.utime(folder / STATE_FILE)
        return real(number)

    monkeypatch.setattr(ship.app.folders, "size", size)
    assert ship.app.copies.evict(0) == 0
    assert folder.exists()


def test_an_orphan_is_deleted_with_its_files_unless_it_was_used(ship: LogRepository) -> None:
    """Nothing of it is left; a folder that is not a copy is never deleted."""
    folder = ship.app.copies.path(ship.row)
    make_old(folder, 100)
    folder.with_suffix(".damaged").touch()
    now = time.time()
    assert not ship.app.copies.delete_orphan(ship.id, now - 200)
    state = (folder / STATE_FILE).read_bytes()
    (folder / STATE_FILE).unlink()
    assert not ship.app.copies.delete_orphan(ship.id, now)
    (folder / STATE_FILE).write_bytes(state)
    make_old(folder, 100)
    assert ship.app.copies.delete_orphan(ship.id, now)
    assert list(folder.parent.iterdir()) == []
