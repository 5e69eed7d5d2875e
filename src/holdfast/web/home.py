"""The home page: repositories, organizations and transfers of the user; public repositories for visitors."""

from typing import Final
from urllib.parse import quote

import msgspec
from sqlalchemy import not_

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import HostingError, InvalidValue
from holdfast.hosting.guards import in_transferred_repository, signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import notifications, transfers
from holdfast.hosting.store import organizations, repositories
from holdfast.web.backup_files import list_backup_files
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import page, redirect_to
from holdfast.web.repository_list import list_lines

__all__ = ["answer_transfer", "show_home"]

SHOWN: Final = 20
SHOWN_TO_STRANGERS: Final = 10
OTHERS_SHOWN: Final = 10
ORGANIZATIONS_SHOWN: Final = 30


class TransferForm(msgspec.Struct, frozen=True):
    """The answer to a transfer: `accept` or `reject`."""

    answer: str = ""


@endpoint("GET /", slow=True)
def show_home(request: RequestContext) -> RawResponse:
    """Show the home page; site administrators also see the backups of the data folder."""
    return home_page(request)


@endpoint(
    "POST /{owner}/{repo}/transfer", scope="repository", guards=(in_transferred_repository, signed_in), slow=True
)
def answer_transfer(request: RequestContext, target: RepositoryAccess, body: TransferForm) -> RawResponse:
    """Accept or reject the transfer of a repository, offered on the home page of users who may."""
    try:
        if body.answer == "accept":
            repository = transfers.accept(request.app, request.actor, target)
            return redirect_to(f"/{quote(repository.full_name)}", "repository-transferred", repository.full_name)
        if body.answer != "reject":
            raise InvalidValue("Answer", "must be accept or reject")
        transfers.reject(request.app, request.actor, target)
    except HostingError as error:
        return home_page(request, error)
    return redirect_to("/", "transfer-rejected", target.repository.full_name)


def home_page(request: RequestContext, error: HostingError | None = None) -> RawResponse:
    """Render the home page, with the reason why a form was rejected if there is one."""
    user, database = request.actor.user, request.app.database
    if user is None:
        public, total = list_lines(request, [], limit=SHOWN_TO_STRANGERS)
        sign_up = request.app.settings.sign_up
        return page(request, "home.html", title="Holdfast", public=public, total=total, sign_up=sign_up)
    own_rows, my_total = list_lines(request, [repositories.belongs_to(user)], limit=SHOWN)
    others, other_total = list_lines(request, [not_(repositories.belongs_to(user))], limit=OTHERS_SHOWN)
    groups, group_total = organizations.organizations_of(
        database,
        user,
        organizations.visible_to(user, public_only=request.actor.public_only),
        asking=user,
        skip=0,
        limit=ORGANIZATIONS_SHOWN,
    )
    waiting = transfers.list_waiting(request.app, request.actor)
    if waiting and request.method == "GET":
        notifications.read_transfers(request.app, request.actor)
    return page(
        request,
        "home.html",
        title="Holdfast",
        status=200 if error is None else status_for(error),
        problem="" if error is None else message_for(error),
        mine=own_rows,
        my_total=my_total,
        others=others,
        other_total=other_total,
        groups=groups,
        more_groups=group_total - len(groups),
        transfers=waiting,
        backup_files=list_backup_files(request.app.settings.data / "backups") if user.is_admin else [],
    )
