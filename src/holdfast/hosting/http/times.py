"""Reading the times clients send."""

from datetime import UTC, datetime, timedelta
from typing import Final

from holdfast.hosting.http.errors import ApiError

__all__ = ["read_time"]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_time(text: str, field: str) -> int:
    """Read an RFC 3339 time as seconds since 1970; without an offset it is UTC."""
    try:
        moment = datetime.fromisoformat(text.strip().replace(" ", "+"))
    except ValueError:
        raise ApiError(422, f"[{field}]: not a time such as 2026-08-22T10:00:00Z") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(seconds=1)
