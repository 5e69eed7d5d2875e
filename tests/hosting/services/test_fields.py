"""Validation of fields: dates, texts, limits and ref names."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import InvalidField, Violation
from holdfast.hosting.schemas.times import moment
from holdfast.hosting.services.fields import (
    check_body,
    check_length,
    check_ref_field,
    check_required,
    due,
    required_text,
)

ZONES = [UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))]
YEARS = {"min_value": datetime(1970, 1, 2), "max_value": datetime(9999, 12, 30)}  # noqa: DTZ001  # a time without a zone is what is tested


@given(st.datetimes(timezones=st.sampled_from(ZONES), **YEARS))
def test_a_date_has_a_precision_of_seconds(given_time: datetime) -> None:
    """A date is stored as seconds in UTC, and formatting it returns the same time without microseconds."""
    stored = due(given_time, "DueDate")
    assert stored is not None
    assert datetime.fromisoformat(moment(stored)) == given_time.astimezone(UTC).replace(microsecond=0)


@pytest.mark.parametrize("zone", ZONES)
def test_zero_values_of_other_languages_are_no_date(zone: timezone) -> None:
    """The first day of the year 1, in any time zone, removes a date."""
    assert due(datetime(1, 1, 1, tzinfo=zone), "DueDate") == 0


def test_a_date_is_within_what_calendars_know() -> None:
    """A due date is between 1970 and 9999 in UTC, and null stays null."""
    assert due(None, "DueDate") is None
    assert due(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), "DueDate") == 253_402_300_799
    assert due(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), "DueDate") == 1
    west = timezone(timedelta(hours=-1))
    for outside in (
        datetime(1900, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, tzinfo=west),
    ):
        with pytest.raises(InvalidField, match="between 1970 and 9999"):
            due(outside, "DueDate")


def test_a_required_text_is_more_than_white_space() -> None:
    """White space around a text is removed, and a text of white space counts as missing."""
    assert required_text("  It leaks \n", "Title", 255) == "It leaks"
    for text in ("", " \t\n"):
        with pytest.raises(InvalidField) as excinfo:
            required_text(text, "Title", 255)
        assert (excinfo.value.field, excinfo.value.violation) == ("Title", Violation.REQUIRED)


def test_a_limit_counts_characters_and_entries() -> None:
    """A text or a list of exactly the limit is allowed, and one more is an error with the limit."""
    check_length("äöü", "Name", 3)
    check_length([1, 2, 3], "Name", 3)
    for value in ("abcd", [1, 2, 3, 4]):
        with pytest.raises(InvalidField) as excinfo:
            check_length(value, "Name", 3)
        assert (excinfo.value.violation, excinfo.value.limit) == (Violation.TOO_LONG, 3)
    with pytest.raises(InvalidField, match="MaxSize"):
        required_text("x" * 256, "Title", 255)


def test_a_stored_body_may_be_longer_than_the_limit() -> None:
    """An edit of other fields may send an imported body again, a form with other line breaks."""
    check_body("x\ny", 3)
    check_body("long\ntext", 3, "long\ntext")
    check_body("long\r\ntext", 3, "long\ntext")
    for body, current in (("long", ""), ("longer", "long")):
        with pytest.raises(InvalidField) as excinfo:
            check_body(body, 3, current)
        assert (excinfo.value.field, excinfo.value.violation, excinfo.value.limit) == (
            "Body",
            Violation.TOO_LONG,
            3,
        )


@pytest.mark.parametrize(
    ("name", "violation", "limit"),
    [("a..b", Violation.REF_NAME, None), ("a b", Violation.REF_NAME, None), ("a" * 101, Violation.TOO_LONG, 100)],
)
def test_a_ref_is_named_as_git_accepts_it(name: str, violation: Violation, limit: int | None) -> None:
    """Invalid and overlong ref names are refused, and an empty name is allowed."""
    with pytest.raises(InvalidField) as excinfo:
        check_ref_field(name, "Branch")
    assert (excinfo.value.field, excinfo.value.violation, excinfo.value.limit) == ("Branch", violation, limit)
    check_ref_field("", "Branch")
    check_ref_field("feature/x", "Branch")


def test_an_empty_value_is_missing() -> None:
    """An empty value is missing, and white space is not, because other rules check it."""
    with pytest.raises(InvalidField) as excinfo:
        check_required("", "Name")
    assert excinfo.value.violation is Violation.REQUIRED
    check_required(" ", "Name")
