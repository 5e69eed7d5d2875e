"""Transactions that change reviews: pending reviews, dismissal and limits."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import ReviewRefused
from holdfast.hosting.store import review_changes
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import Branches, Issue, NewIssue, open_issue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.review_changes import NewLineComment, NewReview
from holdfast.hosting.store.reviews import ReviewState, find_review, reviews_of
from holdfast.hosting.store.tables import comments, refs, reviews
from tests.hosting.repository_helpers import make_branches, make_people, make_repository

HEAD, OLD = "1" * 40, "2" * 40


@pytest.fixture
def home(database: Database, ada: Account) -> Repository:
    """Give Ada a repository."""
    return make_repository(database, ada)


@pytest.fixture
def pull(database: Database, ada: Account, home: Repository) -> Issue:
    """Open a pull request."""
    make_branches(database, home, OLD, "fix", "main")
    return open_issue(database, home, ada, NewIssue(title="p", branches=Branches("fix", "main", OLD)))


def new(state: str, commit: str = HEAD, count: int = 0) -> NewReview:
    """Return a review with line comments."""
    position = {"path": "a", "line": 1, "is_old_side": False, "line_commit_id": commit, "blob_id": OLD}
    new_line_comment = NewLineComment(body="b", commit_id=commit, diff_hunk="", **position)  # type: ignore[arg-type]  # by name
    return NewReview(state=ReviewState(state), body="b", commit_id=commit, comments=[new_line_comment] * count)


def test_concurrent_requests_create_one_pending_review(database: Database, home: Repository, pull: Issue) -> None:
    """Eight concurrent requests create one pending review with the comments of all of them."""
    (bob,) = make_people(database, "bob")
    with ThreadPoolExecutor(4) as pool:
        results = list(
            pool.map(
                lambda _: review_changes.save_review(database, home, pull, bob, new("PENDING", count=2)), range(8)
            )
        )
    assert len({review.id for review in results}) == 1
    with database.read() as connection:
        assert review_changes.comment_count(connection, results[0]) == 16
    again = {"issue_id": pull.id, "reviewer_id": bob.id, "state": "PENDING"}
    with pytest.raises(IntegrityError), database.write() as connection:
        connection.execute(insert(reviews), again)


def test_stale_approvals_are_dismissed(database: Database, home: Repository, pull: Issue, ada: Account) -> None:
    """Only approvals of an older head are dismissed, each with a timeline entry."""
    people = make_people(database, "bob", "cid", "dan", "eve")
    states = (("APPROVED", OLD), ("APPROVED", HEAD), ("REQUEST_CHANGES", OLD), ("COMMENT", OLD))
    created_reviews = [
        review_changes.save_review(database, home, pull, person, new(state, commit))
        for person, (state, commit) in zip(people, states, strict=True)
    ]
    with database.quick_write() as link:
        stale = review_changes.stale_approvals(link, pull, HEAD)
        review_changes.dismiss_approvals(link, pull, stale, actor_id=ada.id, now=5)
        assert review_changes.stale_approvals(link, pull, HEAD) == []
    assert stale == [created_reviews[0].id]
    found_reviews, _ = reviews_of(database, pull, None, skip=0, limit=10)
    assert [review.is_dismissed for review in found_reviews] == [True, False, False, False]
    with database.read() as connection:
        entries = connection.execute(select(comments.c.details).where(comments.c.kind == "dismiss_review"))
        assert entries.scalars().all() == [f'{{"review_id":{created_reviews[0].id}}}']


def test_a_review_has_a_limit_of_line_comments(database: Database, home: Repository, pull: Issue) -> None:
    """The limit counts the comments of all requests, and a refused request adds none."""
    (bob,) = make_people(database, "bob")
    review = review_changes.save_review(database, home, pull, bob, new("PENDING", count=999))
    for _ in range(2):
        with pytest.raises(ReviewRefused):
            review_changes.save_review(database, home, pull, bob, new("APPROVED", count=2))
    assert find_review(database, pull, review.id, bob.id).state == "PENDING"
    with database.read() as connection:
        assert review_changes.comment_count(connection, review) == 999


def test_the_head_is_that_of_the_ref_of_the_pull_request(
    database: Database, home: Repository, pull: Issue
) -> None:
    """The head is read from the pull request's ref; without one, as in older versions, from its branch."""
    with database.write() as connection:
        branch = (refs.c.repository_id == home.id, refs.c.name == "refs/heads/fix")
        connection.execute(update(refs).where(*branch).values(target=HEAD))
    assert review_changes.current_head(database, pull) == OLD
    with database.write() as connection:
        connection.execute(delete(refs).where(refs.c.name == "refs/pull/1/head"))
    assert review_changes.current_head(database, pull) == HEAD
    assert review_changes.current_head(database, replace(pull, is_closed=True)) == OLD
