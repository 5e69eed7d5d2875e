"""Labels of repositories and of organizations."""

import time
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import OrganizationAccess, RepositoryAccess
from holdfast.hosting.api.issue_access import MANAGING, READING
from holdfast.hosting.guards import in_organization, owns_organization
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.schemas.issues import LabelSchema, label
from holdfast.hosting.store import labels
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository

__all__ = [
    "create_label",
    "create_organization_label",
    "delete_label",
    "delete_organization_label",
    "edit_label",
    "edit_organization_label",
    "list_labels",
    "list_organization_labels",
    "show_label",
    "show_organization_label",
]

Keeper = Repository | Account
OWNING = (in_organization, owns_organization)
Name = Annotated[str, Meta(max_length=255)]


class CreateLabelOption(msgspec.Struct, frozen=True):
    """A new label; the colour is 3 or 6 hexadecimal digits."""

    name: Annotated[str, Meta(max_length=255), Required] = ""
    color: Annotated[str, Required] = ""
    description: str = ""
    exclusive: bool = False
    is_archived: bool = False


class EditLabelOption(msgspec.Struct, frozen=True):
    """What to change; a key that is absent keeps its value."""

    name: Name | UnsetType = UNSET
    color: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    exclusive: bool | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET


def path_of(keeper: Keeper) -> str:
    """Return the path of whatever keeps a label."""
    return f"repos/{keeper.full_name}" if isinstance(keeper, Repository) else f"orgs/{keeper.name}"


def given_name(name: str) -> str:
    """Return a name without the space around it; one of nothing else is none."""
    if not name.strip():
        raise ApiError(422, "[Name]: Required")
    return name.strip()


def listed(request: RequestContext, keeper: Keeper, page: PageParams) -> PagedList[LabelSchema]:
    """List the labels somebody keeps."""
    found, total = labels.labels_of(request.app.database, keeper, skip=page.skip, limit=page.size)
    return PagedList([label(request, kept, path_of(keeper)) for kept in found], total)


def created(request: RequestContext, keeper: Keeper, body: CreateLabelOption) -> LabelSchema:
    """Add a label."""
    made = labels.add_label(
        request.app.database,
        keeper,
        given_name(body.name),
        body.color,
        description=body.description,
        is_exclusive=body.exclusive,
        archived_at=int(time.time()) if body.is_archived else 0,
    )
    return label(request, made, path_of(keeper))


def edited(request: RequestContext, keeper: Keeper, number: int, body: EditLabelOption) -> LabelSchema:
    """Change a label."""
    columns: dict[str, str | bool | int] = {}
    if body.name is not UNSET:
        columns["name"] = given_name(body.name)
    if body.color is not UNSET:
        columns["color"] = body.color
    if body.description is not UNSET:
        columns["description"] = body.description
    if body.exclusive is not UNSET:
        columns["is_exclusive"] = body.exclusive
    if body.is_archived is not UNSET:
        columns["archived_at"] = int(time.time()) if body.is_archived else 0
    return label(request, labels.change_label(request.app.database, keeper, number, **columns), path_of(keeper))


@endpoint("GET /repos/{owner}/{repo}/labels", scope="issue", guards=READING)
def list_labels(request: RequestContext, target: RepositoryAccess, page: PageParams) -> PagedList[LabelSchema]:
    """List the labels of a repository, without those of its owner."""
    return listed(request, target.repository, page)


@endpoint("POST /repos/{owner}/{repo}/labels", scope="issue", guards=MANAGING, status=201, refuses=(423,))
def create_label(request: RequestContext, target: RepositoryAccess, body: CreateLabelOption) -> LabelSchema:
    """Add a label to a repository."""
    return created(request, target.repository, body)


@endpoint("GET /repos/{owner}/{repo}/labels/{id}", scope="issue", guards=READING)
def show_label(request: RequestContext, target: RepositoryAccess, id: int) -> LabelSchema:  # noqa: A002  # the name in the path
    """Show a label of a repository."""
    return label(
        request, labels.find_label(request.app.database, target.repository, id), path_of(target.repository)
    )


@endpoint("PATCH /repos/{owner}/{repo}/labels/{id}", scope="issue", guards=MANAGING, refuses=(423,))
def edit_label(request: RequestContext, target: RepositoryAccess, id: int, body: EditLabelOption) -> LabelSchema:  # noqa: A002
    """Change a label of a repository."""
    return edited(request, target.repository, id, body)


@endpoint("DELETE /repos/{owner}/{repo}/labels/{id}", scope="issue", guards=MANAGING, refuses=(423,))
def delete_label(request: RequestContext, target: RepositoryAccess, id: int) -> None:  # noqa: A002
    """Remove a label from a repository and its issues."""
    labels.delete_label(request.app.database, target.repository, id)


@endpoint("GET /orgs/{org}/labels", scope="organization", guards=(in_organization,))
def list_organization_labels(
    request: RequestContext, organization: OrganizationAccess, page: PageParams
) -> PagedList[LabelSchema]:
    """List the labels all repositories of an organization share."""
    return listed(request, organization.account, page)


@endpoint("POST /orgs/{org}/labels", scope="organization", guards=OWNING, status=201)
def create_organization_label(
    request: RequestContext, organization: OrganizationAccess, body: CreateLabelOption
) -> LabelSchema:
    """Add a label to all repositories of an organization."""
    return created(request, organization.account, body)


@endpoint("GET /orgs/{org}/labels/{id}", scope="organization", guards=(in_organization,))
def show_organization_label(request: RequestContext, organization: OrganizationAccess, id: int) -> LabelSchema:  # noqa: A002
    """Show a label of an organization."""
    account = organization.account
    return label(request, labels.find_label(request.app.database, account, id), path_of(account))


@endpoint("PATCH /orgs/{org}/labels/{id}", scope="organization", guards=OWNING)
def edit_organization_label(
    request: RequestContext,
    organization: OrganizationAccess,
    id: int,  # noqa: A002
    body: EditLabelOption,
) -> LabelSchema:
    """Change a label of an organization."""
    return edited(request, organization.account, id, body)


@endpoint("DELETE /orgs/{org}/labels/{id}", scope="organization", guards=OWNING)
def delete_organization_label(request: RequestContext, organization: OrganizationAccess, id: int) -> None:  # noqa: A002
    """Remove a label from an organization and all issues that have it."""
    labels.delete_label(request.app.database, organization.account, id)
