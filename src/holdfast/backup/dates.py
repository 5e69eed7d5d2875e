"""Times as the format writes them: milliseconds since 1970."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

__all__ = ["moment", "spelled"]

DAY: Final = 86_400_000
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment(ms: int) -> datetime | None:
    """Turn milliseconds into a date, or None when they lie beyond the calendar."""
    try:
        return EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None


@lru_cache(maxsize=4096)
def day_of(day: int) -> str | None:
    """Write a day, counted from 1970, or None when it lies beyond the calendar."""
    date = moment(day * DAY)
    return None if date is None else f"{date:%Y-%m-%d}"


def spelled(ms: int, between: str = " ") -> str | None:
    """Write a time in UTC to the second, or None when it lies beyond the calendar; fast, for millions of them."""
    days, seconds = divmod(ms // 1000, 86_400)
    day = day_of(days)
    minutes, second = divmod(seconds, 60)
    return None if day is None else f"{day}{between}{minutes // 60:02}:{minutes % 60:02}:{second:02}"
