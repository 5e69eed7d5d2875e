"""Contention of machines for a repository: who was too slow gets its turn by an advisory lock.

Without contention a writer compares and sets the ref, and that is all. Machines that write to one branch all the
time would do most of their work in vain, and some requests would never get their turn. So one that was too slow
takes the lock, and the others take it too as soon as they see that.
"""

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from holdfast.hosting.app import App

__all__ = ["contention_lock", "note_contention"]

# How long writers take the lock after one has worked in vain.
CONTENDED_SECONDS: Final = 60.0


def note_contention(app: App, repository_id: int) -> None:
    """Note that another machine was faster, so that the next attempt takes the lock."""
    app.contended[repository_id] = time.monotonic() + CONTENDED_SECONDS


def contention_lock(app: App, repository_id: int) -> AbstractContextManager[None]:
    """Return the advisory lock of a repository if machines compete for it, else no lock.

    The lock of the local copy is taken before it, by all writers in the same order.
    """
    is_contended = app.contended.get(repository_id, 0.0) > time.monotonic()
    if not is_contended and app.database.is_locked(repository_id):
        note_contention(app, repository_id)
        is_contended = True
    return app.database.advisory_lock(repository_id) if is_contended else nullcontext()
