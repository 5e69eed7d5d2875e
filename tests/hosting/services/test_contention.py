"""Machines that compete for a repository: who was too slow takes a lock, and the others wait for it."""

import threading
import time
from contextlib import closing

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.services import contention
from holdfast.hosting.services.contention import contention_lock, note_contention
from holdfast.settings import Settings


def test_without_contention_there_is_no_lock(app: App) -> None:
    """Nobody waits, and nobody sees one."""
    with contention_lock(app, 7):
        assert not app.database.is_locked(7)
    assert app.contended == {}


def test_after_contention_the_lock_is_taken_for_a_while(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """On PostgreSQL, where there can be other machines; another repository is not concerned."""
    note_contention(app, 7)
    with contention_lock(app, 7), contention_lock(app, 8):
        assert app.database.is_locked(7) is not app.database.is_sqlite
        assert not app.database.is_locked(8)
    monkeypatch.setattr(contention, "CONTENDED_SECONDS", 0.0)
    note_contention(app, 7)
    with contention_lock(app, 7):
        assert not app.database.is_locked(7)


def test_a_machine_that_sees_the_lock_of_another_takes_it_too(settings: Settings, app: App) -> None:
    """And goes on taking it for a while, or the slower machine would have to win each time."""
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
