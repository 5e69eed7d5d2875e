"""Reviews of pull requests and review requests: rows, and how they affect a merge."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, bindparam, exists, func, or_, select

from holdfast.hosting.errors import NoSuchReview
from holdfast.hosting.store.accounts import COLUMNS as ACCOUNT
from holdfast.hosting.store.accounts import Account, account_by_id, account_from, accounts_by_id
from holdfast.hosting.store.assignees import has_grant
from holdfast.hosting.store.database import Database, TransactionDatabase
from holdfast.hosting.store.issue_transactions import Issue
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.repositories import UNITS_COUNT, Repository
from holdfast.hosting.store.tables import (
    review_comments,
    reviews,
    team_members,
    team_repositories,
    team_units,
    teams,
    users,
)
from holdfast.hosting.store.teams import Team, find_team, teams_by_id

__all__ = [
    "DECISIONS",
    "REVIEW",
    "OfficialReviews",
    "PullReviewParts",
    "Review",
    "ReviewState",
    "comment_counts",
    "current_approvers",
    "find_review",
    "may_review",
    "official_reviewers",
    "official_reviews",
    "pull_review_parts",
    "reviewed_by",
    "reviewers",
    "reviewers_named",
    "reviews_by_id",
    "reviews_of",
    "team_members_of",
    "teams_reading",
    "teams_with",
]

READ: Final = 1
WRITE: Final = 2
PULLS: Final = ("repo.pulls",)
CODE: Final = ("repo.code",)


class ReviewState(StrEnum):
    """The state of a review, as named in the API."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    REQUEST_CHANGES = "REQUEST_CHANGES"
    COMMENT = "COMMENT"
    REQUEST_REVIEW = "REQUEST_REVIEW"


DECISIONS: Final = (ReviewState.APPROVED, ReviewState.REQUEST_CHANGES)
"""The states that decide about a merge; a reviewer's decision is their newest review with one of them."""


@dataclass(frozen=True, slots=True)
class Review:
    """A review, or a request for one; the fields are the columns of the table, in this order."""

    id: int
    issue_id: int
    reviewer_id: int | None
    team_id: int | None
    state: str
    body: str
    commit_id: str
    is_official: bool
    is_dismissed: bool
    created_at: int
    updated_at: int

    @property
    def is_request(self) -> bool:
        """Whether it is a review request."""
        return self.state == ReviewState.REQUEST_REVIEW

    def is_stale(self, head: str) -> bool:
        """Return whether the head of the pull request moved since it was submitted."""
        return self.state not in {ReviewState.PENDING, ReviewState.REQUEST_REVIEW} and self.commit_id != head


@dataclass(frozen=True, slots=True)
class OfficialReviews:
    """The official reviews of a pull request: who approved, rejected, and is still requested, by id."""

    approved: frozenset[int] = frozenset()
    rejected: frozenset[int] = frozenset()
    requested_users: frozenset[int] = frozenset()
    requested_teams: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class PullReviewParts:
    """The reviews shown with a page of pull requests, by issue id."""

    requested: dict[int, list[Account]] = field(default_factory=dict)
    requested_teams: dict[int, list[Team]] = field(default_factory=dict)
    comment_counts: dict[int, int] = field(default_factory=dict)
    organizations: dict[int, Account] = field(default_factory=dict)
    """The organizations of the teams, by id."""


REVIEW: Final = tuple(reviews.c[name] for name in Review.__dataclass_fields__)
# Prepared: building a statement takes longer than running it.
BY_ID = Statement(select(*REVIEW).where(reviews.c.id == bindparam("id")))
OFFICIAL = Statement(
    select(reviews.c.reviewer_id, reviews.c.team_id, reviews.c.state, reviews.c.commit_id).where(
        reviews.c.issue_id == bindparam("issue_id"), reviews.c.is_official, ~reviews.c.is_dismissed
    )
)
REQUESTED = Statement(
    select(reviews.c.reviewer_id, reviews.c.team_id)
    .where(reviews.c.issue_id == bindparam("issue_id"), reviews.c.state == ReviewState.REQUEST_REVIEW)
    .order_by(reviews.c.id)
)
COUNTED = Statement(
    select(func.count())
    .select_from(reviews)
    .join(review_comments, review_comments.c.review_id == reviews.c.id)
    .where(reviews.c.issue_id == bindparam("issue_id"), reviews.c.state != ReviewState.PENDING)
)
# A later decision of the same reviewer; SQL has no portable "last of each group".
later = reviews.alias("later")
IS_LAST: Final = ~exists().where(
    later.c.issue_id == reviews.c.issue_id,
    later.c.reviewer_id == reviews.c.reviewer_id,
    later.c.state.in_(DECISIONS),
    later.c.id > reviews.c.id,
)


def official_reviews(
    connection: Connection, issue: Issue, *, head: str, rule: ProtectionRule | None
) -> OfficialReviews:
    """Return the official reviews of a pull request that count for a branch protection, in at most two queries.

    A stale approval does not count if the rule dismisses or ignores stale approvals. With an approvals allowlist,
    only approvals of users who are on it now count.
    """
    reviewers_by_state: dict[str, set[int]] = {}
    asked_teams: set[int] = set()
    needs_head = rule is not None and (rule.ignore_stale_approvals or rule.dismiss_stale_approvals)
    for reviewer_id, team_id, state, commit_id in OFFICIAL.read(connection, issue_id=issue.id):
        if state == ReviewState.APPROVED and needs_head and commit_id != head:
            continue
        if reviewer_id is not None:
            reviewers_by_state.setdefault(state, set()).add(reviewer_id)
        elif team_id is not None:
            asked_teams.add(team_id)
    approved = reviewers_by_state.get(ReviewState.APPROVED, set())
    if approved and rule is not None and rule.enable_approvals_whitelist:
        approved &= {*rule.approvals_users, *team_members_of(connection, rule.approvals_teams, approved)}
    return OfficialReviews(
        frozenset(approved),
        frozenset(reviewers_by_state.get(ReviewState.REQUEST_CHANGES, set())),
        frozenset(reviewers_by_state.get(ReviewState.REQUEST_REVIEW, set())),
        frozenset(asked_teams),
    )


def current_approvers(connection: Connection, issue: Issue, *, head: str | None = None) -> frozenset[int]:
    """Return the users whose last decision is an approval, official or not; with `head`, of that commit."""
    conditions: list[ColumnElement[bool]] = [
        reviews.c.issue_id == issue.id,
        reviews.c.reviewer_id.is_not(None),
        reviews.c.state == ReviewState.APPROVED,
        ~reviews.c.is_dismissed,
        IS_LAST,
    ]
    if head is not None:
        conditions.append(reviews.c.commit_id == head)
    return frozenset(connection.execute(select(reviews.c.reviewer_id).where(*conditions)).scalars())


def team_members_of(connection: Connection, team_ids: Collection[int], user_ids: Collection[int]) -> set[int]:
    """Return which of these users are in one of these teams."""
    if not team_ids or not user_ids:
        return set()
    statement = select(team_members.c.user_id).where(
        team_members.c.team_id.in_(team_ids), team_members.c.user_id.in_(user_ids)
    )
    return set(connection.execute(statement).scalars())


def teams_with(connection: Connection, team_ids: Collection[int], user_ids: Collection[int]) -> set[int]:
    """Return which of these teams have one of these users as a member."""
    if not team_ids or not user_ids:
        return set()
    statement = select(team_members.c.team_id).where(
        team_members.c.team_id.in_(team_ids), team_members.c.user_id.in_(user_ids)
    )
    return set(connection.execute(statement).scalars())


def reviewed_by(connection: Connection, issue: Issue) -> frozenset[int]:
    """Return the users who reviewed a pull request or are requested to; pending reviews do not count."""
    statement = select(reviews.c.reviewer_id).where(
        reviews.c.issue_id == issue.id,
        reviews.c.reviewer_id.is_not(None),
        reviews.c.state != ReviewState.PENDING,
    )
    return frozenset(connection.execute(statement).scalars())


def official_reviewers(
    connection: Connection, repository: Repository, rule: ProtectionRule | None, user_ids: Collection[int]
) -> set[int]:
    """Return which of these users give official reviews: those on the allowlist, or those who may write code."""
    if not user_ids:
        return set()
    if rule is not None and rule.enable_approvals_whitelist:
        return {number for number in user_ids if number in rule.approvals_users} | team_members_of(
            connection, rule.approvals_teams, user_ids
        )
    statement = select(users.c.id).where(users.c.id.in_(user_ids), has_grant(repository, CODE, WRITE))
    return set(connection.execute(statement).scalars())


def may_review(repository: Repository) -> ColumnElement[bool]:
    """Return the SQL condition that a user may read a repository's pull requests, and so can be requested.

    `access.py` makes the same decision for one user; a test compares the two.
    """
    granted = has_grant(repository, PULLS, READ)
    if repository.is_private:
        return granted
    if repository.owner.visibility == "private":
        member = exists().where(
            teams.c.organization_id == repository.owner.id,
            team_members.c.team_id == teams.c.id,
            team_members.c.user_id == users.c.id,
        )
        return or_(granted, and_(~users.c.is_organization, ~users.c.is_restricted, member))
    return or_(granted, and_(~users.c.is_organization, ~users.c.is_restricted))


def reviewers(database: Database, repository: Repository, *, skip: int, limit: int) -> tuple[list[Account], int]:
    """Return one page of the users who were granted access to a repository's pull requests, and the total."""
    granted = and_(has_grant(repository, PULLS, READ), users.c.is_active)
    statement = select(*ACCOUNT).where(granted).order_by(users.c.folded_name).offset(skip).limit(limit)
    with database.read() as connection:
        rows = connection.execute(statement).all()
        total = connection.execute(select(func.count()).select_from(users).where(granted)).scalar_one()
    return [account_from(tuple(row)) for row in rows], total


def reviewers_named(database: Database, repository: Repository, names: Iterable[str]) -> dict[str, Account]:
    """Return the users with these names who may review, by casefolded name."""
    folded = {name.casefold() for name in names}
    if not folded:
        return {}
    statement = select(*ACCOUNT).where(users.c.folded_name.in_(folded), may_review(repository))
    with database.read() as connection:
        accounts = [account_from(tuple(row)) for row in connection.execute(statement)]
    return {account.name.casefold(): account for account in accounts}


def teams_reading(connection: Connection, repository: Repository, team_ids: Collection[int]) -> set[int]:
    """Return which of these teams may read a repository's pull requests."""
    if not team_ids:
        return set()
    by_unit = exists().where(UNITS_COUNT, team_units.c.unit.in_(PULLS), team_units.c.mode >= READ)
    as_a_whole = and_(teams.c.mode >= READ, ~exists().where(UNITS_COUNT))
    is_granted = exists().where(
        team_repositories.c.team_id == teams.c.id, team_repositories.c.repository_id == repository.id
    )
    statement = select(teams.c.id).where(
        teams.c.id.in_(team_ids),
        teams.c.organization_id == repository.owner.id,
        or_(teams.c.includes_all_repositories, is_granted),
        or_(as_a_whole, by_unit),
    )
    return set(connection.execute(statement).scalars())


def reviews_of(
    database: Database, issue: Issue, viewer_id: int | None, *, skip: int, limit: int
) -> tuple[list[Review], int]:
    """Return one page of the reviews of a pull request, oldest first, and the total.

    A pending review is only visible to its author.
    """
    is_seen: ColumnElement[bool] = reviews.c.state != ReviewState.PENDING
    if viewer_id is not None:
        is_seen = or_(is_seen, reviews.c.reviewer_id == viewer_id)
    conditions = (reviews.c.issue_id == issue.id, is_seen)
    statement = select(*REVIEW).where(*conditions).order_by(reviews.c.id).offset(skip).limit(limit)
    with database.read() as connection:
        rows = connection.execute(statement).all()
        total = connection.execute(select(func.count()).select_from(reviews).where(*conditions)).scalar_one()
    return [Review(*row) for row in rows], total


def find_review(database: Database, issue: Issue, number: int, viewer_id: int | None) -> Review:
    """Return a review by id; pending reviews of others are not found."""
    row = database.row(BY_ID, id=number)
    review = None if row is None else Review(*row)
    if review is None or review.issue_id != issue.id:
        raise NoSuchReview(number)
    if review.state == ReviewState.PENDING and (viewer_id is None or review.reviewer_id != viewer_id):
        raise NoSuchReview(number)
    return review


def reviews_by_id(database: Database, ids: Collection[int]) -> dict[int, Review]:
    """Return the reviews with these ids; deleted ones are left out."""
    if not ids:
        return {}
    with database.read() as connection:
        rows = connection.execute(select(*REVIEW).where(reviews.c.id.in_(ids)))
        return {review.id: review for row in rows for review in [Review(*row)]}


def comment_counts(connection: Connection, review_ids: Collection[int]) -> dict[int, int]:
    """Return the number of line comments by review; zero is left out."""
    if not review_ids:
        return {}
    statement = (
        select(review_comments.c.review_id, func.count())
        .where(review_comments.c.review_id.in_(review_ids))
        .group_by(review_comments.c.review_id)
    )
    return {row[0]: row[1] for row in connection.execute(statement)}


def pull_review_parts(database: Database, issue_ids: Collection[int]) -> PullReviewParts:
    """Load the requested reviewers of pull requests, and count line comments, in a constant number of queries.

    Those inside a transaction are loaded by prepared statements.
    """
    parts = PullReviewParts()
    if not issue_ids:
        return parts
    if isinstance(database, TransactionDatabase):
        for number in issue_ids:
            load_review_parts(database, number, parts)
        return parts
    asked = (
        select(reviews.c.issue_id, reviews.c.reviewer_id, reviews.c.team_id)
        .where(reviews.c.issue_id.in_(issue_ids), reviews.c.state == ReviewState.REQUEST_REVIEW)
        .order_by(reviews.c.id)
    )
    counted = (
        select(reviews.c.issue_id, func.count())
        .join_from(reviews, review_comments, review_comments.c.review_id == reviews.c.id)
        .where(reviews.c.issue_id.in_(issue_ids), reviews.c.state != ReviewState.PENDING)
        .group_by(reviews.c.issue_id)
    )
    with database.read() as connection:
        rows = connection.execute(asked).all()
        parts.comment_counts.update((number, count) for number, count in connection.execute(counted))
        accounts = accounts_by_id(connection, {row.reviewer_id for row in rows if row.reviewer_id is not None})
        asked_teams = teams_by_id(connection, {row.team_id for row in rows if row.team_id is not None})
        parts.organizations.update(
            accounts_by_id(connection, {team.organization_id for team in asked_teams.values()})
        )
    for row in rows:
        if row.reviewer_id in accounts:
            parts.requested.setdefault(row.issue_id, []).append(accounts[row.reviewer_id])
        elif row.team_id in asked_teams:
            parts.requested_teams.setdefault(row.issue_id, []).append(asked_teams[row.team_id])
    return parts


def load_review_parts(database: Database, issue_id: int, parts: PullReviewParts) -> None:
    """Load the requested reviewers of one pull request, and count its line comments, by prepared statements."""
    ((counted,),) = database.rows(COUNTED, issue_id=issue_id)
    if counted:
        parts.comment_counts[issue_id] = counted
    for reviewer_id, team_id in database.rows(REQUESTED, issue_id=issue_id):
        if reviewer_id is not None:
            reviewer = account_by_id(database, reviewer_id)
            if reviewer is not None:
                parts.requested.setdefault(issue_id, []).append(reviewer)
        elif team_id is not None:
            team = find_team(database, team_id)
            parts.requested_teams.setdefault(issue_id, []).append(team)
            organization = account_by_id(database, team.organization_id)
            if organization is not None:
                parts.organizations[organization.id] = organization
