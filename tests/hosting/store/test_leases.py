"""Leases: one holder at a time, release and expiry."""

import threading
import time

import pytest

from holdfast.hosting.data_folder import connect
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.leases import release_lease, release_leases, take_lease
from holdfast.settings import Settings


def test_only_one_holds_a_lease_until_it_ends(database: Database) -> None:
    """The holder can renew a lease, and others can take it only after it has expired."""
    assert take_lease(database, "sweep", "a", seconds=60, now=1000)
    assert not take_lease(database, "sweep", "b", seconds=60, now=1000)
    assert take_lease(database, "sweep", "a", seconds=60, now=1030)
    assert not take_lease(database, "sweep", "b", seconds=60, now=1089)
    assert take_lease(database, "sweep", "b", seconds=60, now=1090)
    assert not take_lease(database, "sweep", "a", seconds=60, now=1090)
    assert take_lease(database, "another", "a", seconds=60, now=1090)


def test_a_lease_can_be_given_back_by_its_holder_only(database: Database) -> None:
    """Releasing a lease has an effect only for its holder, and then another one can take it at once."""
    take_lease(database, "sweep", "a", seconds=60, now=1000)
    release_lease(database, "sweep", "b")
    assert not take_lease(database, "sweep", "b", seconds=60, now=1000)
    release_lease(database, "sweep", "a")
    assert take_lease(database, "sweep", "b", seconds=60, now=1000)


def test_several_leases_are_released_at_once(database: Database) -> None:
    """Those with the names are released if the holder has them, and others are kept."""
    for name, holder in (("sweep", "a"), ("pack", "b"), ("count", "a"), ("push", "a")):
        take_lease(database, name, holder, seconds=60, now=1000)
    release_leases(database, ["sweep", "pack", "count"], "a")
    release_leases(database, [], "a")
    names = ("sweep", "pack", "count", "push")
    assert [take_lease(database, name, "c", seconds=60, now=1000) for name in names] == [True, False, True, False]


def test_a_lease_does_not_depend_on_the_clocks_of_machines(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process whose clock is ahead can neither take a lease early nor hold it longer."""
    now = time.time()
    assert take_lease(database, "sweep", "a", seconds=60)
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: now + 7200)
        assert not take_lease(database, "sweep", "b", seconds=60)
        assert take_lease(database, "other", "b", seconds=0)
    assert take_lease(database, "other", "a", seconds=60)


def test_of_many_that_ask_at_once_one_gets_it(settings: Settings, database: Database) -> None:
    """Of six threads with connections of their own, as processes have, one gets the lease."""
    taken: list[bool] = []
    together = threading.Barrier(6)

    def ask(number: int) -> None:
        mine = connect(settings)
        together.wait()
        taken.append(take_lease(mine, "sweep", f"holder {number}", seconds=60))
        mine.close()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [False] * 5 + [True]
