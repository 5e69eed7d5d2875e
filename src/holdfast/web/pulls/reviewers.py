"""The reviewers of a pull request: requested reviews, decisions, and suggested reviewers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import accounts, reviews, teams
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.reviews import DECISIONS, Review, ReviewState

__all__ = ["WORDS", "ReviewerRow", "Reviewers", "reviewers_shown"]

MOST_REVIEWS: Final = 500
MOST_OFFERED: Final = 60
WORDS: Final = {
    ReviewState.APPROVED: "approved these changes",
    ReviewState.REQUEST_CHANGES: "requested changes",
    ReviewState.COMMENT: "reviewed",
    ReviewState.REQUEST_REVIEW: "was asked to review",
}


@dataclass(frozen=True, slots=True)
class ReviewerRow:
    """A user or a team with their last decision, or a requested review."""

    name: str
    account: Account | None
    state: str
    review_id: int
    is_stale: bool = False
    """Whether there are newer commits than the one that was reviewed."""
    is_official: bool = False

    @property
    def word(self) -> str:
        """The state of the review, in words."""
        return WORDS[ReviewState(self.state)]


@dataclass(frozen=True, slots=True)
class Reviewers:
    """The reviewers of a pull request."""

    rows: list[ReviewerRow]
    pending: Review | None
    """The pending review of the viewer."""
    offered: list[Account]
    """The reviewers that the viewer can request; empty if the viewer may not request reviews."""


def last_reviews(request: RequestContext, issue: Issue) -> list[Review]:
    """Return the newest reviews of a pull request, oldest first."""
    viewer = None if request.actor.user is None else request.actor.user.id
    database = request.app.database
    page, total = reviews.reviews_of(database, issue, viewer, skip=0, limit=MOST_REVIEWS)
    if total > MOST_REVIEWS:
        page, _ = reviews.reviews_of(database, issue, viewer, skip=total - MOST_REVIEWS, limit=MOST_REVIEWS)
    return page


def reviewers_shown(
    request: RequestContext, target: RepositoryAccess, issue: Issue, *, may_ask: bool
) -> Reviewers:
    """Return the reviewers of a pull request; a later decision of the same person replaces an earlier one."""
    all_reviews = last_reviews(request, issue)
    pending = next((review for review in all_reviews if review.state == ReviewState.PENDING), None)
    last = [
        review
        for review in newest_by_reviewer(all_reviews)
        if review.reviewer_id is None or review.reviewer_id != issue.author_id
    ]
    with request.app.database.read() as connection:
        people = accounts.accounts_by_id(connection, {review.reviewer_id for review in last if review.reviewer_id})
        asked = teams.teams_by_id(connection, {review.team_id for review in last if review.team_id})
    rows: list[ReviewerRow] = []
    for review in last:
        account, team = people.get(review.reviewer_id or 0), asked.get(review.team_id or 0)
        if account is not None or team is not None:
            name = account.name if account is not None else f"{target.repository.owner.name}/{team.name}"  # type: ignore[union-attr]  # one of both is set
            rows.append(
                ReviewerRow(
                    name, account, review.state, review.id, review.is_stale(issue.head_sha), review.is_official
                )
            )
    offered: list[Account] = []
    if may_ask:
        candidates, _ = reviews.reviewers(request.app.database, target.repository, skip=0, limit=MOST_OFFERED)
        waiting = {row.account.id for row in rows if row.account and row.state == ReviewState.REQUEST_REVIEW}
        offered = [
            candidate
            for candidate in candidates
            if candidate.id != issue.author_id and candidate.id not in waiting
        ]
    return Reviewers(rows, pending, offered)


def newest_by_reviewer(all_reviews: Sequence[Review]) -> list[Review]:
    """Return for each reviewer the request or the last decision, else the last comment; never dismissed ones."""
    best: dict[tuple[int | None, int | None], Review] = {}
    for review in all_reviews:
        key = (review.reviewer_id, review.team_id)
        before = best.get(key)
        if review.state == ReviewState.PENDING or review.is_dismissed or key == (None, None):
            continue
        is_remark = review.state == ReviewState.COMMENT
        if before is None or not is_remark or before.state not in {*DECISIONS, ReviewState.REQUEST_REVIEW}:
            best[key] = review
    return list(best.values())
