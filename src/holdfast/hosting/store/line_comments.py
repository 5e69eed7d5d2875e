"""Line comments of reviews: rows of `comments` with their positions in the diff."""

from collections.abc import Collection
from typing import Final

from sqlalchemy import and_, delete, func, or_, select

from holdfast.hosting.errors import NoSuchComment, NotLineComment
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.comments import COLUMNS, WIDTH, Comment
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_transactions import ISSUE, Issue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.review_changes import PENDING_KIND, LinePlace
from holdfast.hosting.store.reviews import Review
from holdfast.hosting.store.tables import comments, issues, review_comments

__all__ = [
    "delete_pending_comment",
    "find_line_comment",
    "line_comments_in",
    "places_in_review",
    "places_of",
    "resolvers",
]

PLACE: Final = tuple(review_comments.c[name] for name in LinePlace.__dataclass_fields__)
BOTH: Final = comments.join(review_comments, review_comments.c.comment_id == comments.c.id)


def places_in_review(database: Database, review: Review, *, skip: int, limit: int) -> tuple[list[LinePlace], int]:
    """Return the positions of one page of a review's line comments, oldest first, and the total."""
    condition = review_comments.c.review_id == review.id
    statement = select(*PLACE).where(condition).order_by(review_comments.c.comment_id)
    with database.read() as connection:
        rows = connection.execute(statement.offset(skip).limit(limit)).all()
        total = connection.execute(select(func.count()).select_from(review_comments).where(condition)).scalar_one()
    return [LinePlace(*row) for row in rows], total


def line_comments_in(
    database: Database, issue: Issue, viewer_id: int | None, *, limit: int
) -> list[tuple[Comment, LinePlace]]:
    """Return the line comments of a pull request, oldest first; of pending ones only the viewer's."""
    is_seen = or_(
        comments.c.kind != PENDING_KIND, and_(comments.c.kind == PENDING_KIND, comments.c.author_id == viewer_id)
    )
    statement = (
        select(*COLUMNS, *PLACE)
        .select_from(BOTH)
        .where(comments.c.issue_id == issue.id, is_seen)
        .order_by(comments.c.id)
        .limit(limit)
    )
    with database.read() as connection:
        rows = connection.execute(statement).all()
    return [(Comment(*row[:WIDTH]), LinePlace(*row[WIDTH:])) for row in rows]


def places_of(database: Database, comment_ids: Collection[int]) -> dict[int, LinePlace]:
    """Return the positions of line comments, by comment id; other comments are left out."""
    if not comment_ids:
        return {}
    with database.read() as connection:
        rows = connection.execute(select(*PLACE).where(review_comments.c.comment_id.in_(comment_ids)))
        return {place.comment_id: place for row in rows for place in [LinePlace(*row)]}


def find_line_comment(database: Database, repository: Repository, number: int) -> tuple[LinePlace, Issue]:
    """Return the position of a submitted line comment, and its pull request."""
    query = (
        select(comments.c.kind, *ISSUE)
        .join_from(comments, issues, issues.c.id == comments.c.issue_id)
        .where(comments.c.id == number, issues.c.repository_id == repository.id, comments.c.kind != PENDING_KIND)
    )
    with database.read() as connection:
        row = connection.execute(query).one_or_none()
        if row is None or not Issue(*row[1:]).is_pull:
            raise NoSuchComment(f"comment does not exist [id: {number}, issue_id: 0]")
        place = connection.execute(select(*PLACE).where(review_comments.c.comment_id == number)).one_or_none()
    if place is None:
        raise NotLineComment
    return LinePlace(*place), Issue(*row[1:])


def resolvers(database: Database, comment_ids: Collection[int]) -> dict[int, int | None]:
    """Return who resolved the conversations of line comments; those that are not resolved are left out."""
    if not comment_ids:
        return {}
    statement = select(review_comments.c.comment_id, review_comments.c.resolver_id).where(
        review_comments.c.comment_id.in_(comment_ids), review_comments.c.resolved_at > 0
    )
    with database.read() as connection:
        return {row[0]: row[1] for row in connection.execute(statement)}


def delete_pending_comment(database: Database, issue: Issue, author: Account, number: int) -> bool:
    """Delete a line comment of a user's pending review, which has no event yet; return whether there was one."""
    statement = delete(comments).where(
        comments.c.id == number,
        comments.c.issue_id == issue.id,
        comments.c.kind == PENDING_KIND,
        comments.c.author_id == author.id,
    )
    with database.write() as connection:
        return connection.execute(statement).rowcount > 0
