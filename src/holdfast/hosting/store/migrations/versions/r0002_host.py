"""Everything a host of repositories needs: organizations, teams, tokens, repositories, issues, LFS and events."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:  # noqa: PLR0915  # one statement per table
    """Make the tables, and give users what organizations and profiles need."""
    op.create_table(
        "leases",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("until", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )
    op.create_table(
        "login_failures",
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("failures", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("first_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("source", name="pk_login_failures"),
    )
    op.create_index("ix_login_failures_first_at", "login_failures", ["first_at"], unique=False)
    op.create_table(
        "members",
        sa.Column("organization_id", ID, nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("is_public", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["users.id"], name="fk_members_organization_id_users", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_members_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("organization_id", "user_id", name="pk_members"),
    )
    op.create_index("ix_members_user_id", "members", ["user_id"], unique=False)
    op.create_table(
        "name_redirects",
        sa.Column("folded_name", sa.String(), nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_name_redirects_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("folded_name", name="pk_name_redirects"),
    )
    op.create_index("ix_name_redirects_user_id", "name_redirects", ["user_id"], unique=False)
    op.create_table(
        "repositories",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("owner_id", ID, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("folded_name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), server_default="", nullable=False),
        sa.Column("website", sa.String(), server_default="", nullable=False),
        sa.Column("default_branch", sa.String(), nullable=False),
        sa.Column("object_format", sa.String(), server_default="sha1", nullable=False),
        sa.Column("is_private", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_template", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_mirror", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_empty", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("archived_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("fork_of", ID, nullable=True),
        sa.Column("has_code", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("has_issues", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("has_pulls", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("has_releases", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("has_wiki", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("has_projects", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("has_packages", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("has_actions", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("has_dependencies", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("declared", sa.String(), server_default="{}", nullable=False),
        sa.Column("topics", sa.String(), server_default="[]", nullable=False),
        sa.Column("size", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_issue", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("open_issues", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("open_pulls", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("branch_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("pushed_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["fork_of"], ["repositories.id"], name="fk_repositories_fork_of_repositories", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name="fk_repositories_owner_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_repositories"),
        sa.UniqueConstraint("owner_id", "folded_name", name="uq_repositories_owner_id_folded_name"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_repositories_fork_of", "repositories", ["fork_of"], unique=False)
    op.create_index("ix_repositories_updated_at", "repositories", ["updated_at"], unique=False)
    op.create_table(
        "teams",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("organization_id", ID, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("folded_name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), server_default="", nullable=False),
        sa.Column("mode", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("includes_all_repositories", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("may_create_repositories", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("visibility", sa.String(), server_default="private", nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["users.id"], name="fk_teams_organization_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_teams"),
        sa.UniqueConstraint("organization_id", "folded_name", name="uq_teams_organization_id_folded_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "tokens",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("last_eight", sa.String(), nullable=False),
        sa.Column("scopes", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_tokens_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("token_hash", name="uq_tokens_token_hash"),
        sa.UniqueConstraint("user_id", "name", name="uq_tokens_user_id_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "branch_renames",
        sa.Column("repository_id", ID, nullable=False),
        sa.Column("old_name", sa.String(), nullable=False),
        sa.Column("new_name", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_branch_renames_repository_id_repositories",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("repository_id", "old_name", name="pk_branch_renames"),
    )
    op.create_table(
        "collaborators",
        sa.Column("repository_id", ID, nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("mode", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_collaborators_repository_id_repositories",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_collaborators_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("repository_id", "user_id", name="pk_collaborators"),
    )
    op.create_index("ix_collaborators_user_id", "collaborators", ["user_id"], unique=False)
    op.create_table(
        "events",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("owner_id", ID, nullable=True),
        sa.Column("repository_id", ID, nullable=True),
        sa.Column("actor_id", ID, nullable=True),
        sa.Column("details", sa.String(), server_default="{}", nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["actor_id"], ["users.id"], name="fk_events_actor_id_users", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_events_owner_id_users", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_events_repository_id_repositories",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_events_actor_id", "events", ["actor_id"], unique=False)
    op.create_index("ix_events_owner_id", "events", ["owner_id"], unique=False)
    op.create_index("ix_events_repository_id", "events", ["repository_id"], unique=False)
    op.create_table(
        "labels",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("repository_id", ID, nullable=True),
        sa.Column("organization_id", ID, nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("color", sa.String(), nullable=False),
        sa.Column("description", sa.String(), server_default="", nullable=False),
        sa.Column("is_exclusive", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("archived_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["users.id"], name="fk_labels_organization_id_users", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["repositories.id"], name="fk_labels_repository_id_repositories", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_labels"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_labels_organization_id", "labels", ["organization_id"], unique=False)
    op.create_index("ix_labels_repository_id", "labels", ["repository_id"], unique=False)
    op.create_table(
        "lfs_links",
        sa.Column("repository_id", ID, nullable=False),
        sa.Column("oid", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_lfs_links_repository_id_repositories",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("repository_id", "oid", name="pk_lfs_links"),
    )
    op.create_index("ix_lfs_links_oid", "lfs_links", ["oid"], unique=False)
    op.create_table(
        "lfs_locks",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("repository_id", ID, nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("owner_id", ID, nullable=False),
        sa.Column("locked_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name="fk_lfs_locks_owner_id_users", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_lfs_locks_repository_id_repositories",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_lfs_locks"),
        sa.UniqueConstraint("repository_id", "path", name="uq_lfs_locks_repository_id_path"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_lfs_locks_owner_id", "lfs_locks", ["owner_id"], unique=False)
    op.create_table(
        "milestones",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("repository_id", ID, nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("description", sa.String(), server_default="", nullable=False),
        sa.Column("is_closed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("due_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_milestones_repository_id_repositories",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_milestones"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_milestones_repository_id", "milestones", ["repository_id"], unique=False)
    op.create_table(
        "protections",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("repository_id", ID, nullable=False),
        sa.Column("rule_name", sa.String(), nullable=False),
        sa.Column("priority", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_protections_repository_id_repositories",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_protections"),
        sa.UniqueConstraint("repository_id", "rule_name", name="uq_protections_repository_id_rule_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "ref_updates",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("repository_id", ID, nullable=False),
        sa.Column("actor_id", ID, nullable=True),
        sa.Column("ref", sa.String(), nullable=False),
        sa.Column("old", sa.String(), nullable=False),
        sa.Column("new", sa.String(), nullable=False),
        sa.Column("is_done", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["actor_id"], ["users.id"], name="fk_ref_updates_actor_id_users", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_ref_updates_repository_id_repositories",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_ref_updates"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_ref_updates_actor_id", "ref_updates", ["actor_id"], unique=False)
    op.create_index("ix_ref_updates_is_done_created_at", "ref_updates", ["is_done", "created_at"], unique=False)
    op.create_index("ix_ref_updates_repository_id", "ref_updates", ["repository_id"], unique=False)
    op.create_table(
        "repository_redirects",
        sa.Column("owner_id", ID, nullable=False),
        sa.Column("folded_name", sa.String(), nullable=False),
        sa.Column("repository_id", ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name="fk_repository_redirects_owner_id_users", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_repository_redirects_repository_id_repositories",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner_id", "folded_name", name="pk_repository_redirects"),
    )
    op.create_index(
        "ix_repository_redirects_repository_id", "repository_redirects", ["repository_id"], unique=False
    )
    op.create_table(
        "team_members",
        sa.Column("team_id", ID, nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["team_id"], ["teams.id"], name="fk_team_members_team_id_teams", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_team_members_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("team_id", "user_id", name="pk_team_members"),
    )
    op.create_index("ix_team_members_user_id", "team_members", ["user_id"], unique=False)
    op.create_table(
        "team_repositories",
        sa.Column("team_id", ID, nullable=False),
        sa.Column("repository_id", ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_team_repositories_repository_id_repositories",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["teams.id"], name="fk_team_repositories_team_id_teams", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("team_id", "repository_id", name="pk_team_repositories"),
    )
    op.create_index("ix_team_repositories_repository_id", "team_repositories", ["repository_id"], unique=False)
    op.create_table(
        "team_units",
        sa.Column("team_id", ID, nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("mode", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_team_units_team_id_teams", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("team_id", "unit", name="pk_team_units"),
    )
    op.create_table(
        "issues",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("repository_id", ID, nullable=False),
        sa.Column("number", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("is_pull", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("author_id", ID, nullable=True),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("body", sa.String(), server_default="", nullable=False),
        sa.Column("ref", sa.String(), server_default="", nullable=False),
        sa.Column("milestone_id", ID, nullable=True),
        sa.Column("is_closed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_locked", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("lock_reason", sa.String(), server_default="", nullable=False),
        sa.Column("due_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("content_version", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("time_estimate", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("comment_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("pin_order", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("head_branch", sa.String(), server_default="", nullable=False),
        sa.Column("base_branch", sa.String(), server_default="", nullable=False),
        sa.Column("head_sha", sa.String(), server_default="", nullable=False),
        sa.Column("base_sha", sa.String(), server_default="", nullable=False),
        sa.Column("is_draft", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("merged_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["users.id"], name="fk_issues_author_id_users", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["milestone_id"], ["milestones.id"], name="fk_issues_milestone_id_milestones", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["repositories.id"], name="fk_issues_repository_id_repositories", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_issues"),
        sa.UniqueConstraint("repository_id", "number", name="uq_issues_repository_id_number"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_issues_author_id", "issues", ["author_id"], unique=False)
    op.create_index("ix_issues_milestone_id", "issues", ["milestone_id"], unique=False)
    op.create_index(
        "ix_issues_repository_id_is_pull_is_closed_created_at",
        "issues",
        ["repository_id", "is_pull", "is_closed", "created_at"],
        unique=False,
    )
    op.create_index("ix_issues_updated_at", "issues", ["updated_at"], unique=False)
    op.create_table(
        "comments",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        sa.Column("issue_id", ID, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("author_id", ID, nullable=True),
        sa.Column("body", sa.String(), server_default="", nullable=False),
        sa.Column("details", sa.String(), server_default="{}", nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["users.id"], name="fk_comments_author_id_users", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["issue_id"], ["issues.id"], name="fk_comments_issue_id_issues", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_comments"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_comments_author_id", "comments", ["author_id"], unique=False)
    op.create_index(
        "ix_comments_issue_id_created_at_id", "comments", ["issue_id", "created_at", "id"], unique=False
    )
    op.create_table(
        "issue_assignees",
        sa.Column("issue_id", ID, nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["issue_id"], ["issues.id"], name="fk_issue_assignees_issue_id_issues", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_issue_assignees_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("issue_id", "user_id", name="pk_issue_assignees"),
    )
    op.create_index("ix_issue_assignees_user_id", "issue_assignees", ["user_id"], unique=False)
    op.create_table(
        "issue_labels",
        sa.Column("issue_id", ID, nullable=False),
        sa.Column("label_id", ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["issue_id"], ["issues.id"], name="fk_issue_labels_issue_id_issues", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["label_id"], ["labels.id"], name="fk_issue_labels_label_id_labels", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("issue_id", "label_id", name="pk_issue_labels"),
    )
    op.create_index("ix_issue_labels_label_id", "issue_labels", ["label_id"], unique=False)
    op.add_column(
        "users", sa.Column("is_organization", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.add_column("users", sa.Column("email", sa.String(), server_default="", nullable=False))
    op.add_column("users", sa.Column("description", sa.String(), server_default="", nullable=False))
    op.add_column("users", sa.Column("website", sa.String(), server_default="", nullable=False))
    op.add_column("users", sa.Column("location", sa.String(), server_default="", nullable=False))
    op.add_column("users", sa.Column("language", sa.String(), server_default="", nullable=False))
    op.add_column("users", sa.Column("visibility", sa.String(), server_default="public", nullable=False))
    op.add_column("users", sa.Column("hides_email", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.add_column(
        "users", sa.Column("is_restricted", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.add_column("users", sa.Column("is_active", sa.Boolean(), server_default=sa.text("true"), nullable=False))
    op.add_column(
        "users", sa.Column("may_not_log_in", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.add_column(
        "users", sa.Column("must_change_password", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.add_column(
        "users",
        sa.Column("may_create_organizations", sa.Boolean(), server_default=sa.text("true"), nullable=False),
    )
    op.add_column(
        "users",
        sa.Column("repository_admins_change_teams", sa.Boolean(), server_default=sa.text("false"), nullable=False),
    )
    op.add_column(
        "users", sa.Column("last_login_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
    )
    op.add_column("users", sa.Column("updated_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
