"""The query syntax of issue lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.web.issues.search_text import SORT_NAMES, IssueSearchText, parse_search, write_search

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=20)
TITLES = NAMES.map(str.strip).filter(bool)
PEOPLE = st.one_of(st.just(""), st.sampled_from(["none", "*", "@me", "ada"]))
SEARCHES = st.builds(
    IssueSearchText,
    state=st.sampled_from(["open", "closed", "all"]),
    kind=st.sampled_from(["issues", "pulls", "all"]),
    labels=st.lists(TITLES, max_size=3, unique=True).map(tuple),
    milestone=st.one_of(st.just(""), TITLES),
    assignee=PEOPLE,
    author=st.sampled_from(["", "ada", "@me"]),
    review_requested=st.sampled_from(["", "ada", "@me"]),
    reviewed_by=st.sampled_from(["", "ada", "none"]),
    is_blocked=st.sampled_from([None, True, False]),
    sort=st.sampled_from(sorted(set(SORT_NAMES) - {"newest"})),
    words=st.sampled_from(["", "tide", "high tide", '"high tide"', "http://example.org", "is:cool"]),
)


@given(SEARCHES)
def test_search_text_round_trips(search: IssueSearchText) -> None:
    """Any search is written as text that is parsed to the same search, with names quoted and escaped."""
    assert parse_search(write_search(search)) == search


@given(st.text(max_size=200))
def test_any_text_is_a_search(text: str) -> None:
    """Any text is parsed to a search that stays the same when it is written and parsed again."""
    once = parse_search(text)
    assert parse_search(write_search(once)) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", IssueSearchText()),
        ("high tide", IssueSearchText(words="high tide")),
        ("is:open tide", IssueSearchText(state="open", kind="all", words="tide")),
        ("is:pr label:a label:a", IssueSearchText(state="all", kind="pulls", labels=("a",))),
        ('label:"a \\"b\\""', IssueSearchText(state="all", kind="all", labels=('a "b"',))),
        ("no:assignee", IssueSearchText(state="all", kind="all", assignee="none")),
        (
            "review-requested:@me reviewed-by:ada",
            IssueSearchText(state="all", kind="all", review_requested="@me", reviewed_by="ada"),
        ),
        (
            "is:blocked sort:updated",
            IssueSearchText(state="all", kind="all", is_blocked=True, sort="recentupdate"),
        ),
        ('label: label:"" is:cool http://x', IssueSearchText(words='label: label:"" is:cool http://x')),
        ('label:"open', IssueSearchText(words='label:"open')),
    ],
)
def test_a_search_text_is_parsed(text: str, expected: IssueSearchText) -> None:
    """Qualifiers are found, and everything else is a word."""
    assert parse_search(text) == expected
