"""Times as the format writes them: milliseconds since 1970."""

from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["moment"]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment(ms: int) -> datetime | None:
    """Turn milliseconds into a date, or None when they lie beyond the calendar."""
    try:
        return EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None
