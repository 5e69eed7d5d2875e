"""Write contention between machines for a repository: optimistic compare-and-set, then an advisory lock.

Without contention a writer only does a compare-and-set of the ref. With machines that write to one branch all the
time, most attempts would fail and some requests would starve. So a writer whose compare-and-set failed takes the
advisory lock, and the others take it too as soon as they see it held.
"""

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from holdfast.hosting.app import App

__all__ = ["contention_lock", "note_contention"]

# How long writers take the lock after a failed compare-and-set.
CONTENDED_SECONDS: Final = 60.0


def note_contention(app: App, repository_id: int) -> None:
    """Record a failed compare-and-set, so that the next attempts take the lock."""
    app.contended[repository_id] = time.monotonic() + CONTENDED_SECONDS


def contention_lock(app: App, repository_id: int) -> AbstractContextManager[None]:
    """Return the advisory lock of a repository under contention, else a null context.

    Lock order: all writers take the lock of the local copy before this one.
    """
    is_contended = app.contended.get(repository_id, 0.0) > time.monotonic()
    if not is_contended and app.database.is_locked(repository_id):
        note_contention(app, repository_id)
        is_contended = True
    return app.database.advisory_lock(repository_id) if is_contended else nullcontext()
