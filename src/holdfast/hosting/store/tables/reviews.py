"""Reviews of pull requests, review requests, and the positions of line comments."""

from sqlalchemy import Column, ForeignKey, Index, Table, text

from holdfast.hosting.store.tables.columns import Id, flag, key, metadata, number, to, words

__all__ = ["review_comments", "reviews"]

# A review, or with the state REQUEST_REVIEW a review request, which refers to a user or a team.
reviews = Table(
    "reviews",
    metadata,
    key(),
    to("issues", "issue_id"),
    to("users", "reviewer_id", optional=True, index=True),
    Column("team_id", Id, ForeignKey("teams.id", ondelete="CASCADE"), nullable=True, index=True),
    words("state"),
    words("body", ""),
    # The reviewed head of the pull request; a review of another head than the current one is stale.
    words("commit_id", ""),
    flag("is_official"),
    flag("is_dismissed"),
    number("created_at"),
    number("updated_at"),
    Index(None, "issue_id", "id"),
    Index(
        "ix_reviews_pending",
        "issue_id",
        "reviewer_id",
        unique=True,
        sqlite_where=text("state = 'PENDING'"),
        postgresql_where=text("state = 'PENDING'"),
    ),
    Index(
        "ix_reviews_requested_user",
        "issue_id",
        "reviewer_id",
        unique=True,
        sqlite_where=text("state = 'REQUEST_REVIEW'"),
        postgresql_where=text("state = 'REQUEST_REVIEW'"),
    ),
    Index(
        "ix_reviews_requested_team",
        "issue_id",
        "team_id",
        unique=True,
        sqlite_where=text("state = 'REQUEST_REVIEW'"),
        postgresql_where=text("state = 'REQUEST_REVIEW'"),
    ),
    sqlite_autoincrement=True,
)

# The position of a line comment, which is a row of `comments`: a line of a file before or after the change.
review_comments = Table(
    "review_comments",
    metadata,
    to("comments", "comment_id", primary=True),
    to("reviews", "review_id", index=True),
    words("path"),
    number("line"),
    flag("is_old_side"),
    # The commit and the blob that contain the line: of the head, or on the old side of the merge base.
    words("commit_id"),
    words("line_commit_id"),
    words("blob_id"),
    words("diff_hunk", ""),
    to("users", "resolver_id", optional=True, index=True),
    number("resolved_at"),
)
