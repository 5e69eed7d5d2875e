"""Dates that clients choose."""

from datetime import datetime
from typing import Final

from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.schemas.times import seconds

__all__ = ["due"]

LAST: Final = 253_402_300_800


def due(given: datetime | None, field: str) -> int | None:
    """Return the date something is due; the zero of clients' languages is none, and 0 stands for that."""
    when = seconds(given)
    if given is None or when is None:
        return None
    if given.year == 1:
        return 0
    if not 0 < when < LAST:
        raise ApiError(422, f"[{field}]: must be between 1970 and 9999")
    return when
