"""The forms to create a repository and an organization."""

from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.hosting import access
from holdfast.hosting.errors import HostingError, NoSuchUser
from holdfast.hosting.guards import signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import organizations, repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts
from holdfast.hosting.store import organizations as organization_store
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import page, redirect_to

__all__ = ["create_organization_page", "create_repository_page", "new_organization_page", "new_repository_page"]

REPOSITORY: Final = ("user", "repository", "organization")


class RepositoryForm(msgspec.Struct, frozen=True):
    """The fields of the form; an unchecked checkbox is empty."""

    owner: str = ""
    name: str = ""
    description: str = ""
    visibility: str = "public"
    auto_init: str = ""
    default_branch: str = ""


class OrganizationForm(msgspec.Struct, frozen=True):
    """The fields of the form."""

    username: str = ""
    full_name: str = ""
    description: str = ""
    visibility: str = "public"


class NewOwnerQuery(msgspec.Struct, frozen=True):
    """The preselected owner."""

    owner: str = ""


def show_repository_form(
    request: RequestContext, form: RepositoryForm, error: HostingError | None = None
) -> RawResponse:
    """Render the form with the owners the user may create repositories for."""
    owners = [request.user, *organization_store.open_to(request.app.database, request.user)]
    wanted = form.owner.casefold()
    if request.actor.is_admin and wanted and wanted not in {owner.name.casefold() for owner in owners}:
        try:
            account = accounts.find_account(request.app.database, wanted)
        except NoSuchUser:
            pass
        else:
            owners += [account] if account.is_organization else []
    return page(
        request,
        "people/new_repository.html",
        title="New repository",
        status=200 if error is None else status_for(error),
        form=form,
        owners=[owner.name for owner in owners],
        problem="" if error is None else message_for(error),
    )


@endpoint("GET /-/new", scope=REPOSITORY, guards=(signed_in,), slow=True)
def new_repository_page(request: RequestContext, query: NewOwnerQuery) -> RawResponse:
    """Show the form of a new repository."""
    return show_repository_form(request, RepositoryForm(owner=query.owner or request.user.name, auto_init="on"))


@endpoint("POST /-/new", scope=REPOSITORY, guards=(signed_in,))
def create_repository_page(request: RequestContext, body: RepositoryForm) -> RawResponse:
    """Create a repository."""
    new_repository = NewRepository(
        name=body.name.strip(),
        description=body.description.strip(),
        is_private=body.visibility == "private",
        default_branch=body.default_branch.strip() or "main",
    )
    try:
        owner = repositories.find_new_owner(request.app, request.actor, body.owner.strip() or request.user.name)
        repository = repositories.create_for(
            request.app, request.actor, owner, new_repository, auto_init=bool(body.auto_init)
        )
    except HostingError as error:
        return show_repository_form(request, body, error)
    return redirect_to(f"/{quote(repository.full_name)}", "repository-created", repository.full_name)


def show_organization_form(
    request: RequestContext, form: OrganizationForm, error: HostingError | None = None
) -> RawResponse:
    """Render the form, if the user may create organizations."""
    return page(
        request,
        "people/new_organization.html",
        title="New organization",
        status=200 if error is None else status_for(error),
        form=form,
        may=access.may_create_organizations(request.actor),
        problem="" if error is None else message_for(error),
    )


@endpoint("GET /-/new-organization", scope="organization", guards=(signed_in,), slow=True)
def new_organization_page(request: RequestContext) -> RawResponse:
    """Show the form of a new organization."""
    return show_organization_form(request, OrganizationForm())


@endpoint("POST /-/new-organization", scope="organization", guards=(signed_in,))
def create_organization_page(request: RequestContext, body: OrganizationForm) -> RawResponse:
    """Create an organization."""
    new_organization = organizations.NewOrganization(
        name=body.username.strip(),
        full_name=body.full_name.strip(),
        description=body.description.strip(),
        visibility=body.visibility.strip(),
    )
    try:
        created = organizations.create(request.app, request.actor, request.user, new_organization)
    except HostingError as error:
        return show_organization_form(request, body, error)
    return redirect_to(f"/{quote(created.name)}", "organization-created", created.name)
