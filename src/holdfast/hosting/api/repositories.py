"""Repositories: create, show, edit, transfer, delete, list and search them."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import ColumnElement

from holdfast.hosting.access import OrganizationAccess, RepositoryAccess
from holdfast.hosting.api.ref_names import RefName
from holdfast.hosting.errors import InvalidValue
from holdfast.hosting.guards import (
    UserFromPath,
    administers,
    in_organization,
    in_repository,
    in_transferred_repository,
    of_user,
    owns,
    signed_in,
    site_admin,
)
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.organizations import team
from holdfast.hosting.schemas.repositories import (
    InternalTracker,
    RepositorySchema,
    RepoTransfer,
    repository,
    repository_list,
)
from holdfast.hosting.schemas.users import user
from holdfast.hosting.services import repositories, repository_search, transfers
from holdfast.hosting.services.repositories import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    LONGEST_WEBSITE,
    InitialFiles,
    NewRepository,
    RepositoryEdit,
)
from holdfast.hosting.services.repository_search import RepositoryPage, RepositorySearch
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import DeclaredSettings, Repository, belongs_to
from holdfast.hosting.store.tables import repositories as table

__all__ = ["create_for_organization", "create_mine", "delete", "edit", "search", "show", "transfer"]

Name = Annotated[str, Meta(max_length=LONGEST_NAME), Required]


class CreateRepoOption(msgspec.Struct, frozen=True):
    """A new repository."""

    name: Name = ""
    description: Annotated[str, Meta(max_length=LONGEST_DESCRIPTION)] = ""
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
    """Changes; an absent key keeps the value."""

    name: Annotated[str, Meta(max_length=LONGEST_NAME)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=LONGEST_DESCRIPTION)] | UnsetType = UNSET
    website: Annotated[str, Meta(max_length=LONGEST_WEBSITE)] | UnsetType = UNSET
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
    """The new owner of a repository, and the teams that get access."""

    new_owner: Annotated[str, Required] = ""
    team_ids: list[int] = []


class RepositorySearchQuery(msgspec.Struct, frozen=True):
    """Search filters."""

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


# API field names whose settings are named differently.
RENAMED: Final = {
    "private": "is_private",
    "template": "is_template",
    "archived": "is_archived",
    "has_pull_requests": "has_pulls",
}


def encode(request: RequestContext, stored: Repository) -> RepositorySchema:
    """Encode a repository for the actor of a request."""
    return repository(request, stored, repositories.permissions_in(request.app, request.actor, stored))


def create(request: RequestContext, owner: Account, body: CreateRepoOption) -> RepositorySchema:
    """Create a repository for an owner."""
    if body.readme not in {"", "Default"}:
        raise InvalidValue("Readme", "the only template of a README is Default")
    initial = InitialFiles(license=body.license, gitignores=body.gitignores, issue_labels=body.issue_labels)
    new = NewRepository(
        name=body.name,
        description=body.description,
        is_private=body.private,
        is_template=body.template,
        default_branch=body.default_branch or "main",
        object_format=body.object_format_name or "sha1",
    )
    created = repositories.create_for(
        request.app, request.actor, owner, new, auto_init=body.auto_init, initial=initial
    )
    return encode(request, created)


REFUSES: Final = (400, 401, 403, 404, 409, 422)


@endpoint("POST /user/repos", scope=("user", "repository"), guards=(signed_in,), status=201, refuses=REFUSES)
def create_mine(request: RequestContext, body: CreateRepoOption) -> RepositorySchema:
    """Create a repository for the caller."""
    return create(request, request.user, body)


def may_create(request: RequestContext) -> None:
    """Require that the caller may create repositories in the organization."""
    repositories.require_create_for(request.app, request.actor, request.resolved(OrganizationAccess).account)


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
    """Create a repository for an organization."""
    return create(request, organization.account, body)


@endpoint(
    "POST /admin/users/{username}/repos",
    scope=("admin", "repository"),
    guards=(site_admin, of_user),
    status=201,
    refuses=REFUSES,
)
def create_for_user(request: RequestContext, subject: UserFromPath, body: CreateRepoOption) -> RepositorySchema:
    """Create a repository for another user."""
    return create(request, subject.account, body)


@endpoint("GET /repos/{owner}/{repo}", scope="repository", guards=(in_repository,), cacheable=True)
def show(request: RequestContext, target: RepositoryAccess) -> RepositorySchema:
    """Show a repository."""
    return with_transfer(request, repository(request, target.repository, target.permissions), target)


@endpoint("GET /repositories/{id}", scope="repository", tag="repositories", refuses=(404,))
def show_by_id(request: RequestContext, id: int) -> RepositorySchema:  # noqa: A002  # the parameter's name in the path
    """Show a repository by id."""
    repository_access = repositories.show(request.app, request.actor, id)
    return repository(request, repository_access.repository, repository_access.permissions)


@endpoint("DELETE /repos/{owner}/{repo}", scope="repository", guards=(in_repository, owns), refuses=(401, 403))
def delete(request: RequestContext, target: RepositoryAccess) -> None:
    """Delete a repository with everything in it."""
    repositories.delete(request.app, request.actor, target)


@endpoint(
    "PATCH /repos/{owner}/{repo}",
    scope="repository",
    guards=(in_repository, administers),
    refuses=(401, 403, 409, 422),
)
def edit(request: RequestContext, target: RepositoryAccess, body: EditRepoOption) -> RepositorySchema:
    """Change a repository's settings."""
    return encode(request, repositories.edit(request.app, request.actor, target, changes_in(body)))


def changes_in(body: EditRepoOption) -> RepositoryEdit:
    """Return the changes of a body."""
    changes = {name: value for name in body.__struct_fields__ if (value := getattr(body, name)) is not UNSET}
    declared = {name: changes.pop(name) for name in DeclaredSettings.__struct_fields__ if name in changes}
    tracker = changes.pop("internal_tracker", None)
    if tracker is not None:
        changes["has_dependencies"] = tracker.enable_issue_dependencies
        declared["enable_time_tracker"] = tracker.enable_time_tracker
        declared["allow_only_contributors_to_track_time"] = tracker.allow_only_contributors_to_track_time
    return RepositoryEdit(**{RENAMED.get(name, name): value for name, value in changes.items()}, declared=declared)


@endpoint(
    "POST /repos/{owner}/{repo}/transfer",
    scope="repository",
    guards=(in_repository, owns),
    status=202,
    refuses=(401, 403, 404, 409, 422),
)
def transfer(request: RequestContext, target: RepositoryAccess, body: TransferRepoOption) -> RepositorySchema:
    """Transfer a repository to another owner, who must accept unless the caller may create repositories there."""
    stored = transfers.start(request.app, request.actor, target, body.new_owner, body.team_ids)
    return with_transfer(request, encode(request, stored), RepositoryAccess(stored, target.permissions))


def with_transfer(
    request: RequestContext, repository_schema: RepositorySchema, target: RepositoryAccess
) -> RepositorySchema:
    """Add the pending transfer, if there is one that the caller may see."""
    waiting_transfer = transfers.find_visible(request.app, request.actor, target)
    if waiting_transfer is None:
        return repository_schema
    team_schemas = [
        team(request, stored_team, waiting_transfer.recipient)
        for stored_team in transfers.visible_teams(request.app, request.actor, waiting_transfer)
    ]
    waiting = RepoTransfer(
        user(request, waiting_transfer.actor), user(request, waiting_transfer.recipient), team_schemas
    )
    return msgspec.structs.replace(repository_schema, repo_transfer=waiting)


@endpoint(
    "POST /repos/{owner}/{repo}/transfer/accept",
    scope="repository",
    guards=(in_transferred_repository, signed_in),
    status=202,
    refuses=(401, 403, 404, 409),
)
def accept_transfer(request: RequestContext, target: RepositoryAccess) -> RepositorySchema:
    """Accept a pending transfer of a repository to the caller or an organization of theirs."""
    return encode(request, transfers.accept(request.app, request.actor, target))


@endpoint(
    "POST /repos/{owner}/{repo}/transfer/reject",
    scope="repository",
    guards=(in_transferred_repository, signed_in),
    refuses=(401, 403, 404),
)
def reject_transfer(request: RequestContext, target: RepositoryAccess) -> RepositorySchema:
    """Reject a pending transfer of a repository to the caller, or cancel it as an owner."""
    return encode(request, transfers.reject(request.app, request.actor, target))


def encode_page(request: RequestContext, page: RepositoryPage) -> PagedList[RepositorySchema]:
    """Encode a page of repositories for the actor of a request."""
    return PagedList(repository_list(request, page.items), page.total)


def page_of_repositories(
    request: RequestContext, page: PageParams, *conditions: ColumnElement[bool]
) -> PagedList[RepositorySchema]:
    """List the repositories that match the conditions and that the caller may see."""
    repository_page = repository_search.list_visible(
        request.app, request.actor, conditions, skip=page.skip, limit=page.size
    )
    return encode_page(request, repository_page)


@endpoint("GET /repos/search", scope="repository", refuses=(422,), slow=True, cacheable=True)
def search(request: RequestContext, query: RepositorySearchQuery, page: PageParams) -> SearchResults:
    """Search repositories by name, and by description if requested."""
    filters = RepositorySearch(
        text=query.q,
        in_topics=query.topic,
        in_descriptions=query.includeDesc,
        owner_id=query.uid,
        only_owned=query.exclusive,
        include_private=query.private,
        is_private=query.is_private,
        is_template=query.template,
        is_archived=query.archived,
        mode=query.mode,
        sort=query.sort,
        descending=query.order == "desc",
    )
    repository_page = repository_search.search(
        request.app, request.actor, filters, skip=page.skip, limit=page.size
    )
    schema_page = encode_page(request, repository_page)
    request.response_headers |= paging_headers(request, page, schema_page.total)
    return SearchResults(True, schema_page.items)


@endpoint("GET /user/repos", scope=("user", "repository"), guards=(signed_in,), refuses=(401,), slow=True)
def list_mine(request: RequestContext, page: PageParams) -> PagedList[RepositorySchema]:
    """List the repositories the caller owns or contributes to."""
    return page_of_repositories(request, page, belongs_to(request.user))


@endpoint("GET /users/{username}/repos", scope=("user", "repository"), guards=(of_user,), slow=True)
def list_for_user(request: RequestContext, subject: UserFromPath, page: PageParams) -> PagedList[RepositorySchema]:
    """List the repositories a user owns."""
    return page_of_repositories(request, page, table.c.owner_id == subject.account.id)


@endpoint("GET /orgs/{org}/repos", scope=("organization", "repository"), guards=(in_organization,), slow=True)
def list_for_organization(
    request: RequestContext, organization: OrganizationAccess, page: PageParams
) -> PagedList[RepositorySchema]:
    """List the repositories of an organization."""
    return page_of_repositories(request, page, table.c.owner_id == organization.account.id)
