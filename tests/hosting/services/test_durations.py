"""Parsing and formatting of durations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import InvalidValue
from holdfast.hosting.services.durations import checked_interval, format_duration, parse_duration


@given(st.integers(0, 10 * 365 * 86_400))
def test_formatted_durations_round_trip(seconds: int) -> None:
    """Any whole number of seconds up to ten years is parsed as it was formatted."""
    assert parse_duration(format_duration(seconds), "Interval") == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("8h", 28_800),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("90000ms", 90),
        ("0", 0),
        ("0s", 0),
        ("87600h", 315_360_000),
    ],
)
def test_the_forms_clients_send(text: str, seconds: int) -> None:
    """Hours, minutes, seconds and milliseconds can be combined and have fractions."""
    assert parse_duration(text, "Interval") == seconds


@pytest.mark.parametrize("text", ["", "8", "h", "8 h", "-8h", "1d", "8h " * 50, "999999999h", "87600h1s", "٣h"])
def test_other_texts_are_refused(text: str) -> None:
    """The error for an invalid duration names the field."""
    with pytest.raises(InvalidValue, match="Interval"):
        parse_duration(text, "Interval")


def test_an_interval_is_ten_minutes_at_least() -> None:
    """An empty interval is eight hours, zero disables it, and one below ten minutes is refused."""
    assert checked_interval("", "Interval") == 8 * 3600
    assert checked_interval("10m", "Interval") == 600
    assert checked_interval("0", "Interval") == 0
    for short in ("1s", "599s"):
        with pytest.raises(InvalidValue, match="10m0s"):
            checked_interval(short, "Interval")
