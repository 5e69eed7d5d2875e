"""Labels of repositories and of organizations."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import OrganizationAccess, RepositoryAccess
from holdfast.hosting.guards import MANAGE_ISSUES, READ_ISSUES, in_organization, owns_organization
from holdfast.hosting.http.decoders import Required, given
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas import issues as schemas
from holdfast.hosting.schemas.issues import LabelSchema
from holdfast.hosting.services import labels as service
from holdfast.hosting.services.labels import DESCRIPTION_LENGTH, LabelEdit, LabelOwner, NewLabel
from holdfast.hosting.store import labels

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

OWNING = (in_organization, owns_organization)
Name = Annotated[str, Meta(max_length=255)]
Description = Annotated[str, Meta(max_length=DESCRIPTION_LENGTH)]


class CreateLabelOption(msgspec.Struct, frozen=True):
    """A new label; the color is 3 or 6 hexadecimal digits."""

    name: Annotated[str, Meta(max_length=255), Required] = ""
    color: Annotated[str, Required] = ""
    description: Description = ""
    exclusive: bool = False
    is_archived: bool = False

    @property
    def new(self) -> NewLabel:
        """The label to create."""
        return NewLabel(
            name=self.name,
            color=self.color,
            description=self.description,
            is_exclusive=self.exclusive,
            is_archived=self.is_archived,
        )


class EditLabelOption(msgspec.Struct, frozen=True):
    """Changes; an absent key keeps the value."""

    name: Name | UnsetType = UNSET
    color: str | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    exclusive: bool | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET

    @property
    def changes(self) -> LabelEdit:
        """The changes for the service."""
        return LabelEdit(
            name=given(self.name),
            color=given(self.color),
            description=given(self.description),
            is_exclusive=given(self.exclusive),
            is_archived=given(self.is_archived),
        )


def label_schema(request: RequestContext, owner: LabelOwner, label: labels.Label) -> LabelSchema:
    """Encode a label of a repository or of an organization."""
    if isinstance(owner, RepositoryAccess):
        return schemas.label(request, label, f"repos/{owner.repository.full_name}")
    return schemas.label(request, label, f"orgs/{owner.account.name}")


def label_page(request: RequestContext, owner: LabelOwner, page: PageParams) -> PagedList[LabelSchema]:
    """List the labels of a repository or of an organization."""
    keeper = owner.repository if isinstance(owner, RepositoryAccess) else owner.account
    stored_labels, total = labels.labels_of(request.app.database, keeper, skip=page.skip, limit=page.size)
    return PagedList([label_schema(request, owner, label) for label in stored_labels], total)


@endpoint("GET /repos/{owner}/{repo}/labels", scope="issue", guards=READ_ISSUES, cacheable=True)
def list_labels(request: RequestContext, target: RepositoryAccess, page: PageParams) -> PagedList[LabelSchema]:
    """List the labels of a repository, without those of its owner."""
    return label_page(request, target, page)


@endpoint("POST /repos/{owner}/{repo}/labels", scope="issue", guards=MANAGE_ISSUES, status=201, refuses=(423,))
def create_label(request: RequestContext, target: RepositoryAccess, body: CreateLabelOption) -> LabelSchema:
    """Add a label to a repository."""
    return label_schema(request, target, service.create(request.app, request.actor, target, body.new))


@endpoint("GET /repos/{owner}/{repo}/labels/{id}", scope="issue", guards=READ_ISSUES)
def show_label(request: RequestContext, target: RepositoryAccess, id: int) -> LabelSchema:  # noqa: A002  # the name in the path
    """Show a label of a repository."""
    return label_schema(request, target, labels.find_label(request.app.database, target.repository, id))


@endpoint("PATCH /repos/{owner}/{repo}/labels/{id}", scope="issue", guards=MANAGE_ISSUES, refuses=(423,))
def edit_label(request: RequestContext, target: RepositoryAccess, id: int, body: EditLabelOption) -> LabelSchema:  # noqa: A002  # the path parameter's name
    """Change a label of a repository."""
    changed = service.edit(request.app, request.actor, target, id, body.changes)
    return label_schema(request, target, changed)


@endpoint("DELETE /repos/{owner}/{repo}/labels/{id}", scope="issue", guards=MANAGE_ISSUES, refuses=(423,))
def delete_label(request: RequestContext, target: RepositoryAccess, id: int) -> None:  # noqa: A002  # the path parameter's name
    """Delete a label of a repository, also from its issues."""
    service.delete(request.app, request.actor, target, id)


@endpoint("GET /orgs/{org}/labels", scope="organization", guards=(in_organization,))
def list_organization_labels(
    request: RequestContext, organization: OrganizationAccess, page: PageParams
) -> PagedList[LabelSchema]:
    """List the labels of an organization, which all its repositories share."""
    return label_page(request, organization, page)


@endpoint("POST /orgs/{org}/labels", scope="organization", guards=OWNING, status=201)
def create_organization_label(
    request: RequestContext, organization: OrganizationAccess, body: CreateLabelOption
) -> LabelSchema:
    """Add a label to all repositories of an organization."""
    created = service.create(request.app, request.actor, organization, body.new)
    return label_schema(request, organization, created)


@endpoint("GET /orgs/{org}/labels/{id}", scope="organization", guards=(in_organization,))
def show_organization_label(request: RequestContext, organization: OrganizationAccess, id: int) -> LabelSchema:  # noqa: A002  # the path parameter's name
    """Show a label of an organization."""
    label = labels.find_label(request.app.database, organization.account, id)
    return label_schema(request, organization, label)


@endpoint("PATCH /orgs/{org}/labels/{id}", scope="organization", guards=OWNING)
def edit_organization_label(
    request: RequestContext,
    organization: OrganizationAccess,
    id: int,  # noqa: A002  # the path parameter's name
    body: EditLabelOption,
) -> LabelSchema:
    """Change a label of an organization."""
    changed = service.edit(request.app, request.actor, organization, id, body.changes)
    return label_schema(request, organization, changed)


@endpoint("DELETE /orgs/{org}/labels/{id}", scope="organization", guards=OWNING)
def delete_organization_label(request: RequestContext, organization: OrganizationAccess, id: int) -> None:  # noqa: A002  # the path parameter's name
    """Delete a label of an organization, also from all issues."""
    service.delete(request.app, request.actor, organization, id)
