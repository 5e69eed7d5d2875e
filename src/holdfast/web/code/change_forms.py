"""Shared parts of forms that change files: branch, commit message and errors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import InvalidValue
from holdfast.hosting.git import refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import raw
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.guards import editable, in_repository, reads, signed_in, writes
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import branch_protection, file_commits, ref_lists, ref_updates
from holdfast.hosting.services.fields import required_text
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import FileCommit
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store import protections
from holdfast.web.code.location import CodeLocation, find_location, path_suffix
from holdfast.web.repository_frame import root_path

__all__ = [
    "CHANGING",
    "CommitForm",
    "barrier",
    "branch_location",
    "check_branch_name",
    "commit_changes",
    "entry_at",
    "free_name",
    "new_commit_form",
    "url_after",
]

CHANGING: Final = (in_repository, reads(Unit.CODE), signed_in, editable, writes(Unit.CODE))
# The number of slashes before the branch and path in `/{owner}/{repo}/_edit/...`.
AFTER_WORD: Final = 4
NAMES_TRIED: Final = 100


class CommitForm(msgspec.Struct, frozen=True, kw_only=True):
    """The commit message and the branch of a change."""

    message: str = ""
    telling: str = ""
    target: str = "here"
    new_branch: str = ""


def branch_location(request: RequestContext, target: RepositoryAccess) -> CodeLocation:
    """Return the branch and path of a URL; in an empty repository the default branch, which does not exist yet."""
    repo, root, rest = open_git(request.app, target), root_path(target), path_suffix(request, AFTER_WORD)
    location = find_location(repo, root, "branch", rest)
    if location is not None:
        return location
    default = target.repository.default_branch
    if rest == default and not ref_lists.has_refs(request.app, target.repository):
        return CodeLocation(root, repo, "branch", default, "")
    raise ApiError(404)


def entry_at(location: CodeLocation, *, is_text: bool = True) -> TreeEntry:
    """Return the file at a location; its name must be valid UTF-8 unless `is_text` is false."""
    entry = None
    if location.commit and location.path and (not is_text or raw(location.title) == location.path):
        entry = trees.find(location.repo, read_commit(location.repo, location.commit).tree, location.path)
    if not isinstance(entry, TreeEntry) or entry.type in {"dir", "submodule"}:
        raise ApiError(404)
    return entry


def barrier(request: RequestContext, target: RepositoryAccess, branch: str, path: str) -> str:
    """Return why the user cannot commit a file to a branch; empty if they can."""
    rules = protections.protections_of(request.app.database, target.repository)
    rule = branch_protection.rule_for(rules, branch)
    if rule is None:
        return ""
    teams = ref_updates.teams_in(request.app, request.user, target.repository)
    if branch_protection.may_commit(rule, request.user, teams, path or "\n") is None:
        return ""
    return f"The branch {branch} is protected, and you may not write to it. Save your changes to a new branch."


def free_name(repo: Repo, user: str) -> str:
    """Return an unused name for a new branch."""
    for number in range(1, NAMES_TRIED):
        name = f"{user}-patch-{number}"
        if refs.branch(repo, name) is None:
            return name
    return ""


def new_commit_form(request: RequestContext, location: CodeLocation, problem: str) -> CommitForm:
    """Return the initial values of a form; with a new branch if the user cannot commit to the current one."""
    name = free_name(location.repo, request.user.name)
    return CommitForm(target="new" if problem else "here", new_branch=name)


def check_branch_name(name: str) -> None:
    """Raise an error if git does not accept a branch name."""
    if not refs.is_ref_name(required_text(name, "BranchName")):
        raise InvalidValue("BranchName", "leave out spaces and signs such as ~ ^ : ?")


def commit_changes(
    request: RequestContext,
    target: RepositoryAccess,
    location: CodeLocation,
    form: CommitForm,
    changes: Sequence[FileChange],
) -> None:
    """Commit changes to the branch of a form."""
    message = form.message.strip()
    if form.telling.strip():
        message = f"{message}\n\n{form.telling.strip()}" if message else form.telling.strip()
    is_new = form.target == "new" and bool(location.commit)
    if is_new:
        check_branch_name(form.new_branch)
    file_commit = FileCommit(
        changes=changes,
        message=message.replace("\r\n", "\n"),
        branch=location.ref,
        new_branch=form.new_branch.strip() if is_new else "",
    )
    file_commits.commit(request.app, request.actor, target, file_commit)


def url_after(location: CodeLocation, form: CommitForm, path: str) -> str:
    """Return the URL to redirect to after a commit."""
    branch = form.new_branch.strip() if form.target == "new" and location.commit else location.ref
    if not path:
        return replace(location, ref=branch).top("src")
    return f"{location.root}/src/branch/{quote(branch)}/{quote(path)}"
