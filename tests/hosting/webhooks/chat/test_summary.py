"""One-line summaries of events."""

import json

import pytest

from holdfast.hosting.webhooks.chat.payload_fields import read
from holdfast.hosting.webhooks.chat.summary import plain, summarize
from tests.hosting.webhooks.chat.samples import EVERY, ROOT, sample

SAID = {
    ("push", ""): "[ada/ship] 7 new commits pushed to It leaks by ada",
    ("create", ""): "[ada/ship] branch It leaks created by ada",
    ("delete", ""): "[ada/ship] branch It leaks deleted by ada",
    ("repository", "created"): "[ada/ship] repository created from It leaks by ada",
    ("repository", "edited"): "[ada/ship] repository settings changed from It leaks by ada",
    ("repository", "privatized"): "[ada/ship] repository made private from It leaks by ada",
    ("fork", ""): "[ada/ship] repository forked to bob/ship by ada",
    ("issues", "opened"): "[ada/ship] issue opened: #1 It leaks by ada",
    ("issues", "edited"): "[ada/ship] issue edited: #1 It leaks (was: It leaks) by ada",
    ("issues", "deleted"): "[ada/ship] issue deleted: #1 It leaks by ada",
    ("issue_assign", "assigned"): "[ada/ship] issue assigned: #1 It leaks to bob by ada",
    ("issue_assign", "unassigned"): "[ada/ship] issue unassigned: #1 It leaks (now bob) by ada",
    ("issue_label", "label_updated"): "[ada/ship] issue labels changed: #1 It leaks (+It leaks, -It leaks) by ada",
    ("issue_milestone", "milestoned"): "[ada/ship] issue added to a milestone: #1 It leaks (It leaks) by ada",
    ("issue_milestone", "demilestoned"): "[ada/ship] issue taken off its milestone: #1 It leaks by ada",
    ("issue_comment", "created"): "[ada/ship] new comment on issue #1 It leaks by ada",
    ("issue_comment", "deleted"): "[ada/ship] comment deleted on issue #1 It leaks by ada",
    ("issue_dependency", "added"): "[ada/ship] #1 It leaks now depends on bob/boat#2 It leaks by ada",
    ("issue_dependency", "removed"): "[ada/ship] #1 It leaks no longer depends on bob/boat#2 It leaks by ada",
    (
        "issue_unblocked",
        "unblocked",
    ): "[ada/ship] #1 It leaks is no longer blocked by bob/boat#2 It leaks by ada",
    ("pull_request", "closed"): "[ada/ship] pull request closed: #1 It leaks by ada",
    ("pull_request_comment", "edited"): "[ada/ship] comment edited on pull request #1 It leaks by ada",
}


@pytest.mark.parametrize(("kind", "action"), SAID)
def test_an_event_is_one_readable_line(kind: str, action: str) -> None:
    """The headline has the repository, the event, its subject and the user."""
    summary = summarize(kind, read(sample(kind, action)))
    assert summary is not None
    assert plain(summary.headline) == SAID[kind, action]


def test_every_event_has_a_summary() -> None:
    """Each event has a summary with a URL, which is that of the repository for deleted issues."""
    for kind, action in EVERY:
        summary = summarize(kind, read(sample(kind, action)))
        assert summary is not None
        assert summary.url.startswith(ROOT)
        if action == "deleted" and kind in {"issues", "pull_request", "repository"}:
            assert summary.url == f"{ROOT}/ada/ship"
            assert not any("/issues/" in piece.url for piece in summary.headline)


def test_a_fork_that_is_left_out_is_not_named() -> None:
    """The summary of such a fork leads to the forked repository."""
    payload = json.loads(sample("fork", "")) | {"repository": None}
    summary = summarize("fork", read(json.dumps(payload)))
    assert summary is not None
    assert (plain(summary.headline), summary.url) == ("[ada/ship] repository forked by ada", f"{ROOT}/ada/ship")


def test_a_push_lists_its_commits() -> None:
    """A push lists the first lines of five commits and the number of the others."""
    summary = summarize("push", read(sample("push", "")))
    assert summary is not None
    assert [plain(line) for line in summary.lines] == [
        *(f"{str(number) * 8} It leaks - It leaks" for number in range(5)),
        "and 2 more",
    ]
    one = json.loads(sample("push", ""))
    one |= {"commits": one["commits"][:1], "total_commits": 1}
    summary = summarize("push", read(json.dumps(one)))
    assert summary is not None
    assert "1 new commit pushed" in plain(summary.headline)
    assert len(summary.lines) == 1


def test_a_branch_of_any_name_has_an_address() -> None:
    """Special characters of a branch name are percent-encoded in its URL."""
    summary = summarize("create", read(sample("create", "", "feature/ä#1")))
    assert summary is not None
    assert summary.url == f"{ROOT}/ada/ship/src/branch/feature/%C3%A4%231"


def test_new_text_is_quoted() -> None:
    """The text of opened and edited issues and of new and edited comments is quoted, and no other text."""
    shown = {
        (kind, action): bool(story.body)
        for kind, action in EVERY
        for story in [summarize(kind, read(sample(kind, action)))]
        if story is not None
    }
    assert {event for event, has_text in shown.items() if has_text} == {
        *((kind, action) for kind in ("issues", "pull_request") for action in ("opened", "edited")),
        *(
            (kind, action)
            for kind in ("issue_comment", "pull_request_comment")
            for action in ("created", "edited")
        ),
    }
