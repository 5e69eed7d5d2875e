"""Names of webhook events: groups, expansion and validation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import EventRefused
from holdfast.hosting.store.event_types import ALLOWED, EVENTS, event_names, expand_events, unknown_events

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
        (["push", "", "pushes", "\0"], ("push",)),
        (["issue_unblocked", "issue_dependency"], ("issue_dependency", "issue_unblocked")),
        (["*"], EVENTS),
    ],
)
def test_names_of_events_are_expanded(names: list[str], expected: tuple[str, ...]) -> None:
    """Names and groups of events are expanded in a fixed order, each once, in any case."""
    assert expand_events(names) == expected


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["pushes"], "unknown event 'pushes'"),
        ([""], "unknown event ''"),
        (["pushes", "it's"], "unknown event 'pushes', \"it's\"; allowed"),
        (["é" * 101], "unknown event '(.xe9){100}'; allowed"),
        ([f"e{number}" for number in range(12)], "'e9' and 2 more; allowed"),
        (["pull_request_review_approved"], "use pull_request_review"),
    ],
)
def test_unknown_names_are_refused(names: list[str], said: str) -> None:
    """An unknown name of an event is refused with an error that lists the valid names."""
    with pytest.raises(EventRefused, match=said) as excinfo:
        expand_events(names)
    assert all(name in str(excinfo.value) for name in ("push", "issue_unblocked", "issues_only"))


def test_unknown_names_are_named() -> None:
    """Unknown names are returned once each, in lower case and in the given order."""
    names = ["push", "Pushes ", "issues_only", "pushes", "*", "pull_request_review_approved", ""]
    assert unknown_events(names) == ["pushes", "pull_request_review_approved", ""]
    assert unknown_events(ALLOWED) == unknown_events([]) == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["issues"], ISSUES),
        (["issues_only"], ("issues_only",)),
        (["issues_only", "issue_label", "pull_request"], ("issues_only", "issue_label", *PULLS)),
        (["pull_request_only", "push"], ("push", "pull_request_only")),
        (["*"], EVENTS),
    ],
)
def test_events_are_shown_by_name_or_group(names: list[str], expected: tuple[str, ...]) -> None:
    """A complete group is shown by its name, and a partial one by its events."""
    assert event_names(",".join(expand_events(names))) == expected


@given(st.lists(st.sampled_from(ALLOWED), min_size=1))
def test_shown_names_expand_to_the_stored_events(names: list[str]) -> None:
    """A client that sends the returned names back does not change the subscription."""
    stored = expand_events(names)
    assert expand_events(event_names(",".join(stored))) == stored
    assert set(event_names(",".join(stored))) <= set(ALLOWED)


@given(st.sets(st.sampled_from(EVENTS), min_size=1))
def test_every_set_of_events_can_be_shown(events: set[str]) -> None:
    """Any set of events, also one that the API cannot set, can be shown by names that expand to the same set."""
    stored = ",".join(event for event in EVENTS if event in events)
    assert ",".join(expand_events(event_names(stored))) == stored
