"""Timestamps are converted to dates within the range of the calendar."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.dates import moment, spelled


def test_milliseconds_are_counted_from_1970_in_utc() -> None:
    """Timestamps become dates in UTC with their milliseconds."""
    assert moment(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert moment(1_700_000_000_123) == datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)


@given(st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001  # hypothesis adds the zone
def test_every_date_from_1970_on_comes_back(date: datetime) -> None:
    """Every date from 1970 on is converted exactly to the millisecond."""
    date = date.replace(microsecond=date.microsecond // 1000 * 1000)
    since = date - datetime(1970, 1, 1, tzinfo=UTC)
    assert moment(since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000) == date


@pytest.mark.parametrize("ms", [253_402_300_800_000, 1 << 53, 1 << 63, (1 << 64) - 1])
def test_what_lies_beyond_the_calendar_is_no_date(ms: int) -> None:
    """A number beyond the year 9999 is None."""
    assert moment(ms) is None


def test_the_last_day_of_the_calendar_is_one() -> None:
    """The last millisecond of the year 9999 is a date."""
    last = moment(253_402_300_799_999)
    assert last is not None
    assert last.year == 9999


@given(st.integers(0, 300_000_000_000_000))
def test_times_are_spelled_as_dates_are(ms: int) -> None:
    """A time is formatted to the second, and one beyond the year 9999 is None."""
    date = moment(ms)
    assert spelled(ms) == (None if date is None else f"{date:%Y-%m-%d %H:%M:%S}")
    assert spelled(ms, "T") == (None if date is None else f"{date:%Y-%m-%dT%H:%M:%S}")
