"""Table definitions in SQLAlchemy Core; the schema is created and changed by `migrations/`.

Times are integer seconds since 1970 in UTC, which both databases compare alike. Names are stored as entered and
casefolded, so that they are unique regardless of case. Ids are never reused (`sqlite_autoincrement`), since
folders on disk are named by them.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    text,
)

__all__ = [
    "branch_renames",
    "collaborators",
    "comments",
    "commit_keys",
    "deliveries",
    "events",
    "hooks",
    "issue_assignees",
    "issue_dependencies",
    "issue_labels",
    "issues",
    "labels",
    "leases",
    "lfs_links",
    "lfs_locks",
    "login_failures",
    "members",
    "metadata",
    "milestones",
    "name_redirects",
    "protections",
    "ref_updates",
    "repositories",
    "repository_redirects",
    "sessions",
    "team_members",
    "team_repositories",
    "team_units",
    "teams",
    "tokens",
    "users",
]

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite assigns ids only to columns of type INTEGER; PostgreSQL needs 64 bits.
Id = BigInteger().with_variant(Integer(), "sqlite")


def key() -> Column[int]:
    """Return the primary key column."""
    return Column("id", Id, Identity(always=True), primary_key=True)


def to(
    table: str, name: str, *, optional: bool = False, index: bool = False, primary: bool = False
) -> Column[int]:
    """Return a foreign key column with ON DELETE CASCADE, or SET NULL if optional."""
    reference = ForeignKey(f"{table}.id", ondelete="SET NULL" if optional else "CASCADE")
    return Column(name, Id, reference, nullable=optional, index=index, primary_key=primary)


def words(name: str, default: str | None = None) -> Column[str]:
    """Return a NOT NULL text column."""
    return Column(name, String, nullable=False, server_default=default)


def flag(name: str, *, default: bool = False) -> Column[bool]:
    """Return a boolean column."""
    return Column(name, Boolean, nullable=False, server_default=text("true" if default else "false"))


def number(name: str, **options: Any) -> Column[int]:
    """Return an integer column with default 0, which for a time means never."""
    return Column(name, BigInteger, nullable=False, server_default=text("0"), **options)


# Users and organizations share one table, because they share one namespace.
users = Table(
    "users",
    metadata,
    key(),
    words("name"),
    Column("folded_name", String, nullable=False, unique=True),
    words("full_name"),
    words("password_hash"),
    Column("is_admin", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    flag("is_organization"),
    words("email", ""),
    words("description", ""),
    words("website", ""),
    words("location", ""),
    words("language", ""),
    words("visibility", "public"),
    flag("hides_email"),
    flag("is_restricted"),
    flag("is_active", default=True),
    flag("may_not_log_in"),
    flag("must_change_password"),
    flag("may_create_organizations", default=True),
    flag("repository_admins_change_teams"),
    number("last_login_at"),
    number("updated_at"),
    Index(None, "email"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", String, primary_key=True),
    to("users", "user_id", index=True),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    # Shown to users to recognize their browsers.
    number("last_seen_at"),
    words("user_agent", ""),
    words("address", ""),
    Index(None, "expires_at"),
)

# Redirects from former account names.
name_redirects = Table(
    "name_redirects",
    metadata,
    Column("folded_name", String, primary_key=True),
    to("users", "user_id", index=True),
)

tokens = Table(
    "tokens",
    metadata,
    key(),
    to("users", "user_id"),
    words("name"),
    Column("token_hash", String, nullable=False, unique=True),
    words("last_eight"),
    words("scopes"),
    number("created_at"),
    number("last_used_at"),
    number("expires_at"),
    UniqueConstraint("user_id", "name"),
    sqlite_autoincrement=True,
)

# Counters of failed log-ins: see `login_rate_limit`.
login_failures = Table(
    "login_failures",
    metadata,
    Column("source", String, primary_key=True),
    number("failures"),
    number("first_at"),
    Index(None, "first_at"),
)

# Derived from team_members, with the visibility of the membership.
members = Table(
    "members",
    metadata,
    to("users", "organization_id", primary=True),
    to("users", "user_id", primary=True, index=True),
    flag("is_public"),
)

teams = Table(
    "teams",
    metadata,
    key(),
    to("users", "organization_id"),
    words("name"),
    words("folded_name"),
    words("description", ""),
    number("mode"),
    flag("includes_all_repositories"),
    flag("may_create_repositories"),
    words("visibility", "private"),
    number("created_at"),
    UniqueConstraint("organization_id", "folded_name"),
    sqlite_autoincrement=True,
)

team_units = Table(
    "team_units",
    metadata,
    to("teams", "team_id", primary=True),
    Column("unit", String, primary_key=True),
    number("mode"),
)

team_members = Table(
    "team_members",
    metadata,
    to("teams", "team_id", primary=True),
    to("users", "user_id", primary=True, index=True),
)

team_repositories = Table(
    "team_repositories",
    metadata,
    to("teams", "team_id", primary=True),
    to("repositories", "repository_id", primary=True, index=True),
)

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
    # When the size was measured; a later push makes it stale.
    number("measured_at"),
    UniqueConstraint("owner_id", "folded_name"),
    Index(None, "updated_at"),
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
    sqlite_autoincrement=True,
)

# A label belongs to a repository, or to all repositories of an organization.
labels = Table(
    "labels",
    metadata,
    key(),
    Column("repository_id", Id, ForeignKey("repositories.id", ondelete="CASCADE"), nullable=True, index=True),
    Column("organization_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=True, index=True),
    words("name"),
    words("color"),
    words("description", ""),
    flag("is_exclusive"),
    number("archived_at"),
    sqlite_autoincrement=True,
)

# A pull request is an issue with `is_pull` set; the last six columns are only used by it.
issues = Table(
    "issues",
    metadata,
    key(),
    to("repositories", "repository_id"),
    number("number"),
    flag("is_pull"),
    to("users", "author_id", optional=True, index=True),
    words("title"),
    words("body", ""),
    words("ref", ""),
    to("milestones", "milestone_id", optional=True, index=True),
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
    UniqueConstraint("repository_id", "number"),
    Index(None, "repository_id", "is_pull", "is_closed", "created_at"),
    Index(None, "updated_at"),
    sqlite_autoincrement=True,
)

issue_labels = Table(
    "issue_labels",
    metadata,
    to("issues", "issue_id", primary=True),
    to("labels", "label_id", primary=True, index=True),
)

issue_assignees = Table(
    "issue_assignees",
    metadata,
    to("issues", "issue_id", primary=True),
    to("users", "user_id", primary=True, index=True),
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
    Index(None, "issue_id", "created_at", "id"),
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

# Write-ahead rows of ref updates: inserted before the ref changes, deleted with the recording of its event; one
# with an idempotency key is marked done and stays as long as the key. The table is so small that an index would
# cost every commit more than it saves.
ref_updates = Table(
    "ref_updates",
    metadata,
    key(),
    to("repositories", "repository_id"),
    to("users", "actor_id", optional=True),
    words("ref"),
    words("old"),
    words("new"),
    flag("is_done"),
    flag("under_lock"),
    number("created_at"),
    sqlite_autoincrement=True,
)

commit_keys = Table(
    "commit_keys",
    metadata,
    to("repositories", "repository_id", primary=True),
    to("users", "user_id", primary=True, index=True),
    Column("key", String, primary_key=True),
    words("fingerprint"),
    to("ref_updates", "update_id", index=True),
    number("created_at", index=True),
)

# Events, inserted in the transaction they describe. There is no index on the actor: only the deletion of an
# account would use it, and it would cost every commit a page.
events = Table(
    "events",
    metadata,
    key(),
    words("kind"),
    to("users", "owner_id", optional=True),
    to("repositories", "repository_id", optional=True, index=True),
    to("users", "actor_id", optional=True),
    words("details", "{}"),
    number("created_at"),
    # The webhook payload, rendered in the same transaction; empty if no webhook was subscribed.
    words("payload", ""),
    sqlite_autoincrement=True,
)

# Webhooks of a repository, of an owner, or of everything (`system`). A `default` one is copied to each new
# repository and receives nothing itself.
hooks = Table(
    "hooks",
    metadata,
    key(),
    words("scope"),
    Column("repository_id", Id, ForeignKey("repositories.id", ondelete="CASCADE"), index=True),
    Column("owner_id", Id, ForeignKey("users.id", ondelete="CASCADE"), index=True),
    words("type"),
    words("name", ""),
    words("url"),
    words("content_type"),
    # Encrypted: see `encryption`.
    words("secret", ""),
    words("authorization", ""),
    # JSON object of strings: settings of some types, such as a channel.
    words("meta", "{}"),
    # Event names, comma-separated, in order.
    words("events"),
    words("branch_filter", ""),
    flag("is_active"),
    # While paused nothing is sent, but deliveries are queued.
    number("paused_at"),
    words("pause_reason", ""),
    # The lease: the process that sends, and until when (milliseconds since 1970).
    words("holder", ""),
    number("held_until"),
    number("created_at"),
    number("updated_at"),
    Index(None, "scope"),
    sqlite_autoincrement=True,
)

# The outbox: inserted together with the event, updated with the result.
deliveries = Table(
    "deliveries",
    metadata,
    key(),
    words("uuid"),
    to("hooks", "hook_id"),
    to("events", "event_id", index=True),
    # The event's kind, denormalized for searching.
    words("kind"),
    # waiting, delivered, failed, cancelled
    words("state"),
    Column("again_of", Id, ForeignKey("deliveries.id", ondelete="SET NULL"), index=True),
    number("tries"),
    # Milliseconds since 1970: the next attempt is not made before.
    number("due_at"),
    number("created_at"),
    number("ended_at"),
    # The last attempt: request and response. `body` is empty if it is the event's payload.
    words("method", ""),
    words("url", ""),
    words("headers", "{}"),
    words("body", ""),
    number("status"),
    words("answer_headers", "{}"),
    Column("answer", LargeBinary, nullable=False, server_default=text("''")),
    words("error", ""),
    number("milliseconds"),
    Index(None, "hook_id", "state", "id"),
    # A partial index: only waiting deliveries are polled, and they are few.
    Index(
        "ix_deliveries_waiting",
        "hook_id",
        "id",
        sqlite_where=text("state = 'waiting'"),
        postgresql_where=text("state = 'waiting'"),
    ),
    Index(None, "created_at"),
    UniqueConstraint("uuid"),
    sqlite_autoincrement=True,
)

# Leases: who holds one, and until when.
leases = Table(
    "leases",
    metadata,
    Column("name", String, primary_key=True),
    words("holder"),
    number("until"),
)

# The identity of the installation, in one row; the data folder has the same in a file.
instance = Table(
    "instance",
    metadata,
    Column("instance_id", String, primary_key=True),
    # Fingerprint of the encryption key; empty while unknown.
    words("key_fingerprint", ""),
)
