"""Users and organizations, their log-ins, members and teams."""

from sqlalchemy import BigInteger, Boolean, Column, Index, String, Table, UniqueConstraint

from holdfast.hosting.store.tables.columns import flag, key, metadata, number, to, words

__all__ = [
    "login_failures",
    "members",
    "name_redirects",
    "sessions",
    "team_members",
    "team_repositories",
    "team_units",
    "teams",
    "tokens",
    "users",
]

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
    # The last two columns make it a covering index for searches.
    Index(None, "is_organization", "folded_name", "id", "visibility", "full_name"),
    Index(None, "is_admin"),
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
    # Attempts whose password is being hashed, and when the first of them began.
    number("pending"),
    number("pending_at"),
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
