"""Durations in the API's format, such as `8h0m0s`, and the intervals of mirrors."""

import re
from typing import Final

from holdfast.hosting.errors import InvalidValue

__all__ = ["SHORTEST_INTERVAL", "checked_interval", "format_duration", "parse_duration"]

PART: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(h|ms|m|s|us|µs|ns)")
DURATION: Final = re.compile(rf"(?:0|(?:{PART.pattern})+)")
SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
LONGEST: Final = 100
DEFAULT_INTERVAL: Final = 8 * 3600
SHORTEST_INTERVAL: Final = 600
MOST_SECONDS: Final = 10 * 365 * 86_400


def parse_duration(text: str, field: str) -> int:
    """Parse a duration to whole seconds; raise `InvalidValue` for anything else."""
    if len(text) > LONGEST or not DURATION.fullmatch(text):
        raise InvalidValue(field, "must be a duration such as 8h0m0s, or 0")
    total = sum(float(number) * SECONDS[unit] for number, unit in PART.findall(text))
    if total > MOST_SECONDS:
        raise InvalidValue(field, "must be at most ten years")
    return int(total)


def format_duration(seconds: int) -> str:
    """Format a duration as the API does."""
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{left}s"
    return f"{minutes}m{left}s" if minutes else f"{left}s"


def checked_interval(text: str, field: str) -> int:
    """Parse the interval of a mirror to seconds: 0 (only on request), or at least ten minutes."""
    interval = parse_duration(text, field) if text else DEFAULT_INTERVAL
    if 0 < interval < SHORTEST_INTERVAL:
        raise InvalidValue(field, f"must be at least {format_duration(SHORTEST_INTERVAL)}, or 0")
    return interval
