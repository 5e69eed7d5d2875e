"""Times in and out."""

import pytest

from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.times import read_time
from holdfast.hosting.schemas.git import git_time
from holdfast.hosting.schemas.times import moment, moment_or_none


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1),
        ("2026-08-22T12:00:00+02:00", 1787392800),
        ("2026-08-22T10:00:00 02:00", 1787385600),
        ("2026-08-22", 1787356800),
        ("0001-01-01T00:00:00Z", -62135596800),
    ],
)
def test_times_are_read(text: str, seconds: int) -> None:
    """Also with a plus sign that became a space on its way, and without an offset."""
    assert read_time(text, "Since") == seconds


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "1787392800x"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """With the field's name."""
    with pytest.raises(ApiError, match="Since"):
        read_time(text, "Since")


def test_times_are_written_in_whole_seconds() -> None:
    """UTC, or the offset a commit was made at."""
    assert moment(1787392800) == "2026-08-22T10:00:00Z"
    assert moment_or_none(0) is None
    assert git_time(1787392800, 120) == "2026-08-22T12:00:00+02:00"
    assert git_time(1787392800, 0) == "2026-08-22T10:00:00Z"
    assert git_time(10**18, 0) == "1970-01-01T00:00:00Z"
