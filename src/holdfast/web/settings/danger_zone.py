"""What cannot be taken back easily: renaming, giving away, archiving and deleting a repository."""

from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api import repositories
from holdfast.hosting.guards import administers, in_repository
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.web.api_actions import act
from holdfast.web.pages import go
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
    """What was typed."""

    name: str = ""
    new_owner: str = ""
    archived: str = ""
    confirm: str = ""


def check_typed(typed: str, name: str) -> None:
    """Refuse a deed that was not confirmed by typing a name."""
    if typed.strip().casefold() != name.casefold():
        raise ApiError(422, f"Nothing was done: type {name} to confirm")


def show_dangers(
    request: RequestContext, target: RepositoryAccess, form: RepositoryDangerForm, refusal: ApiError | None = None
) -> RawResponse:
    """Show the page."""
    return in_repository_settings(
        request,
        "settings/dangers.html",
        at="Danger zone",
        title="Danger zone",
        refusal=refusal,
        form=form,
        full_name=target.repository.full_name,
    )


@endpoint("GET /{owner}/{repo}/settings/danger", scope="repository", guards=GUARDS, slow=True)
def show_repository_dangers(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Show what cannot be taken back easily."""
    return show_dangers(request, target, RepositoryDangerForm(name=target.repository.name))


@endpoint("POST /{owner}/{repo}/settings/danger/rename", scope="repository", guards=GUARDS)
def rename_repository_page(
    request: RequestContext, target: RepositoryAccess, body: RepositoryDangerForm
) -> RawResponse:
    """Give a repository another name."""
    try:
        check_typed(body.confirm, target.repository.full_name)
        made = act(request, repositories.edit, body={"name": body.name.strip()})
    except ApiError as refusal:
        return show_dangers(request, target, body, refusal)
    return go(f"/{quote(made.full_name)}/settings", "moved")


@endpoint("POST /{owner}/{repo}/settings/danger/transfer", scope="repository", guards=GUARDS)
def transfer_repository_page(
    request: RequestContext, target: RepositoryAccess, body: RepositoryDangerForm
) -> RawResponse:
    """Give a repository to somebody else."""
    try:
        check_typed(body.confirm, target.repository.full_name)
        made = act(request, repositories.transfer, body={"new_owner": body.new_owner.strip()})
    except ApiError as refusal:
        return show_dangers(request, target, body, refusal)
    return go(f"/{quote(made.full_name)}", "moved")


@endpoint("POST /{owner}/{repo}/settings/danger/archive", scope="repository", guards=GUARDS)
def archive_repository_page(
    request: RequestContext, target: RepositoryAccess, body: RepositoryDangerForm
) -> RawResponse:
    """Make a repository one that is only read, or let it change again."""
    wanted = body.archived == "true"
    try:
        act(request, repositories.edit, body={"archived": wanted})
    except ApiError as refusal:
        return show_dangers(request, target, body, refusal)
    return go(f"/{quote(target.repository.full_name)}/settings/danger", "archived" if wanted else "unarchived")


@endpoint("POST /{owner}/{repo}/settings/danger/delete", scope="repository", guards=GUARDS)
def delete_repository_page(
    request: RequestContext, target: RepositoryAccess, body: RepositoryDangerForm
) -> RawResponse:
    """Delete a repository with everything in it."""
    try:
        check_typed(body.confirm, target.repository.full_name)
        act(request, repositories.delete)
    except ApiError as refusal:
        return show_dangers(request, target, body, refusal)
    return go(f"/{quote(target.repository.owner.name)}", "deleted")
