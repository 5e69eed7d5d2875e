"""Random times, in working hours and mostly on weekdays."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from holdfast_demo.calendar import DAY, format_day, format_month, random_times
from holdfast_demo.sample.seeded_random import SeededRandom


@given(st.integers(0, 2**32), st.integers(2, 400), st.integers(0, 40), st.integers())
def test_moments_lie_between_in_order_and_by_day(start: int, days: int, count: int, seed: int) -> None:
    """Times are distinct, and none is at night."""
    end = start + days * DAY
    times = random_times(SeededRandom(seed), start, end, count)
    assert len(set(times)) == count
    assert times == sorted(times)
    assert all(start <= time <= end for time in times)
    assert all(7 <= datetime.fromtimestamp(time, UTC).hour <= 19 for time in times)


def test_weekends_are_quiet() -> None:
    """Few times fall on a weekend, but some do."""
    times = random_times(SeededRandom("a"), 0, 365 * DAY, 500)
    at_weekends = sum(datetime.fromtimestamp(time, UTC).weekday() >= 5 for time in times)
    assert 10 < at_weekends < 100


def test_days_and_months_are_written_for_people() -> None:
    """A day is written without a leading zero, and a month as year and month."""
    assert (format_day(1_709_251_200), format_month(1_709_251_200)) == ("1 March", "2024-03")
