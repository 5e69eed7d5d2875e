"""Formatting of times, with the time zone and its name."""

import time
from datetime import UTC, datetime

import pytest
import typer

from holdfast.cli.times import Zone, zone_of

SUMMER, WINTER = 1_780_444_800_000, 1_767_225_600_000


def test_a_time_has_the_rules_and_the_name_of_its_zone() -> None:
    """A time has the offset and the abbreviation of its zone, with daylight saving time."""
    berlin = zone_of("Europe/Berlin")
    assert berlin.time(SUMMER) == "2026-06-03 02:00 CEST"
    assert berlin.time(WINTER) == "2026-01-01 01:00 CET"
    assert berlin.time(WINTER, seconds=True) == "2026-01-01 01:00:00 CET"
    assert zone_of("UTC").time(SUMMER) == "2026-06-03 00:00 UTC"
    assert berlin.bare(SUMMER) == "2026-06-03 02:00"
    assert berlin.name == "Europe/Berlin"


def test_the_zone_of_the_machine_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `--zone` times are in the zone of the environment variable TZ."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert zone_of(None).time(SUMMER) == "2026-06-03 09:00 JST"
        assert zone_of(None).name == "JST"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_day_has_its_year_unless_it_is_this_one() -> None:
    """A day of the current year is written without the year, and the day is that of the zone."""
    now = datetime(2026, 11, 17, tzinfo=UTC)
    assert zone_of("UTC").day(SUMMER, now=now) == "3 June"
    assert zone_of("America/New_York").day(WINTER, now=now) == "31 December 2025"


@pytest.mark.parametrize("ms", [None, 1 << 62])
def test_what_lies_beyond_the_calendar_is_unknown(ms: int | None) -> None:
    """A missing time, and one beyond the calendar, is shown as unknown."""
    assert Zone().time(ms) == "unknown"
    assert Zone().bare(ms) == "unknown"
    assert Zone().day(ms) == "an unknown day"


@pytest.mark.parametrize("name", ["Nowhere/Town", "../etc/passwd", "", "/"])
def test_an_unknown_zone_is_a_wrong_option(name: str) -> None:
    """An unknown zone is wrong usage, and the error has an example of a valid one."""
    with pytest.raises(typer.BadParameter, match="Europe/Berlin"):
        zone_of(name)
