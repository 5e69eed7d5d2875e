"""Timeline entries that only pull requests have."""

from dataclasses import replace
from typing import Any

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import pulls, repositories
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.line_comments import CurrentPosition
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import review_changes
from holdfast.hosting.store.comments import Comment, entries_of
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.repositories import repository_by_id
from holdfast.hosting.store.review_changes import LinePlace, NewLineComment, NewReview
from holdfast.hosting.store.reviews import ReviewState
from holdfast.web.pulls.timeline import (
    LONGEST_LINE,
    HunkLine,
    hunk_lines,
    pull_timeline,
    remark_of,
    with_suggestion,
)
from tests.hosting.repository_helpers import add_commit, make_people
from tests.hosting.services.scenario import Scenario

PLACE = LinePlace(1, 2, "a.txt", 7, False, "c" * 40, "c" * 40, "b" * 40, "@@ -1 +1 @@\n-old\n+new", None, 0)
SUGGESTION = "```suggestion\nbetter\n```"


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Make the people, and a repository with the branches main and fix."""
    owner, writer, reader = make_people(app.database, "ada", "bob", "eve")
    ship = repositories.create(app, owner, owner, NewRepository(name="ship"), {"b": b"b"})
    add_commit(app.database, ship, "fix")
    return Scenario(app, repository_by_id(app.database, ship.id), owner, writer, reader)


@pytest.fixture
def pull(scenario: Scenario) -> Issue:
    """Open a pull request of fix into main."""
    return pulls.create(*scenario.caller(scenario.owner), IssueDraft(title="p"), head="fix", base="main")


def test_the_last_lines_of_a_hunk_are_shown() -> None:
    """The header of the hunk is left out, and long lines are truncated."""
    hunk = "@@ -1,5 +1,5 @@\n one\n two\n-three\n+3\n four\n\\ No newline at end of file"
    assert hunk_lines(hunk, 3) == [HunkLine("del", "three"), HunkLine("add", "3"), HunkLine("same", "four")]
    assert len(hunk_lines(hunk)) == 4
    assert len(hunk_lines("+" + "x" * 1000)[0].text) == LONGEST_LINE
    assert hunk_lines("") == []


def test_a_line_comment_is_where_its_line_is_now() -> None:
    """A comment whose line is gone or unknown is outdated and keeps its first position."""
    moved = remark_of(PLACE, CurrentPosition("b.txt", 9, "d" * 40), None)
    assert (moved.path, moved.line, moved.is_outdated) == ("b.txt", 9, False)
    for position in (None, CurrentPosition("a.txt", 0, "c" * 40)):
        gone = remark_of(PLACE, position, None)
        assert (gone.path, gone.line, gone.is_outdated) == ("a.txt", 7, True)
    assert not moved.is_resolved
    assert remark_of(replace(PLACE, resolved_at=5), None, None).is_resolved


@pytest.mark.parametrize(
    ("remark", "issue", "body", "expected"),
    [
        ({}, {}, SUGGESTION, True),
        ({}, {}, "no suggestion", False),
        ({"is_outdated": True}, {}, SUGGESTION, False),
        ({"is_resolved": True}, {}, SUGGESTION, False),
        ({"is_old_side": True}, {}, SUGGESTION, False),
        ({}, {"is_closed": True}, SUGGESTION, False),
    ],
)
def test_a_suggestion_is_offered_where_it_can_be_applied(
    pull: Issue, remark: dict[str, Any], issue: dict[str, Any], body: str, *, expected: bool
) -> None:
    """A comment that is outdated, resolved or on the old side, and a closed pull request, offer none."""
    created = replace(remark_of(PLACE, CurrentPosition("a.txt", 7, "c" * 40), None), **remark)
    comment = Comment(1, pull.id, "code", None, body, "{}", 0, 0)
    assert with_suggestion(created, comment, replace(pull, **issue)).has_suggestion is expected


def test_reviews_and_line_comments_are_loaded_by_what_the_entries_name(scenario: Scenario, pull: Issue) -> None:
    """Only the reviews and comments that the entries refer to are loaded."""
    app, actor, target = scenario.caller(scenario.owner)
    head = pull.head_sha
    line = NewLineComment(
        body="b",
        path="a",
        line=1,
        is_old_side=False,
        commit_id=head,
        line_commit_id=head,
        blob_id=head,
        diff_hunk="+a",
    )
    new = NewReview(state=ReviewState.COMMENT, body="b", commit_id=head, comments=[line])
    review = review_changes.save_review(app.database, scenario.repository, pull, scenario.writer, new)
    request = RequestContext(app, {"type": "http", "headers": []})
    request.actor = actor
    entries = entries_of(app.database, pull, plain=False, skip=0, limit=50)[0]
    found_pull_timeline = pull_timeline(request, target, pull, entries)
    assert set(found_pull_timeline.reviews) == {review.id}
    (remark,) = found_pull_timeline.remarks.values()
    assert (remark.path, remark.line, remark.hunk) == ("a", 1, [HunkLine("add", "a")])
    nothing = pull_timeline(request, target, pull, [])
    assert (nothing.reviews, nothing.remarks) == ({}, {})


def test_a_push_lists_its_last_commits_with_their_summaries(scenario: Scenario, pull: Issue) -> None:
    """At most ten commits are listed, a missing one has no summary, and an invalid entry is left out."""
    app, _, target = scenario.caller(scenario.owner)
    ids = [*(f"{number:040x}" for number in range(1, 12)), pull.head_sha]
    listed = ", ".join(f'"{item}"' for item in ids)
    body = f'{{"is_force_push": false, "commit_ids": [{listed}]}}'
    entries = [
        Comment(number, pull.id, "pull_push", None, text, "{}", 0, 0) for number, text in ((1, body), (2, "?"))
    ]
    found_pull_timeline = pull_timeline(
        RequestContext(app, {"type": "http", "headers": []}), target, pull, entries
    )
    assert list(found_pull_timeline.pushes) == [1]
    assert (found_pull_timeline.pushes[1].total, len(found_pull_timeline.pushes[1].commits)) == (12, 10)
    assert found_pull_timeline.pushes[1].commits[0] == (ids[2], "")
    assert found_pull_timeline.pushes[1].commits[-1] == (pull.head_sha, "Initial commit")
