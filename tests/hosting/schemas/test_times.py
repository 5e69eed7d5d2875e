"""Formatting of times in JSON."""

from datetime import datetime

from holdfast.hosting.schemas.git import git_time
from holdfast.hosting.schemas.times import moment, moment_or_none, seconds


def test_a_time_without_a_zone_is_in_utc() -> None:
    """A naive datetime is read as UTC, and a missing time stays null."""
    assert seconds(datetime(1970, 1, 2)) == 86400  # noqa: DTZ001  # a time without a zone is what is tested
    assert seconds(None) is None
    assert moment_or_none(0) is None


def test_times_are_written_in_whole_seconds() -> None:
    """Times are in UTC, those of commits have their offset, and an impossible time is that of the epoch."""
    assert moment(1787392800) == "2026-08-22T10:00:00Z"
    assert moment_or_none(0) is None
    assert git_time(1787392800, 120) == "2026-08-22T12:00:00+02:00"
    assert git_time(1787392800, 0) == "2026-08-22T10:00:00Z"
    assert git_time(10**18, 0) == "1970-01-01T00:00:00Z"
