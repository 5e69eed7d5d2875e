"""The schema of a branch protection rule."""

from typing import Any, Final

import msgspec

from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store import accounts, organizations
from holdfast.hosting.store.protections import Protection, ProtectionRule

__all__ = ["ALLOWLISTS", "PLAIN", "BranchProtection", "encode_protections", "people_key"]

# The names of allowlists in the API, and in a stored rule.
ALLOWLISTS: Final = {
    "push_whitelist": "push",
    "force_push_allowlist": "force_push",
    "merge_whitelist": "merge",
    "bypass_allowlist": "bypass",
    "approvals_whitelist": "approvals",
}
PLAIN: Final = tuple(name for name in ProtectionRule.__struct_fields__ if not name.endswith(("_users", "_teams")))


class BranchProtection(msgspec.Struct, frozen=True):
    """A branch protection rule, with users and teams by name."""

    branch_name: str
    rule_name: str
    priority: int
    enable_push: bool
    enable_push_whitelist: bool
    push_whitelist_usernames: list[str]
    push_whitelist_teams: list[str]
    push_whitelist_deploy_keys: bool
    enable_force_push: bool
    enable_force_push_allowlist: bool
    force_push_allowlist_usernames: list[str]
    force_push_allowlist_teams: list[str]
    force_push_allowlist_deploy_keys: bool
    enable_merge_whitelist: bool
    merge_whitelist_usernames: list[str]
    merge_whitelist_teams: list[str]
    enable_bypass_allowlist: bool
    bypass_allowlist_usernames: list[str]
    bypass_allowlist_teams: list[str]
    enable_status_check: bool
    status_check_contexts: list[str]
    required_approvals: int
    enable_approvals_whitelist: bool
    approvals_whitelist_username: list[str]
    approvals_whitelist_teams: list[str]
    block_on_rejected_reviews: bool
    block_on_official_review_requests: bool
    block_on_codeowner_reviews: bool
    block_on_outdated_branch: bool
    dismiss_stale_approvals: bool
    ignore_stale_approvals: bool
    require_signed_commits: bool
    protected_file_patterns: str
    unprotected_file_patterns: str
    block_admin_merge_override: bool
    created_at: Time
    updated_at: Time


def people_key(prefix: str) -> str:
    """Return the key of a list of users; for approvals it is singular, as in Gitea."""
    return f"{prefix}_username" if prefix == "approvals_whitelist" else f"{prefix}_usernames"


def encode_protections(viewer: Viewer, rules: list[Protection]) -> list[BranchProtection]:
    """Encode rules, with one query for the names of users and one for those of teams."""
    users: set[int] = set()
    teams: set[int] = set()
    for protection in rules:
        for stored_prefix in ALLOWLISTS.values():
            users.update(getattr(protection.rule, f"{stored_prefix}_users"))
            teams.update(getattr(protection.rule, f"{stored_prefix}_teams"))
    user_names = accounts.names_of(viewer.app.database, users)
    team_names = organizations.team_names(viewer.app.database, teams)
    return [encode_protection(rule, user_names, team_names) for rule in rules]


def encode_protection(protection: Protection, users: dict[int, str], teams: dict[int, str]) -> BranchProtection:
    """Encode a rule; deleted users and teams are left out."""
    rule = protection.rule
    values: dict[str, Any] = {name: getattr(rule, name) for name in PLAIN}
    values["status_check_contexts"] = list(rule.status_check_contexts)
    for prefix, stored_prefix in ALLOWLISTS.items():
        ids = getattr(rule, f"{stored_prefix}_users")
        values[people_key(prefix)] = [users[number] for number in ids if number in users]
        ids = getattr(rule, f"{stored_prefix}_teams")
        values[f"{prefix}_teams"] = [teams[number] for number in ids if number in teams]
    return BranchProtection(
        branch_name=protection.rule_name,
        rule_name=protection.rule_name,
        priority=protection.priority,
        created_at=moment(protection.created_at),
        updated_at=moment(protection.updated_at),
        **values,
    )
