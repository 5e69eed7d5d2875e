"""Branch protection: the rules of a repository, and the check of a branch change against them.

A change is checked before a file is committed through the API, and before a push moves a ref. The first rule that
matches the branch applies: lowest priority first, then plain names before patterns, then the oldest.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Mode, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue, PatternRefused, UnknownName
from holdfast.hosting.schemas.protections import ALLOWLISTS, PLAIN, people_key
from holdfast.hosting.services.fields import check_length, check_required
from holdfast.hosting.services.retries import retry
from holdfast.hosting.store import accounts, organizations
from holdfast.hosting.store import protections as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.globs import compile_glob, is_plain
from holdfast.hosting.store.protections import Protection, ProtectionRule
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.teams import Team

__all__ = [
    "LONGEST_RULE_NAME",
    "BranchChange",
    "ProtectionEdit",
    "create",
    "delete",
    "edit",
    "find",
    "is_official_team",
    "list_all",
    "may_commit",
    "may_force_push",
    "may_push",
    "refusal_of",
    "rule_for",
    "rule_of",
]

LONGEST_RULE_NAME: Final = 255
LARGEST_PRIORITY: Final = 2**31
MOST_APPROVALS: Final = 1000
# Required statuses, which every branch of a list repeats, and users or teams on an allowlist.
MOST_CONTEXTS: Final = 100
LONGEST_CONTEXT: Final = 255
MOST_NAMES: Final = 1000


@dataclass(frozen=True, slots=True)
class BranchChange:
    """A change of a branch to check; expensive properties are computed only if a rule needs them."""

    branch: str
    deletes: bool
    is_forced: Callable[[], bool]
    paths: Callable[[], Iterable[str]]
    unsigned: Callable[[], str | None]
    """The first commit without a valid signature, if any."""


def rule_for(rules: Iterable[Protection], branch: str) -> Protection | None:
    """Return the rule that applies to a branch, or None."""
    protections = [protection for protection in rules if matches(protection.rule_name, branch)]
    if not protections:
        return None
    return min(
        protections, key=lambda rule: (rule.priority, not is_plain(rule.rule_name), rule.created_at, rule.id)
    )


def matches(pattern: str, branch: str) -> bool:
    """Return whether a rule's pattern matches a branch; a plain name is compared ignoring case."""
    if is_plain(pattern):
        return pattern.casefold() == branch.casefold()
    return compile_glob(pattern, "/").matches(branch)


def rule_of(database: Database, repository: Repository, branch: str) -> ProtectionRule | None:
    """Return the rule that protects a branch of a repository, or None."""
    protection = rule_for(store.protections_of(database, repository), branch)
    return None if protection is None else protection.rule


def is_official_team(rule: ProtectionRule | None, team: Team) -> bool:
    """Return whether reviews by a team are official: it is on the allowlist or, without one, has write access."""
    if rule is not None and rule.enable_approvals_whitelist:
        return team.id in rule.approvals_teams
    return team.units.get(Unit.CODE, team.mode if not team.units else Mode.NONE) >= Mode.WRITE


def is_on_allowlist(
    user: Account, teams: frozenset[int], users: tuple[int, ...], allowed_teams: tuple[int, ...]
) -> bool:
    """Return whether a user is on an allowlist, directly or through a team."""
    return user.id in users or not teams.isdisjoint(allowed_teams)


def may_push(rule: ProtectionRule, user: Account, teams: frozenset[int], *, by_deploy_key: bool = False) -> bool:
    """Return whether a user or deploy key with write access may push; administrators are not exempt."""
    if not rule.enable_push:
        return False
    if by_deploy_key:
        return not rule.enable_push_whitelist or rule.push_whitelist_deploy_keys
    return not rule.enable_push_whitelist or is_on_allowlist(user, teams, rule.push_users, rule.push_teams)


def may_force_push(
    rule: ProtectionRule, user: Account, teams: frozenset[int], *, by_deploy_key: bool = False
) -> bool:
    """Return whether a user or deploy key may force-push."""
    if not rule.enable_force_push or not may_push(rule, user, teams, by_deploy_key=by_deploy_key):
        return False
    if by_deploy_key:
        return not rule.enable_force_push_allowlist or rule.force_push_allowlist_deploy_keys
    return not rule.enable_force_push_allowlist or is_on_allowlist(
        user, teams, rule.force_push_users, rule.force_push_teams
    )


def file_patterns(text: str) -> list[str]:
    """Split the file patterns of a rule."""
    return [part.strip().lower() for part in text.split(";") if part.strip()]


def first_match(text: str, paths: Iterable[str]) -> str | None:
    """Return the first path that one of a rule's patterns matches."""
    patterns = [compile_glob(pattern, "./") for pattern in file_patterns(text)]
    return next((path for path in paths if any(pattern.matches(path.lower()) for pattern in patterns)), None)


def all_match(text: str, paths: Iterable[str]) -> bool:
    """Return whether every path is matched by one of a rule's patterns; False without patterns."""
    patterns = [compile_glob(pattern, "./") for pattern in file_patterns(text)]
    return bool(patterns) and all(any(pattern.matches(path.lower()) for pattern in patterns) for path in paths)


def may_commit(protection: Protection, user: Account, teams: frozenset[int], path: str) -> str | None:
    """Return why a file may not be written to a protected branch through the API; None if it may."""
    rule = protection.rule
    if not may_push(rule, user, teams) and not all_match(rule.unprotected_file_patterns, [path]):
        return f"user cannot commit to repo [user: {user.name.lower()}]"
    if first_match(rule.protected_file_patterns, [path]) is not None:
        return f"path is protected and can not be changed [path: {path}]"
    if rule.require_signed_commits:
        return f"user cannot commit to repo [user: {user.name.lower()}]"
    return None


def refusal_of(
    protection: Protection,
    change: BranchChange,
    user: Account,
    teams: frozenset[int],
    *,
    by_deploy_key: bool = False,
) -> str | None:
    """Return why a change of a branch is refused, in Gitea's words; None if it is allowed.

    A deploy key is no user: what a rule grants to users or teams does not apply to it.
    """
    rule, branch = protection.rule, change.branch
    if change.deletes:
        return f"Branch {branch} is protected from deletion"
    forced = change.is_forced()
    if forced and not rule.enable_force_push:
        return f"Branch {branch} is protected from force push"
    if rule.require_signed_commits:
        unsigned = change.unsigned()
        if unsigned is not None:
            return f"Branch {branch} is protected from unverified commit {unsigned}"
    if rule.protected_file_patterns:
        touched = first_match(rule.protected_file_patterns, change.paths())
        if touched is not None:
            return f"Branch {branch} is protected from changing file {touched}"
    if forced and not may_force_push(rule, user, teams, by_deploy_key=by_deploy_key):
        return f"Not allowed to force-push to protected branch {branch}"
    if not forced and not may_push(rule, user, teams, by_deploy_key=by_deploy_key):
        if rule.unprotected_file_patterns and all_match(rule.unprotected_file_patterns, change.paths()):
            return None
        return f"Not allowed to push to protected branch {branch}"
    return None


Approvals = Annotated[int, Meta(ge=0, le=MOST_APPROVALS)]


class ProtectionEdit(msgspec.Struct, frozen=True):
    """Changes of a rule, by API field names; unset fields keep their value."""

    priority: Annotated[int, Meta(ge=0, le=LARGEST_PRIORITY)] | UnsetType = UNSET
    enable_push: bool | UnsetType = UNSET
    enable_push_whitelist: bool | UnsetType = UNSET
    push_whitelist_usernames: list[str] | UnsetType = UNSET
    push_whitelist_teams: list[str] | UnsetType = UNSET
    push_whitelist_deploy_keys: bool | UnsetType = UNSET
    enable_force_push: bool | UnsetType = UNSET
    enable_force_push_allowlist: bool | UnsetType = UNSET
    force_push_allowlist_usernames: list[str] | UnsetType = UNSET
    force_push_allowlist_teams: list[str] | UnsetType = UNSET
    force_push_allowlist_deploy_keys: bool | UnsetType = UNSET
    enable_merge_whitelist: bool | UnsetType = UNSET
    merge_whitelist_usernames: list[str] | UnsetType = UNSET
    merge_whitelist_teams: list[str] | UnsetType = UNSET
    enable_bypass_allowlist: bool | UnsetType = UNSET
    bypass_allowlist_usernames: list[str] | UnsetType = UNSET
    bypass_allowlist_teams: list[str] | UnsetType = UNSET
    enable_status_check: bool | UnsetType = UNSET
    status_check_contexts: list[str] | UnsetType = UNSET
    required_approvals: Approvals | UnsetType = UNSET
    enable_approvals_whitelist: bool | UnsetType = UNSET
    approvals_whitelist_username: list[str] | UnsetType = UNSET
    approvals_whitelist_teams: list[str] | UnsetType = UNSET
    block_on_rejected_reviews: bool | UnsetType = UNSET
    block_on_official_review_requests: bool | UnsetType = UNSET
    block_on_codeowner_reviews: bool | UnsetType = UNSET
    block_on_outdated_branch: bool | UnsetType = UNSET
    dismiss_stale_approvals: bool | UnsetType = UNSET
    ignore_stale_approvals: bool | UnsetType = UNSET
    require_signed_commits: bool | UnsetType = UNSET
    protected_file_patterns: str | UnsetType = UNSET
    unprotected_file_patterns: str | UnsetType = UNSET
    block_admin_merge_override: bool | UnsetType = UNSET


def list_all(app: App, actor: Actor, target: RepositoryAccess) -> list[Protection]:
    """List the rules of a repository."""
    access.require_repository_admin(actor, target)
    return store.protections_of(app.database, target.repository)


def find(app: App, actor: Actor, target: RepositoryAccess, name: str) -> Protection:
    """Return a rule by name; raise `NoSuchProtection` if there is none."""
    access.require_repository_admin(actor, target)
    return store.find_protection(app.database, target.repository, name)


def create(app: App, actor: Actor, target: RepositoryAccess, name: str, changes: ProtectionEdit) -> Protection:
    """Protect a branch, or every branch a pattern matches."""
    access.require_repository_admin(actor, target)
    check_required(name, "RuleName")
    check_length(name, "RuleName", LONGEST_RULE_NAME)
    check_pattern("RuleName", name, "/")
    rule = changed_rule(app, target, ProtectionRule(), changes)
    priority = 0 if changes.priority is UNSET else changes.priority
    return store.create_protection(app.database, target.repository, name, rule, priority=priority)


def edit(app: App, actor: Actor, target: RepositoryAccess, name: str, changes: ProtectionEdit) -> Protection:
    """Change a rule; what another request has changed meanwhile is kept."""
    return retry(lambda: try_to_edit(app, actor, target, name, changes))


def try_to_edit(
    app: App, actor: Actor, target: RepositoryAccess, name: str, changes: ProtectionEdit
) -> Protection:
    """Change a rule; raise `Outdated` if another request changes it too."""
    existing = find(app, actor, target, name)
    rule = changed_rule(app, target, existing.rule, changes)
    priority = None if changes.priority is UNSET else changes.priority
    return store.change_protection(app.database, target.repository, existing, rule, priority=priority)


def delete(app: App, actor: Actor, target: RepositoryAccess, name: str) -> None:
    """Delete a rule."""
    store.delete_protection(app.database, find(app, actor, target, name))


def changed_rule(
    app: App, target: RepositoryAccess, rule: ProtectionRule, changes: ProtectionEdit
) -> ProtectionRule:
    """Return a rule with changes applied and validated."""
    check_number("Priority", changes.priority, LARGEST_PRIORITY)
    check_number("RequiredApprovals", changes.required_approvals, MOST_APPROVALS)
    values: dict[str, Any] = {name: value for name in PLAIN if (value := getattr(changes, name)) is not UNSET}
    if "status_check_contexts" in values:
        check_length(values["status_check_contexts"], "StatusCheckContexts", MOST_CONTEXTS)
        for context in values["status_check_contexts"]:
            check_length(context, "StatusCheckContexts", LONGEST_CONTEXT)
        values["status_check_contexts"] = tuple(values["status_check_contexts"])
    for prefix, stored_prefix in ALLOWLISTS.items():
        names = getattr(changes, people_key(prefix))
        if names is not UNSET:
            values[f"{stored_prefix}_users"] = user_ids(app, names)
        names = getattr(changes, f"{prefix}_teams")
        if names is not UNSET:
            values[f"{stored_prefix}_teams"] = team_ids(app, target, names)
    for field, name in (
        ("ProtectedFilePatterns", "protected_file_patterns"),
        ("UnprotectedFilePatterns", "unprotected_file_patterns"),
    ):
        for pattern in values.get(name, "").split(";"):
            check_pattern(field, pattern.strip(), "./")
    return msgspec.structs.replace(rule, **values)


def check_number(field: str, number: int | UnsetType, largest: int) -> None:
    """Raise `InvalidValue` for a number out of range."""
    if number is not UNSET and not 0 <= number <= largest:
        raise InvalidValue(field, f"must be between 0 and {largest}")


def check_pattern(field: str, pattern: str, separators: str) -> None:
    """Raise `InvalidValue` for a glob pattern that cannot be compiled."""
    try:
        compile_glob(pattern, separators)
    except PatternRefused as error:
        raise InvalidValue(field, str(error)) from None


def user_ids(app: App, names: list[str]) -> tuple[int, ...]:
    """Return the ids of users by name."""
    check_length(names, "Usernames", MOST_NAMES)
    users = accounts.by_names(app.database, names)
    for name in names:
        if name.casefold() not in users:
            raise UnknownName("user", name, f"user does not exist [uid: 0, name: {name}]")
    return tuple(users[name.casefold()].id for name in names)


def team_ids(app: App, target: RepositoryAccess, names: list[str]) -> tuple[int, ...]:
    """Return the ids of teams of the repository's organization by name."""
    check_length(names, "Teams", MOST_NAMES)
    owner = target.repository.owner
    ids_by_name = organizations.teams_by_names(app.database, owner, names)
    for name in names:
        if name.casefold() not in ids_by_name:
            raise UnknownName("team", name, f"team does not exist [org_id: {owner.id}, name: {name}]")
    return tuple(ids_by_name[name.casefold()] for name in names)
