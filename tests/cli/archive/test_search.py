"""`holdfast archive search`."""

import itertools
import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tests.cli.conftest import Run


def test_hits_are_shown_with_context(run: Run, chats_db: str) -> None:
    """A search shows hits with the messages before and after them, as text and as JSON."""
    command = ("archive", "search", chats_db, "dinner", "-n", "1")
    (hit,) = json.loads(run(*command, "-C", "1", "--json").out)["hits"]
    (before,), (after,) = hit["before"], hit["after"]
    lines = [line.strip() for line in run(*command, "-C", "1").out.splitlines()]
    assert lines[1::2] == [message["text"] for message in (before, hit["message"], after)]
    assert [line.strip() for line in run(*command).out.splitlines()][1::2] == [hit["message"]["text"]]


def test_all_filters_can_be_given_as_options(run: Run, chats_db: str) -> None:
    """Each filter gives the same hits as an option and as part of the query, and not all messages."""

    def found(*arguments: str) -> list[int]:
        result = run("archive", "search", chats_db, "--json", "-n", "500", *arguments)
        return [hit["message"]["id"] for hit in json.loads(result.out)["hits"]]

    chat = json.loads(run("archive", "chats", chats_db, "--json").out)[0]["name"]
    for query, *options in (
        (f'chat:"{chat}"', "--chat", chat),
        ("from:me", "--from", "me"),
        ("is:out", "--direction", "outgoing"),
        ("kind:poll", "--kind", "poll"),
        ("since:2025", "--since", "2025"),
        ("until:2024", "--until", "2024"),
        ("has:link", "--has-link"),
        ("has:media", "--has-media"),
    ):
        hits = found("", *options)
        assert hits == found(query), query
        assert 0 < len(hits) < 400, query


def test_the_next_page_is_named(run: Run, chats_db: str) -> None:
    """The first page prints the `--below` of the next page, which has other hits."""
    below = run("archive", "search", chats_db, "the", "-n", "2").err.split("--below ")[1].split()[0]
    command = ("archive", "search", chats_db, "the", "--json")
    four, first, second = (
        [hit["message"]["id"] for hit in json.loads(run(*command, *options).out)["hits"]]
        for options in (("-n", "4"), ("-n", "2"), ("-n", "2", "--below", below))
    )
    assert len(set(four)) == 4
    assert first + second == four


def test_nothing_found_is_a_no(run: Run, chats_db: str) -> None:
    """A search without a hit has exit status 1."""
    assert run("archive", "search", chats_db, "xylophonist").status == 1


def test_hostile_queries_are_one_line(run: Run, chats_db: str) -> None:
    """An invalid query is an error in one line, without control characters."""
    for query in ('"', "***", "since:x", "kind:[red]x"):
        result = run("archive", "search", chats_db, query)
        assert result.status == 2
        assert len(result.err.splitlines()) == 1
    result = run("archive", "search", chats_db, "tea chat:[red]\x9b31mx")
    assert (result.status, len(result.err.splitlines())) == (1, 1)
    assert "\x9b" not in result.err


def test_words_find_what_begins_so_unless_whole_ones_are_wanted(run: Run, chats_db: str) -> None:
    """A word finds all words with that prefix, but a phrase and an excluded word match whole words only."""

    def found(*arguments: str) -> set[int]:
        result = run("archive", "search", chats_db, "--json", "-n", "500", *arguments)
        return {hit["message"]["id"] for hit in json.loads(result.out)["hits"]}

    exact = found("dinner", "--whole-words")
    assert exact
    assert found("dinn", "--whole-words") == set()
    assert found("dinn") == found("dinn*", "--whole-words") >= exact
    assert found('"dinn"') == set()
    assert found("dinn -dinne") == found("dinn")


def test_dates_are_those_of_the_zone(run: Run, chats_db: str) -> None:
    """A message is found by the date it is shown with, as an option and in the query."""
    (hit,) = json.loads(run("archive", "search", chats_db, "dinner", "-n", "1", "--json").out)["hits"]
    sent = datetime.fromtimestamp(hit["message"]["sent_ms"] / 1000, UTC)
    # It is always another day 26 hours to the west.
    east, west = "Pacific/Kiritimati", "Etc/GMT+12"
    days = {zone: f"{sent.astimezone(ZoneInfo(zone)):%Y-%m-%d}" for zone in (east, west)}
    for zone, day in itertools.product((east, west), days.values()):
        for query, *options in (
            ("dinner", "--since", day, "--until", day),
            (f"dinner since:{day} until:{day}",),
            (f"since:{day} until:{day}",),
        ):
            result = run("archive", "search", chats_db, query, *options, "--zone", zone, "-n", "500", "--json")
            found = {found["message"]["id"] for found in json.loads(result.out)["hits"]}
            assert (hit["message"]["id"] in found) == (day == days[zone]), (query, zone, day)


def test_times_are_in_the_zone_that_is_asked_for(run: Run, chats_db: str) -> None:
    """Times are shown in the zone of `--zone` with its name."""
    utc = run("archive", "search", chats_db, "dinner", "-n", "1", "--zone", "UTC").out.splitlines()[0]
    tokyo = run("archive", "search", chats_db, "dinner", "-n", "1", "--zone", "Asia/Tokyo").out.splitlines()[0]
    assert " UTC " in utc
    assert " JST " in tokyo
    earlier, later = (datetime.fromisoformat(line[:16]) for line in (utc, tokyo))
    assert later - earlier == timedelta(hours=9)
    assert "latest (Asia/Tokyo)" in run("archive", "chats", chats_db, "--zone", "Asia/Tokyo").out
    assert run("archive", "chats", chats_db, "--zone", "Nowhere").status != 0
