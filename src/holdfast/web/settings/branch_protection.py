"""Branch protection rules: the list, and a form for one rule."""

import re
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import HostingError, InvalidValue
from holdfast.hosting.guards import administers, in_repository
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.protections import BranchProtection, encode_protections, people_key
from holdfast.hosting.services import branch_protection
from holdfast.hosting.services.branch_protection import ProtectionEdit
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import root_path
from holdfast.web.settings.settings_layout import in_repository_settings

__all__ = [
    "change_protection_page",
    "create_protection_page",
    "list_protections_page",
    "new_protection_page",
    "remove_protection_page",
    "show_protection_page",
]

GUARDS: Final = (in_repository, administers)
FLAG, NAMES, LINES, NUMBER, TEXT = "flag", "names", "lines", "number", "text"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form of a rule."""

    name: str
    kind: str
    label: str
    hint: str = ""
    inner: bool = False
    """Whether it depends on the previous field."""


def people_and_teams(prefix: str, who: str) -> tuple[Field, ...]:
    """Return the fields for users and teams."""
    return (
        Field(people_key(prefix), NAMES, f"Users who {who}", "Usernames, separated by commas.", inner=True),
        Field(
            f"{prefix}_teams", NAMES, f"Teams who {who}", "Teams of the organization, separated by commas.", True
        ),
    )


# Every setting of the API is in one of these groups.
GROUPS: Final = (
    (
        "Push",
        "Also applies to commits on the website and over the API. A protected branch cannot be deleted.",
        (
            Field("enable_push", FLAG, "Allow push", "Otherwise nobody can push to the branch."),
            Field(
                "enable_push_whitelist", FLAG, "Restrict who can push", "Write access alone is not enough.", True
            ),
            *people_and_teams("push_whitelist", "can push"),
            Field("push_whitelist_deploy_keys", FLAG, "Deploy keys with write access can push", inner=True),
        ),
    ),
    (
        "Force push",
        "A force push rewrites the history of the branch. It also requires permission to push.",
        (
            Field("enable_force_push", FLAG, "Allow force push"),
            Field(
                "enable_force_push_allowlist",
                FLAG,
                "Restrict who can force push",
                "Only users who can push.",
                True,
            ),
            *people_and_teams("force_push_allowlist", "can force push"),
            Field(
                "force_push_allowlist_deploy_keys",
                FLAG,
                "Deploy keys with write access can force push",
                inner=True,
            ),
        ),
    ),
    (
        "Reviews",
        "A review is official if its author has write access, or is in the list below.",
        (
            Field(
                "required_approvals",
                NUMBER,
                "Required approvals",
                "Official approvals that a pull request needs before it can be merged; 0 requires none.",
            ),
            Field("enable_approvals_whitelist", FLAG, "Restrict whose reviews are official"),
            *people_and_teams("approvals_whitelist", "give official reviews"),
            Field(
                "block_on_codeowner_reviews",
                FLAG,
                "Require review from code owners",
                "For each changed file, an approval by one of its owners in the CODEOWNERS file.",
            ),
            Field("block_on_rejected_reviews", FLAG, "Block merging if changes are requested"),
            Field(
                "block_on_official_review_requests",
                FLAG,
                "Block merging while an official review is requested",
            ),
            Field(
                "dismiss_stale_approvals",
                FLAG,
                "Dismiss approvals when new commits are pushed",
            ),
            Field(
                "ignore_stale_approvals",
                FLAG,
                "Ignore approvals of earlier commits",
                "They remain on the pull request, but do not count.",
            ),
        ),
    ),
    (
        "Status checks",
        "",
        (
            Field("enable_status_check", FLAG, "Require status checks to pass before merging"),
            Field(
                "status_check_contexts",
                LINES,
                "Required checks",
                "One context per line, such as ci/test or ci/*. Without any, all reported checks must pass.",
                True,
            ),
        ),
    ),
    (
        "Merging",
        "",
        (
            Field(
                "enable_merge_whitelist",
                FLAG,
                "Restrict who can merge pull requests",
                "Write access alone is not enough.",
            ),
            *people_and_teams("merge_whitelist", "can merge"),
            Field(
                "block_on_outdated_branch",
                FLAG,
                "Require branches to be up to date before merging",
                "The head branch must contain the latest commit of the base branch.",
            ),
            Field(
                "enable_bypass_allowlist",
                FLAG,
                "Allow specified users to bypass required reviews and checks",
                "Administrators of the repository can bypass them too, unless that is blocked below.",
            ),
            *people_and_teams("bypass_allowlist", "can bypass requirements"),
            Field("block_admin_merge_override", FLAG, "Do not allow administrators to bypass requirements"),
        ),
    ),
    (
        "Commits and files",
        "",
        (
            Field(
                "require_signed_commits",
                FLAG,
                "Require signed commits",
                "Rejects pushes with unsigned commits.",
            ),
            Field(
                "protected_file_patterns",
                TEXT,
                "Protected files",
                "Patterns separated by semicolons, such as *.lock;keys/**.",
            ),
            Field(
                "unprotected_file_patterns",
                TEXT,
                "Unprotected files",
                "Pushes that change only these files need write access alone. Patterns as above.",
            ),
        ),
    ),
    (
        "Order",
        "",
        (
            Field(
                "priority",
                NUMBER,
                "Priority",
                "If several rules match a branch, the lowest number applies; 0 adds a new rule at the end.",
            ),
        ),
    ),
)
FIELDS: Final = {field.name: field for _, _, fields in GROUPS for field in fields}


class ProtectionForm(msgspec.Struct, frozen=True):
    """The fields of the form, named as in the API."""

    rule_name: str = ""
    priority: str = "0"
    enable_push: str = ""
    enable_push_whitelist: str = ""
    push_whitelist_usernames: str = ""
    push_whitelist_teams: str = ""
    enable_force_push: str = ""
    enable_force_push_allowlist: str = ""
    force_push_allowlist_usernames: str = ""
    force_push_allowlist_teams: str = ""
    require_signed_commits: str = ""
    protected_file_patterns: str = ""
    unprotected_file_patterns: str = ""
    push_whitelist_deploy_keys: str = ""
    force_push_allowlist_deploy_keys: str = ""
    required_approvals: str = "0"
    enable_approvals_whitelist: str = ""
    approvals_whitelist_username: str = ""
    approvals_whitelist_teams: str = ""
    block_on_codeowner_reviews: str = ""
    block_on_rejected_reviews: str = ""
    block_on_official_review_requests: str = ""
    dismiss_stale_approvals: str = ""
    ignore_stale_approvals: str = ""
    enable_status_check: str = ""
    status_check_contexts: str = ""
    enable_merge_whitelist: str = ""
    merge_whitelist_usernames: str = ""
    merge_whitelist_teams: str = ""
    block_on_outdated_branch: str = ""
    enable_bypass_allowlist: str = ""
    bypass_allowlist_usernames: str = ""
    bypass_allowlist_teams: str = ""
    block_admin_merge_override: str = ""


class RuleQuery(msgspec.Struct, frozen=True):
    """The name of the rule, in the query because it may contain slashes."""

    name: str = ""


def form_of(rule: BranchProtection) -> ProtectionForm:
    """Return the form for an existing rule."""
    values: dict[str, str] = {"rule_name": rule.rule_name}
    for name, field in FIELDS.items():
        value = getattr(rule, name)
        if field.kind == FLAG:
            values[name] = "on" if value else ""
        elif field.kind in {NAMES, LINES}:
            values[name] = (", " if field.kind == NAMES else "\n").join(value)
        else:
            values[name] = str(value)
    return ProtectionForm(**values)


def changes_in(form: ProtectionForm) -> ProtectionEdit:
    """Return the edit of a form."""
    body: dict[str, Any] = {}
    for name, field in FIELDS.items():
        typed: str = getattr(form, name).strip()
        if field.kind == FLAG:
            body[name] = bool(typed)
        elif field.kind == NAMES:
            body[name] = [part for part in re.split(r"[\s,]+", typed) if part]
        elif field.kind == LINES:
            body[name] = [line.strip() for line in typed.splitlines() if line.strip()]
        elif field.kind == NUMBER:
            if not re.fullmatch(r"[0-9]{0,10}", typed):
                raise InvalidValue(field.label, "must be a whole number")
            body[name] = int(typed or 0)
        else:
            body[name] = typed
    return ProtectionEdit(**body)


def show_form(
    request: RequestContext, form: ProtectionForm, *, rule_name: str | None, refusal: HostingError | None = None
) -> RawResponse:
    """Render the form; `kept` is the name of the rule that is edited."""
    return in_repository_settings(
        request,
        "settings/protection.html",
        at="Branches",
        title="New rule" if rule_name is None else f"Rule for {rule_name}",
        refusal=refusal,
        form=form,
        kept=rule_name,
        groups=GROUPS,
    )


def summary(rule: BranchProtection) -> str:
    """Return a summary of a rule."""
    if not rule.enable_push:
        parts = ["push disabled"]
    elif rule.enable_push_whitelist:
        count = len(rule.push_whitelist_usernames) + len(rule.push_whitelist_teams)
        parts = [f"push restricted to {count}"]
    else:
        parts = ["push with write access"]
    parts.append("force push allowed" if rule.enable_force_push else "no force push")
    if rule.required_approvals:
        parts.append(f"{rule.required_approvals} approval{'s' if rule.required_approvals > 1 else ''} required")
    if rule.block_on_codeowner_reviews:
        parts.append("code owner review required")
    if rule.enable_status_check:
        parts.append("status checks required")
    if rule.enable_merge_whitelist:
        count = len(rule.merge_whitelist_usernames) + len(rule.merge_whitelist_teams)
        parts.append(f"merge restricted to {count}")
    if rule.require_signed_commits:
        parts.append("signed commits required")
    if rule.protected_file_patterns:
        parts.append("protected files")
    return ", ".join(parts)


@endpoint("GET /{owner}/{repo}/settings/branches", scope="repository", guards=GUARDS, slow=True)
def list_protections_page(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Show the rules that protect branches."""
    protections = branch_protection.list_all(request.app, request.actor, target)
    rules = encode_protections(request, protections)
    return in_repository_settings(
        request,
        "settings/protections.html",
        at="Branches",
        title="Branch protection",
        rules=[(rule, summary(rule)) for rule in rules],
        default_branch=target.repository.default_branch,
    )


@endpoint("GET /{owner}/{repo}/settings/branches/new", scope="repository", guards=GUARDS, slow=True)
def new_protection_page(request: RequestContext, target: RepositoryAccess) -> RawResponse:  # noqa: ARG001  # set by a guard
    """Show the form of a new rule."""
    return show_form(
        request, ProtectionForm(rule_name=request.query("name") or "", enable_push="on"), rule_name=None
    )


@endpoint("POST /{owner}/{repo}/settings/branches/new", scope="repository", guards=GUARDS)
def create_protection_page(request: RequestContext, target: RepositoryAccess, body: ProtectionForm) -> RawResponse:
    """Create a rule."""
    try:
        changes = changes_in(body)
        branch_protection.create(request.app, request.actor, target, body.rule_name.strip(), changes)
    except HostingError as error:
        return show_form(request, body, rule_name=None, refusal=error)
    return redirect_to(f"{root_path(target)}/settings/branches", "rule-created", body.rule_name.strip())


@endpoint("GET /{owner}/{repo}/settings/branches/rule", scope="repository", guards=GUARDS, slow=True)
def show_protection_page(request: RequestContext, target: RepositoryAccess, query: RuleQuery) -> RawResponse:
    """Show a rule."""
    protection = branch_protection.find(request.app, request.actor, target, query.name)
    return show_form(
        request, form_of(encode_protections(request, [protection])[0]), rule_name=protection.rule_name
    )


@endpoint("POST /{owner}/{repo}/settings/branches/rule", scope="repository", guards=GUARDS)
def change_protection_page(request: RequestContext, target: RepositoryAccess, body: ProtectionForm) -> RawResponse:
    """Edit a rule."""
    branch_protection.find(request.app, request.actor, target, body.rule_name)
    try:
        branch_protection.edit(request.app, request.actor, target, body.rule_name, changes_in(body))
    except HostingError as error:
        return show_form(request, body, rule_name=body.rule_name, refusal=error)
    return redirect_to(f"{root_path(target)}/settings/branches", "rule-saved", body.rule_name)


@endpoint("POST /{owner}/{repo}/settings/branches/remove", scope="repository", guards=GUARDS)
def remove_protection_page(request: RequestContext, target: RepositoryAccess, body: ProtectionForm) -> RawResponse:
    """Delete a rule."""
    branch_protection.delete(request.app, request.actor, target, body.rule_name)
    return redirect_to(f"{root_path(target)}/settings/branches", "rule-deleted", body.rule_name)
