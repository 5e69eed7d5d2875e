"""Issues and pull requests, their labels, milestones, dependencies and comments."""

from typing import Final

from sqlalchemy import Column, ForeignKey, Index, Table, UniqueConstraint

from holdfast.hosting.store.tables.columns import Id, flag, key, metadata, number, only, to, words

__all__ = ["comments", "issue_assignees", "issue_dependencies", "issue_labels", "issues", "labels", "milestones"]

milestones = Table(
    "milestones",
    metadata,
    key(),
    to("repositories", "repository_id", index=True),
    words("title"),
    words("description", ""),
    flag("is_closed"),
    number("due_at"),
    number("closed_at"),
    number("created_at"),
    number("updated_at"),
    Index(None, "title"),
    sqlite_autoincrement=True,
)

# A label belongs to a repository, or to all repositories of an organization.
labels = Table(
    "labels",
    metadata,
    key(),
    Column("repository_id", Id, ForeignKey("repositories.id", ondelete="CASCADE"), nullable=True),
    Column("organization_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=True),
    words("name"),
    words("color"),
    words("description", ""),
    flag("is_exclusive"),
    number("archived_at"),
    Index(None, "name"),
    Index(None, "repository_id", "name", "id"),
    Index(None, "organization_id", "name", "id"),
    sqlite_autoincrement=True,
)

OTHER_ORDERS: Final = ("closed_at", "comment_count", "due_at")
ORDERED: Final = ("created_at", "updated_at", *OTHER_ORDERS)

# A pull request is an issue with `is_pull` set; the last seven columns are only used by it.
issues = Table(
    "issues",
    metadata,
    key(),
    to("repositories", "repository_id"),
    number("number"),
    flag("is_pull"),
    to("users", "author_id", optional=True),
    words("title"),
    words("body", ""),
    words("ref", ""),
    to("milestones", "milestone_id", optional=True),
    flag("is_closed"),
    flag("is_locked"),
    words("lock_reason", ""),
    number("due_at"),
    number("closed_at"),
    number("created_at"),
    number("updated_at"),
    number("content_version"),
    number("time_estimate"),
    number("comment_count"),
    number("pin_order"),
    words("head_branch", ""),
    words("base_branch", ""),
    words("head_sha", ""),
    words("base_sha", ""),
    flag("is_draft"),
    number("merged_at"),
    # The repository of the head branch: a fork, or the repository itself; NULL once it is deleted.
    to("repositories", "head_repository_id", optional=True),
    # The original name of the author, of a migrated issue.
    words("original_author", ""),
    UniqueConstraint("repository_id", "number"),
    # One index for each order of a list, in one repository and in all. State and kind come last, so that OFFSET is
    # skipped within the index, without reading rows; the two usual orders also have an index by state.
    Index(None, "repository_id", "is_closed", "created_at", "id", "is_pull"),
    Index(None, "repository_id", "created_at", "id", "is_pull"),
    Index(None, "repository_id", "is_closed", "updated_at", "id", "is_pull"),
    Index(None, "repository_id", "updated_at", "id", "is_pull"),
    *(Index(None, "repository_id", name, "id", "is_closed", "is_pull") for name in OTHER_ORDERS),
    *(Index(None, name, "id", "repository_id", "is_closed", "is_pull") for name in ORDERED),
    Index(None, "author_id", "repository_id", "created_at", "id", "is_closed", "is_pull"),
    Index(None, "milestone_id", "is_closed"),
    Index(None, "repository_id", "pin_order", **only("pin_order > 0")),
    Index(None, "head_repository_id", **only("head_repository_id IS NOT NULL")),
    # Every update of a branch looks up the open pull requests from it.
    Index(None, "head_repository_id", "head_branch", **only("is_pull AND NOT is_closed")),
    Index(None, "repository_id", "base_branch", **only("is_pull AND NOT is_closed")),
    # Lists of pull requests by branch, in any state.
    *(
        Index(None, "repository_id", name, "is_closed", "created_at", "id", **only("is_pull"))
        for name in ("head_branch", "base_branch")
    ),
    sqlite_autoincrement=True,
)

# The last four columns are those of the issue, so that the issues with a label are listed and counted by index.
issue_labels = Table(
    "issue_labels",
    metadata,
    to("issues", "issue_id", primary=True),
    to("labels", "label_id", primary=True),
    number("repository_id"),
    flag("is_pull"),
    flag("is_closed"),
    number("created_at"),
    # Named after its first columns: with all it would be longer than PostgreSQL allows.
    Index(
        "ix_issue_labels_label_id_repository_id_created_at",
        *("label_id", "repository_id", "created_at", "issue_id", "is_closed", "is_pull"),
    ),
)

issue_assignees = Table(
    "issue_assignees",
    metadata,
    to("issues", "issue_id", primary=True),
    to("users", "user_id", primary=True),
    Index(None, "user_id", "issue_id"),
)

# An issue is blocked by another; the graph has no cycles.
issue_dependencies = Table(
    "issue_dependencies",
    metadata,
    to("issues", "issue_id", primary=True),
    to("issues", "blocker_id", primary=True, index=True),
    to("users", "actor_id", optional=True, index=True),
    number("created_at"),
)

# Timeline entries; a plain comment is of kind `comment`, others have JSON `details`.
comments = Table(
    "comments",
    metadata,
    key(),
    to("issues", "issue_id"),
    words("kind"),
    to("users", "author_id", optional=True, index=True),
    words("body", ""),
    words("details", "{}"),
    number("created_at"),
    number("updated_at"),
    words("original_author", ""),
    # The repository of a plain comment, so that a repository's comments are listed by index; 0 for other entries.
    number("repository_id"),
    # Of a cross-reference the issue that mentions this one, and its comment if that is where; it goes with them.
    Column("source_issue_id", Id, ForeignKey("issues.id", ondelete="CASCADE"), nullable=True),
    Column("source_comment_id", Id, ForeignKey("comments.id", ondelete="CASCADE"), nullable=True),
    Index(None, "issue_id", "created_at", "id"),
    Index(None, "repository_id", "created_at", "id", "updated_at", **only("repository_id > 0")),
    Index(None, "issue_id", "source_issue_id", **only("source_issue_id IS NOT NULL")),
    Index(None, "source_issue_id", "source_comment_id", **only("source_issue_id IS NOT NULL")),
    Index(None, "source_comment_id", **only("source_comment_id IS NOT NULL")),
    sqlite_autoincrement=True,
)
