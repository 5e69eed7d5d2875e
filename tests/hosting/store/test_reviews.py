"""Reviews in the database: approvals that count, visibility and permitted reviewers."""

from dataclasses import replace

import pytest
from sqlalchemy import insert, select

from holdfast.hosting.access import Unit
from holdfast.hosting.errors import NoSuchReview
from holdfast.hosting.store import reviews
from holdfast.hosting.store.accounts import Account, find_account
from holdfast.hosting.store.database import Database, TransactionDatabase
from holdfast.hosting.store.issues import Branches, Issue, NewIssue, open_issue
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.reviews import OfficialReviews
from holdfast.hosting.store.tables import comments, review_comments, teams, users
from holdfast.hosting.store.tables import reviews as table
from tests.hosting.repository_helpers import (
    WRITE,
    access_for,
    every_role,
    let_in,
    make_branches,
    make_organization,
    make_people,
    make_repository,
    make_team,
)

HEAD, OLD = "1" * 40, "2" * 40


@pytest.fixture
def pull(database: Database, ada: Account) -> Issue:
    """Open a pull request."""
    home = make_repository(database, ada)
    make_branches(database, home, HEAD, "fix", "main")
    return open_issue(database, home, ada, NewIssue(title="p", branches=Branches("fix", "main", HEAD)))


def add(database: Database, pull: Issue, reviewer: Account | None, state: str, **columns: object) -> int:
    """Insert a review."""
    row = {
        "issue_id": pull.id,
        "reviewer_id": None if reviewer is None else reviewer.id,
        "state": state,
        "commit_id": HEAD,
        "is_official": True,
        **columns,
    }
    with database.write() as connection:
        made: int = connection.execute(insert(table).returning(table.c.id), row).scalar_one()
    return made


def official(database: Database, pull: Issue, rule: ProtectionRule | None = None) -> OfficialReviews:
    """Return the reviews that count."""
    with database.read() as connection:
        return reviews.official_reviews(connection, pull, head=HEAD, rule=rule)


def test_only_official_reviews_that_were_not_dismissed_count(
    database: Database, pull: Issue, ada: Account
) -> None:
    """Approvals, rejections and requests are counted apart, and comments are not counted."""
    bob, cid, dan, eve, fay = make_people(database, "bob", "cid", "dan", "eve", "fay")
    organization = make_organization(database, "crew", ada)
    make_team(database, organization, "hands", [bob])
    with database.read() as connection:
        hands = connection.execute(select(teams.c.id).where(teams.c.folded_name == "hands")).scalar_one()
    add(database, pull, bob, "APPROVED")
    add(database, pull, cid, "APPROVED", is_official=False)
    add(database, pull, dan, "APPROVED", is_dismissed=True)
    add(database, pull, eve, "REQUEST_CHANGES")
    add(database, pull, dan, "COMMENT", is_official=False)
    add(database, pull, fay, "REQUEST_REVIEW")
    add(database, pull, None, "REQUEST_REVIEW", team_id=hands)
    add(database, pull, None, "APPROVED")
    assert official(database, pull) == OfficialReviews(
        frozenset({bob.id}), frozenset({eve.id}), frozenset({fay.id}), frozenset({hands})
    )


def test_a_rule_may_ask_for_approvals_of_the_head(database: Database, pull: Issue) -> None:
    """A rule can ignore approvals of an older head, but rejections of it still count."""
    bob, cid, dan = make_people(database, "bob", "cid", "dan")
    add(database, pull, bob, "APPROVED", commit_id=OLD)
    add(database, pull, cid, "APPROVED")
    add(database, pull, dan, "REQUEST_CHANGES", commit_id=OLD)
    assert official(database, pull, ProtectionRule()).approved == {bob.id, cid.id}
    for rule in (ProtectionRule(ignore_stale_approvals=True), ProtectionRule(dismiss_stale_approvals=True)):
        official_reviews = official(database, pull, rule)
        assert official_reviews.approved == {cid.id}
        assert official_reviews.rejected == {dan.id}


def test_an_allowlist_counts_its_current_users(database: Database, pull: Issue, ada: Account) -> None:
    """Approvals count when the allowlist names the user or their team, or when the allowlist is disabled."""
    bob, cid, dan = make_people(database, "bob", "cid", "dan")
    organization = make_organization(database, "crew", ada)
    make_team(database, organization, "hands", [bob])
    with database.read() as connection:
        hands = connection.execute(select(teams.c.id).where(teams.c.folded_name == "hands")).scalar_one()
    for person in (bob, cid, dan):
        add(database, pull, person, "APPROVED")
    rule = ProtectionRule(enable_approvals_whitelist=True, approvals_users=(cid.id,), approvals_teams=(hands,))
    assert official(database, pull, rule).approved == {bob.id, cid.id}
    assert official(database, pull, ProtectionRule(approvals_users=(cid.id,))).approved == {bob.id, cid.id, dan.id}


def test_the_last_decision_of_a_reviewer_is_theirs(database: Database, pull: Issue) -> None:
    """A later comment does not change a decision, and approvals of another head can be left out."""
    bob, cid, dan = make_people(database, "bob", "cid", "dan")
    add(database, pull, bob, "REQUEST_CHANGES")
    add(database, pull, bob, "APPROVED", is_official=False)
    add(database, pull, bob, "COMMENT")
    add(database, pull, cid, "APPROVED")
    add(database, pull, cid, "REQUEST_CHANGES", is_dismissed=True)
    add(database, pull, dan, "APPROVED", commit_id=OLD)
    with database.read() as connection:
        assert reviews.current_approvers(connection, pull) == {bob.id, dan.id}
        assert reviews.current_approvers(connection, pull, head=HEAD) == {bob.id}


def test_a_pending_review_is_visible_to_its_author_only(database: Database, pull: Issue) -> None:
    """Other viewers neither find a pending review by its id nor have it in their list and total."""
    bob, cid = make_people(database, "bob", "cid")
    secret = add(database, pull, bob, "PENDING")
    posted_review = add(database, pull, cid, "COMMENT")
    assert reviews.find_review(database, pull, secret, bob.id).state == "PENDING"
    for viewer in (None, cid.id):
        with pytest.raises(NoSuchReview):
            reviews.find_review(database, pull, secret, viewer)
        found_reviews, total = reviews.reviews_of(database, pull, viewer, skip=0, limit=10)
        assert ([review.id for review in found_reviews], total) == ([posted_review], 1)
    assert reviews.reviews_of(database, pull, bob.id, skip=1, limit=1)[0][0].id == posted_review
    with pytest.raises(NoSuchReview):
        reviews.find_review(database, replace(pull, id=pull.id + 1), posted_review, cid.id)


def test_official_reviewers_are_those_on_the_list_or_writers(database: Database, ada: Account) -> None:
    """Users with write access are official reviewers, unless an allowlist replaces them."""
    home = make_repository(database, ada)
    bob, cid, dan = make_people(database, "bob", "cid", "dan")
    let_in(database, home, bob, WRITE)
    let_in(database, home, cid, 1)
    ids = [person.id for person in (ada, bob, cid, dan)]
    listed = ProtectionRule(enable_approvals_whitelist=True, approvals_users=(dan.id,))
    with database.read() as connection:
        assert reviews.official_reviewers(connection, home, None, ids) == {ada.id, bob.id}
        assert reviews.official_reviewers(connection, home, ProtectionRule(), ids[1:]) == {bob.id}
        assert reviews.official_reviewers(connection, home, listed, ids) == {dan.id}


def readers(database: Database, repository: Repository) -> set[str]:
    """Return the users of whom a review can be requested."""
    with database.read() as connection:
        return set(connection.execute(select(users.c.name).where(reviews.may_review(repository))).scalars())


@pytest.mark.usefixtures("ada")
def test_reviews_can_be_requested_of_users_who_may_read(database: Database) -> None:
    """The SQL condition selects the same users as `access.py`, where pull requests are enabled."""
    repositories = [repository for repository in every_role(database) if repository.has_pulls]
    with database.read() as connection:
        ids = connection.execute(select(users.c.id).where(~users.c.is_organization)).scalars().all()
    people = [find_account(database, number) for number in ids]
    for target_repository in repositories:
        allowed = {
            person.name
            for person in people
            if access_for(database, person, target_repository, public_only=False).may_read(Unit.PULLS)
        }
        assert readers(database, target_repository) == allowed, target_repository.full_name


def test_a_transaction_sees_its_own_review_requests(database: Database, ada: Account) -> None:
    """A transaction of the raw driver reads the same requests and comment counts as the database outside."""
    fleet = make_organization(database, "fleet", ada)
    make_team(database, fleet, "crew", [ada])
    with database.read() as connection:
        crew_id = connection.execute(select(teams.c.id).where(teams.c.name == "crew")).scalar_one()
    home = make_repository(database, fleet)
    make_branches(database, home, HEAD, "fix", "main")
    pull = open_issue(database, home, ada, NewIssue(title="p", branches=Branches("fix", "main", HEAD)))
    (bob,) = make_people(database, "bob")
    add(database, pull, bob, "REQUEST_REVIEW")
    add(database, pull, None, "REQUEST_REVIEW", team_id=crew_id)
    review = add(database, pull, bob, "COMMENT")
    with database.write() as connection:
        number = connection.execute(
            insert(comments).values(issue_id=pull.id, kind="code").returning(comments.c.id)
        ).scalar_one()
        position = {"path": "a", "commit_id": HEAD, "line_commit_id": HEAD, "blob_id": HEAD}
        connection.execute(insert(review_comments).values(comment_id=number, review_id=review, **position))
    outside = reviews.pull_review_parts(database, [pull.id])
    assert (outside.requested, outside.comment_counts) == ({pull.id: [bob]}, {pull.id: 1})
    assert [team.name for team in outside.requested_teams[pull.id]] == ["crew"]
    with database.quick_write() as link:
        assert reviews.pull_review_parts(TransactionDatabase(database, link), [pull.id]) == outside
