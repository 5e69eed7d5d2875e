"""Formatting of times in the local time zone or that of `--zone`, always with its name."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from holdfast.backup.dates import moment

__all__ = ["Zone", "ZoneOption", "zone_of"]

ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--zone",
        help="The time zone of times and dates: UTC, Europe/Berlin, ... Default: that of this machine.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone; None is the local time zone, with its UTC offset of each date."""

    zone: tzinfo | None = None

    def at(self, ms: int | None) -> datetime | None:
        """Return a time in this zone; None if it is unknown or out of range."""
        instant = None if ms is None else moment(ms)
        try:
            return None if instant is None else instant.astimezone(self.zone)
        except (OverflowError, OSError, ValueError):
            # The range of the platform's `localtime` may be smaller.
            return instant

    def time(self, ms: int | None, *, seconds: bool = False) -> str:
        """Format a time to the minute or second, with the name of the zone."""
        local = self.at(ms)
        return "unknown" if local is None else f"{local:%Y-%m-%d %H:%M}{local:{':%S' if seconds else ''} %Z}"

    def bare(self, ms: int | None) -> str:
        """Format a time to the minute without the zone, for use below a heading with the zone."""
        local = self.at(ms)
        return "unknown" if local is None else f"{local:%Y-%m-%d %H:%M}"

    def day(self, ms: int | None, *, now: datetime | None = None) -> str:
        """Format a date such as "3 May", with the year unless it is the current one."""
        local = self.at(ms)
        if local is None:
            return "an unknown day"
        today = (now or datetime.now().astimezone()).astimezone(self.zone)
        return f"{local.day} {local:%B}{'' if local.year == today.year else f' {local.year}'}"

    @property
    def name(self) -> str:
        """The name of the zone, for a heading; for the local zone its current abbreviation."""
        if self.zone is not None:
            return str(self.zone)
        return datetime.now().astimezone().tzname() or "local time"


def zone_of(name: str | None) -> Zone:
    """Return the zone of an option."""
    if name is None:
        return Zone()
    try:
        return Zone(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise typer.BadParameter(
            f"there is no time zone {name}; give a name such as UTC or Europe/Berlin", param_hint="--zone"
        ) from None
