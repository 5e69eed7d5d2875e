"""Line comments: the lines that they may be on, and where these lines are later."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidReference,
    LoginRequired,
    NoSuchComment,
    RepositoryArchived,
    ReviewRefused,
)
from holdfast.hosting.git.line_positions import file_at
from holdfast.hosting.git.patches import LARGEST
from holdfast.hosting.services import line_comments, pulls, repositories, reviews
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import commit_files
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.line_comments import (
    CurrentPosition,
    LineDraft,
    current_positions,
    new_line_comments,
)
from holdfast.hosting.services.reviews import ReviewDraft
from holdfast.hosting.store import line_comments as store
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import repository_by_id
from holdfast.hosting.store.review_changes import LinePlace, NewLineComment
from holdfast.hosting.store.reviews import Review
from tests.hosting.services.commit_helpers import AUTHOR, commit_request, file_change
from tests.hosting.services.scenario import Caller, Scenario, make_scenario

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)

OLD = b"".join(b"line %d\n" % number for number in range(1, 11))


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users, and a repository with a file of ten lines."""
    created_scenario = make_scenario(app)
    write(created_scenario, "main", file_change("hull", OLD))
    return created_scenario


def write(scenario: Scenario, branch: str, *changes: FileChange, new_branch: str = "") -> str:
    """Commit files to a branch, or from it to a new one."""
    request = commit_request(
        scenario.app, scenario.repository, *changes, branch=branch, new_branch=new_branch or branch
    )
    return commit_files(scenario.app, request).commit.id


def changed(scenario: Scenario, branch: str, content: bytes, path: str = "hull", *, new_branch: str = "") -> str:
    """Commit another content of a file."""
    repo = scenario.app.copies.update(scenario.repository.id)
    tip = repository_log.find_ref(scenario.app.database, scenario.repository.id, f"refs/heads/{branch}") or ""
    file = file_at(repo, tip, path)
    assert file is not None
    change = file_change(path, content, "update", sha=file.blob_id)
    return write(scenario, branch, change, new_branch=new_branch)


def open_pull(scenario: Scenario, head: str = "fix") -> Issue:
    """Open a pull request to main."""
    draft = IssueDraft(title="Stop the leak")
    return pulls.create(*caller(scenario, scenario.writer), draft, head=head, base="main")


def comment(scenario: Scenario, issue: Issue, commit: str, **draft: str | int) -> NewLineComment:
    """Return a comment on a line of the file."""
    app, _, target = caller(scenario, scenario.reader)
    given = LineDraft(**{"path": "hull", "body": "b", **draft})  # type: ignore[arg-type]  # the values have the types of the fields
    (made,) = new_line_comments(app, target, issue, [given], commit)
    return made


def caller(scenario: Scenario, user: Account | None) -> Caller:
    """Return the arguments of a service for the repository with the commits that it has now."""
    return scenario.caller(user, repository_by_id(scenario.app.database, scenario.repository.id))


def place_of(made: NewLineComment, number: int = 1) -> LinePlace:
    """Return the place of a comment as it is stored."""
    return LinePlace(
        number,
        1,
        made.path,
        made.line,
        made.is_old_side,
        made.commit_id,
        made.line_commit_id,
        made.blob_id,
        made.diff_hunk,
        resolver_id=None,
        resolved_at=0,
    )


def stored(scenario: Scenario, review: Review) -> list[int]:
    """Return the ids of the line comments of a review."""
    places, _ = store.places_in_review(scenario.app.database, review, skip=0, limit=10)
    return [place.comment_id for place in places]


def positions(scenario: Scenario, issue: Issue, head: str, *made: NewLineComment) -> dict[int, CurrentPosition]:
    """Return where the lines of comments are at a head; the comments are numbered from 1."""
    app, _, target = caller(scenario, scenario.reader)
    places = [place_of(each, number) for number, each in enumerate(made, 1)]
    return current_positions(app, target, issue, places, head)


def test_the_old_side_is_that_of_the_merge_base(scenario: Scenario) -> None:
    """A pull request that took in commits of its base is compared with the newest of them, not with the first."""
    changed(scenario, "main", OLD + b"end\n", new_branch="fix")
    issue = open_pull(scenario)
    middle = changed(scenario, "main", OLD + b"line 11\nline 12\n")
    head = changed(scenario, "main", OLD, new_branch="second")
    changed(scenario, "main", b"line 1\n")
    made = comment(scenario, issue, head, old_position=12)
    assert (made.line, made.is_old_side, made.line_commit_id, made.commit_id) == (12, True, middle, head)
    assert made.diff_hunk.splitlines()[1:] == [" line 9", " line 10", "-line 11", "-line 12"]
    with pytest.raises(InvalidReference, match="no line 13"):
        comment(scenario, issue, head, old_position=13)


def test_the_old_side_of_a_closed_pull_request_is_what_it_was_opened_against(scenario: Scenario) -> None:
    """Its base branch may contain the commits by now, and nothing would be changed; or it may be deleted."""
    head = changed(scenario, "main", b"line 1\n", new_branch="fix")
    issue = open_pull(scenario)
    base = issue.base_sha
    with scenario.app.database.write() as connection:
        update = RefUpdate("refs/heads/main", base, head)
        repository_log.append(connection, scenario.repository.id, [(None, update)], [])
    for late in (replace(issue, is_closed=True), replace(issue, base_branch="deleted")):
        assert comment(scenario, late, head, old_position=10).line_commit_id == base
    with pytest.raises(InvalidReference):
        comment(scenario, issue, head, old_position=10)


def test_branches_without_a_common_ancestor_have_the_base_branch_as_old_side(scenario: Scenario) -> None:
    """There is no other commit to compare the head with."""
    changed(scenario, "main", b"line 1\n", new_branch="fix")
    issue = open_pull(scenario)
    commit, pack = repositories.initial_commit({"hull": b"oak\n"}, AUTHOR)
    with scenario.app.database.write() as connection:
        new = RefUpdate("refs/heads/orphan", "0" * 40, commit)
        repository_log.append(connection, scenario.repository.id, [(None, new)], [pack])
    assert comment(scenario, issue, commit, old_position=10).line_commit_id == issue.base_sha


def test_a_comment_on_a_line_that_does_not_exist_is_refused(scenario: Scenario) -> None:
    """Nor is one accepted whose text or path is empty or too long, or more than a hundred at once."""
    head = write(scenario, "main", file_change("mast", b"fir\n"), new_branch="fix")
    issue = open_pull(scenario)
    assert comment(scenario, issue, head, path="mast", new_position=1).line_commit_id == head
    for place in ({}, {"new_position": -1}, {"old_position": -1}):
        with pytest.raises(ReviewRefused):
            comment(scenario, issue, head, **place)
    with pytest.raises(InvalidReference, match="before the change"):
        comment(scenario, issue, head, path="mast", old_position=1)
    with pytest.raises(InvalidReference, match="after the change"):
        comment(scenario, issue, head, path="sail", new_position=1)
    for draft in ({"body": " "}, {"body": "b" * 65_537}, {"path": "p" * 4097}):
        with pytest.raises(InvalidField):
            comment(scenario, issue, head, new_position=1, **draft)
    app, _, target = caller(scenario, scenario.reader)
    line = LineDraft(path="hull", body="b", new_position=1)
    assert new_line_comments(app, target, issue, [], head) == []
    assert len(new_line_comments(app, target, issue, [line] * 100, head)) == 100
    with pytest.raises(InvalidField):
        new_line_comments(app, target, issue, [line] * 101, head)
    with pytest.raises(Forbidden):
        new_line_comments(app, caller(scenario, None)[2], issue, [line], head)


def test_a_file_that_is_too_large_to_compare_has_comments_without_a_hunk(scenario: Scenario) -> None:
    """Their lines are not followed when it changes."""
    large = b"x" * (LARGEST + 1) + b"\n"
    write(scenario, "main", file_change("cargo", large))
    head = changed(scenario, "main", b"y\n", "cargo", new_branch="fix")
    issue = open_pull(scenario)
    before = comment(scenario, issue, head, path="cargo", old_position=1)
    after = comment(scenario, issue, head, path="cargo", new_position=1)
    assert [(made.diff_hunk, made.line) for made in (before, after)] == [("", 1), ("", 1)]
    larger = changed(scenario, "fix", large + b"y\n", "cargo")
    assert positions(scenario, issue, larger, after) == {1: CurrentPosition("cargo", 0, head)}


def test_lines_are_followed_on_both_sides(scenario: Scenario) -> None:
    """A line of the old side is looked for in the merge base; one that is gone keeps its commit and path."""
    head = changed(scenario, "main", OLD.replace(b"line 5\n", b""), new_branch="fix")
    head = write(scenario, "fix", file_change("mast", b"fir\n"))
    issue = open_pull(scenario)
    new, old = comment(scenario, issue, head, new_position=8), comment(scenario, issue, head, old_position=5)
    mast = comment(scenario, issue, head, path="mast", new_position=1)
    assert positions(scenario, issue, head, new, old) == {
        1: CurrentPosition("hull", 8, head),
        2: CurrentPosition("hull", 5, head),
    }
    unchanged = write(scenario, "fix", file_change("sail", b"cloth\n"))
    assert positions(scenario, issue, unchanged, new) == {1: CurrentPosition("hull", 8, unchanged)}
    changed(scenario, "main", b"line 0\n" + OLD)
    after = changed(scenario, "main", b"top\nline 0\n" + OLD.replace(b"line 5\n", b""), new_branch="second")
    assert positions(scenario, issue, after, new, old, mast) == {
        1: CurrentPosition("hull", 10, after),
        2: CurrentPosition("hull", 6, after),
        3: CurrentPosition("mast", 0, head),
    }


def test_lines_that_take_too_long_are_left_out(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were found until then are returned, and those on the head need no search."""
    head = changed(scenario, "main", OLD + b"end\n", new_branch="fix")
    issue = open_pull(scenario)
    made = [comment(scenario, issue, head, new_position=line) for line in (1, 2, 3)]
    after = changed(scenario, "fix", b"line 0\n" + OLD)
    on_head = comment(scenario, issue, after, new_position=1)
    clock = iter([0.0, 1.0, 1.5, 2.5])
    monkeypatch.setattr(line_comments, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    found = positions(scenario, issue, after, *made, on_head)
    assert {number: place.line for number, place in found.items()} == {1: 2, 2: 3, 4: 1}


def test_lines_are_not_searched_for_whoever_may_not_read_the_code(scenario: Scenario) -> None:
    """Positions on the head say no more than the comment does."""
    head = changed(scenario, "main", OLD + b"end\n", new_branch="fix")
    issue = open_pull(scenario)
    made = comment(scenario, issue, head, new_position=1)
    after = changed(scenario, "fix", b"line 0\n" + OLD)
    on_head = comment(scenario, issue, after, new_position=1)
    places = [place_of(made, 1), place_of(on_head, 2)]
    app, _, target = caller(scenario, None)
    assert current_positions(app, target, issue, places, after) == {2: CurrentPosition("hull", 1, after)}


def test_a_commented_version_that_is_gone_does_not_hide_other_comments(scenario: Scenario) -> None:
    """A force push may have removed it; the comment is left out, to be shown where it was."""
    head = changed(scenario, "main", OLD + b"end\n", new_branch="fix")
    issue = open_pull(scenario)
    made = comment(scenario, issue, head, new_position=1)
    after = changed(scenario, "fix", b"line 0\n" + OLD)
    gone = replace(made, commit_id="7" * 40, line_commit_id="7" * 40, blob_id="7" * 40)
    assert positions(scenario, issue, after, gone, made) == {2: CurrentPosition("hull", 2, after)}
    assert positions(scenario, issue, "7" * 40, made) == {}


def test_conversations_are_resolved_by_the_author_and_writers(scenario: Scenario) -> None:
    """Whoever may not read pull requests is told that there is no comment."""
    head = changed(scenario, "main", OLD + b"end\n", new_branch="fix")
    issue = open_pull(scenario)
    draft = LineDraft(path="hull", body="b", new_position=1)
    review = ReviewDraft(event="COMMENT", comments=[draft])
    made = reviews.create(*caller(scenario, scenario.reader), issue, review)
    database = scenario.app.database
    (number,) = stored(scenario, made)

    def resolver() -> int | None:
        return store.resolvers(database, [number]).get(number)

    with pytest.raises(NoSuchComment):
        line_comments.resolve(*caller(scenario, None), number)
    with pytest.raises(Forbidden):
        line_comments.resolve(*caller(scenario, scenario.reader), number)
    line_comments.resolve(*caller(scenario, scenario.writer), number)
    assert resolver() == scenario.writer.id
    line_comments.unresolve(*caller(scenario, scenario.owner), number)
    assert resolver() is None
    assert made.commit_id == head


def test_a_comment_of_a_pending_review_is_deleted_by_its_author_only(scenario: Scenario) -> None:
    """Nobody else may know of it, and one that was submitted is deleted like other comments."""
    changed(scenario, "main", OLD + b"end\n", new_branch="fix")
    issue = open_pull(scenario)
    draft = LineDraft(path="hull", body="b", new_position=1)
    pending = reviews.create(*caller(scenario, scenario.reader), issue, ReviewDraft(comments=[draft, draft]))
    first, second = stored(scenario, pending)
    with pytest.raises(LoginRequired):
        line_comments.delete_pending(*caller(scenario, None), issue, first)
    with pytest.raises(NoSuchComment):
        line_comments.delete_pending(*caller(scenario, scenario.owner), issue, first)
    with pytest.raises(RepositoryArchived):
        line_comments.delete_pending(*scenario.caller(scenario.reader, scenario.archived()), issue, first)
    line_comments.delete_pending(*caller(scenario, scenario.reader), issue, first)
    assert stored(scenario, pending) == [second]
    reviews.create(*caller(scenario, scenario.reader), issue, ReviewDraft(event="COMMENT", body="x"))
    with pytest.raises(NoSuchComment):
        line_comments.delete_pending(*caller(scenario, scenario.reader), issue, second)
