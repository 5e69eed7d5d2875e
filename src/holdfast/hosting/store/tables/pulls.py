"""Pull requests: the result of comparing their branches, how they were merged, and scheduled merges."""

from sqlalchemy import Index, Table

from holdfast.hosting.store.tables.columns import flag, metadata, number, only, to, words

__all__ = ["pull_requests", "scheduled_merges"]

# One row for each issue that is a pull request.
pull_requests = Table(
    "pull_requests",
    metadata,
    to("issues", "issue_id", primary=True),
    words("merge_base", ""),
    # The commits that were compared; empty before the first comparison.
    words("checked_head", ""),
    words("checked_base", ""),
    # `clean`, `conflict`, `failed`, or empty before the first comparison.
    words("mergeability", ""),
    # JSON: the conflicting paths.
    words("conflicting_files", "[]"),
    number("additions"),
    number("deletions"),
    number("changed_files"),
    to("users", "merged_by_id", optional=True, index=True),
    words("merge_commit_sha", ""),
    words("merge_style", ""),
    flag("allow_maintainer_edit"),
    # `owner:branch`, shown once the fork is deleted.
    words("head_label", ""),
    Index(None, "merge_commit_sha", **only("merge_commit_sha <> ''")),
)

# Pull requests to be merged as soon as their required statuses succeed.
scheduled_merges = Table(
    "scheduled_merges",
    metadata,
    to("issues", "issue_id", primary=True),
    to("users", "user_id", index=True),
    words("style"),
    words("title", ""),
    words("message", ""),
    flag("delete_branch"),
    words("head_sha", ""),
    number("created_at"),
)
