"""Times as clients write and read them."""

from datetime import datetime

from holdfast.hosting.schemas.times import moment_or_none, seconds


def test_a_time_without_a_zone_is_in_utc() -> None:
    """And no time stays none."""
    assert seconds(datetime(1970, 1, 2)) == 86400  # noqa: DTZ001
    assert seconds(None) is None
    assert moment_or_none(0) is None
