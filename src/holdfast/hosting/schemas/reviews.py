"""Schemas of reviews of pull requests and of their line comments."""

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.hosting.schemas.issues import issue_page
from holdfast.hosting.schemas.organizations import TeamSchema, team
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store.accounts import Account, accounts_by_id
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.review_changes import LinePlace
from holdfast.hosting.store.reviews import Review, comment_counts
from holdfast.hosting.store.teams import Team, teams_by_id

__all__ = ["PullReview", "PullReviewComment", "line_comment", "line_comment_list", "review_list"]


class PullReview(msgspec.Struct, frozen=True):
    """A review or a review request; the request of a team has no user."""

    id: int
    user: UserSchema | None
    team: TeamSchema | None
    state: str
    body: str
    commit_id: str
    stale: bool
    official: bool
    dismissed: bool
    comments_count: int
    submitted_at: Time
    updated_at: Time
    html_url: str
    pull_request_url: str


class PullReviewComment(msgspec.Struct, frozen=True):
    """A line comment, on the new file (`position`) or the old file (`original_position`).

    Both are 0 if the line is gone.
    """

    id: int
    body: str
    user: UserSchema | None
    resolver: UserSchema | None
    pull_request_review_id: int
    created_at: Time
    updated_at: Time
    path: str
    commit_id: str
    original_commit_id: str
    diff_hunk: str
    position: int
    original_position: int
    html_url: str
    pull_request_url: str


def review_list(
    viewer: Viewer, repository: Repository, issue: Issue, page: Sequence[Review], *, head: str
) -> list[PullReview]:
    """Encode reviews of one pull request whose head is `head`."""
    with viewer.app.database.read() as connection:
        people = accounts_by_id(
            connection, {review.reviewer_id for review in page if review.reviewer_id is not None}
        )
        teams = teams_by_id(connection, {review.team_id for review in page if review.team_id is not None})
        owners = accounts_by_id(connection, {stored_team.organization_id for stored_team in teams.values()})
        counts = comment_counts(connection, [review.id for review in page])
    address = issue_page(viewer, repository, issue)

    def encoded(review: Review) -> PullReview:
        asked: Team | None = teams.get(review.team_id or 0)
        return PullReview(
            id=review.id,
            user=None if review.team_id is not None else user(viewer, people.get(review.reviewer_id or 0)),
            team=None if asked is None else team(viewer, asked, owners[asked.organization_id]),
            state=review.state,
            body=review.body,
            commit_id=review.commit_id,
            stale=review.is_stale(head),
            official=review.is_official,
            dismissed=review.is_dismissed,
            comments_count=counts.get(review.id, 0),
            submitted_at=moment(review.created_at),
            updated_at=moment(review.updated_at),
            html_url=f"{address}#pullrequestreview-{review.id}",
            pull_request_url=address,
        )

    return [encoded(stored) for stored in page]


def line_comment_list(
    viewer: Viewer,
    repository: Repository,
    issue: Issue,
    page: Sequence[tuple[Comment, LinePlace]],
    positions: Mapping[int, tuple[str, int, str]],
) -> list[PullReviewComment]:
    """Encode line comments; `positions` has the current path, line and commit of those that were mapped."""
    ids = {number for comment, place in page for number in (comment.author_id, place.resolver_id)}
    with viewer.app.database.read() as connection:
        people = accounts_by_id(connection, {number for number in ids if number is not None})
    address = issue_page(viewer, repository, issue)
    return [line_comment(viewer, address, stored, positions.get(stored[0].id), people) for stored in page]


def line_comment(
    viewer: Viewer,
    address: str,
    stored: tuple[Comment, LinePlace],
    position: tuple[str, int, str] | None,
    people: Mapping[int, Account],
) -> PullReviewComment:
    """Encode a line comment of a pull request; `address` is the URL of its page."""
    comment, place = stored
    path, line, commit = position or (place.path, place.line, place.commit_id)
    return PullReviewComment(
        id=comment.id,
        body=comment.body,
        user=user(viewer, people.get(comment.author_id or 0)),
        resolver=user(viewer, people.get(place.resolver_id or 0)) if place.resolved_at else None,
        pull_request_review_id=place.review_id,
        created_at=moment(comment.created_at),
        updated_at=moment(comment.updated_at),
        path=path,
        commit_id=commit,
        original_commit_id=place.commit_id,
        diff_hunk=place.diff_hunk,
        position=0 if place.is_old_side else line,
        original_position=line if place.is_old_side else 0,
        html_url=f"{address}#issuecomment-{comment.id}",
        pull_request_url=address,
    )
