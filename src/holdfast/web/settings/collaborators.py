"""The collaborators of a repository and their permissions."""

from typing import Final

import msgspec

from holdfast.hosting.access import Mode, RepositoryAccess
from holdfast.hosting.errors import HostingError
from holdfast.hosting.guards import administers, in_repository
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import collaborators
from holdfast.hosting.services.fields import required_text
from holdfast.hosting.store import collaborators as store
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import root_path
from holdfast.web.settings.settings_layout import in_repository_settings

__all__ = ["change_collaborator_page", "list_collaborators_page", "remove_collaborator_page"]

GUARDS: Final = (in_repository, administers)
MODES: Final = (
    ("read", "view, clone and open issues"),
    ("write", "also push and manage issues"),
    ("admin", "also manage settings"),
)


class CollaboratorForm(msgspec.Struct, frozen=True):
    """A user and the permission they get."""

    name: str = ""
    mode: str = "write"


def show_people(
    request: RequestContext,
    target: RepositoryAccess,
    page: PageParams,
    form: CollaboratorForm,
    refusal: HostingError | None = None,
) -> RawResponse:
    """Show the list and the form below it."""
    collaborator_page = collaborators.list_all(request.app, request.actor, target, skip=page.skip, limit=page.size)
    modes = store.modes_of(
        request.app.database, target.repository, [person.id for person in collaborator_page.accounts]
    )
    return in_repository_settings(
        request,
        "settings/collaborators.html",
        at="Collaborators",
        title="Collaborators",
        refusal=refusal,
        people=[(person, Mode(modes.get(person.id, Mode.READ)).word) for person in collaborator_page.accounts],
        total=collaborator_page.total,
        page=page,
        form=form,
        modes=MODES,
    )


@endpoint("GET /{owner}/{repo}/settings/collaborators", scope="repository", guards=GUARDS, slow=True)
def list_collaborators_page(request: RequestContext, target: RepositoryAccess, page: PageParams) -> RawResponse:
    """Show the collaborators."""
    return show_people(request, target, page, CollaboratorForm())


@endpoint("POST /{owner}/{repo}/settings/collaborators", scope="repository", guards=GUARDS)
def change_collaborator_page(
    request: RequestContext, target: RepositoryAccess, body: CollaboratorForm
) -> RawResponse:
    """Add a collaborator, or change their permission."""
    try:
        name = required_text(body.name, "Name")
        is_new = not collaborators.is_collaborator(request.app, request.actor, target, name)
        collaborators.add(request.app, request.actor, target, name, body.mode)
    except HostingError as error:
        return show_people(request, target, PageParams(1, 30), body, error)
    notice = "collaborator-added" if is_new else "collaborator-saved"
    return redirect_to(f"{root_path(target)}/settings/collaborators", notice, name)


@endpoint("POST /{owner}/{repo}/settings/collaborators/remove", scope="repository", guards=GUARDS)
def remove_collaborator_page(
    request: RequestContext, target: RepositoryAccess, body: CollaboratorForm
) -> RawResponse:
    """Remove a collaborator."""
    try:
        collaborators.remove(request.app, request.actor, target, required_text(body.name, "Name"))
    except HostingError as error:
        return show_people(request, target, PageParams(1, 30), CollaboratorForm(), error)
    return redirect_to(f"{root_path(target)}/settings/collaborators", "collaborator-removed", body.name.strip())
