"""The merge box of a pull request: unmet requirements, who can meet them, and the merge styles."""

import shlex
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import GitDamaged, GitFailed, GitTimedOut, NoSuchFolder, NoSuchObject
from holdfast.hosting.git import history
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import branch_protection, code_owners, merge_requirements
from holdfast.hosting.services.merge_requirements import MergeRequirement, MergeStyle, UnmetRequirement
from holdfast.hosting.services.pull_merges import default_title
from holdfast.hosting.services.revisions import open_latest
from holdfast.hosting.store import accounts, commit_statuses, pulls, reviews, teams
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.pulls import CLEAN, CONFLICT, Pull, ScheduledMerge
from holdfast.hosting.store.repositories import DeclaredSettings

__all__ = ["MergeBox", "MissingRequirement", "StatusShown", "StyleChoice", "merge_box", "merge_styles"]

MOST_CHECKS: Final = 50
MOST_FILES: Final = 20
MOST_NAMED: Final = 10
STYLES: Final = {
    MergeStyle.MERGE: ("Create a merge commit", "All commits are added to the base branch by a merge commit."),
    MergeStyle.SQUASH: ("Squash and merge", "All commits are combined into one on the base branch."),
    MergeStyle.REBASE: ("Rebase and merge", "The commits are rebased and added to the base branch."),
    MergeStyle.REBASE_MERGE: ("Rebase and create a merge commit", "The commits are rebased, then merged."),
    MergeStyle.FAST_FORWARD_ONLY: (
        "Fast-forward only",
        "The base branch moves to the head without a commit.",
    ),
}
# The texts of unmet requirements; for others the message of the service is shown.
WORDS: Final = {
    MergeRequirement.NOT_DRAFT: "This pull request is still a draft. Mark it as ready for review to merge it.",
    MergeRequirement.PERMISSION: "You need write access to merge this pull request.",
    MergeRequirement.SIGNED_COMMITS: "The base branch requires signed commits, which this server cannot make.",
    MergeRequirement.NO_REJECTIONS: "Changes were requested.",
    MergeRequirement.NO_REVIEW_REQUESTS: "A requested review is missing.",
    MergeRequirement.CODE_OWNERS: "A review of the code owners is missing.",
    MergeRequirement.UP_TO_DATE: "The branch is out of date with the base branch and must be updated.",
}


@dataclass(frozen=True, slots=True)
class StatusShown:
    """The latest commit status of a context of the head commit."""

    context: str
    state: str
    description: str
    address: str


@dataclass(frozen=True, slots=True)
class MissingRequirement:
    """An unmet requirement, and the names of the users and teams who can meet it."""

    text: str
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StyleChoice:
    """A merge style that the repository allows."""

    value: str
    name: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeBox:
    """The content of the merge box of an open pull request."""

    checks: list[StatusShown]
    combined: str
    """The combined state of all checks; empty without any."""
    missing: list[MissingRequirement]
    mergeability: str
    """`clean`, `conflict`, `failed`, or empty while the branches are compared."""
    conflicts: list[str]
    more_conflicts: int
    behind: int
    styles: list[StyleChoice]
    default_style: str
    title: str
    may_merge: bool
    """Whether the viewer may merge pull requests into this branch."""
    is_ready: bool
    may_override: bool
    may_schedule: bool
    scheduled: ScheduledMerge | None
    scheduler: Account | None
    may_cancel: bool
    updates: list[tuple[str, str]]
    """The styles in which the viewer can update the head branch, and their labels."""
    deletes_branch: bool | None
    """Whether the head branch is deleted by default; None if it is not offered."""
    commands: str
    """The git commands that resolve conflicts on the command line."""


def merge_styles(declared: DeclaredSettings) -> list[StyleChoice]:
    """Return the merge styles of a repository, the default one first."""
    allowed = merge_requirements.allowed_styles(declared)
    style_choices = [StyleChoice(str(style), *texts) for style, texts in STYLES.items() if style in allowed]
    return sorted(style_choices, key=lambda choice: choice.value != declared.default_merge_style)


def merge_box(request: RequestContext, target: RepositoryAccess, issue: Issue, pull: Pull) -> MergeBox:
    """Return the merge box of an open pull request."""
    app, repository, user = request.app, target.repository, request.actor.user
    declared = msgspec.json.decode(repository.declared, type=DeclaredSettings)
    reads_code = target.permissions.may_read(Unit.CODE)
    writes = user is not None and target.permissions.may_write(Unit.CODE) and not repository.is_archived
    statuses = commit_statuses.latest_statuses(app.database, repository, issue.head_sha, skip=0, limit=MOST_CHECKS)
    states = commit_statuses.context_states(app.database, repository, issue.head_sha)
    styles = merge_styles(declared)
    base = pull.base_tip
    repo: Repo | None = None
    unmet: list[UnmetRequirement] = []
    behind = 0
    rule = branch_protection.rule_of(app.database, repository, issue.base_branch)
    with suppress(NoSuchFolder, NoSuchObject, GitDamaged, GitFailed, GitTimedOut):
        repo = open_latest(app, target) if reads_code and base and issue.head_sha else None
        if repo is not None and base is not None:
            behind, _ = history.ahead_behind(repo, base, issue.head_sha)
        unmet = requirements(request, target, issue, repo, base, styles)
    refused = {unmet_requirement.requirement for unmet_requirement in unmet}
    is_compared = (pull.checked_head, pull.checked_base) == (issue.head_sha, base)
    scheduled = pulls.find_scheduled_merge(app.database, issue)
    may_merge = writes and MergeRequirement.PERMISSION not in refused and bool(styles)
    conflicts = pull.conflicts if is_compared and pull.mergeability == CONFLICT else []
    is_own = issue.head_repository_id == repository.id
    return MergeBox(
        checks=[
            StatusShown(
                commit_status.context, commit_status.state, commit_status.description, commit_status.target_url
            )
            for commit_status in statuses
        ],
        combined=commit_statuses.combined_state(states.values()),
        missing=[requirement_text(request, target, issue, unmet_requirement, rule) for unmet_requirement in unmet],
        mergeability=pull.mergeability if is_compared else "",
        conflicts=conflicts[:MOST_FILES],
        more_conflicts=max(0, len(conflicts) - MOST_FILES),
        behind=behind,
        styles=styles,
        default_style=styles[0].value if styles else "",
        title=default_title(app, issue),
        may_merge=may_merge,
        is_ready=not unmet and not (is_compared and pull.mergeability != CLEAN),
        may_override=may_merge
        and bool(unmet)
        and all(unmet_requirement.can_wait for unmet_requirement in unmet)
        and user is not None
        and merge_requirements.may_override(app, target, user, issue),
        may_schedule=may_merge
        and bool(unmet)
        and scheduled is None
        and all(unmet_requirement.can_wait for unmet_requirement in unmet),
        scheduled=scheduled,
        scheduler=None if scheduled is None else accounts.account_by_id(app.database, scheduled.user_id),
        may_cancel=scheduled is not None
        and user is not None
        and (scheduled.user_id == user.id or target.permissions.is_admin),
        updates=update_styles(declared) if writes and is_own and behind and pull.head_tip else [],
        deletes_branch=(
            declared.default_delete_branch_after_merge
            if is_own and issue.head_branch not in {repository.default_branch, issue.base_branch}
            else None
        ),
        commands=conflict_commands(request, target, issue),
    )


def conflict_commands(request: RequestContext, target: RepositoryAccess, issue: Issue) -> str:
    """Return the commands that merge the base branch into the head branch, with names quoted for a shell."""
    head, base = shlex.quote(issue.head_branch), shlex.quote(issue.base_branch)
    remote = "origin"
    if issue.head_repository_id != target.repository.id:
        remote = shlex.quote(f"{request.root}/{quote(target.repository.full_name)}.git")
    steps = ("git fetch origin", f"git switch {head}", f"git pull --no-rebase {remote} {base}")
    return "\n".join([*steps, "# edit the files with conflicts, then:", "git add --all", "git commit", "git push"])


def update_styles(declared: DeclaredSettings) -> list[tuple[str, str]]:
    """Return the styles in which the head branch can be updated, the default first."""
    ways = [("merge", "Update branch", declared.allow_merge_update)]
    ways.append(("rebase", "Update by rebase", declared.allow_rebase_update))
    choices = [(style, name) for style, name, is_allowed in ways if is_allowed]
    return sorted(choices, key=lambda choice: choice[0] != declared.default_update_style)


def requirements(  # noqa: PLR0917  # all of them are needed
    request: RequestContext,
    target: RepositoryAccess,
    issue: Issue,
    repo: Repo | None,
    base: str | None,
    styles: list[StyleChoice],
) -> list[UnmetRequirement]:
    """Return the unmet requirements, such as reviews and statuses, also for a viewer who may not merge."""
    app, user = request.app, request.actor.user
    unmet: list[UnmetRequirement] = []
    if user is not None and repo is not None and base is not None and styles:
        unmet = merge_requirements.unmet_requirements(
            app, target, user, issue, repo=repo, base=base, style=MergeStyle(styles[0].value)
        )
        if not any(unmet_requirement.requirement == MergeRequirement.PERMISSION for unmet_requirement in unmet):
            return unmet
    elif issue.is_draft:
        unmet = list(merge_requirements.state_requirements(issue))
    if issue.is_draft:
        return unmet
    return [*unmet, *merge_requirements.changing_requirements(app.database, target, issue)]


def requirement_text(
    request: RequestContext,
    target: RepositoryAccess,
    issue: Issue,
    unmet: UnmetRequirement,
    rule: ProtectionRule | None,
) -> MissingRequirement:
    """Return the text of an unmet requirement, with the names of those who can meet it."""
    text = WORDS.get(unmet.requirement) or f"{unmet.message[:1].upper()}{unmet.message[1:]}."
    return MissingRequirement(text, names_of(request, target, issue, unmet.requirement, rule))


def names_of(
    request: RequestContext,
    target: RepositoryAccess,
    issue: Issue,
    requirement: MergeRequirement,
    rule: ProtectionRule | None,
) -> list[str]:
    """Return the users and teams whose review meets a requirement."""
    app, users, asked = request.app, set[int](), set[int]()
    with app.database.read() as connection:
        official = reviews.official_reviews(connection, issue, head=issue.head_sha, rule=rule)
    if requirement == MergeRequirement.NO_REJECTIONS:
        users |= official.rejected
    elif requirement in {MergeRequirement.NO_REVIEW_REQUESTS, MergeRequirement.APPROVALS}:
        users |= official.requested_users
        asked |= official.requested_teams
    elif requirement == MergeRequirement.CODE_OWNERS:
        for owners in code_owners.missing_approvals(app, target.repository, issue, issue.head_sha, rule):
            users |= owners.users
            asked |= owners.teams
    if not users and not asked:
        return []
    with app.database.read() as connection:
        people = accounts.accounts_by_id(connection, users)
        named = teams.teams_by_id(connection, asked)
    owner = target.repository.owner.name
    names = [account.name for account in people.values()] + [f"{owner}/{team.name}" for team in named.values()]
    return sorted(names)[:MOST_NAMED]
