"""Branches: where they are, making, renaming, moving and deleting them."""

from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import RefExists
from holdfast.hosting.git import history, ref_store, refs
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.guards import in_repository, not_archived, reads, signed_in, writes
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.decoders import RefName, Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.schemas.git import PayloadCommit, payload_commit, people_of
from holdfast.hosting.services import branch_protection, ref_changes
from holdfast.hosting.services.revisions import open_git, resolve_commit
from holdfast.hosting.store import protections, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.branch_renames import note_rename
from holdfast.hosting.store.pending_ref_updates import Move
from holdfast.hosting.store.protections import Protection
from holdfast.hosting.store.repository_events import note_changes

__all__ = ["create_branch", "delete_branch", "list_branches", "rename_branch", "show_branch", "update_branch"]

READING: Final = (in_repository, reads(Unit.CODE))
WRITING: Final = (in_repository, reads(Unit.CODE), not_archived, signed_in, writes(Unit.CODE))
Name = Annotated[str, Meta(max_length=100), RefName]


class Branch(msgspec.Struct, frozen=True):
    """A branch, the commit it points to, and what the caller may do with it."""

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
    """A new branch, and what it starts from."""

    new_branch_name: Annotated[Name, Required] = ""
    old_branch_name: Annotated[str, Meta(max_length=100)] = ""
    old_ref_name: Annotated[str, Meta(max_length=100)] = ""


class RenameBranchRepoOption(msgspec.Struct, frozen=True):
    """Another name for a branch."""

    name: Annotated[Name, Required] = ""


class UpdateBranchRepoOption(msgspec.Struct, frozen=True):
    """Where to move a branch."""

    new_commit_id: Annotated[str, Required] = ""
    old_commit_id: str | UnsetType = UNSET
    force: bool = False


def branch_shape(  # noqa: PLR0917  # a branch, and all that is told about it
    request: RequestContext,
    target: RepositoryAccess,
    name: str,
    commit: Commit,
    people: dict[str, Account],
    rules: list[Protection],
) -> Branch:
    """Make the shape."""
    rule = branch_protection.matching(rules, name)
    may = target.permissions.may_write(Unit.CODE) and not target.repository.is_archived
    if rule is not None and may and request.actor.user is not None:
        teams = ref_changes.teams_in(request.app, request.actor.user, target.repository)
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


@endpoint("GET /repos/{owner}/{repo}/branches", scope="repository", guards=READING, slow=True)
def list_branches(request: RequestContext, target: RepositoryAccess, page: PageParams) -> PagedList[Branch]:
    """List the branches by name."""
    repo = open_git(request.app, target)
    found, total = refs.branches(repo, skip=page.skip, limit=page.size)
    commits = [read_commit(repo, ref.id) for ref in found]
    people = people_of(request, commits)
    rules = protections.protections_of(request.app.database, target.repository)
    shapes = [
        branch_shape(request, target, ref.name, commit, people, rules)
        for ref, commit in zip(found, commits, strict=True)
    ]
    return PagedList(shapes, total)


@endpoint("GET /repos/{owner}/{repo}/branches/{branch...}", scope="repository", guards=READING)
def show_branch(request: RequestContext, target: RepositoryAccess, branch: str) -> Branch:
    """Show a branch."""
    return one_branch(request, target, branch)


def one_branch(request: RequestContext, target: RepositoryAccess, branch: str) -> Branch:
    """Find a branch and make its shape."""
    repo = open_git(request.app, target)
    found = refs.branch(repo, branch) if refs.is_ref_name(branch) else None
    if found is None:
        raise missing(target, branch)
    commit = read_commit(repo, found.id)
    rules = protections.protections_of(request.app.database, target.repository)
    return branch_shape(request, target, found.name, commit, people_of(request, [commit]), rules)


def missing(target: RepositoryAccess, branch: str) -> ApiError:
    """Say that there is no such branch."""
    return ApiError(404, f"branch does not exist [repo_id: {target.repository.id} name: {branch}]")


@endpoint(
    "POST /repos/{owner}/{repo}/branches",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(401, 403, 404, 409, 423),
)
def create_branch(request: RequestContext, target: RepositoryAccess, body: CreateBranchRepoOption) -> Branch:
    """Make a branch at another branch, a tag or a commit."""
    repo = open_git(request.app, target)
    if target.repository.is_empty:
        raise ApiError(404, "Git Repository is empty.")
    old = body.old_ref_name or body.old_branch_name
    if old and refs.resolve(repo, old, "") is None and refs.rev_parse(repo, old) is None:
        raise ApiError(404, "The old branch does not exist")
    at = resolve_commit(repo, target, old)
    name = body.new_branch_name
    refs.check_new_branch(name)
    if refs.branch(repo, name) is not None:
        raise ApiError(409, f"branch already exists [name: {name}]")
    if refs.tag(repo, name) is not None:
        raise ApiError(409, "The branch name is already used by a tag.")
    move = Move(f"refs/heads/{name}", ref_changes.zero_id(target.repository), at)
    try:
        ref_changes.move_refs(
            request.app,
            target.repository,
            request.user,
            [move],
            lambda opened: ref_store.create(opened, move.ref, at),
        )
    except RefExists as error:
        raise ApiError(409, str(error)) from None
    return one_branch(request, target, name)


@endpoint(
    "DELETE /repos/{owner}/{repo}/branches/{branch...}",
    scope="repository",
    guards=WRITING,
    refuses=(401, 403, 404, 409, 423),
)
def delete_branch(request: RequestContext, target: RepositoryAccess, branch: str) -> None:
    """Delete a branch that is neither the default one nor protected."""
    repo = open_git(request.app, target)
    found = refs.branch(repo, branch) if refs.is_ref_name(branch) else None
    if found is None:
        raise missing(target, branch)
    if branch == target.repository.default_branch:
        raise ApiError(403, "can not delete default branch")
    move = Move(f"refs/heads/{branch}", found.id, ref_changes.zero_id(target.repository))
    ref_changes.move_refs(
        request.app,
        target.repository,
        request.user,
        [move],
        lambda opened: ref_store.delete(opened, move.ref, move.old),
    )


@endpoint(
    "PATCH /repos/{owner}/{repo}/branches/{branch...}",
    scope="repository",
    guards=WRITING,
    refuses=(401, 403, 404, 409, 423),
)
def rename_branch(
    request: RequestContext, target: RepositoryAccess, branch: str, body: RenameBranchRepoOption
) -> None:
    """Give a branch another name; the old one is remembered."""
    repository = target.repository
    repo = open_git(request.app, target)
    found = refs.branch(repo, branch) if refs.is_ref_name(branch) else None
    if found is None:
        raise missing(target, branch)
    if refs.branch(repo, body.name) is not None:
        raise ApiError(
            422, "Cannot rename a branch using the same name or rename to a branch that already exists."
        )
    if branch == repository.default_branch and not target.permissions.is_admin:
        raise ApiError(403, "only an administrator of the repository may rename its default branch")
    none = ref_changes.zero_id(repository)
    made = [Move(f"refs/heads/{body.name}", none, found.id), Move(f"refs/heads/{branch}", found.id, none)]
    ref_changes.move_refs(
        request.app,
        repository,
        request.user,
        made,
        lambda opened: ref_store.rename_branch(opened, branch, body.name),
    )
    with request.app.database.write() as connection:
        note_rename(connection, repository, branch, body.name)
        if branch == repository.default_branch:
            columns = {"default_branch": body.name}
            repositories.change_repository(connection, repository, **columns)
            note_changes(connection, repository, request.user, columns)


@endpoint(
    "PUT /repos/{owner}/{repo}/branches/{branch...}",
    scope="repository",
    guards=WRITING,
    refuses=(401, 403, 404, 409, 422, 423),
)
def update_branch(
    request: RequestContext, target: RepositoryAccess, branch: str, body: UpdateBranchRepoOption
) -> None:
    """Move a branch to another commit; backwards or sideways only by force."""
    repo = open_git(request.app, target)
    found = refs.branch(repo, branch) if refs.is_ref_name(branch) else None
    if found is None:
        raise missing(target, branch)
    if body.old_commit_id is not UNSET and body.old_commit_id != found.id:
        raise ApiError(409, "the branch is not at the old commit any more")
    if not refs.is_commit(repo, body.new_commit_id):
        raise ApiError(404, f"object does not exist [id: {body.new_commit_id}, rel_path: ]")
    if not body.force and history.merge_base(repo, found.id, body.new_commit_id) != found.id:
        raise ApiError(409, "the new commit does not follow the branch; force is needed")
    move = Move(f"refs/heads/{branch}", found.id, body.new_commit_id)
    ref_changes.move_refs(
        request.app,
        target.repository,
        request.user,
        [move],
        lambda opened: ref_store.update(opened, move.ref, move.old, move.new),
    )
