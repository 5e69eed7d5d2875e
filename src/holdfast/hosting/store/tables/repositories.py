"""Repositories: settings, collaborators, branch protections and LFS objects."""

from sqlalchemy import Column, Index, String, Table, UniqueConstraint

from holdfast.hosting.store.tables.columns import flag, key, metadata, number, to, words

__all__ = [
    "branch_renames",
    "collaborators",
    "lfs_links",
    "lfs_locks",
    "protections",
    "repositories",
    "repository_redirects",
]

repositories = Table(
    "repositories",
    metadata,
    key(),
    to("users", "owner_id"),
    words("name"),
    words("folded_name"),
    words("description", ""),
    words("website", ""),
    words("default_branch"),
    words("object_format", "sha1"),
    flag("is_private"),
    flag("is_template"),
    flag("is_mirror"),
    flag("is_empty", default=True),
    number("archived_at"),
    to("repositories", "fork_of", optional=True, index=True),
    flag("has_code", default=True),
    flag("has_issues", default=True),
    flag("has_pulls", default=True),
    flag("has_releases"),
    flag("has_wiki"),
    flag("has_projects"),
    flag("has_packages"),
    flag("has_actions"),
    flag("has_dependencies", default=True),
    # JSON: settings that are stored and returned but have no effect.
    words("declared", "{}"),
    words("topics", "[]"),
    number("size"),
    number("last_issue"),
    number("open_issues"),
    number("open_pulls"),
    number("branch_count"),
    number("created_at"),
    number("updated_at"),
    number("pushed_at"),
    # The version of its log: the number of committed ref updates.
    number("version"),
    # The number of compactions of its packs.
    number("compaction"),
    # The number of releases, without drafts.
    number("release_count"),
    number("fork_count"),
    number("star_count"),
    number("watch_count"),
    # When a mirror was last updated.
    number("mirrored_at"),
    # The main language of the default branch.
    words("language", ""),
    # The hash of its avatar; empty if there is none.
    words("avatar", ""),
    # The number of closed issues and pull requests; with the open ones, the total.
    number("closed_issues"),
    number("closed_pulls"),
    # Ref updates before this time have left no garbage that can be collected.
    number("collected_until"),
    UniqueConstraint("owner_id", "folded_name"),
    # One index for each order of a list.
    *(Index(None, name, "id") for name in ("folded_name", "created_at", "updated_at", "pushed_at", "size")),
    sqlite_autoincrement=True,
)

# Redirects from former repository names.
repository_redirects = Table(
    "repository_redirects",
    metadata,
    to("users", "owner_id", primary=True),
    Column("folded_name", String, primary_key=True),
    to("repositories", "repository_id", index=True),
)

collaborators = Table(
    "collaborators",
    metadata,
    to("repositories", "repository_id", primary=True),
    to("users", "user_id", primary=True, index=True),
    number("mode"),
)

branch_renames = Table(
    "branch_renames",
    metadata,
    to("repositories", "repository_id", primary=True),
    Column("old_name", String, primary_key=True),
    words("new_name"),
    number("created_at"),
)

# Branch protections; the rule is JSON, as it is only read as a whole.
protections = Table(
    "protections",
    metadata,
    key(),
    to("repositories", "repository_id"),
    words("rule_name"),
    number("priority"),
    words("rule"),
    number("created_at"),
    number("updated_at"),
    UniqueConstraint("repository_id", "rule_name"),
    sqlite_autoincrement=True,
)

lfs_links = Table(
    "lfs_links",
    metadata,
    to("repositories", "repository_id", primary=True),
    Column("oid", String, primary_key=True),
    number("size"),
    number("created_at"),
    Index(None, "oid"),
)

lfs_locks = Table(
    "lfs_locks",
    metadata,
    key(),
    to("repositories", "repository_id"),
    words("path"),
    to("users", "owner_id", index=True),
    number("locked_at"),
    UniqueConstraint("repository_id", "path"),
    sqlite_autoincrement=True,
)
