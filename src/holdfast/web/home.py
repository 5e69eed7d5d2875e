"""The home page: repositories and organizations of the user; public repositories for visitors."""

from typing import Final

from sqlalchemy import not_

from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import organizations, repositories
from holdfast.web.backup_files import list_backup_files
from holdfast.web.pages import page
from holdfast.web.repository_list import list_lines

__all__ = ["show_home"]

SHOWN: Final = 20
SHOWN_TO_STRANGERS: Final = 10
OTHERS_SHOWN: Final = 10
ORGANIZATIONS_SHOWN: Final = 30


@endpoint("GET /", slow=True)
def show_home(request: RequestContext) -> RawResponse:
    """Show the home page; site administrators also see the backups of the data folder."""
    user, database = request.actor.user, request.app.database
    if user is None:
        public, total = list_lines(request, [], limit=SHOWN_TO_STRANGERS)
        return page(request, "home.html", title="Holdfast", public=public, total=total)
    mine, my_total = list_lines(request, [repositories.belongs_to(user)], limit=SHOWN)
    others, other_total = list_lines(request, [not_(repositories.belongs_to(user))], limit=OTHERS_SHOWN)
    groups, group_total = organizations.organizations_of(
        database,
        user,
        organizations.visible_to(user, public_only=request.actor.public_only),
        asking=user,
        skip=0,
        limit=ORGANIZATIONS_SHOWN,
    )
    return page(
        request,
        "home.html",
        title="Holdfast",
        mine=mine,
        my_total=my_total,
        others=others,
        other_total=other_total,
        groups=groups,
        more_groups=group_total - len(groups),
        shelf=list_backup_files(request.app.settings.data / "backups") if user.is_admin else [],
    )
