"""When people do things: on working days rather than at weekends, by day rather than by night."""

from datetime import UTC, datetime
from typing import Final

from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["DAY", "day_of", "moments", "month_of"]

DAY: Final = 86_400
SATURDAY: Final = 5


def moments(rng: SeededRandom, start: int, end: int, count: int) -> list[int]:
    """Draw moments between two others, in order and each its own."""
    drawn: set[int] = set()
    while len(drawn) < count:
        day = rng.between(start, end) // DAY * DAY
        moment = day + rng.between(7 * 3600, 19 * 3600)
        quiet = datetime.fromtimestamp(moment, UTC).weekday() >= SATURDAY and not rng.one_in(4)
        if start <= moment <= end and not quiet:
            drawn.add(moment)
    return sorted(drawn)


def day_of(moment: int) -> str:
    """Write a day as people do."""
    return datetime.fromtimestamp(moment, UTC).strftime("%-d %B")


def month_of(moment: int) -> str:
    """Write a month as files are named after it."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m")
