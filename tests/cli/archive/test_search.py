"""`holdfast archive search`."""

import json

from tests.cli.conftest import Run


def test_hits_are_shown_with_context(run: Run, chats_db: str) -> None:
    """And as JSON."""
    assert run("archive", "search", chats_db, "the", "-C", "1").status == 0
    hits = json.loads(run("archive", "search", chats_db, "the", "--json", "-C", "1", "--by", "rank").out)
    assert hits["hits"][0]["message"]["text"]
    assert "before" in hits["hits"][0]


def test_all_filters_can_be_given_as_options(run: Run, chats_db: str) -> None:
    """As well as in the query."""
    options = ("--from", "me", "--direction", "outgoing", "--kind", "message")
    dates = ("--since", "2000", "--until", "2100")
    hits = json.loads(run("archive", "search", chats_db, "the", *options, *dates, "--json").out)
    assert hits["hits"]
    assert {hit["message"]["direction"] for hit in hits["hits"]} == {"outgoing"}
    assert run("archive", "search", chats_db, "", "--has-link").status == 0
    assert run("archive", "search", chats_db, "", "--has-media").status == 0


def test_the_next_page_is_named(run: Run, chats_db: str) -> None:
    """And begins where the last one ended."""
    first = run("archive", "search", chats_db, "the", "-n", "2")
    below = first.err.split("--below ")[1].split()[0]
    second = run("archive", "search", chats_db, "the", "-n", "2", "--below", below)
    assert second.status == 0
    assert second.out != first.out


def test_nothing_found_is_a_no(run: Run, chats_db: str) -> None:
    """For scripts."""
    assert run("archive", "search", chats_db, "xylophonist").status == 1


def test_hostile_queries_are_one_line(run: Run, chats_db: str) -> None:
    """Never a traceback."""
    for query in ('"', "***", "since:x", "kind:[red]x"):
        result = run("archive", "search", chats_db, query)
        assert result.status == 2
        assert len(result.err.splitlines()) == 1
    result = run("archive", "search", chats_db, "tea chat:[red]\x9b31mx")
    assert (result.status, len(result.err.splitlines())) == (1, 1)
    assert "\x9b" not in result.err


def test_words_find_what_begins_so_unless_whole_ones_are_wanted(run: Run, chats_db: str) -> None:
    """As in the HTML export; a phrase and an unwanted word stay whole."""

    def found(*arguments: str) -> set[int]:
        result = run("archive", "search", chats_db, "--json", "-n", "500", *arguments)
        return {hit["message"]["id"] for hit in json.loads(result.out)["hits"]}

    exact = found("dinner", "--whole-words")
    assert exact
    assert found("dinn", "--whole-words") == set()
    assert found("dinn") == found("dinn*", "--whole-words") >= exact
    assert found('"dinn"') == set()
    assert found("dinn -dinne") == found("dinn")


def test_times_are_in_the_zone_that_is_asked_for(run: Run, chats_db: str) -> None:
    """Each says which it is."""
    utc = run("archive", "search", chats_db, "dinner", "-n", "1", "--zone", "UTC").out.splitlines()[0]
    tokyo = run("archive", "search", chats_db, "dinner", "-n", "1", "--zone", "Asia/Tokyo").out.splitlines()[0]
    assert " UTC " in utc
    assert " JST " in tokyo
    assert "latest (Asia/Tokyo)" in run("archive", "chats", chats_db, "--zone", "Asia/Tokyo").out
    assert run("archive", "chats", chats_db, "--zone", "Nowhere").status != 0
