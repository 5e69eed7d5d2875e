"""Closing keywords and issue references in commit messages and pull requests."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.hosting.services.closing_keywords import (
    LONGEST_READ,
    MOST_REFERENCES,
    MessageReference,
    parse_keywords,
    parse_message,
    parse_pull_keywords,
    parse_references,
)


def close(number: int, path: str = "") -> MessageReference:
    """Return a reference that closes an issue."""
    owner, _, name = path.partition("/")
    return MessageReference(number, True, owner, name)


def reopen(number: int) -> MessageReference:
    """Return a reference that reopens an issue."""
    return MessageReference(number, False)


CLOSING = ("close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved")


@pytest.mark.parametrize("word", [*CLOSING, *map(str.upper, CLOSING), *map(str.title, CLOSING)])
def test_every_keyword_closes(word: str) -> None:
    """Closing keywords are recognized in any letter case, and with or without a colon."""
    assert parse_keywords(f"{word} #12") == parse_keywords(f"Stop the leak ({word}: #12).\n") == [close(12)]


@pytest.mark.parametrize("word", ["reopen", "reopens", "reopened", "Reopens"])
def test_keywords_reopen(word: str) -> None:
    """Keywords that reopen an issue are recognized in any letter case, and with or without a colon."""
    assert parse_keywords(f"{word} #7") == parse_keywords(f"{word}: #7") == [reopen(7)]


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        ("closes owner/repo#3", [close(3, "owner/repo")]),
        ("Closes a-b_c.d/x.y-z#3, #4", [close(3, "a-b_c.d/x.y-z"), close(4)]),
        ("Resolved: #4, #5", [close(4), close(5)]),
        ("fixes #1,#2 and #3 & #4, and a/b#5", [close(1), close(2), close(3), close(4), close(5, "a/b")]),
        ("fixes #1, see #2", [close(1)]),
        ("fixes #1 #2", [close(1)]),
        (
            "fixes #1. Closes #2; resolves #3! (fix #4) [fix #5] **fix #6** 'fix #7'",
            [close(n) for n in range(1, 8)],
        ),
        ("fixes #1, reopens #2, #3 and closes #1", [close(1), reopen(2), reopen(3)]),
        ("This commit fixes\n#12 at last", [close(12)]),
        ("This commit fixes\r\n  #12,\r\n  #13", [close(12), close(13)]),
        ("fixes\n\n#12", []),
        ("fixes:#12", [close(12)]),
        ("fixes #007", [close(7)]),
        ("fixes #12's cause", [close(12)]),
        ("prefixes #1", []),
        ("hot-fix #1", []),
        ("fixes#1", []),
        ("fixesx #1", []),
        ("fixing #1", []),
        ("see #1", []),
        ("fixes # 1", []),
        ("fixes #", []),
        ("fixes #0", []),
        ("fixes #1.5", []),
        ("fixes #1st", []),
        ("fixes #1/2", []),
        ("fixes #-1", []),
        ("fixes #12a", []),
        ("fixes ##1", []),
        ("fixes a/b/c#1", []),
        ("fixes /b#1", []),
        ("fixes repo#1", []),
        ("fixes #99999999999999999999", []),
        ("fixes #٣", []),
        ("fixes !3", []),
        ("fixes\0#1", []),
        ("", []),
        ("#", []),
    ],
)
def test_references_are_told_from_other_text(message: str, asks: list[MessageReference]) -> None:
    """Keywords and numbers are whole words, and a keyword applies to a list with commas or `and`."""
    assert parse_keywords(message) == asks


@pytest.mark.parametrize(
    ("message", "count"),
    [
        ("fixes #1 " * 12_000, 1),
        (" ".join(f"fixes #{number}" for number in range(1, 20_000)), MOST_REFERENCES),
        ("fixes " + ", ".join(f"#{number}" for number in range(1, 20_000)), MOST_REFERENCES),
        ("fixes " * 20_000 + "#", 0),
        ("fixes " + "a" * 100_000 + "/b#1", 0),
        ("fixes " + "a/" * 50_000 + "#1", 0),
        ("fixes #1" + ", " * 50_000, 1),
        ("fixes" + " " * 100_000 + "#1", 0),
        ("x" * 70_000 + " fixes #1", 0),
    ],
)
def test_the_parsed_part_of_a_long_message_is_limited(message: str, count: int) -> None:
    """Only the beginning of a message is parsed for keywords, and it refers to a limited number of issues."""
    assert len(parse_keywords(message)) == count


PIECES = [
    *CLOSING[:3],
    "reopens",
    "#",
    "#1",
    "#22",
    "a/b#3",
    ":",
    ",",
    " and ",
    "&",
    " ",
    "\n",
    "\r\n",
    ".",
    "-",
    "é",
]


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join))
def test_any_text_can_be_parsed(message: str) -> None:
    """Each reference occurs in the message and is found once, and white space around the message is ignored."""
    asks = parse_keywords(message)
    assert len(set(asks)) == len(asks) <= MOST_REFERENCES
    assert asks == parse_keywords(f"\n {message} \n")
    for ask in asks:
        assert ask.number > 0
        assert re.search(f"#0*{ask.number}", message)
        assert not ask.owner or f"{ask.owner}/{ask.name}#" in message
        assert bool(ask.owner) == bool(ask.name)


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("see #12", ["#12"]),
        ("#1, #2; (#3) [#4] '#5' #1.", ["#1", "#2", "#3", "#4", "#5"]),
        ("Fixes #1 and a-b/c.d#2", ["#1", "a-b/c.d#2"]),
        ("#007", ["#7"]),
        ("#0 # 1 ## #1st #1.5 #1/2 a#1 x/#1 &#39; ##2 @#3 #1#2 #-1 #1234567890", []),
        ("https://example.org/#1 https://example.org/a/b#2", []),
        ("no issue", []),
    ],
)
def test_references_without_a_keyword(message: str, names: list[str]) -> None:
    """A reference is a `#` and a number that is no part of another word or URL."""
    assert [f"{one.owner}/{one.name}#{one.number}".lstrip("/") for one in parse_references(message)] == names
    assert all(message_reference.closes is None for message_reference in parse_references(message))


def test_the_number_of_references_is_limited() -> None:
    """A message with a thousand references has only as many as the limit, and a long path is no reference."""
    assert len(parse_references(" ".join(f"#{number}" for number in range(1, 1000)))) == MOST_REFERENCES
    assert parse_references("a/" * 40_000 + " #1") == []


@given(st.text(alphabet="#1a/ .-&", max_size=60))
@settings(max_examples=100)
def test_an_issue_after_a_keyword_is_a_reference_too(message: str) -> None:
    """Every issue that would be closed is also among the references."""
    said = f"fixes {message}"
    named = {(one.owner, one.name, one.number) for one in parse_references(said)}
    assert {(one.owner, one.name, one.number) for one in parse_keywords(said)} <= named


def test_keywords_come_before_references() -> None:
    """Keywords are first in the result, and a message without a number sign has no result."""
    assert parse_message("see #2, fixes #1") == [
        MessageReference(1, True),
        MessageReference(2, None),
        MessageReference(1, None),
    ]
    assert list(parse_message("fixes it")) == []


def test_keywords_in_code_of_a_pull_request_do_not_count() -> None:
    """The body of a pull request is Markdown; its title and commit messages are plain text."""
    body = "`fixes #2`, fixes #3\n\n```\nfixes #4\n```\n<!-- fixes #5 -->\n\nReopens #6\n\nfixes `x` #7"
    assert parse_pull_keywords("`Fixes #1`", body) == [close(1), close(3), reopen(6)]
    assert parse_keywords("`fixes #2`") == [close(2)]


def test_a_pull_request_is_parsed_as_far_as_a_commit_message() -> None:
    """Keywords after the length limit of the body are ignored."""
    assert parse_pull_keywords("Title", "fixes #1 " + "x" * LONGEST_READ + " fixes #2") == [close(1)]
