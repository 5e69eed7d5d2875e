"""Retries of a read-modify-write whose compare-and-set failed (optimistic concurrency control).

An edit reads a row, computes what it becomes, and writes it only if the row is still as it was read. The store
raises `Outdated` if it is not, and the edit begins again with the new state.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from holdfast.hosting.errors import HostingError, Outdated

__all__ = ["ATTEMPTS", "retry"]

T = TypeVar("T")

# Each attempt fails only if another request has succeeded.
ATTEMPTS: Final = 5


def retry(
    attempt: Callable[[], T],
    *,
    on: type[HostingError] | tuple[type[HostingError], ...] = Outdated,
    before_next: Callable[[], object] | None = None,
) -> T:
    """Return the result of an attempt, which is made again after one of these errors; the last one is raised.

    Each attempt has to read the current state. `before_next` is called between two attempts, outside any `except`.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except on:
            pass
        if before_next is not None:
            before_next()
    return attempt()
