"""Days and times on pages."""

from zoneinfo import ZoneInfo

from holdfast.backup.exports.html.clock import DAY_MS, TimeFormatter, day_label, iso_date

MAY = 1_717_160_709_000  # 2024-05-31 13:05:09 UTC


def test_times_in_utc() -> None:
    """A time is shown with its date, unless the day heading already has that date."""
    clock = TimeFormatter()
    assert iso_date(clock.day(MAY)) == "2024-05-31"
    assert clock.time_element(MAY, clock.day(MAY)) == '<time datetime="2024-05-31T13:05:09Z">13:05</time>'
    assert clock.time_element(MAY) == '<time datetime="2024-05-31T13:05:09Z">2024-05-31 13:05</time>'
    assert day_label(clock.day(MAY)) == "Friday, 31 May 2024"


def test_times_in_a_zone() -> None:
    """Times and days follow the zone with its daylight saving time; `datetime` attributes stay in UTC."""
    clock = TimeFormatter(ZoneInfo("Europe/Berlin"))
    assert clock.time_element(MAY, clock.day(MAY)) == '<time datetime="2024-05-31T13:05:09Z">15:05</time>'
    winter = MAY - 180 * DAY_MS
    assert ">14:05<" in clock.time_element(winter, clock.day(winter))
    evening = MAY + 9 * 3_600_000
    assert iso_date(clock.day(evening)) == "2024-06-01"
    assert iso_date(TimeFormatter().day(evening)) == "2024-05-31"


def test_times_beyond_the_calendar() -> None:
    """A time after the year 9999 is shown as beyond the calendar, and time 0 is a date in any zone."""
    last = (1 << 63) - 1
    for clock in (TimeFormatter(), TimeFormatter(ZoneInfo("America/Lima"))):
        assert clock.time_element(last, clock.day(last)) == "<time>beyond the calendar</time>"
        assert iso_date(clock.day(last)) == "beyond"
        assert day_label(clock.day(last)) == "Beyond the calendar"
        assert "19" in clock.time_element(0, clock.day(0))
        assert iso_date(clock.day(0)).startswith("19")
