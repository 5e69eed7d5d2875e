"""Times in JSON: RFC 3339, whole seconds, UTC."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Final

from msgspec import Meta

__all__ = ["EPOCH", "NEVER", "Time", "moment", "moment_or_none", "seconds"]

Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
# Values that clients interpret as "no time": the zero time of Go, and the Unix epoch.
NEVER: Final = "0001-01-01T00:00:00Z"
EPOCH: Final = "1970-01-01T00:00:00Z"
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=8192)
def moment(seconds: int) -> Time:
    """Format a time; 0 is the Unix epoch, which clients interpret as never."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19] + "Z"


def seconds(value: datetime | None) -> int | None:
    """Convert a client's time to a Unix timestamp; without a time zone it is UTC."""
    if value is None:
        return None
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return (aware - BEGINNING) // timedelta(seconds=1)


def moment_or_none(seconds: int) -> Time | None:
    """Format a time; None for 0."""
    return moment(seconds) if seconds else None
