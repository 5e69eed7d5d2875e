"""Requirements of a merge: the state of the pull request, branch protection, reviews and commit statuses.

Unmet requirements are returned as typed reasons. An administrator of the repository may override some of them,
unless the branch protection rule forbids it.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.git.changes import TreeChanges, changes_between
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.merge_bases import merge_bases
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services import branch_protection, code_owners, ref_updates
from holdfast.hosting.store import commit_statuses, reviews
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.repositories import DeclaredSettings

__all__ = [
    "MergeRequirement",
    "MergeStyle",
    "UnmetRequirement",
    "allowed_styles",
    "changing_requirements",
    "may_override",
    "unmet_requirements",
]


class MergeStyle(StrEnum):
    """The method by which a pull request is merged."""

    MERGE = "merge"
    REBASE = "rebase"
    REBASE_MERGE = "rebase-merge"
    SQUASH = "squash"
    FAST_FORWARD_ONLY = "fast-forward-only"
    MANUALLY_MERGED = "manually-merged"


class MergeRequirement(StrEnum):
    """A kind of requirement for a merge."""

    NOT_MERGED = "not_merged"
    OPEN = "open"
    NOT_DRAFT = "not_draft"
    PERMISSION = "permission"
    STYLE = "style"
    SIGNED_COMMITS = "signed_commits"
    APPROVALS = "approvals"
    NO_REJECTIONS = "no_rejections"
    NO_REVIEW_REQUESTS = "no_review_requests"
    CODE_OWNERS = "code_owners"
    UP_TO_DATE = "up_to_date"
    STATUSES = "statuses"
    UNPROTECTED_FILES = "unprotected_files"


class UnmetRequirement(msgspec.Struct, frozen=True):
    """A requirement that is not met, and why."""

    requirement: MergeRequirement
    message: str
    can_wait: bool = False
    """Whether reviews or statuses may meet it later, and administrators may override it."""


def allowed_styles(declared: DeclaredSettings) -> frozenset[MergeStyle]:
    """Return the merge styles that the settings of a repository allow."""
    allowed = {
        MergeStyle.MERGE: declared.allow_merge_commits,
        MergeStyle.REBASE: declared.allow_rebase,
        MergeStyle.REBASE_MERGE: declared.allow_rebase_explicit,
        MergeStyle.SQUASH: declared.allow_squash_merge,
        MergeStyle.FAST_FORWARD_ONLY: declared.allow_fast_forward_only_merge,
        MergeStyle.MANUALLY_MERGED: declared.allow_manual_merge,
    }
    return frozenset(style for style, is_allowed in allowed.items() if is_allowed)


def may_override(app: App, target: RepositoryAccess, user: Account, issue: Issue) -> bool:
    """Return whether a user may override the requirements that allow it."""
    rule = branch_protection.rule_of(app.database, target.repository, issue.base_branch)
    if rule is None:
        return target.permissions.is_admin
    if rule.enable_bypass_allowlist:
        teams = ref_updates.teams_in(app, user, target.repository)
        if branch_protection.is_on_allowlist(user, teams, rule.bypass_users, rule.bypass_teams):
            return True
    return target.permissions.is_admin and not rule.block_admin_merge_override


def unmet_requirements(
    app: App,
    target: RepositoryAccess,
    user: Account,
    issue: Issue,
    *,
    repo: Repo,
    base: str,
    style: MergeStyle,
) -> list[UnmetRequirement]:
    """Return the unmet requirements of merging a pull request into the commit `base`; empty if it can be merged.

    Conflicts and open blockers are checked by the merge itself.
    """
    requirements = list(state_requirements(issue))
    if requirements:
        return requirements
    rule = branch_protection.rule_of(app.database, target.repository, issue.base_branch)
    if not may_merge(app, target, user, rule):
        return [UnmetRequirement(MergeRequirement.PERMISSION, "User not allowed to merge PR")]
    declared = msgspec.json.decode(target.repository.declared, type=DeclaredSettings)
    if style not in allowed_styles(declared):
        return [UnmetRequirement(MergeRequirement.STYLE, f"the merge style {style} is not allowed here")]
    if rule is None or style == MergeStyle.MANUALLY_MERGED:
        return []
    if rule.require_signed_commits:
        text = "the base branch requires signed commits, which the server cannot make"
        requirements.append(UnmetRequirement(MergeRequirement.SIGNED_COMMITS, text))
    requirements += changing_requirements(app.database, target, issue)
    if rule.block_on_codeowner_reviews and code_owners.missing_approvals(
        app, target.repository, issue, issue.head_sha, rule
    ):
        text = "an approval of the code owners of a changed file is missing"
        requirements.append(UnmetRequirement(MergeRequirement.CODE_OWNERS, text, can_wait=True))
    if rule.block_on_outdated_branch and merge_bases(repo, base, issue.head_sha) != (base,):
        text = "the head branch is behind the base branch"
        requirements.append(UnmetRequirement(MergeRequirement.UP_TO_DATE, text, can_wait=True))
    if rule.protected_file_patterns:
        changed = changed_files(repo, base, issue)
        touched = branch_protection.first_match(
            rule.protected_file_patterns, [change.path for change in changed.files]
        )
        if touched is not None or changed.truncated:
            text = f"the file {touched} is protected"
            if touched is None:
                text = "too many files are changed to check them for protected ones"
            requirements.append(UnmetRequirement(MergeRequirement.UNPROTECTED_FILES, text, can_wait=True))
    return requirements


def state_requirements(issue: Issue) -> Iterable[UnmetRequirement]:
    """Yield the requirements that the state of a pull request does not meet."""
    if issue.merged_at:
        yield UnmetRequirement(MergeRequirement.NOT_MERGED, "the pull request is already merged")
    elif issue.is_closed:
        yield UnmetRequirement(MergeRequirement.OPEN, "the pull request is closed")
    elif issue.is_draft:
        yield UnmetRequirement(MergeRequirement.NOT_DRAFT, "Work in progress PRs cannot be merged")


def may_merge(app: App, target: RepositoryAccess, user: Account, rule: ProtectionRule | None) -> bool:
    """Return whether a user may merge: by write access, or by the merge allowlist of the branch."""
    if not target.permissions.may_write(Unit.CODE):
        return False
    if rule is None or not rule.enable_merge_whitelist:
        return True
    teams = ref_updates.teams_in(app, user, target.repository)
    return branch_protection.is_on_allowlist(user, teams, rule.merge_users, rule.merge_teams)


def changing_requirements(database: Database, target: RepositoryAccess, issue: Issue) -> list[UnmetRequirement]:
    """Return the unmet review and status requirements; checked again in the transaction of a merge."""
    rule = branch_protection.rule_of(database, target.repository, issue.base_branch)
    if rule is None:
        return []
    requirements = review_requirements(database, issue, rule)
    return (
        requirements + status_requirements(database, target, issue, rule)
        if rule.enable_status_check
        else requirements
    )


def review_requirements(database: Database, issue: Issue, rule: ProtectionRule) -> list[UnmetRequirement]:
    """Return the review requirements that are not met."""
    if not (rule.required_approvals or rule.block_on_rejected_reviews or rule.block_on_official_review_requests):
        return []
    with database.read() as connection:
        official = reviews.official_reviews(connection, issue, head=issue.head_sha, rule=rule)
    requirements: list[UnmetRequirement] = []
    approvals = len(official.approved)
    if approvals < rule.required_approvals:
        text = f"the pull request has {approvals} of {rule.required_approvals} required approvals"
        requirements.append(UnmetRequirement(MergeRequirement.APPROVALS, text, can_wait=True))
    if rule.block_on_rejected_reviews and official.rejected:
        text = "an official reviewer requested changes"
        requirements.append(UnmetRequirement(MergeRequirement.NO_REJECTIONS, text, can_wait=True))
    if rule.block_on_official_review_requests and (official.requested_users or official.requested_teams):
        text = "an official review is requested"
        requirements.append(UnmetRequirement(MergeRequirement.NO_REVIEW_REQUESTS, text, can_wait=True))
    return requirements


def status_requirements(
    database: Database, target: RepositoryAccess, issue: Issue, rule: ProtectionRule
) -> list[UnmetRequirement]:
    """Return the required statuses of the head that are missing, pending or failing."""
    states = commit_statuses.context_states(database, target.repository, issue.head_sha)
    checked = commit_statuses.check_required_contexts(states, rule.status_check_contexts)
    if checked.passed:
        return []
    parts: Sequence[tuple[str, tuple[str, ...]]] = (
        ("missing", checked.missing),
        ("pending", checked.pending),
        ("failing", checked.failing),
    )
    summary = "; ".join(f"{name}: {', '.join(contexts[:10])}" for name, contexts in parts if contexts)
    text = f"required statuses have not succeeded ({summary})"
    return [UnmetRequirement(MergeRequirement.STATUSES, text, can_wait=True)]


def changed_files(repo: Repo, base: str, issue: Issue) -> TreeChanges:
    """Return the files that a pull request changes."""
    bases = merge_bases(repo, base, issue.head_sha)
    old = read_commit(repo, bases[0]).tree if bases else None
    return changes_between(repo, old, read_commit(repo, issue.head_sha).tree)
