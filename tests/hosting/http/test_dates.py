"""Dates that clients choose."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.http.dates import due
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.schemas.times import moment

ZONES = [UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))]
YEARS = {"min_value": datetime(1970, 1, 2), "max_value": datetime(9999, 12, 30)}  # noqa: DTZ001


@given(st.datetimes(timezones=st.sampled_from(ZONES), **YEARS))
def test_a_date_is_kept_to_the_second(given_time: datetime) -> None:
    """It can be written again."""
    kept = due(given_time, "DueDate")
    assert kept is not None
    assert datetime.fromisoformat(moment(kept)) == given_time.astimezone(UTC).replace(microsecond=0)


@pytest.mark.parametrize("zone", ZONES)
def test_the_zero_of_clients_languages_is_no_date(zone: timezone) -> None:
    """In whatever zone; 0 takes a date away."""
    assert due(datetime(1, 1, 1, tzinfo=zone), "DueDate") == 0


def test_a_date_is_within_what_calendars_know() -> None:
    """And none stays none."""
    assert due(None, "DueDate") is None
    with pytest.raises(ApiError, match="between 1970 and 9999"):
        due(datetime(1900, 1, 1, tzinfo=UTC), "DueDate")
