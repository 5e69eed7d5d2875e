"""Formats days and times for pages."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final

__all__ = ["DAY_MS", "FIRST", "TimeFormatter", "day_label", "is_in_calendar", "iso_date"]

DAY_MS: Final = 86_400_000
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FIRST: Final = date(1970, 1, 1).toordinal()
LAST: Final = date.max.toordinal() - FIRST - 1
# Time zones change their offset only at quarters of an hour.
QUARTER: Final = 900_000
MINUTES: Final = tuple(f"{n // 60:02d}:{n % 60:02d}" for n in range(24 * 60))
SECONDS: Final = tuple(f":{n:02d}Z" for n in range(60))
BEYOND: Final = "beyond"


def is_in_calendar(day: int) -> bool:
    """Return whether a day is in the calendar; day -1 occurs in time zones west of Greenwich."""
    return -1 <= day <= LAST


@lru_cache(maxsize=4096)
def iso_date(day: int) -> str:
    """Format a day since 1970 as ISO 8601; `beyond` for one outside of the calendar."""
    return date.fromordinal(FIRST + day).isoformat() if is_in_calendar(day) else BEYOND


@lru_cache(maxsize=4096)
def day_label(day: int) -> str:
    """Format a day as a heading."""
    if not is_in_calendar(day):
        return "Beyond the calendar"
    calendar_date = date.fromordinal(FIRST + day)
    return f"{calendar_date:%A}, {calendar_date.day} {calendar_date:%B %Y}"


class TimeFormatter:
    """Formats days and times in a time zone."""

    def __init__(self, zone: tzinfo = UTC) -> None:
        self.zone = zone
        self.offsets: dict[int, int] = {}
        self.has_offset = zone is not UTC

    def offset(self, ms: int) -> int:
        """Return the offset of the zone from UTC at a time, in milliseconds."""
        if not self.has_offset:
            return 0
        quarter = ms // QUARTER
        offset_ms = self.offsets.get(quarter)
        if offset_ms is None:
            if len(self.offsets) > 1 << 16:
                self.offsets.clear()
            shift = None
            if is_in_calendar(ms // DAY_MS + 1):
                shift = (EPOCH + timedelta(milliseconds=ms)).astimezone(self.zone).utcoffset()
            offset_ms = self.offsets[quarter] = int(shift.total_seconds() * 1000) if shift else 0
        return offset_ms

    def local_ms(self, ms: int) -> int:
        """Return a time plus the offset of the zone."""
        return ms + self.offset(ms) if self.has_offset else ms

    def day(self, ms: int) -> int:
        """Return the day of a time, counted from 1970."""
        return (ms + self.offset(ms) if self.has_offset else ms) // DAY_MS

    def days(self, times: Sequence[int]) -> list[int]:
        """Return the days of times."""
        return [self.day(ms) for ms in times] if self.has_offset else [ms // DAY_MS for ms in times]

    def time_element(self, ms: int, day: int | None = None) -> str:
        """Return a `time` element, with the date unless it is that of the day heading above."""
        utc_day, day_ms = divmod(ms, DAY_MS)
        if utc_day > LAST:
            return "<time>beyond the calendar</time>"
        minute = day_ms // 60_000
        spelled = f"{iso_date(utc_day)}T{MINUTES[minute]}{SECONDS[day_ms // 1000 % 60]}"
        if self.has_offset:
            utc_day, day_ms = divmod(ms + self.offset(ms), DAY_MS)
            minute = day_ms // 60_000
        if day == utc_day:
            return f'<time datetime="{spelled}">{MINUTES[minute]}</time>'
        return f'<time datetime="{spelled}">{iso_date(utc_day)} {MINUTES[minute]}</time>'
