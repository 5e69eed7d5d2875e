"""Table definitions in SQLAlchemy Core; the schema is created and changed by `migrations/`.

Times are integer seconds since 1970 in UTC, which both databases compare alike. Names are stored as entered and
casefolded, so that they are unique regardless of case. Ids are never reused (`sqlite_autoincrement`, and
`accounts.unused_id` for users), since folders on disk are named by them, and JSON columns contain them.
"""

from holdfast.hosting.store.tables.accounts import (
    login_failures,
    members,
    name_redirects,
    sessions,
    team_members,
    team_repositories,
    team_units,
    teams,
    tokens,
    users,
)
from holdfast.hosting.store.tables.avatars import account_avatars, repository_avatars
from holdfast.hosting.store.tables.chat_backups import (
    chat_backup_files,
    chat_backup_parts,
    chat_backup_shares,
    chat_backups,
)
from holdfast.hosting.store.tables.columns import metadata
from holdfast.hosting.store.tables.email_addresses import email_addresses
from holdfast.hosting.store.tables.issues import (
    comments,
    issue_assignees,
    issue_dependencies,
    issue_labels,
    issues,
    labels,
    milestones,
)
from holdfast.hosting.store.tables.keys import ssh_host_keys, ssh_keys
from holdfast.hosting.store.tables.languages import repository_languages
from holdfast.hosting.store.tables.mirrors import migrations, mirrors, push_mirrors
from holdfast.hosting.store.tables.notifications import notifications
from holdfast.hosting.store.tables.passkeys import passkey_challenges, passkeys
from holdfast.hosting.store.tables.pulls import pull_requests, scheduled_merges
from holdfast.hosting.store.tables.reactions import issue_subscriptions, reactions
from holdfast.hosting.store.tables.releases import attachments, releases
from holdfast.hosting.store.tables.repositories import (
    branch_renames,
    collaborators,
    lfs_links,
    lfs_locks,
    protections,
    repositories,
    repository_redirects,
)
from holdfast.hosting.store.tables.repository_log import commit_keys, packs, ref_log, ref_updates, refs
from holdfast.hosting.store.tables.reviews import review_comments, reviews
from holdfast.hosting.store.tables.service import instance, leases
from holdfast.hosting.store.tables.statuses import commit_statuses
from holdfast.hosting.store.tables.subscriptions import stars, watches
from holdfast.hosting.store.tables.tag_protections import tag_protections
from holdfast.hosting.store.tables.transfers import repository_transfers
from holdfast.hosting.store.tables.two_factor import recovery_codes, two_factor
from holdfast.hosting.store.tables.webhooks import deliveries, events, hooks

__all__ = [
    "account_avatars",
    "attachments",
    "branch_renames",
    "chat_backup_files",
    "chat_backup_parts",
    "chat_backup_shares",
    "chat_backups",
    "collaborators",
    "comments",
    "commit_keys",
    "commit_statuses",
    "deliveries",
    "email_addresses",
    "events",
    "hooks",
    "instance",
    "issue_assignees",
    "issue_dependencies",
    "issue_labels",
    "issue_subscriptions",
    "issues",
    "labels",
    "leases",
    "lfs_links",
    "lfs_locks",
    "login_failures",
    "members",
    "metadata",
    "migrations",
    "milestones",
    "mirrors",
    "name_redirects",
    "notifications",
    "packs",
    "passkey_challenges",
    "passkeys",
    "protections",
    "pull_requests",
    "push_mirrors",
    "reactions",
    "recovery_codes",
    "ref_log",
    "ref_updates",
    "refs",
    "releases",
    "repositories",
    "repository_avatars",
    "repository_languages",
    "repository_redirects",
    "repository_transfers",
    "review_comments",
    "reviews",
    "scheduled_merges",
    "sessions",
    "ssh_host_keys",
    "ssh_keys",
    "stars",
    "tag_protections",
    "team_members",
    "team_repositories",
    "team_units",
    "teams",
    "tokens",
    "two_factor",
    "users",
    "watches",
]
