"""Branches: list, show, create, rename, move and delete them."""

from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.ref_names import RefName
from holdfast.hosting.errors import NoSuchRevision
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.guards import in_repository, not_archived, reads, signed_in, writes
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import PayloadCommit, payload_commit, people_of
from holdfast.hosting.services import branch_protection, branches, ref_lists, ref_updates
from holdfast.hosting.services.branches import LONGEST_REF
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store import protections
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.protections import Protection

__all__ = ["create_branch", "delete_branch", "list_branches", "rename_branch", "show_branch", "update_branch"]

READING: Final = (in_repository, reads(Unit.CODE))
WRITING: Final = (in_repository, reads(Unit.CODE), not_archived, signed_in, writes(Unit.CODE))
Name = Annotated[str, Meta(max_length=LONGEST_REF), RefName]


class Branch(msgspec.Struct, frozen=True):
    """A branch, its commit, and the caller's permissions."""

    name: str
    commit: PayloadCommit
    protected: bool
    required_approvals: int
    enable_status_check: bool
    status_check_contexts: list[str]
    user_can_push: bool
    user_can_merge: bool
    effective_branch_protection_name: str


class CreateBranchRepoOption(msgspec.Struct, frozen=True):
    """A new branch, and the revision it starts from."""

    new_branch_name: Annotated[Name, Required] = ""
    old_branch_name: Annotated[str, Meta(max_length=LONGEST_REF)] = ""
    old_ref_name: Annotated[str, Meta(max_length=LONGEST_REF)] = ""


class RenameBranchRepoOption(msgspec.Struct, frozen=True):
    """The new name of a branch."""

    name: Annotated[Name, Required] = ""


class UpdateBranchRepoOption(msgspec.Struct, frozen=True):
    """The new commit of a branch."""

    new_commit_id: Annotated[str, Required] = ""
    old_commit_id: str | UnsetType = UNSET
    force: bool = False


def branch_shape(  # noqa: PLR0917  # a branch and its related data
    request: RequestContext,
    target: RepositoryAccess,
    name: str,
    commit: Commit,
    people: dict[str, Account],
    rules: list[Protection],
) -> Branch:
    """Encode a branch."""
    rule = branch_protection.rule_for(rules, name)
    may = target.permissions.may_write(Unit.CODE) and not target.repository.is_archived
    if rule is not None and may and request.actor.user is not None:
        teams = ref_updates.teams_in(request.app, request.actor.user, target.repository)
        may = branch_protection.may_push(rule.rule, request.actor.user, teams)
    return Branch(
        name=name,
        commit=payload_commit(request, target.repository, commit, people),
        protected=rule is not None,
        required_approvals=0 if rule is None else rule.rule.required_approvals,
        enable_status_check=rule is not None and rule.rule.enable_status_check,
        status_check_contexts=[] if rule is None else list(rule.rule.status_check_contexts),
        user_can_push=may,
        user_can_merge=may,
        effective_branch_protection_name=rule.rule_name
        if rule is not None and target.permissions.is_admin
        else "",
    )


@endpoint("GET /repos/{owner}/{repo}/branches", scope="repository", guards=READING, slow=True, cacheable=True)
def list_branches(request: RequestContext, target: RepositoryAccess, page: PageParams) -> PagedList[Branch]:
    """List the branches by name."""
    refs, total = ref_lists.list_branches(request.app, target.repository, skip=page.skip, limit=page.size)
    repo = ref_lists.open_with(request.app, target.repository, refs)
    commits = [read_commit(repo, ref.id) for ref in refs]
    people = people_of(request, commits)
    rules = protections.protections_of(request.app.database, target.repository)
    schemas = [
        branch_shape(request, target, ref.name, commit, people, rules)
        for ref, commit in zip(refs, commits, strict=True)
    ]
    return PagedList(schemas, total)


@endpoint("GET /repos/{owner}/{repo}/branches/{branch...}", scope="repository", guards=READING, cacheable=True)
def show_branch(request: RequestContext, target: RepositoryAccess, branch: str) -> Branch:
    """Show a branch."""
    return one_branch(request, target, branch)


def one_branch(request: RequestContext, target: RepositoryAccess, branch: str) -> Branch:
    """Find and encode a branch."""
    repo = open_git(request.app, target)
    ref = branches.find(repo, target, branch)
    commit = read_commit(repo, ref.id)
    rules = protections.protections_of(request.app.database, target.repository)
    return branch_shape(request, target, ref.name, commit, people_of(request, [commit]), rules)


@endpoint(
    "POST /repos/{owner}/{repo}/branches",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(401, 403, 404, 409, 423),
)
def create_branch(request: RequestContext, target: RepositoryAccess, body: CreateBranchRepoOption) -> Branch:
    """Create a branch at another branch, a tag or a commit."""
    if target.repository.is_empty:
        raise ApiError(404, "Git Repository is empty.")
    start = body.old_ref_name or body.old_branch_name
    try:
        created = branches.create(request.app, request.actor, target, body.new_branch_name, start)
    except NoSuchRevision:
        if not start:
            raise
        raise ApiError(404, "The old branch does not exist") from None
    return one_branch(request, target, created.name)


@endpoint(
    "DELETE /repos/{owner}/{repo}/branches/{branch...}",
    scope="repository",
    guards=WRITING,
    refuses=(401, 403, 404, 409, 423),
)
def delete_branch(request: RequestContext, target: RepositoryAccess, branch: str) -> None:
    """Delete a branch that is neither the default branch nor protected."""
    branches.delete(request.app, request.actor, target, branch)


@endpoint(
    "PATCH /repos/{owner}/{repo}/branches/{branch...}",
    scope="repository",
    guards=WRITING,
    refuses=(401, 403, 404, 409, 423),
)
def rename_branch(
    request: RequestContext, target: RepositoryAccess, branch: str, body: RenameBranchRepoOption
) -> None:
    """Rename a branch."""
    branches.rename(request.app, request.actor, target, branch, body.name)


@endpoint(
    "PUT /repos/{owner}/{repo}/branches/{branch...}",
    scope="repository",
    guards=WRITING,
    refuses=(401, 403, 404, 409, 422, 423),
)
def update_branch(
    request: RequestContext, target: RepositoryAccess, branch: str, body: UpdateBranchRepoOption
) -> None:
    """Move a branch to another commit; without force it must be a fast-forward."""
    expected = None if body.old_commit_id is UNSET else body.old_commit_id
    branches.update(
        request.app, request.actor, target, branch, body.new_commit_id, expected=expected, force=body.force
    )
