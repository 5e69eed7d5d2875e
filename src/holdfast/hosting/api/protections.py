"""Branch protections: the rules, and changing them."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import NoSuchProtection, PatternRefused, ProtectionTaken
from holdfast.hosting.guards import administers, in_repository
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.store import accounts, organizations
from holdfast.hosting.store import protections as store
from holdfast.hosting.store.globs import compile_glob
from holdfast.hosting.store.protections import Protection, Rule

__all__ = ["create_protection", "delete_protection", "edit_protection", "list_protections", "show_protection"]

GUARDS: Final = (in_repository, administers)
# How the lists of people and teams are called in the API, and where they are kept.
LISTS: Final = {
    "push_whitelist": "push",
    "force_push_allowlist": "force_push",
    "merge_whitelist": "merge",
    "bypass_allowlist": "bypass",
    "approvals_whitelist": "approvals",
}
PLAIN: Final = tuple(name for name in Rule.__struct_fields__ if not name.endswith(("_users", "_teams")))


class BranchProtection(msgspec.Struct, frozen=True):
    """A rule, with people and teams by name."""

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


Approvals = Annotated[int, Meta(ge=0, le=1000)]


class EditBranchProtectionOption(msgspec.Struct, frozen=True):
    """What a rule is to say; a key that is absent keeps its value."""

    priority: Annotated[int, Meta(ge=0, le=2**31)] | UnsetType = UNSET
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


class CreateBranchProtectionOption(EditBranchProtectionOption, frozen=True):
    """A new rule, for a branch or for all that a pattern matches."""

    branch_name: Annotated[str, Meta(max_length=255)] = ""
    rule_name: Annotated[str, Meta(max_length=255)] = ""


def people_key(prefix: str) -> str:
    """Return the key of a list of people; one of them was misspelt long ago and stays so."""
    return f"{prefix}_username" if prefix == "approvals_whitelist" else f"{prefix}_usernames"


def shapes(request: RequestContext, rules: list[Protection]) -> list[BranchProtection]:
    """Make the shapes, asking for all names at once."""
    users = {number for rule in rules for kept in LISTS.values() for number in getattr(rule.rule, f"{kept}_users")}
    teams = {number for rule in rules for kept in LISTS.values() for number in getattr(rule.rule, f"{kept}_teams")}
    user_names = accounts.names_of(request.app.database, users)
    team_names = organizations.team_names(request.app.database, teams)
    return [shape(rule, user_names, team_names) for rule in rules]


def shape(protection: Protection, users: dict[int, str], teams: dict[int, str]) -> BranchProtection:
    """Make the shape; people and teams that are gone are left out."""
    rule = protection.rule
    values: dict[str, Any] = {name: getattr(rule, name) for name in PLAIN}
    values["status_check_contexts"] = list(rule.status_check_contexts)
    for prefix, kept in LISTS.items():
        listed = getattr(rule, f"{kept}_users")
        values[people_key(prefix)] = [users[number] for number in listed if number in users]
        listed = getattr(rule, f"{kept}_teams")
        values[f"{prefix}_teams"] = [teams[number] for number in listed if number in teams]
    return BranchProtection(
        branch_name=protection.rule_name,
        rule_name=protection.rule_name,
        priority=protection.priority,
        created_at=moment(protection.created_at),
        updated_at=moment(protection.updated_at),
        **values,
    )


def changed(
    request: RequestContext, target: RepositoryAccess, rule: Rule, body: EditBranchProtectionOption
) -> Rule:
    """Return the rule with what a body says."""
    values: dict[str, Any] = {name: value for name in PLAIN if (value := getattr(body, name)) is not UNSET}
    if "status_check_contexts" in values:
        values["status_check_contexts"] = tuple(values["status_check_contexts"])
    for prefix, kept in LISTS.items():
        names = getattr(body, people_key(prefix))
        if names is not UNSET:
            values[f"{kept}_users"] = people(request, names)
        names = getattr(body, f"{prefix}_teams")
        if names is not UNSET:
            values[f"{kept}_teams"] = team_numbers(request, target, names)
    for name in ("protected_file_patterns", "unprotected_file_patterns"):
        check_patterns(name, values.get(name, ""))
    return msgspec.structs.replace(rule, **values)


def check_patterns(field: str, text: str) -> None:
    """Refuse file patterns that nobody could understand."""
    for pattern in text.split(";"):
        try:
            compile_glob(pattern.strip(), "./")
        except PatternRefused as error:
            raise ApiError(422, f"[{field.title().replace('_', '')}]: {error}") from None


def people(request: RequestContext, names: list[str]) -> tuple[int, ...]:
    """Return the numbers of people."""
    found = accounts.by_names(request.app.database, names)
    for name in names:
        if name.casefold() not in found:
            raise ApiError(422, f"user does not exist [uid: 0, name: {name}]")
    return tuple(found[name.casefold()].id for name in names)


def team_numbers(request: RequestContext, target: RepositoryAccess, names: list[str]) -> tuple[int, ...]:
    """Return the numbers of teams of the repository's organization."""
    found = organizations.teams_by_names(request.app.database, target.repository.owner, names)
    for name in names:
        if name.casefold() not in found:
            raise ApiError(422, f"team does not exist [org_id: {target.repository.owner.id}, name: {name}]")
    return tuple(found[name.casefold()] for name in names)


@endpoint("GET /repos/{owner}/{repo}/branch_protections", scope="repository", guards=GUARDS, refuses=(401, 403))
def list_protections(request: RequestContext, target: RepositoryAccess) -> list[BranchProtection]:
    """List the rules of a repository."""
    return shapes(request, store.protections_of(request.app.database, target.repository))


def find(request: RequestContext, target: RepositoryAccess, name: str) -> Protection:
    """Find a rule by its name."""
    try:
        return store.find_protection(request.app.database, target.repository, name)
    except NoSuchProtection:
        raise ApiError(404) from None


@endpoint(
    "GET /repos/{owner}/{repo}/branch_protections/{name...}", scope="repository", guards=GUARDS, refuses=(401, 403)
)
def show_protection(request: RequestContext, target: RepositoryAccess, name: str) -> BranchProtection:
    """Show a rule."""
    return shapes(request, [find(request, target, name)])[0]


@endpoint(
    "POST /repos/{owner}/{repo}/branch_protections",
    scope="repository",
    guards=GUARDS,
    status=201,
    refuses=(401, 403, 422),
)
def create_protection(
    request: RequestContext, target: RepositoryAccess, body: CreateBranchProtectionOption
) -> BranchProtection:
    """Protect a branch, or all that a pattern matches."""
    name = body.rule_name or body.branch_name
    if not name:
        raise ApiError(422, "[RuleName]: Required")
    try:
        compile_glob(name, "/")
    except PatternRefused as error:
        raise ApiError(422, f"[RuleName]: {error}") from None
    rule = changed(request, target, Rule(), body)
    priority = 0 if body.priority is UNSET else body.priority
    try:
        made = store.create_protection(request.app.database, target.repository, name, rule, priority=priority)
    except ProtectionTaken as error:
        raise ApiError(403, str(error)) from None
    return shapes(request, [made])[0]


@endpoint(
    "PATCH /repos/{owner}/{repo}/branch_protections/{name...}",
    scope="repository",
    guards=GUARDS,
    refuses=(401, 403, 422),
)
def edit_protection(
    request: RequestContext, target: RepositoryAccess, name: str, body: EditBranchProtectionOption
) -> BranchProtection:
    """Change a rule."""
    kept = find(request, target, name)
    rule = changed(request, target, kept.rule, body)
    priority = None if body.priority is UNSET else body.priority
    made = store.change_protection(request.app.database, target.repository, kept, rule, priority=priority)
    return shapes(request, [made])[0]


@endpoint(
    "DELETE /repos/{owner}/{repo}/branch_protections/{name...}",
    scope="repository",
    guards=GUARDS,
    refuses=(401, 403),
)
def delete_protection(request: RequestContext, target: RepositoryAccess, name: str) -> None:
    """Remove a rule."""
    store.delete_protection(request.app.database, find(request, target, name))
