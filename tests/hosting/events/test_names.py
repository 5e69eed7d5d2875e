"""The names of events: what clients may ask for, and what that stands for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import EventRefused
from holdfast.hosting.events.names import ALLOWED, EVENTS, expanded

ISSUES = ("issues", "issue_assign", "issue_label", "issue_milestone", "issue_comment")
PULLS = (
    *("pull_request", "pull_request_assign", "pull_request_label", "pull_request_milestone"),
    *("pull_request_comment", "pull_request_review", "pull_request_sync", "pull_request_review_request"),
)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ("push",)),
        (["push"], ("push",)),
        (["PUSH", " Create "], ("create", "push")),
        (["push", "push"], ("push",)),
        (["issues"], ISSUES),
        (["issues_only"], ("issues",)),
        (["issue_label"], ("issue_label",)),
        (["pull_request"], PULLS),
        (["pull_request_only"], ("pull_request",)),
        (["pull_request_review", "wiki"], ("pull_request_review", "wiki")),
        (["push", "pull_request_review_approved"], ("push",)),
        (["issue_unblocked", "issue_dependency"], ("issue_dependency", "issue_unblocked")),
        (["*"], EVENTS),
    ],
)
def test_what_names_stand_for(names: list[str], expected: tuple[str, ...]) -> None:
    """In one order, each once, whatever the case."""
    assert expanded(names) == expected


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["pushes"], "unknown event 'pushes'"),
        (["push", ""], "unknown event ''"),
        (["pull_request_review_approved"], "ask for pull_request_review"),
    ],
)
def test_what_stands_for_nothing_is_refused(names: list[str], said: str) -> None:
    """With the names that would do."""
    with pytest.raises(EventRefused, match=said) as caught:
        expanded(names)
    assert all(name in str(caught.value) for name in ("push", "issue_unblocked", "issues_only"))


@given(st.lists(st.sampled_from(ALLOWED), min_size=1))
def test_what_was_expanded_stands_for_itself_or_more(names: list[str]) -> None:
    """A client that sends back what it was answered loses nothing."""
    assert set(expanded(names)) <= set(expanded(expanded(names)))
