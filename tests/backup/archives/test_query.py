"""Parsing of search queries."""

import time
from collections.abc import Callable, Iterator
from zoneinfo import ZoneInfo

import pytest

from holdfast.backup.archives.query import Filters, parse_date, parse_query
from holdfast.backup.errors import QueryRefused


def test_words_phrases_prefixes_and_what_to_leave_out() -> None:
    """Every word of a query is quoted, so that FTS5 takes none of them for an operator."""
    query = parse_query('tea "with milk" bisc* -sugar')
    assert query.match == (
        '({text extra} : "tea" AND {text extra} : "with milk" AND {text extra} : "bisc" *) '
        'NOT ({text extra} : "sugar")'
    )
    assert query.words == ("tea", "with milk", "bisc")


def test_filters_are_taken_out_of_the_words() -> None:
    """Filters are removed from the words of a query, also those with a quoted name."""
    query = parse_query('tea chat:"Crow Rock" from:me has:link is:in since:2024 until:2024-02')
    assert query.filters == Filters(
        chat="Crow Rock",
        person="me",
        direction="incoming",
        since_ms=1_704_067_200_000,
        until_ms=1_709_251_200_000,
        has_link=True,
    )
    assert query.words == ("tea",)


def test_an_address_is_not_a_filter() -> None:
    """The scheme of a URL is not taken for a filter."""
    assert parse_query("https://example.org").filters == Filters()


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("1970", 0, 31_536_000_000),
        ("1970-01", 0, 2_678_400_000),
        ("1970-12", 28_857_600_000, 31_536_000_000),
        ("2024-12", 1_733_011_200_000, 1_735_689_600_000),
        ("2024-02", 1_706_745_600_000, 1_709_251_200_000),
        ("2024-12-31", 1_735_603_200_000, 1_735_689_600_000),
        ("1970-01-01", 0, 86_400_000),
        ("1970-01-01T01:00", 3_600_000, 3_660_000),
    ],
)
def test_dates_have_a_start_and_an_end(text: str, start: int, end: int) -> None:
    """A year, a month, a day and a minute begin and end at their exact milliseconds."""
    assert (parse_date(text), parse_date(text, end=True)) == (start, end)


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def local_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Return a function that sets the time zone of the machine, until the end of the test."""

    def change(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield change
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024", 1_704_063_600_000, 1_735_686_000_000),
        ("2024-06", 1_717_192_800_000, 1_719_784_800_000),
        # The clocks go forward on this day, which has 23 hours, and back on the other, which has 25.
        ("2024-03-31", 1_711_839_600_000, 1_711_922_400_000),
        ("2024-10-27", 1_729_980_000_000, 1_730_070_000_000),
        ("2024-06-01T18:00", 1_717_257_600_000, 1_717_257_660_000),
    ],
)
def test_dates_are_those_of_a_time_zone(
    text: str, start: int, end: int, local_zone: Callable[[str], None]
) -> None:
    """A date begins and ends at midnight in its zone, and in that of the machine if none is given."""
    assert (parse_date(text, zone=BERLIN), parse_date(text, end=True, zone=BERLIN)) == (start, end)
    local_zone("Europe/Berlin")
    assert (parse_date(text, zone=None), parse_date(text, end=True, zone=None)) == (start, end)


def test_dates_in_a_query_are_those_of_a_time_zone() -> None:
    """The zone applies to `since:` and `until:` in the query."""
    filters = parse_query("tea since:2024-06 until:2024-06", zone=BERLIN).filters
    assert (filters.since_ms, filters.until_ms) == (1_717_192_800_000, 1_719_784_800_000)


@pytest.mark.parametrize("name", ["UTC", "Pacific/Auckland", "America/Los_Angeles"])
def test_the_first_and_the_last_day_of_the_calendar_are_dates(
    name: str, local_zone: Callable[[str], None]
) -> None:
    """The day in UTC can be out of range; it is then at most a day early or late."""
    local_zone(name)
    for zone in (None, ZoneInfo(name)):
        first, last = parse_date("0001-01-01", zone=zone), parse_date("9999-12-31", end=True, zone=zone)
        assert abs(first - -62_135_596_800_000) <= 86_400_000
        assert abs(last - 253_402_300_800_000) <= 86_400_000


def test_until_a_month_means_to_its_end() -> None:
    """The filter `until` includes the whole month, also in December."""
    filters = parse_query("tea since:2024-12 until:2024-12").filters
    assert (filters.since_ms, filters.until_ms) == (1_733_011_200_000, 1_735_689_600_000)


@pytest.mark.parametrize("text", ["-tea", "-tea -milk", '-"some tea"', "chat:Ada -tea", "-tea is:in"])
def test_a_query_of_exclusions_only_is_refused(text: str) -> None:
    """A query that only excludes words is refused, with or without filters."""
    with pytest.raises(QueryRefused, match="only excludes words"):
        parse_query(text)


@pytest.mark.parametrize("text", ["2024-13", "2024-02-30", "0000", "24", "9999", "soon"])
def test_what_is_no_date_is_refused(text: str) -> None:
    """An impossible date, a year out of range and a word are refused as dates."""
    with pytest.raises(QueryRefused, match="is not a date"):
        parse_date(text, end=True)
