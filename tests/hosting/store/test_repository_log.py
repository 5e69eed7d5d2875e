"""The repository log: refs by compare-and-set, their history, and packs."""

import itertools
import threading
import time

import pytest
from sqlalchemy import delete, select
from sqlalchemy import update as update_rows

from holdfast.hosting.errors import GitDamaged, GoneMeanwhile
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.repository_log import NewPack
from holdfast.hosting.store.tables import packs, repositories
from tests.hosting.repository_helpers import make_repository

NONE = "0" * 40
ONE, TWO, THREE = "1" * 40, "2" * 40, "3" * 40


def append(database: Database, repository: Repository, *updates: RefUpdate) -> tuple[int, list[RefUpdate]]:
    """Append updates in a transaction of their own."""
    with database.write() as connection:
        return repository_log.append(connection, repository.id, [(None, update) for update in updates])


def refs_of(database: Database, repository: Repository) -> dict[str, str]:
    """Return all refs."""
    with database.read() as connection:
        return repository_log.read_refs(connection, repository.id)


def test_a_ref_is_created_updated_and_deleted(database: Database, repository: Repository) -> None:
    """Each update of a ref is a new version, and the log has its old and new ids, newest first."""
    main = "refs/heads/main"
    for version, update in enumerate(
        (RefUpdate(main, NONE, ONE), RefUpdate(main, ONE, TWO), RefUpdate(main, TWO, NONE)), 1
    ):
        assert append(database, repository, update) == (version, [])
    assert refs_of(database, repository) == {}
    with database.read() as connection:
        entries = repository_log.log_entries(connection, repository.id)
        limited = repository_log.log_entries(connection, repository.id, skip=1, limit=1)
    assert [(entry.version, entry.update.old, entry.update.new) for entry in entries] == [
        (3, TWO, NONE),
        (2, ONE, TWO),
        (1, NONE, ONE),
    ]
    assert limited == entries[1:2]


@pytest.mark.parametrize(
    "update",
    [
        RefUpdate("refs/heads/main", NONE, TWO),
        RefUpdate("refs/heads/main", TWO, THREE),
        RefUpdate("refs/heads/main", TWO, NONE),
        RefUpdate("refs/heads/gone", ONE, NONE),
        RefUpdate("refs/heads/gone", ONE, TWO),
        RefUpdate("refs/heads/main/below", NONE, TWO),
    ],
)
def test_an_update_that_expects_another_state_is_rejected(
    database: Database, repository: Repository, update: RefUpdate
) -> None:
    """An update whose old id is not the current one is rejected, and the ref does not change."""
    append(database, repository, RefUpdate("refs/heads/main", NONE, ONE))
    assert append(database, repository, update)[1] == [update]
    assert refs_of(database, repository) == {"refs/heads/main": ONE}


def test_a_ref_cannot_have_the_name_of_a_folder_of_refs(database: Database, repository: Repository) -> None:
    """A ref `a` is rejected beside `a/b`, unless the same batch deletes `a/b`, in any order."""
    below = RefUpdate("refs/heads/a/b", NONE, ONE)
    append(database, repository, below)
    above = RefUpdate("refs/heads/a", NONE, TWO)
    assert append(database, repository, above)[1] == [above]
    # A name that only begins the same is another.
    assert append(database, repository, RefUpdate("refs/heads/a-b", NONE, ONE))[1] == []
    assert append(database, repository, above, RefUpdate("refs/heads/a/b", ONE, NONE))[1] == []
    assert refs_of(database, repository) == {"refs/heads/a": TWO, "refs/heads/a-b": ONE}


def test_names_that_are_no_text_are_stored(database: Database, repository: Repository) -> None:
    """A ref name that is not UTF-8 is stored byte for byte."""
    name = b"refs/heads/caf\xe9-\xc3\xa9".decode(errors="surrogateescape")
    append(database, repository, RefUpdate(name, NONE, ONE))
    assert refs_of(database, repository) == {name: ONE}
    assert repository_log.find_ref(database, repository.id, name) == ONE


def test_which_objects_refs_point_to_is_known(
    database: Database, repository: Repository, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Targets of all kinds of refs of one repository are found, also with more ids than one query takes."""
    monkeypatch.setattr(repository_log, "NAMES_AT_ONCE", 2)
    other = make_repository(database, ada, "other")
    append(database, repository, RefUpdate("refs/heads/a", NONE, ONE), RefUpdate("refs/heads/b", NONE, ONE))
    append(database, repository, RefUpdate("refs/pull/1/head", NONE, THREE))
    append(database, other, RefUpdate("refs/heads/main", NONE, TWO))
    with database.read() as connection:
        assert repository_log.known_targets(connection, repository.id, [NONE, ONE, TWO, THREE]) == {ONE, THREE}
        assert repository_log.known_targets(connection, repository.id, []) == set()


def test_changes_since_a_version_are_listed(database: Database, repository: Repository) -> None:
    """Refs changed since a version have their current target, and deleted ones have none."""
    append(database, repository, RefUpdate("refs/heads/a", NONE, ONE), RefUpdate("refs/heads/b", NONE, ONE))
    append(database, repository, RefUpdate("refs/heads/a", ONE, TWO))
    append(database, repository, RefUpdate("refs/heads/a", TWO, THREE), RefUpdate("refs/heads/b", ONE, NONE))
    with database.read() as connection:
        whole = repository_log.changed_refs(connection, repository.id, 0)
        later = repository_log.changed_refs(connection, repository.id, 2)
        latest = repository_log.changed_refs(connection, repository.id, 5)
        nothing = repository_log.changed_refs(connection, 999_999, 0)
    assert whole is not None
    assert whole.refs == {"refs/heads/a": THREE}
    assert later is not None
    assert later.refs == {"refs/heads/a": THREE, "refs/heads/b": None}
    assert latest is not None
    assert (latest.version, latest.refs) == (5, {})
    assert nothing is None


def test_packs_are_listed_by_version(database: Database, repository: Repository) -> None:
    """Packs are listed from a version on, and those stored in the database have their content."""
    with database.write() as connection:
        update = RefUpdate("refs/heads/a", NONE, ONE)
        small = NewPack("a" * 40, 4, 1, content=b"pack")
        repository_log.append(connection, repository.id, [(None, update)], [small])
        repository_log.add_packs(connection, repository.id, 2, [NewPack("b" * 40, 9, 2, store_key="packs/bb/b")])
    with database.read() as connection:
        pack_rows = repository_log.live_packs(connection, repository.id, 0)
        assert [(pack.version, pack.name, pack.store_key) for pack in pack_rows] == [
            (1, "a" * 40, ""),
            (2, "b" * 40, "packs/bb/b"),
        ]
        assert repository_log.live_packs(connection, repository.id, 1) == pack_rows[1:]
        assert repository_log.pack_contents(connection, pack_rows) == [b"pack"]
        assert repository_log.used_keys(connection, ["packs/bb/b", "packs/cc/c"]) == {"packs/bb/b"}


def test_packs_that_were_replaced_are_not_listed(database: Database, repository: Repository) -> None:
    """A superseded pack is not listed, and its key counts as used until its row is deleted."""
    with database.write() as connection:
        new = [NewPack("a" * 40, 9, 2, store_key="packs/aa/a"), NewPack("b" * 40, 9, 2, store_key="packs/bb/b")]
        repository_log.add_packs(connection, repository.id, 1, new)
        connection.execute(update_rows(packs).where(packs.c.name == "a" * 40).values(superseded_at=1))
        assert [pack.name for pack in repository_log.live_packs(connection, repository.id, 0)] == ["b" * 40]
        assert repository_log.used_keys(connection, ["packs/aa/a"]) == {"packs/aa/a"}
        ids = connection.execute(select(packs.c.id).where(packs.c.superseded_at > 0)).scalars().all()
        repository_log.delete_packs(connection, ids)
        assert repository_log.used_keys(connection, ["packs/aa/a", "packs/bb/b"]) == {"packs/bb/b"}


def test_a_deleted_repository_takes_its_log_along(database: Database, repository: Repository) -> None:
    """A deleted repository has no refs, log, packs or version, and appending to it is an error."""
    append(database, repository, RefUpdate("refs/heads/a", NONE, ONE))
    with database.write() as connection:
        repository_log.add_packs(connection, repository.id, 1, [NewPack("a" * 40, 4, 1, content=b"pack")])
        connection.execute(delete(repositories).where(repositories.c.id == repository.id))
    assert refs_of(database, repository) == {}
    with database.read() as connection:
        assert repository_log.log_entries(connection, repository.id) == []
        assert connection.execute(select(packs.c.id)).all() == []
    with pytest.raises(GoneMeanwhile):
        append(database, repository, RefUpdate("refs/heads/b", NONE, ONE))
    assert repository_log.current_version(database, repository.id) == 0


def test_of_writers_at_once_one_updates_a_ref(database: Database, repository: Repository) -> None:
    """Of concurrent writers with the same old id one succeeds, and no update is lost."""
    ref = "refs/heads/main"
    append(database, repository, RefUpdate(ref, NONE, f"{0:040x}".replace("0", "a")))
    landed: list[tuple[str, str]] = []
    faults: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for index in range(10):
                new = f"{number + 1:020x}{index + 1:020x}"
                while True:
                    old = repository_log.find_ref(database, repository.id, ref) or ""
                    if not append(database, repository, RefUpdate(ref, old, new))[1]:
                        landed.append((old, new))
                        break
        except BaseException as error:  # noqa: BLE001  # the test fails with it
            faults.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with database.read() as connection:
        entries = repository_log.log_entries(connection, repository.id, limit=1000)
    chain = [(entry.update.old, entry.update.new) for entry in reversed(entries)][1:]
    assert len(chain) == 40
    assert sorted(chain) == sorted(landed)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(chain))
    assert len({entry.version for entry in entries}) == 41


def test_of_writers_at_once_one_creates_a_ref(database: Database, repository: Repository) -> None:
    """Of concurrent writers one creates a ref, and only one of two names that git does not allow together."""
    start = threading.Barrier(4)
    rejected: list[list[RefUpdate]] = []

    def write(name: str) -> None:
        start.wait()
        rejected.append(append(database, repository, RefUpdate(name, NONE, ONE))[1])

    for names in (["refs/heads/a"] * 4, ["refs/heads/b", "refs/heads/b/c"] * 2):
        rejected.clear()
        threads = [threading.Thread(target=write, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(len, rejected)) == [0, 1, 1, 1]
    assert len(refs_of(database, repository)) == 2


def test_an_update_that_is_rolled_back_leaves_no_trace(database: Database, repository: Repository) -> None:
    """A rolled-back update leaves no ref, version, log entry or pack."""
    append(database, repository, RefUpdate("refs/heads/a", NONE, ONE))

    class Abort(Exception):
        """Ends the transaction."""

    with pytest.raises(Abort), database.write() as connection:
        pack = NewPack("a" * 40, 4, 1, content=b"pack")
        repository_log.append(connection, repository.id, [(None, RefUpdate("refs/heads/a", ONE, TWO))], [pack])
        raise Abort
    assert refs_of(database, repository) == {"refs/heads/a": ONE}
    assert repository_log.current_version(database, repository.id) == 1
    with database.read() as connection:
        assert repository_log.live_packs(connection, repository.id, 0) == []
        assert len(repository_log.log_entries(connection, repository.id)) == 1


def test_each_actors_updates_are_entries_of_their_own(
    database: Database, repository: Repository, ada: Account
) -> None:
    """A batch has one log entry for each accepted update, in order, also for two updates of one ref."""
    with database.write() as connection:
        last, rejected = repository_log.append(
            connection,
            repository.id,
            [
                (ada.id, RefUpdate("refs/heads/a", NONE, ONE)),
                (None, RefUpdate("refs/heads/b", TWO, ONE)),
                (None, RefUpdate("refs/heads/a", ONE, TWO)),
            ],
        )
    assert (last, [update.ref for update in rejected]) == (3, ["refs/heads/b"])
    with database.read() as connection:
        entries = repository_log.log_entries(connection, repository.id, ref="refs/heads/a")
        assert repository_log.log_entries(connection, repository.id, ref="refs/heads/b") == []
    assert [(entry.version, entry.actor_id, entry.update.new) for entry in entries] == [
        (3, None, TWO),
        (1, ada.id, ONE),
    ]
    assert all(abs(entry.created_at - time.time()) < 60 for entry in entries)


@pytest.mark.parametrize(
    ("there", "new", "conflict"),
    [
        ("refs/heads/a/b/c", "refs/heads/a", "refs/heads/a/b/c"),
        ("refs/heads/a", "refs/heads/a/b/c", "refs/heads/a"),
        ("refs/stash", "refs/stash/x", "refs/stash"),
        ("refs/heads/a", "refs/heads/ab", None),
        ("refs/heads/a.b", "refs/heads/a", None),
        ("refs/heads/a0", "refs/heads/a", None),
        ("refs/heads/\udce9/x", "refs/heads/\udce9", "refs/heads/\udce9/x"),
    ],
)
def test_a_conflicting_name_is_found(
    database: Database, repository: Repository, there: str, new: str, conflict: str | None
) -> None:
    """A ref name that is a prefix folder of another, or below another, conflicts in its repository only."""
    append(database, repository, RefUpdate(there, NONE, ONE))
    with database.read() as connection:
        assert repository_log.conflicting_ref(connection, repository.id, new) == conflict
        assert repository_log.conflicting_ref(connection, repository.id + 1, new) is None
    update = RefUpdate(new, NONE, ONE)
    assert append(database, repository, update)[1] == ([update] if conflict else [])


def test_a_pack_without_its_bytes_is_damage(database: Database, repository: Repository) -> None:
    """A pack without content raises GitDamaged, as skipping it would give an incomplete repository."""
    with database.write() as connection:
        repository_log.add_packs(connection, repository.id, 1, [NewPack("a" * 40, 4, 1)])
    with database.read() as connection, pytest.raises(GitDamaged):
        repository_log.pack_contents(connection, repository_log.live_packs(connection, repository.id, 0))


def test_repositories_with_expired_refs_are_found_until_they_are_collected(
    database: Database, repository: Repository, ada: Account
) -> None:
    """Those in which an existing ref was updated before a time; what follows a collection counts again."""
    other = make_repository(database, ada, "other")
    now = int(time.time())
    append(database, repository, RefUpdate("refs/heads/a", NONE, ONE))
    append(database, other, RefUpdate("refs/heads/a", NONE, ONE))
    append(database, repository, RefUpdate("refs/heads/a", ONE, NONE))
    assert repository_log.with_expired_refs(database, now) == {}
    assert repository_log.with_expired_refs(database, now + 10) == {repository.id: 0}
    repository_log.set_collected(database, repository.id, now - 10)
    assert repository_log.with_expired_refs(database, now + 10) == {repository.id: now - 10}
    repository_log.set_collected(database, repository.id, now + 10)
    assert repository_log.with_expired_refs(database, now + 20) == {}


def test_repositories_with_many_packs_are_found(database: Database, repository: Repository, ada: Account) -> None:
    """Repositories are found by their number of packs."""
    other = make_repository(database, ada, "other")
    append(database, repository, RefUpdate("refs/heads/a", NONE, ONE))
    append(database, repository, RefUpdate("refs/heads/a", ONE, NONE))
    append(database, other, RefUpdate("refs/heads/a", NONE, ONE))
    with database.write() as connection:
        for number in range(3):
            pack = NewPack(f"{number:040}", 4, 1, content=b"pack")
            repository_log.add_packs(connection, other.id, 1, [pack])
    assert repository_log.repositories_with_packs(database) == [other.id]
    assert repository_log.repositories_with_packs(database, at_least=4) == []
    assert not repository_log.has_refs(database, repository.id)
    assert repository_log.has_refs(database, other.id)
