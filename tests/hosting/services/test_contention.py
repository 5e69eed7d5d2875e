"""The advisory lock that is taken after contention for a repository."""

import threading
import time
from contextlib import closing

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.services import contention
from holdfast.hosting.services.contention import contention_lock, note_contention
from holdfast.settings import Settings


def test_without_contention_there_is_no_lock(app: App) -> None:
    """Without contention no advisory lock is taken, and nothing is noted."""
    with contention_lock(app, 7):
        assert not app.database.is_locked(7)
    assert app.contended == {}


def test_after_contention_the_lock_is_taken_for_a_while(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The advisory lock is for one repository and for a limited time, and SQLite has none."""
    note_contention(app, 7)
    with contention_lock(app, 7), contention_lock(app, 8):
        assert app.database.is_locked(7) is not app.database.is_sqlite
        assert not app.database.is_locked(8)
    monkeypatch.setattr(contention, "CONTENDED_SECONDS", 0.0)
    note_contention(app, 7)
    with contention_lock(app, 7):
        assert not app.database.is_locked(7)


def test_a_machine_that_sees_the_lock_of_another_takes_it_too(settings: Settings, app: App) -> None:
    """A machine that waited for the lock of another one takes it for a while itself.

    Otherwise the slower machine would have to be faster each time. SQLite has no such lock.
    """
    waits = not app.database.is_sqlite
    entered = threading.Event()

    def enter() -> None:
        with contention_lock(app, 7):
            entered.set()

    with closing(App.open(settings)) as slower, slower.database.advisory_lock(7):
        thread = threading.Thread(target=enter)
        thread.start()
        assert entered.wait(0.3 if waits else 30) is not waits
        assert (app.contended.get(7, 0.0) > time.monotonic()) is waits
    assert entered.wait(30)
    thread.join()
