"""Parsing of search queries."""

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
