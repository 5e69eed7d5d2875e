"""The danger zone of a repository: rename, transfer, archive and delete it."""

from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import HostingError, InvalidValue
from holdfast.hosting.guards import administers, in_repository
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import repositories
from holdfast.hosting.services.repositories import RepositoryEdit
from holdfast.web.pages import redirect_to
from holdfast.web.settings.settings_layout import in_repository_settings

__all__ = [
    "archive_repository_page",
    "check_typed",
    "delete_repository_page",
    "rename_repository_page",
    "show_repository_dangers",
    "transfer_repository_page",
]

GUARDS: Final = (in_repository, administers)


class RepositoryDangerForm(msgspec.Struct, frozen=True):
    """The fields of the forms."""

    name: str = ""
    new_owner: str = ""
    archived: str = ""
    confirm: str = ""


def check_typed(typed: str, name: str) -> None:
    """Raise `InvalidValue` unless the name was typed as confirmation."""
    if typed.strip().casefold() != name.casefold():
        raise InvalidValue("Confirmation", f"type {name} to confirm")


def show_dangers(
    request: RequestContext,
    target: RepositoryAccess,
    form: RepositoryDangerForm,
    refusal: HostingError | None = None,
) -> RawResponse:
    """Show the page."""
    return in_repository_settings(
        request,
        "settings/danger_zone.html",
        at="Danger zone",
        title="Danger zone",
        refusal=refusal,
        form=form,
        full_name=target.repository.full_name,
    )


@endpoint("GET /{owner}/{repo}/settings/danger", scope="repository", guards=GUARDS, slow=True)
def show_repository_dangers(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Show the danger zone."""
    return show_dangers(request, target, RepositoryDangerForm(name=target.repository.name))


@endpoint("POST /{owner}/{repo}/settings/danger/rename", scope="repository", guards=GUARDS)
def rename_repository_page(
    request: RequestContext, target: RepositoryAccess, body: RepositoryDangerForm
) -> RawResponse:
    """Rename a repository."""
    try:
        check_typed(body.confirm, target.repository.full_name)
        changes = RepositoryEdit(name=body.name.strip())
        repository = repositories.edit(request.app, request.actor, target, changes)
    except HostingError as error:
        return show_dangers(request, target, body, error)
    return redirect_to(f"/{quote(repository.full_name)}/settings", "repository-renamed", repository.full_name)


@endpoint("POST /{owner}/{repo}/settings/danger/transfer", scope="repository", guards=GUARDS)
def transfer_repository_page(
    request: RequestContext, target: RepositoryAccess, body: RepositoryDangerForm
) -> RawResponse:
    """Transfer a repository to another owner."""
    try:
        check_typed(body.confirm, target.repository.full_name)
        repository = repositories.transfer(request.app, request.actor, target, body.new_owner.strip())
    except HostingError as error:
        return show_dangers(request, target, body, error)
    return redirect_to(f"/{quote(repository.full_name)}", "repository-transferred", repository.full_name)


@endpoint("POST /{owner}/{repo}/settings/danger/archive", scope="repository", guards=GUARDS)
def archive_repository_page(
    request: RequestContext, target: RepositoryAccess, body: RepositoryDangerForm
) -> RawResponse:
    """Archive or unarchive a repository."""
    wanted = body.archived == "true"
    try:
        repositories.edit(request.app, request.actor, target, RepositoryEdit(is_archived=wanted))
    except HostingError as error:
        return show_dangers(request, target, body, error)
    return redirect_to(
        f"/{quote(target.repository.full_name)}/settings/danger",
        "repository-archived" if wanted else "repository-unarchived",
        target.repository.full_name,
    )


@endpoint("POST /{owner}/{repo}/settings/danger/delete", scope="repository", guards=GUARDS)
def delete_repository_page(
    request: RequestContext, target: RepositoryAccess, body: RepositoryDangerForm
) -> RawResponse:
    """Delete a repository with everything in it."""
    try:
        check_typed(body.confirm, target.repository.full_name)
        repositories.delete(request.app, request.actor, target)
    except HostingError as error:
        return show_dangers(request, target, body, error)
    return redirect_to(
        f"/{quote(target.repository.owner.name)}", "repository-deleted", target.repository.full_name
    )
