"""Compaction and garbage collection of packs."""

import os
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import func, literal, select, update

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged, GitError, HostingError
from holdfast.hosting.git.packs import object_count, pack_name
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.storage import compaction, local_copies
from holdfast.hosting.storage.backup_lease import backup_lease
from holdfast.hosting.storage.compaction import (
    GRACE_SECONDS,
    MOST_INLINE_BYTES,
    MOST_PACKS,
    ORPHAN_SECONDS,
    choose,
)
from holdfast.hosting.storage.object_store import ObjectStore, StoredFile
from holdfast.hosting.storage.pack_files import INLINE_LIMIT, index_key, merge_pack_files, store_pack_file
from holdfast.hosting.store import repositories, repository_log
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.leases import take_lease
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repository_log import NewPack, PackRow
from holdfast.hosting.store.tables import packs, ref_log
from tests.hosting.repository_helpers import make_people
from tests.hosting.storage.log_helpers import MAIN, ZERO, LogRepository, snapshot

LARGE = 2 * INLINE_LIMIT


@pytest.fixture
def ship(app: App) -> LogRepository:
    """Make a repository with some commits in small packs and in large ones."""
    log_repository = LogRepository(app, make_people(app.database, "ada")[0])
    for size in (10, LARGE, 10, LARGE, 10):
        log_repository.commit(size=size)
    return log_repository


@pytest.fixture
def merge_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every pack be merged, however large it is."""
    monkeypatch.setattr(compaction, "GEOMETRIC_FACTOR", 1_000_000)


def objects(ship: LogRepository, folder: Path) -> set[str]:
    """Make a new copy in a folder, and return everything that is in it."""
    copies, _ = ship.node(folder)
    assert snapshot(copies.update(ship.id).folder) == ship.refs()
    listed = run(copies.update(ship.id).folder, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    return {line.split()[0].decode() for line in listed}


def stored_keys(app: App) -> set[str]:
    """Return the packs and indexes of the object store."""
    return {stored_file.key for stored_file in app.store.list("packs/")}


def rows(app: App) -> int:
    """Return how many packs there are, with those that were replaced."""
    with app.database.read() as connection:
        return connection.execute(select(func.count()).select_from(packs)).scalar_one()


def pack_row(number: int, size: int, key: str = "") -> PackRow:
    """Make a row of a pack."""
    return PackRow(number, number, f"{number:040}", size, 1, key)


def test_the_smallest_packs_are_chosen_until_the_next_is_twice_as_large() -> None:
    """All packs in the database are chosen, and those in the store up to the geometric progression."""
    inline = [pack_row(1, 100), pack_row(2, 50)]
    stored = [pack_row(3, 5000, "c"), pack_row(4, 299, "a"), pack_row(5, 800, "b")]
    assert [pack.id for pack in choose([*inline, *stored])] == [1, 2, 4, 5]
    assert [pack.id for pack in choose([*inline, pack_row(6, 300, "d")])] == [1, 2]
    assert [pack.id for pack in choose(stored)] == [4]
    assert [pack.id for pack in choose([pack_row(7, 300, "e"), pack_row(8, 599, "f")])] == [7, 8]
    assert choose([]) == []


def test_a_repository_is_compacted_when_it_has_many_packs_or_much_in_the_database(ship: LogRepository) -> None:
    """Many packs or many bytes in the database require a compaction; superseded packs do not count."""
    compactor = ship.app.compactor
    assert not compactor.is_needed(ship.id)
    small = ship.packs()[0].id
    with ship.app.database.write() as connection:
        connection.execute(update(packs).where(packs.c.id == small).values(size=MOST_INLINE_BYTES + 1))
    assert compactor.is_needed(ship.id)
    with ship.app.database.write() as connection:
        connection.execute(update(packs).where(packs.c.id == small).values(superseded_at=1))
    assert not compactor.is_needed(ship.id)
    for _ in range(MOST_PACKS - 4):
        ship.set(RefUpdate("refs/heads/x", ZERO, ship.refs()[MAIN]), packs=(ship.make_commit({"a": b"a"})[1],))
        ship.set(RefUpdate("refs/heads/x", ship.refs()[MAIN], ZERO))
    assert not compactor.is_needed(ship.id)
    ship.commit()
    assert compactor.is_needed(ship.id)


@pytest.mark.usefixtures("merge_all")
def test_compaction_keeps_every_object(ship: LogRepository, tmp_path: Path) -> None:
    """One pack has all objects, unreachable ones included, and the version and the refs do not change."""
    lost = ship.commit("refs/heads/gone")
    ship.set(RefUpdate("refs/heads/gone", lost, ZERO))
    before, version, refs = objects(ship, tmp_path / "before"), ship.row.version, ship.refs()
    size = ship.row.size - sum(pack.size for pack in ship.packs())
    assert lost in before
    assert ship.app.compactor.compact(ship.id)
    (merged,) = ship.packs()
    assert merged.object_count == len(before)
    assert merged.version == version - 1
    assert objects(ship, tmp_path / "after") == before
    assert (ship.row.version, ship.refs()) == (version, refs)
    assert ship.row.size == size + merged.size


@pytest.mark.usefixtures("merge_all")
def test_a_copy_that_is_between_versions_goes_on_after_a_compaction(ship: LogRepository, tmp_path: Path) -> None:
    """The merged pack has the newest version of what it was made of, so no copy misses an object."""
    copies, _ = ship.node(tmp_path / "second")
    copies.update(ship.id)
    ship.commit()
    ship.commit("refs/heads/side", size=LARGE)
    assert ship.app.compactor.compact(ship.id)
    ship.commit()
    assert snapshot(copies.update(ship.id).folder) == ship.refs()


def test_one_machine_compacts_at_a_time(ship: LogRepository, tmp_path: Path) -> None:
    """A lease prevents a second compaction, and packs that were replaced meanwhile are not replaced again."""
    take_lease(ship.app.database, f"compaction {ship.id}", "another", seconds=60)
    assert not ship.app.compactor.compact(ship.id)
    assert not ship.app.compactor.collect_garbage(ship.id, retention_seconds=0)
    assert len(ship.packs()) == 5
    take_lease(ship.app.database, f"compaction {ship.id}", "another", seconds=-1)
    found = ship.packs()
    assert ship.app.compactor.compact(ship.id)
    _, other = ship.node(tmp_path / "second")
    after = ship.packs()
    with pytest.raises(HostingError, match="replaced meanwhile"):
        other._replace(ship.id, found, lambda folder: other._merge(folder, found))
    assert ship.packs() == after
    assert objects(ship, tmp_path / "third")


def test_one_thread_compacts_at_a_time(ship: LogRepository) -> None:
    """The compaction after a push and that of all repositories run in the same process."""
    results: list[bool] = []
    with ship.app.compactor._lease(ship.id) as is_held:
        assert is_held
        thread = threading.Thread(target=lambda: results.append(ship.app.compactor.compact(ship.id)))
        thread.start()
        thread.join()
    assert results == [False]
    assert len(ship.packs()) == 5
    assert ship.app.compactor.compact(ship.id)


def test_packs_are_chosen_while_the_lease_is_held(
    ship: LogRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that gets the lease just after another has compacted does not merge the same packs again."""
    _, other = ship.node(tmp_path / "second")

    def take_late(database: Database, name: str, holder: str, *, seconds: float) -> bool:
        monkeypatch.setattr(compaction, "take_lease", take_lease)
        assert ship.app.compactor.compact(ship.id)
        return take_lease(database, name, holder, seconds=seconds)

    for compact in (other.compact, lambda number: other.collect_garbage(number, retention_seconds=0)):
        ship.commit()
        monkeypatch.setattr(compaction, "take_lease", take_late)
        assert compact(ship.id)
    assert snapshot(other._copies.update(ship.id).folder) == ship.refs()


@pytest.mark.usefixtures("merge_all")
def test_the_same_pack_under_two_keys_is_merged_once(ship: LogRepository, tmp_path: Path) -> None:
    """A pack that was stored twice, as after a repeated push, gives one pack with the same objects."""
    commit, pack = ship.make_commit({"large": os.urandom(LARGE)})
    again = ship.store(packed_again(ship, pack.store_key))
    assert (again.name, again.store_key == pack.store_key) == (pack.name, False)
    ship.set(RefUpdate("refs/heads/a", ZERO, commit), packs=(pack,))
    ship.set(RefUpdate("refs/heads/b", ZERO, commit), packs=(again,))
    before = objects(ship, tmp_path / "before")
    assert ship.app.compactor.compact(ship.id)
    assert len(ship.packs()) == 1
    assert objects(ship, tmp_path / "after") == before


@pytest.mark.usefixtures("merge_all")
def test_small_packs_get_deltas_before_they_are_merged(
    ship: LogRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The merged pack has the deltas, whichever of the packs git reads first."""
    merge = merge_pack_files

    def merge_and_touch(repository: Path, target: Path, names: Sequence[str], *options: str) -> Path:
        merged = merge(repository, target, names, *options)
        # git reads packs by age, the latest first, and those of one second in any order.
        for path in target.glob("*"):
            os.utime(path, (1, 1) if path.stem == merged.stem else None)
        return merged

    monkeypatch.setattr(compaction, "merge_pack_files", merge_and_touch)
    text = os.urandom(INLINE_LIMIT // 2)
    for number in range(10):
        commit, pack = ship.make_commit({"text": text + bytes([number])})
        assert not pack.store_key
        ship.set(RefUpdate(f"refs/heads/{number}", ZERO, commit), packs=(pack,))
    stored = sum(pack.size for pack in ship.packs() if pack.store_key)
    assert ship.app.compactor.compact(ship.id)
    (merged,) = ship.packs()
    assert stored < merged.size < stored + 2 * len(text)


def packed_again(ship: LogRepository, key: str) -> NewPack:
    """Return a pack of the store as if it were pushed once more."""
    content = ship.app.store.read_bytes(key)
    return NewPack(pack_name(content), len(content), object_count(content), content=content)


@pytest.mark.parametrize("content", [None, b"", b"PACK", b"PACK\0\0\0\2\0\0\0\0" + bytes(20)])
def test_a_damaged_pack_is_never_replaced(ship: LogRepository, content: bytes | None) -> None:
    """A damaged pack fails compaction and collection and is kept, since objects may be recovered from it."""
    first = ship.packs()[0].id
    with ship.app.database.write() as connection:
        connection.execute(update(packs).where(packs.c.id == first).values(content=content))
    with pytest.raises(GitError):
        ship.app.compactor.compact(ship.id)
    ship.app.copies.discard(ship.id)
    with pytest.raises(GitError):
        ship.app.compactor.collect_garbage(ship.id, retention_seconds=0)
    assert len(ship.packs()) == 5


def test_garbage_is_what_no_ref_has_led_to_within_the_retention(ship: LogRepository, tmp_path: Path) -> None:
    """Deleted branches and overwritten commits are collected after the retention; the others are kept."""
    deleted = ship.commit("refs/heads/gone")
    ship.set(RefUpdate("refs/heads/gone", deleted, ZERO))
    forced = ship.commit()
    base = ship.commit("refs/heads/other", size=LARGE)
    ship.set(RefUpdate(MAIN, forced, base))
    assert ship.app.compactor.collect_garbage(ship.id, retention_seconds=60)
    assert len(ship.packs()) == 1
    assert {deleted, forced, base} <= objects(ship, tmp_path / "within")
    with ship.app.database.write() as connection:
        connection.execute(update(ref_log).values(created_at=int(time.time()) - 100))
    assert ship.app.compactor.collect_garbage(ship.id, retention_seconds=60)
    left = objects(ship, tmp_path / "after")
    assert base in left
    assert not {deleted, forced} & left


def test_a_repository_without_refs_has_only_garbage(ship: LogRepository) -> None:
    """All packs of a repository without refs are collected, and a second collection works."""
    ship.set(RefUpdate(MAIN, ship.refs()[MAIN], ZERO))
    size = ship.row.size - sum(pack.size for pack in ship.packs())
    assert ship.app.compactor.collect_garbage(ship.id, retention_seconds=-10)
    assert ship.packs() == []
    assert ship.row.size == size
    assert ship.app.compactor.collect_garbage(ship.id, retention_seconds=-10)
    ship.app.copies.discard(ship.id)
    assert snapshot(ship.app.copies.update(ship.id).folder) == {}


def test_a_damaged_copy_does_not_decide_what_is_garbage(ship: LogRepository, tmp_path: Path) -> None:
    """Objects that a copy lacks are not taken for garbage, whether a ref points to them or only leads there."""
    before = objects(ship, tmp_path / "before")
    repo = ship.app.copies.update(ship.id)
    head = ship.refs()[MAIN]
    run(repo.folder, "repack", "-adq")
    for path in (repo.folder / "objects" / "pack").iterdir():
        path.unlink()
    with pytest.raises(GitDamaged, match=head):
        ship.app.compactor.collect_garbage(ship.id, retention_seconds=0)
    repo.write("commit", run(tmp_path / "before" / "repositories" / "01" / "1.git", "cat-file", "commit", head))
    with pytest.raises(GitError):
        ship.app.compactor.collect_garbage(ship.id, retention_seconds=0)
    assert objects(ship, tmp_path / "after") == before


def test_a_commit_during_garbage_collection_postpones_it(ship: LogRepository, tmp_path: Path) -> None:
    """A ref update during a collection cancels it, because it may need the collected objects."""
    lost = ship.commit("refs/heads/gone")
    ship.set(RefUpdate("refs/heads/gone", lost, ZERO))
    compactor = ship.app.compactor
    real = compactor._record

    def record(*arguments: object) -> bool:
        ship.set(RefUpdate("refs/heads/back", ZERO, lost))
        return real(*arguments)  # type: ignore[arg-type]  # passes on what it was called with

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compactor, "_record", record)
        assert not compactor.collect_garbage(ship.id, retention_seconds=-10)
    assert lost in objects(ship, tmp_path / "after")


@pytest.mark.usefixtures("merge_all")
def test_replaced_packs_stay_for_the_grace_period(ship: LogRepository, tmp_path: Path) -> None:
    """Superseded packs can be read until the grace period ends, and then rows and files are deleted."""
    compactor, before = ship.app.compactor, stored_keys(ship.app)
    assert len(before) == 4
    late, _ = ship.node(tmp_path / "late")
    read = late._read(ship.id, 0)
    assert compactor.compact(ship.id)
    now = time.time()
    assert compactor.delete_superseded(now=now + GRACE_SECONDS - 60) == 0
    local_copies.create_repository(tmp_path / "late.git", "main")
    late._apply(open_repository(tmp_path / "late.git"), *read)
    assert snapshot(tmp_path / "late.git") == ship.refs()
    assert compactor.delete_superseded(now=now + GRACE_SECONDS + 60) == 5
    (merged,) = ship.packs()
    assert rows(ship.app) == 1
    assert stored_keys(ship.app) == {merged.store_key, index_key(merged.store_key)}
    assert objects(ship, tmp_path / "after")


def test_packs_without_a_row_are_deleted_after_a_day(ship: LogRepository) -> None:
    """Packs of failed writes and of deleted repositories are deleted, but not while a write may still run."""
    compactor, now = ship.app.compactor, time.time()
    _, orphan = ship.make_commit({"large": os.urandom(LARGE)})
    used = {pack.store_key for pack in ship.packs() if pack.store_key}
    assert compactor.delete_orphans(now=now + ORPHAN_SECONDS - 60) == 0
    assert compactor.delete_orphans(now=now + ORPHAN_SECONDS + 60) == 1
    assert orphan.store_key not in stored_keys(ship.app)
    assert stored_keys(ship.app) == used | {index_key(key) for key in used}
    ship.app.store.delete(next(iter(used)))
    with ship.app.database.write() as connection:
        repositories.remove_row(connection, ship.row)
    assert compactor.delete_orphans(now=now + ORPHAN_SECONDS + 60) == 2
    assert stored_keys(ship.app) == set()


def test_packs_of_a_repository_that_is_deleted_during_a_backup_stay(
    ship: LogRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backup may begin, and the repository be deleted, while the packs in the object store are listed."""
    before = stored_keys(ship.app)
    read = ObjectStore.list
    with ExitStack() as backup:

        def list_slowly(store: ObjectStore, prefix: str) -> list[StoredFile]:
            listed = list(read(store, prefix))
            backup.enter_context(backup_lease(ship.app.database))
            with ship.app.database.write() as connection:
                repositories.remove_row(connection, ship.row)
            return listed

        monkeypatch.setattr(ObjectStore, "list", list_slowly)
        assert ship.app.compactor.delete_orphans(now=time.time() + ORPHAN_SECONDS + 60) == 0
        monkeypatch.setattr(ObjectStore, "list", read)
        assert stored_keys(ship.app) == before != set()
    ship.app.compactor.delete_orphans(now=time.time() + ORPHAN_SECONDS + 60)
    assert stored_keys(ship.app) == set()


@pytest.mark.usefixtures("merge_all")
def test_a_local_copy_follows_a_compaction(ship: LogRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The merged pack replaces loose objects and small packs of the copy, but not recent packs of pushes."""
    folder = ship.app.copies.update(ship.id).folder
    loose = list(folder.glob("objects/??/*"))
    assert loose
    monkeypatch.setattr(local_copies, "PUSH_SECONDS", 1000.0)
    name = run(
        folder, "pack-objects", "-q", str(folder / "objects/pack/pack"), input=f"{ship.refs()[MAIN]}\n".encode()
    )
    pushed = folder / "objects" / "pack" / f"pack-{name.decode().strip()}.pack"
    assert ship.app.compactor.compact(ship.id)
    (merged,) = ship.packs()
    assert not list(folder.glob("objects/??/*"))
    stored = {path.stem for path in (folder / "objects" / "pack").glob("*.pack")}
    assert {f"pack-{merged.name}", pushed.stem} <= stored
    for path in folder.glob("objects/pack/*"):
        os.utime(path, (1, 1))
    ship.app.copies.tidy(ship.id)
    assert [path.stem for path in (folder / "objects" / "pack").glob("*.pack")] == [f"pack-{merged.name}"]
    assert snapshot(folder) == ship.refs()
    assert list(folder.glob("objects/pack/multi-pack-index-*.bitmap"))
    run(folder, "fsck", "--strict")
    run(folder, "multi-pack-index", "verify")


def pack_names(folder: Path) -> set[str]:
    """Return the names of the packs of a copy."""
    return {path.stem for path in folder.glob("objects/pack/*.pack")}


def test_small_packs_of_a_copy_are_replaced_at_once(ship: LogRepository) -> None:
    """The copy merged them from the log, so they are not kept as those of a push in progress."""
    copies = ship.app.copies
    folder = copies.update(ship.id).folder
    for _ in range(3):
        for _ in range(local_copies.UNPACK_LIMIT):
            ship.commit()
        copies.update(ship.id)
    merged_by_the_copy = pack_names(folder) - {f"pack-{pack.name}" for pack in ship.packs()}
    assert len(merged_by_the_copy) == 3
    assert ship.app.compactor.compact(ship.id)
    assert not {path.stem for path in folder.glob("objects/pack/*")} & merged_by_the_copy
    assert snapshot(folder) == ship.refs()


@pytest.mark.usefixtures("merge_all")
def test_packs_that_were_merged_in_the_store_are_not_kept_in_a_copy(ship: LogRepository) -> None:
    """They were recorded, so no push in progress needs them, however recent they are."""
    folder = ship.app.copies.update(ship.id).folder
    stored = {f"pack-{pack.name}" for pack in ship.packs() if pack.store_key}
    assert stored <= pack_names(folder)
    assert ship.app.compactor.compact(ship.id)
    (merged,) = ship.packs()
    assert pack_names(folder) == {f"pack-{merged.name}"}
    assert snapshot(folder) == ship.refs()


@pytest.mark.usefixtures("merge_all")
def test_copies_of_other_machines_follow_a_compaction(ship: LogRepository, tmp_path: Path) -> None:
    """Each machine replaces the objects it got version by version by the merged pack, once per compaction."""
    elsewhere, _ = ship.node(tmp_path / "elsewhere")
    folder = elsewhere.update(ship.id).folder
    for _ in range(3):
        ship.commit()
        elsewhere.update(ship.id)
    assert list(folder.glob("objects/??/*"))
    assert elsewhere.outdated() == []
    assert ship.app.compactor.compact(ship.id)
    assert elsewhere.outdated() == [ship.id]
    assert elsewhere.tidy_outdated(ship.id)
    (merged,) = ship.packs()
    assert f"pack-{merged.name}" in pack_names(folder)
    assert not list(folder.glob("objects/??/*"))
    assert list(folder.glob("objects/pack/multi-pack-index-*.bitmap"))
    assert snapshot(folder) == ship.refs()
    assert elsewhere.outdated() == []
    assert not elsewhere.tidy_outdated(ship.id)
    ship.commit()
    elsewhere.update(ship.id)
    assert elsewhere.outdated() == [], "a new version is no compaction"
    # A rebuilt copy has no bitmap.
    elsewhere.discard(ship.id)
    elsewhere.update(ship.id)
    assert elsewhere.outdated() == [ship.id]


@pytest.mark.usefixtures("merge_all")
def test_packs_that_are_kept_for_their_age_are_deleted_later(
    ship: LogRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy with a recent pack of unknown origin is outdated again when no push can need it any more."""
    copies = ship.app.copies
    folder = copies.update(ship.id).folder
    ship.commit()
    revisions = f"{ship.refs()[MAIN]}\n".encode()
    copies.update(ship.id)
    name = run(folder, "pack-objects", "-q", str(folder / "objects/pack/pack"), input=revisions).decode().strip()
    assert ship.app.compactor.compact(ship.id)
    assert f"pack-{name}" in pack_names(folder)
    assert copies.outdated() == []
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + local_copies.PUSH_SECONDS - 60)
    assert copies.outdated() == []
    monkeypatch.setattr(time, "time", lambda: now + local_copies.PUSH_SECONDS + 60)
    assert copies.outdated() == [ship.id]
    assert copies.tidy_outdated(ship.id)
    (merged,) = ship.packs()
    assert pack_names(folder) == {f"pack-{merged.name}"}
    assert copies.outdated() == []


def test_temporary_files_of_killed_processes_are_deleted(ship: LogRepository) -> None:
    """Those of a process that was killed while it fetched or received a pack; a running push keeps its own."""
    folder = ship.app.copies.update(ship.id).folder / "objects"
    running = folder / "tmp_objdir-incoming-a" / "pack" / "tmp_pack_1"
    left = folder / "tmp_objdir-incoming-b" / "pack" / "tmp_pack_2"
    fetched = folder / "pack" / "tmp_c" / "pack.pack"
    files = [running, left, fetched, folder / "pack" / "tmp_pack_3", folder / "tmp_object_4"]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half a pack")
        for item in (path, path.parent, path.parent.parent):
            os.utime(item, (1, 1))
    os.utime(running)
    ship.app.copies.tidy(ship.id)
    assert [path for path in files if path.exists()] == [running]
    assert {path.name for path in folder.rglob("*tmp_*")} == {"tmp_objdir-incoming-a", "tmp_pack_1"}
    assert snapshot(folder.parent) == ship.refs()


def test_a_copy_keeps_small_packs_that_it_has_for_long(ship: LogRepository) -> None:
    """They are merged into the same pack again, which must not be deleted for its age."""
    for _ in range(local_copies.UNPACK_LIMIT):
        ship.commit()
    folder = ship.app.copies.update(ship.id).folder
    for _ in range(2):
        ship.app.copies.tidy(ship.id)
        for path in folder.glob("objects/pack/*"):
            os.utime(path, (1, 1))
    listed = run(folder, "rev-list", "--objects", "--all").splitlines()
    assert len(listed) == len(run(folder, "cat-file", "--batch-check", "--batch-all-objects").splitlines())


def test_more_packs_are_replaced_at_once_than_a_statement_has_parameters(ship: LogRepository) -> None:
    """PostgreSQL allows 65,535; a burst of commits leaves a pack for each."""
    missing = [pack_row(number, 1) for number in range(10**9, 10**9 + 70_000)]
    present = ship.packs()
    with ship.app.database.write() as connection:
        count = repository_log.supersede_packs(connection, [*missing, *present], literal(1))
        assert count == len(present)
        assert repository_log.supersede_packs(connection, present, literal(1)) == 0
    assert ship.packs() == []


def test_a_pack_that_was_old_when_it_was_stored_is_no_orphan_yet(ship: LogRepository, tmp_path: Path) -> None:
    """Such as the pack of an adopted folder, or one that is pushed again: its transaction may still run."""
    commit, pack = ship.make_commit({"large": os.urandom(LARGE)})
    for name in (pack.store_key, index_key(pack.store_key)):
        ship.app.store.fetch(name, tmp_path / f"old{Path(name).suffix}")
        ship.app.store.delete(name)
        os.utime(tmp_path / f"old{Path(name).suffix}", (1, 1))
    again = store_pack_file(ship.app.store, tmp_path / "old.pack")
    assert ship.app.compactor.delete_orphans() == 0
    ship.set(RefUpdate("refs/heads/again", ZERO, commit), packs=(again,))
    assert objects(ship, tmp_path / "new")
