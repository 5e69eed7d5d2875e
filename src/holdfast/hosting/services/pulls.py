"""Pull requests: issues with two branches. They are discussed and closed; merging is not implemented."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    GitDamaged,
    GitTimedOut,
    InvalidField,
    InvalidReference,
    NoSuchFolder,
    NoSuchIssue,
    NoSuchObject,
    NoSuchRef,
    Violation,
)
from holdfast.hosting.git import changes as tree_changes
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.merges import merges_cleanly
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.schemas.pulls import PullState
from holdfast.hosting.services import issues
from holdfast.hosting.services.fields import check_length
from holdfast.hosting.services.issues import IssueDraft, IssueEdit
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store.issues import Branches, Issue

__all__ = ["create", "edit", "find", "states"]

# Time limit per request; results are cached, so the next request gets further.
TIME_LIMIT_SECONDS: Final = 10.0
HEAD_LENGTH: Final = 255


def find(app: App, target: RepositoryAccess, number: int) -> Issue:
    """Return a pull request by number; raise `NoSuchIssue` for an issue that is none."""
    issue = issues.find(app, target, number)
    if not issue.is_pull:
        raise NoSuchIssue(f"pull request does not exist [index: {number}]")
    return issue


def create(app: App, actor: Actor, target: RepositoryAccess, draft: IssueDraft, *, head: str, base: str) -> Issue:
    """Open a pull request to merge the branch `head`, which may be `owner:branch`, into `base`."""
    access.require_login(actor)
    access.require_unarchived(target)
    access.require_read(target, Unit.PULLS)
    return issues.create(app, actor, target, draft, find_branches(app, target, head, base))


def edit(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, changes: IssueEdit) -> Issue:
    """Change a pull request; a new base branch needs write access and must exist."""
    if changes.base_branch is not None:
        access.require_issue_write(actor, target, issue)
        branch_tip(open_git(app, target), target, changes.base_branch)
    return issues.edit(app, actor, target, issue, changes)


def states(app: App, target: RepositoryAccess, found: Sequence[Issue]) -> dict[int, PullState]:
    """Compare the branches of pull requests, by id; what exceeds the time limit is left out."""
    until = time.monotonic() + TIME_LIMIT_SECONDS
    compared: dict[int, PullState] = {}
    with suppress(NoSuchFolder):
        repo = open_git(app, target)
        for issue in found:
            if time.monotonic() > until or not target.permissions.may_read(Unit.CODE):
                break
            compared[issue.id] = pull_state(repo, issue)
    return compared


def find_branches(app: App, target: RepositoryAccess, head: str, base: str) -> Branches:
    """Return the two branches of a new pull request, which must be different branches of the repository."""
    check_length(head, "Head", HEAD_LENGTH)
    owner, colon, branch = head.rpartition(":")
    if colon and owner.casefold() != target.repository.owner.name.casefold():
        raise InvalidReference("Head", f"must be a branch of {target.repository.full_name}")
    if not branch:
        raise InvalidField("Head", Violation.REQUIRED)
    if not refs.is_ref_name(branch):
        raise InvalidField("Head", Violation.REF_NAME)
    if branch == base:
        raise InvalidReference("Head", "must be another branch than base")
    repo = open_git(app, target)
    head_sha, base_sha = branch_tip(repo, target, branch), branch_tip(repo, target, base)
    return Branches(branch, base, head_sha, history.merge_base(repo, base_sha, head_sha) or base_sha)


def branch_tip(repo: Repo, target: RepositoryAccess, branch: str) -> str:
    """Return the commit of a branch; raise `NoSuchRef` if it does not exist."""
    found = refs.branch(repo, branch)
    if found is None:
        raise NoSuchRef(f"branch does not exist [repo_id: {target.repository.id} name: {branch}]")
    return found.id


def pull_state(repo: Repo, issue: Issue) -> PullState:
    """Compare the branches of a pull request; for a closed one, as they were when it was closed."""
    opened = PullState(issue.head_sha, issue.base_sha, issue.base_sha)
    head, base = refs.branch(repo, issue.head_branch), refs.branch(repo, issue.base_branch)
    is_live = not issue.is_closed and head is not None and base is not None
    head_sha = head.id if is_live and head is not None else issue.head_sha
    base_sha = base.id if is_live and base is not None else issue.base_sha
    try:
        merge_base = history.merge_base(repo, base_sha, head_sha)
        before = read_commit(repo, merge_base or base_sha).tree
        stats = tree_changes.stats_between(repo, before, read_commit(repo, head_sha).tree)
        mergeable = is_live and merges_cleanly(repo, base_sha, head_sha)
    except (NoSuchObject, GitDamaged, GitTimedOut):
        # The commits of a deleted branch are gone, or the comparison exceeds its limit.
        return opened
    return PullState(
        head_sha,
        base_sha,
        merge_base or base_sha,
        mergeable,
        additions=stats.additions,
        deletions=stats.deletions,
        changed_files=stats.changed_files,
    )
