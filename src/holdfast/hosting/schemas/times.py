"""Times as clients read them: RFC 3339, whole seconds, UTC."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Final

from msgspec import Meta

__all__ = ["EPOCH", "NEVER", "Time", "moment", "moment_or_none", "seconds"]

Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
# What clients take for "no time": the zero of their language, and the zero of a Unix time.
NEVER: Final = "0001-01-01T00:00:00Z"
EPOCH: Final = "1970-01-01T00:00:00Z"
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=8192)
def moment(seconds: int) -> Time:
    """Write a time; 0 is the beginning of 1970, which clients take for never."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19] + "Z"


def seconds(given: datetime | None) -> int | None:
    """Return a time a client sent as whole seconds since 1970; one without a zone is in UTC."""
    if given is None:
        return None
    aware = given if given.tzinfo is not None else given.replace(tzinfo=UTC)
    return (aware - BEGINNING) // timedelta(seconds=1)


def moment_or_none(seconds: int) -> Time | None:
    """Write a time, or None when it never came."""
    return moment(seconds) if seconds else None
