"""Repositories: making, finding, changing, moving and deleting them."""

import time
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import ColumnElement, Connection, exists, or_

from holdfast.hosting import access
from holdfast.hosting.access import Mode, OrganizationAccess, RepositoryAccess
from holdfast.hosting.errors import NameRefused, NoSuchUser
from holdfast.hosting.git import refs
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.guards import (
    UserFromPath,
    administers,
    in_organization,
    in_repository,
    of_user,
    owns,
    seen,
    signed_in,
    site_admin,
)
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.decoders import RefName, Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams, paging_headers
from holdfast.hosting.schemas.repositories import InternalTracker, RepositorySchema, repository, repository_list
from holdfast.hosting.services import repositories
from holdfast.hosting.store import accounts, organizations
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Declared
from holdfast.hosting.store.repository_events import note_changes, note_rename, note_transfer
from holdfast.hosting.store.tables import collaborators
from holdfast.hosting.store.tables import repositories as table

__all__ = ["create_for_organization", "create_mine", "delete", "edit", "search", "show", "transfer"]

Name = Annotated[str, Meta(max_length=100), Required]


class CreateRepoOption(msgspec.Struct, frozen=True):
    """A new repository."""

    name: Name = ""
    description: Annotated[str, Meta(max_length=2048)] = ""
    private: bool = False
    auto_init: bool = False
    template: bool = False
    default_branch: Annotated[str, Meta(max_length=100, title="DefaultBranch"), RefName] = ""
    readme: str = ""
    gitignores: str = ""
    license: str = ""
    issue_labels: str = ""
    trust_model: str = ""
    object_format_name: Literal["", "sha1", "sha256"] = ""


class EditRepoOption(msgspec.Struct, frozen=True):
    """What to change; a key that is absent keeps its value."""

    name: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=2048)] | UnsetType = UNSET
    website: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET
    private: bool | UnsetType = UNSET
    template: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    default_branch: str | UnsetType = UNSET
    has_code: bool | UnsetType = UNSET
    has_issues: bool | UnsetType = UNSET
    internal_tracker: InternalTracker | UnsetType = UNSET
    has_pull_requests: bool | UnsetType = UNSET
    has_releases: bool | UnsetType = UNSET
    has_wiki: bool | UnsetType = UNSET
    has_projects: bool | UnsetType = UNSET
    has_packages: bool | UnsetType = UNSET
    has_actions: bool | UnsetType = UNSET
    projects_mode: str | UnsetType = UNSET
    ignore_whitespace_conflicts: bool | UnsetType = UNSET
    allow_merge_commits: bool | UnsetType = UNSET
    allow_rebase: bool | UnsetType = UNSET
    allow_rebase_explicit: bool | UnsetType = UNSET
    allow_squash_merge: bool | UnsetType = UNSET
    allow_fast_forward_only_merge: bool | UnsetType = UNSET
    allow_merge_update: bool | UnsetType = UNSET
    allow_rebase_update: bool | UnsetType = UNSET
    allow_manual_merge: bool | UnsetType = UNSET
    autodetect_manual_merge: bool | UnsetType = UNSET
    default_delete_branch_after_merge: bool | UnsetType = UNSET
    default_merge_style: str | UnsetType = UNSET
    default_update_style: str | UnsetType = UNSET
    default_allow_maintainer_edit: bool | UnsetType = UNSET
    mirror_interval: str | UnsetType = UNSET


class TransferRepoOption(msgspec.Struct, frozen=True):
    """Who gets the repository, and which of their teams."""

    new_owner: Annotated[str, Required] = ""
    team_ids: list[int] = []


class RepositorySearchQuery(msgspec.Struct, frozen=True):
    """What to look for."""

    q: str = ""
    topic: bool = False
    includeDesc: bool = False  # noqa: N815  # clients spell it so
    uid: int = 0
    private: bool = True
    is_private: bool | None = None
    template: bool | None = None
    archived: bool | None = None
    mode: str = ""
    exclusive: bool = False
    sort: Literal["alpha", "created", "updated", "size", "id"] = "alpha"
    order: Literal["asc", "desc"] = "asc"


class SearchResults(msgspec.Struct, frozen=True):
    """The repositories found."""

    ok: bool
    data: list[RepositorySchema]


COLUMNS: Final = {
    "description": "description",
    "website": "website",
    "private": "is_private",
    "template": "is_template",
    "has_code": "has_code",
    "has_issues": "has_issues",
    "has_pull_requests": "has_pulls",
    "has_releases": "has_releases",
    "has_wiki": "has_wiki",
    "has_projects": "has_projects",
    "has_packages": "has_packages",
    "has_actions": "has_actions",
}


def make(request: RequestContext, owner: Account, body: CreateRepoOption) -> RepositorySchema:
    """Make a repository for an owner the caller may act for, with a first commit when asked for."""
    for field, given in (
        ("Gitignores", body.gitignores),
        ("License", body.license),
        ("IssueLabels", body.issue_labels),
    ):
        if given:
            raise ApiError(422, f"[{field}]: this server has no templates")
    default_branch = body.default_branch or "main"
    object_format = body.object_format_name or "sha1"
    wanted = repositories.NewRepository(
        name=body.name,
        description=body.description,
        is_private=body.private,
        is_template=body.template,
        default_branch=default_branch,
        object_format=object_format,
    )
    files = {}
    if body.auto_init:
        text = f"# {body.name}\n" + (f"\n{body.description}\n" if body.description else "")
        files["README.md"] = text.encode()
    made = repositories.create(request.app, owner, request.user, wanted, files)
    return repository(request, made, seen(request, made))


REFUSES: Final = (400, 401, 403, 404, 409, 422)


@endpoint("POST /user/repos", scope=("user", "repository"), guards=(signed_in,), status=201, refuses=REFUSES)
def create_mine(request: RequestContext, body: CreateRepoOption) -> RepositorySchema:
    """Make a repository of the caller's own."""
    return make(request, request.user, body)


def may_create(request: RequestContext) -> None:
    """Ask that the caller may make repositories in the organization."""
    signed_in(request)
    organization = request.resolved(OrganizationAccess)
    if organization.mode < Mode.OWNER and not organizations.may_create_repositories(
        request.app.database, organization.account, request.user
    ):
        raise ApiError(403, "Given user is not allowed to create repository in organization.")


@endpoint(
    "POST /orgs/{org}/repos",
    scope=("organization", "repository"),
    guards=(in_organization, may_create),
    status=201,
    refuses=REFUSES,
)
def create_for_organization(
    request: RequestContext, organization: OrganizationAccess, body: CreateRepoOption
) -> RepositorySchema:
    """Make a repository of an organization."""
    return make(request, organization.account, body)


@endpoint(
    "POST /admin/users/{username}/repos",
    scope=("admin", "repository"),
    guards=(site_admin, of_user),
    status=201,
    refuses=REFUSES,
)
def create_for_user(request: RequestContext, subject: UserFromPath, body: CreateRepoOption) -> RepositorySchema:
    """Make a repository for somebody else."""
    return make(request, subject.account, body)


@endpoint("GET /repos/{owner}/{repo}", scope="repository", guards=(in_repository,))
def show(request: RequestContext, target: RepositoryAccess) -> RepositorySchema:
    """Show a repository."""
    return repository(request, target.repository, target.permissions)


@endpoint("GET /repositories/{id}", scope="repository", tag="repositories", refuses=(404,))
def show_by_id(request: RequestContext, id: int) -> RepositorySchema:  # noqa: A002  # the parameter's name in the path
    """Show the repository of a number."""
    kept = store.repository_by_id(request.app.database, id)
    may = seen(request, kept)
    if may.mode == Mode.NONE:
        raise ApiError(404)
    return repository(request, kept, may)


@endpoint("DELETE /repos/{owner}/{repo}", scope="repository", guards=(in_repository, owns), refuses=(401, 403))
def delete(request: RequestContext, target: RepositoryAccess) -> None:
    """Delete a repository with everything in it."""
    repositories.remove(request.app, target.repository, request.user)


@endpoint(
    "PATCH /repos/{owner}/{repo}",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403, 409, 422),
)
def edit(request: RequestContext, target: RepositoryAccess, body: EditRepoOption) -> RepositorySchema:
    """Change a repository's settings."""
    kept = target.repository
    if body.private is not UNSET and body.private != kept.is_private and not target.permissions.is_owner:
        raise ApiError(422, "only the owner of a repository may change who can see it")
    columns = changed_columns(request, kept, body)
    name = kept.name if body.name is UNSET else body.name
    with request.app.database.write() as connection:
        if name and name != kept.name:
            rename(connection, kept, name, request.user)
        store.change_repository(connection, kept, **columns)
        note_changes(connection, kept, request.user, columns)
    kept = store.repository_by_id(request.app.database, kept.id)
    return repository(request, kept, seen(request, kept))


def changed_columns(
    request: RequestContext, kept: store.Repository, body: EditRepoOption
) -> dict[str, str | bool | int]:
    """Work out which columns a change of settings touches."""
    columns: dict[str, str | bool | int] = {
        column: value for field, column in COLUMNS.items() if (value := getattr(body, field)) is not UNSET
    }
    if body.archived is not UNSET and body.archived != kept.is_archived:
        columns["archived_at"] = int(time.time()) if body.archived else 0
    if body.default_branch is not UNSET and body.default_branch and body.default_branch != kept.default_branch:
        columns["default_branch"] = point_head(request, kept, body.default_branch)
    declared = msgspec.json.decode(kept.declared, type=Declared)
    given: dict[str, Any] = {
        name: value for name in Declared.__struct_fields__ if (value := getattr(body, name, UNSET)) is not UNSET
    }
    if body.internal_tracker is not UNSET:
        tracker = body.internal_tracker
        columns["has_dependencies"] = tracker.enable_issue_dependencies
        given["enable_time_tracker"] = tracker.enable_time_tracker
        given["allow_only_contributors_to_track_time"] = tracker.allow_only_contributors_to_track_time
    if given:
        columns["declared"] = msgspec.json.encode(msgspec.structs.replace(declared, **given)).decode()
    return columns


def point_head(request: RequestContext, kept: store.Repository, branch: str) -> str:
    """Make another branch the default; it must exist unless nothing does."""
    repo = open_repository(request.app.folders.existing(kept.id))
    if not kept.is_empty and refs.branch(repo, branch) is None:
        raise ApiError(422, f"[DefaultBranch]: branch does not exist [repo_id: {kept.id} name: {branch}]")
    if not refs.is_ref_name(branch):
        raise ApiError(422, "[DefaultBranch]: GitRefName")
    request.app.point_head(kept.id, branch)
    return branch


def rename(connection: Connection, kept: store.Repository, name: str, actor: Account) -> None:
    """Give a repository another name."""
    try:
        store.rename_repository(connection, kept, name)
    except NameRefused as error:
        raise ApiError(422, f"[Name]: {error}") from None
    note_rename(connection, kept, actor)


@endpoint(
    "POST /repos/{owner}/{repo}/transfer",
    scope="repository",
    guards=(in_repository, owns),
    status=202,
    refuses=(401, 403, 404, 409, 422),
)
def transfer(request: RequestContext, target: RepositoryAccess, body: TransferRepoOption) -> RepositorySchema:
    """Give a repository to another owner the caller may make repositories for."""
    database = request.app.database
    try:
        owner = accounts.find_account(database, body.new_owner)
    except NoSuchUser:
        raise ApiError(404, f"user does not exist [uid: 0, name: {body.new_owner}]") from None
    allowed = request.actor.is_admin or owner.id == request.user.id
    if owner.is_organization and not allowed:
        modes = organizations.team_modes(database, owner, request.user)
        allowed = access.organization_access(request.actor, owner, modes) >= Mode.OWNER or (
            organizations.may_create_repositories(database, owner, request.user)
        )
    if not allowed:
        raise ApiError(403, "you may give a repository only to an owner you may make repositories for")
    with database.write() as connection:
        store.transfer_repository(connection, target.repository, owner)
        note_transfer(connection, target.repository, owner, request.user)
    kept = store.repository_by_id(database, target.repository.id)
    return repository(request, kept, seen(request, kept))


def page_of_repositories(
    request: RequestContext,
    page: PageParams,
    *conditions: ColumnElement[bool],
    sort: str = "alpha",
    descending: bool = False,
) -> PagedList[RepositorySchema]:
    """List what meets the conditions and may be shown to the caller."""
    shown = store.readable_by(request.actor.user, public_only=request.actor.public_only)
    found, total = store.list_repositories(
        request.app.database,
        [shown, *conditions],
        sort=sort,
        descending=descending,
        skip=page.skip,
        limit=page.size,
    )
    return PagedList(repository_list(request, found), total)


@endpoint("GET /repos/search", scope="repository", refuses=(422,), slow=True)
def search(request: RequestContext, query: RepositorySearchQuery, page: PageParams) -> SearchResults:
    """Search for repositories by their name, and their description when asked for."""
    conditions: list[ColumnElement[bool]] = []
    if query.q:
        matches = table.c.folded_name.contains(query.q.casefold(), autoescape=True)
        if query.topic:
            matches = table.c.topics.contains(f'"{query.q.lower()}"', autoescape=True)
        elif query.includeDesc:
            matches = or_(matches, table.c.description.icontains(query.q, autoescape=True))
        conditions.append(matches)
    if query.uid:
        mine = table.c.owner_id == query.uid
        shared = exists().where(collaborators.c.repository_id == table.c.id, collaborators.c.user_id == query.uid)
        conditions.append(mine if query.exclusive else or_(mine, shared))
    if not query.private:
        conditions.append(~table.c.is_private)
    if query.is_private is not None:
        conditions.append(table.c.is_private == query.is_private)
    if query.template is not None:
        conditions.append(table.c.is_template == query.template)
    if query.archived is not None:
        conditions.append(table.c.archived_at > 0 if query.archived else table.c.archived_at == 0)
    if query.mode == "mirror":
        conditions.append(table.c.is_mirror)
    elif query.mode == "fork":
        conditions.append(table.c.fork_of.is_not(None))
    elif query.mode == "source":
        conditions.append(~table.c.is_mirror & table.c.fork_of.is_(None))
    listed = page_of_repositories(request, page, *conditions, sort=query.sort, descending=query.order == "desc")
    request.response_headers |= paging_headers(request, page, listed.total)
    return SearchResults(True, listed.items)


@endpoint("GET /user/repos", scope=("user", "repository"), guards=(signed_in,), refuses=(401,), slow=True)
def list_mine(request: RequestContext, page: PageParams) -> PagedList[RepositorySchema]:
    """List the repositories the caller owns or works on."""
    return page_of_repositories(request, page, store.belongs_to(request.user))


@endpoint("GET /users/{username}/repos", scope=("user", "repository"), guards=(of_user,), slow=True)
def list_for_user(request: RequestContext, subject: UserFromPath, page: PageParams) -> PagedList[RepositorySchema]:
    """List the repositories somebody owns."""
    return page_of_repositories(request, page, table.c.owner_id == subject.account.id)


@endpoint("GET /orgs/{org}/repos", scope=("organization", "repository"), guards=(in_organization,), slow=True)
def list_for_organization(
    request: RequestContext, organization: OrganizationAccess, page: PageParams
) -> PagedList[RepositorySchema]:
    """List the repositories of an organization."""
    return page_of_repositories(request, page, table.c.owner_id == organization.account.id)
