"""Times for people, in their zone and with its name."""

import time
from datetime import UTC, datetime

import pytest
import typer

from holdfast.cli.times import Zone, zone_of

SUMMER, WINTER = 1_780_444_800_000, 1_767_225_600_000


def test_a_time_has_the_rules_and_the_name_of_its_zone() -> None:
    """Summer time in summer."""
    berlin = zone_of("Europe/Berlin")
    assert berlin.time(SUMMER) == "2026-06-03 02:00 CEST"
    assert berlin.time(WINTER) == "2026-01-01 01:00 CET"
    assert berlin.time(WINTER, seconds=True) == "2026-01-01 01:00:00 CET"
    assert zone_of("UTC").time(SUMMER) == "2026-06-03 00:00 UTC"
    assert berlin.bare(SUMMER) == "2026-06-03 02:00"
    assert berlin.name == "Europe/Berlin"


def test_the_zone_of_the_machine_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its environment says."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert zone_of(None).time(SUMMER) == "2026-06-03 09:00 JST"
        assert zone_of(None).name == "JST"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_day_has_its_year_unless_it_is_this_one() -> None:
    """As people say it; the day is that of the zone."""
    now = datetime(2026, 11, 17, tzinfo=UTC)
    assert zone_of("UTC").day(SUMMER, now=now) == "3 June"
    assert zone_of("America/New_York").day(WINTER, now=now) == "31 December 2025"


@pytest.mark.parametrize("ms", [None, 1 << 62])
def test_what_lies_beyond_the_calendar_is_unknown(ms: int | None) -> None:
    """A backup may say anything."""
    assert Zone().time(ms) == "unknown"
    assert Zone().bare(ms) == "unknown"
    assert Zone().day(ms) == "an unknown day"


@pytest.mark.parametrize("name", ["Nowhere/Town", "../etc/passwd", "", "/"])
def test_an_unknown_zone_is_a_wrong_option(name: str) -> None:
    """With an example of a right one."""
    with pytest.raises(typer.BadParameter, match="Europe/Berlin"):
        zone_of(name)
