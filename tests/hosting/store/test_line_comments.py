"""Line comments of reviews in the database."""

import pytest

from holdfast.hosting.errors import NoSuchComment, NotLineComment
from holdfast.hosting.store import line_comments, review_changes
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.comments import add_comment
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import Branches, Issue, NewIssue, open_issue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.review_changes import NewLineComment, NewReview
from holdfast.hosting.store.reviews import Review, ReviewState
from tests.hosting.repository_helpers import make_branches, make_people, make_repository

HEAD = "1" * 40


@pytest.fixture
def pull(database: Database, ada: Account, repository: Repository) -> Issue:
    """Open a pull request."""
    make_branches(database, repository, HEAD, "fix", "main")
    return open_issue(database, repository, ada, NewIssue(title="p", branches=Branches("fix", "main", HEAD)))


@pytest.fixture
def bob(database: Database) -> Account:
    """Make a reviewer."""
    return make_people(database, "bob")[0]


def review(
    database: Database, repository: Repository, pull: Issue, user: Account, *paths: str, state: str = "COMMENT"
) -> Review:
    """Write a review with a comment on the first line of each of some files."""
    position = {"line": 1, "is_old_side": False, "line_commit_id": HEAD, "blob_id": HEAD, "diff_hunk": "+x"}
    new = [
        NewLineComment(body=f"on {path}", path=path, commit_id=HEAD, **position)  # type: ignore[arg-type]  # by name
        for path in paths
    ]
    new_review = NewReview(state=ReviewState(state), body="b", commit_id=HEAD, comments=new)
    return review_changes.save_review(database, repository, pull, user, new_review)


def test_the_comments_of_a_review_are_listed_in_pages(
    database: Database, repository: Repository, pull: Issue, bob: Account
) -> None:
    """The positions of the comments are listed oldest first, with their total."""
    created_review = review(database, repository, pull, bob, "a", "b", "c")
    review(database, repository, pull, bob, "d")
    places, total = line_comments.places_in_review(database, created_review, skip=1, limit=1)
    assert [(place.path, place.diff_hunk) for place in places] == [("b", "+x")]
    assert total == 3
    ids = [
        place.comment_id for place in line_comments.places_in_review(database, created_review, skip=0, limit=9)[0]
    ]
    assert len(ids) == 3
    assert ids == sorted(ids)


def test_pending_comments_are_visible_to_their_author_only(
    database: Database, repository: Repository, pull: Issue, ada: Account, bob: Account
) -> None:
    """A pending line comment is listed only for its author, and the list has a limit."""
    review(database, repository, pull, ada, "a")
    review(database, repository, pull, bob, "b", state="PENDING")

    def seen(viewer: int | None, limit: int = 9) -> list[str]:
        return [
            position.path for _, position in line_comments.line_comments_in(database, pull, viewer, limit=limit)
        ]

    assert seen(bob.id) == ["a", "b"]
    assert seen(ada.id) == seen(None) == ["a"]
    assert seen(bob.id, 1) == ["a"]


def test_a_submitted_line_comment_is_found_with_its_pull_request(
    database: Database, repository: Repository, pull: Issue, ada: Account, bob: Account
) -> None:
    """A pending comment, one of another repository and one without a line are not found as line comments."""
    review(database, repository, pull, ada, "a")
    review(database, repository, pull, bob, "b", state="PENDING")
    (said, place), (pending, _) = line_comments.line_comments_in(database, pull, bob.id, limit=9)
    line_place, issue = line_comments.find_line_comment(database, repository, said.id)
    assert (line_place, issue.id) == (place, pull.id)
    for where, number in ((repository, pending.id), (make_repository(database, ada, "other"), said.id)):
        with pytest.raises(NoSuchComment):
            line_comments.find_line_comment(database, where, number)
    plain = add_comment(database, repository, pull, ada, "hello")
    with pytest.raises(NotLineComment):
        line_comments.find_line_comment(database, repository, plain.id)
    assert line_comments.places_of(database, [said.id, plain.id]) == {said.id: place}
    assert line_comments.places_of(database, []) == {}


def test_the_resolver_of_a_conversation_is_stored(
    database: Database, repository: Repository, pull: Issue, ada: Account, bob: Account
) -> None:
    """Resolved conversations have the user who resolved them, and open ones are left out."""
    review(database, repository, pull, bob, "a", "b")
    (first, place), (second, _) = line_comments.line_comments_in(database, pull, None, limit=9)
    assert line_comments.resolvers(database, [first.id, second.id]) == {}
    review_changes.set_resolved(database, repository, pull, ada, place, resolved=True)
    assert line_comments.resolvers(database, [first.id, second.id]) == {first.id: ada.id}
    assert line_comments.resolvers(database, []) == {}


def test_only_the_author_deletes_a_pending_comment(
    database: Database, repository: Repository, pull: Issue, ada: Account, bob: Account
) -> None:
    """Another user cannot delete a pending comment, and a submitted one is not deleted this way."""
    review(database, repository, pull, ada, "a")
    review(database, repository, pull, bob, "b", state="PENDING")
    (said, _), (pending, _) = line_comments.line_comments_in(database, pull, bob.id, limit=9)
    assert not line_comments.delete_pending_comment(database, pull, ada, pending.id)
    assert not line_comments.delete_pending_comment(database, pull, ada, said.id)
    assert line_comments.delete_pending_comment(database, pull, bob, pending.id)
    assert not line_comments.delete_pending_comment(database, pull, bob, pending.id)
    assert [comment.id for comment, _ in line_comments.line_comments_in(database, pull, bob.id, limit=9)] == [
        said.id
    ]
