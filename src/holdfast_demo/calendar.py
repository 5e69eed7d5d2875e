"""Random timestamps of activity: mostly on weekdays, always in working hours."""

from datetime import UTC, datetime
from typing import Final

from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["DAY", "format_day", "format_month", "random_times"]

DAY: Final = 86_400
SATURDAY: Final = 5


def random_times(rng: SeededRandom, start: int, end: int, count: int) -> list[int]:
    """Return `count` distinct random times between `start` and `end`, sorted."""
    chosen: set[int] = set()
    while len(chosen) < count:
        day = rng.between(start, end) // DAY * DAY
        moment = day + rng.between(7 * 3600, 19 * 3600)
        is_skipped = datetime.fromtimestamp(moment, UTC).weekday() >= SATURDAY and not rng.one_in(4)
        if start <= moment <= end and not is_skipped:
            chosen.add(moment)
    return sorted(chosen)


def format_day(timestamp: int) -> str:
    """Format the day of a timestamp."""
    return datetime.fromtimestamp(timestamp, UTC).strftime("%-d %B")


def format_month(timestamp: int) -> str:
    """Format the month of a timestamp for a file name."""
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m")
