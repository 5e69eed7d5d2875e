"""Forks of a repository: the form that creates one, the list, and the button that updates one from its parent."""

from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import HostingError, MergeRefused
from holdfast.hosting.guards import in_repository, reads, signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams, page_of
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import forks
from holdfast.hosting.store import organizations
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import CODE, root_path, show_in
from holdfast.web.repository_list import line_of

__all__ = ["create_fork_page", "list_forks_page", "new_fork_page", "sync_fork_page"]

PER_PAGE: Final = 30
READING: Final = (in_repository, reads(Unit.CODE))
FORKING: Final = (in_repository, signed_in, reads(Unit.CODE))


class ForkForm(msgspec.Struct, frozen=True):
    """The owner and the name of a new fork; `edit` is the branch and path of a file to edit in it afterwards."""

    owner: str = ""
    name: str = ""
    edit: str = ""


def show_form(
    request: RequestContext, target: RepositoryAccess, form: ForkForm, error: HostingError | None = None
) -> RawResponse:
    """Render the form with the owners the user may create a fork for; the parent's owner is none of them."""
    owners = [request.user, *organizations.open_to(request.app.database, request.user)]
    parent = target.repository
    return show_in(
        request,
        target,
        "code/fork.html",
        tab=CODE,
        title=f"Fork · {parent.full_name}",
        status=200 if error is None else status_for(error),
        problem="" if error is None else message_for(error),
        owners=[owner.name for owner in owners if owner.id != parent.owner.id],
        form=form,
    )


@endpoint("GET /{owner}/{repo}/fork", scope="repository", guards=FORKING, slow=True)
def new_fork_page(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Show the form of a new fork."""
    return show_form(request, target, ForkForm(request.user.name, target.repository.name))


@endpoint("POST /{owner}/{repo}/fork", scope="repository", guards=FORKING)
def create_fork_page(request: RequestContext, target: RepositoryAccess, body: ForkForm) -> RawResponse:
    """Fork a repository, and open the fork."""
    owner, name = body.owner.strip(), body.name.strip()
    organization = "" if owner.casefold() == request.user.name.casefold() else owner
    try:
        fork = forks.fork(request.app, request.actor, target, organization=organization, name=name)
    except HostingError as error:
        return show_form(request, target, body, error)
    address = f"/{quote(fork.full_name)}" + (f"/_edit/{quote(body.edit)}" if body.edit else "")
    return redirect_to(address, "repository-forked", fork.full_name)


@endpoint("GET /{owner}/{repo}/forks", scope="repository", guards=READING, slow=True)
def list_forks_page(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """List the forks of a repository that the viewer may see."""
    params = PageParams(page_of(request).number, PER_PAGE)
    found = forks.list_forks(request.app, request.actor, target, skip=params.skip, limit=PER_PAGE)
    return show_in(
        request,
        target,
        "code/forks.html",
        tab=CODE,
        title=f"Forks · {target.repository.full_name}",
        found=[line_of(repository) for repository in found.items],
        total=found.total,
        number=params.number,
        size=PER_PAGE,
    )


@endpoint("POST /{owner}/{repo}/sync-fork", scope="repository", guards=FORKING, slow=True)
def sync_fork_page(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Update the default branch of a fork from its parent."""
    branch = target.repository.default_branch
    try:
        merged = forks.merge_upstream(request.app, request.actor, target, branch)
    except MergeRefused as error:
        raise ApiError(
            409, f"branch {branch} {error}; merge the parent on your own machine and push the result"
        ) from error
    return redirect_to(root_path(target), "fork-unchanged" if merged == "up-to-date" else "pull-updated", branch)
