"""Conversion of timestamps: milliseconds since 1970."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

__all__ = ["END", "HOUR_MS", "moment", "spelled"]

HOUR_MS: Final = 3_600_000
DAY: Final = 86_400_000
# The first millisecond after the last year of the calendar.
END: Final = int(datetime(9999, 12, 31, 23, tzinfo=UTC).timestamp() * 1000) + HOUR_MS
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment(ms: int) -> datetime | None:
    """Convert milliseconds to a `datetime`; None if it is out of range."""
    try:
        return EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None


@lru_cache(maxsize=4096)
def day_of(day: int) -> str | None:
    """Format a day, counted from 1970; None if it is out of range."""
    date = moment(day * DAY)
    return None if date is None else f"{date:%Y-%m-%d}"


def spelled(ms: int, between: str = " ") -> str | None:
    """Format a time in UTC to the second; None if it is out of range. Fast, for millions of calls."""
    days, seconds = divmod(ms // 1000, 86_400)
    day = day_of(days)
    minutes, second = divmod(seconds, 60)
    return None if day is None else f"{day}{between}{minutes // 60:02}:{minutes % 60:02}:{second:02}"
