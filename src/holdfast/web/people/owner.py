"""The page of a user or an organization: the repositories, members and teams the viewer may see."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Mode, OrganizationAccess
from holdfast.hosting.guards import UserFromPath, in_organization, of_user, signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.organizations import organization as organization_schema
from holdfast.hosting.schemas.organizations import team as team_schema
from holdfast.hosting.schemas.users import shown_email, user
from holdfast.hosting.services import members, organizations, teams
from holdfast.hosting.store import members as membership
from holdfast.hosting.store import organizations as organization_store
from holdfast.hosting.store import repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import repositories as table
from holdfast.hosting.store.teams import Team
from holdfast.web.pages import page, redirect_to

__all__ = ["change_publicity", "show_owner"]

SHOWN: Final = 30
SORTS: Final = {"updated": "Recently updated", "name": "Name"}


class OwnerPageQuery(msgspec.Struct, frozen=True):
    """The tab, and the filters of its list."""

    show: str = "repositories"
    q: str = ""
    sort: str = "updated"


class PublicityForm(msgspec.Struct, frozen=True):
    """Whether a membership is public."""

    publicly: str = ""


@dataclass(frozen=True, slots=True)
class OwnerTab:
    """A tab of the page."""

    name: str
    words: str
    count: int | None = None


def owned(
    request: RequestContext, owner: Account, query: OwnerPageQuery, params: PageParams
) -> tuple[list[Repository], int]:
    """Return one page of the owner's repositories that the viewer may see."""
    user = request.actor.user
    conditions = [
        repositories.readable_by(user, public_only=request.actor.public_only),
        table.c.owner_id == owner.id,
    ]
    wanted = query.q.strip()
    if wanted:
        conditions.append(
            table.c.folded_name.contains(wanted.casefold(), autoescape=True)
            | table.c.description.icontains(wanted, autoescape=True)
        )
    by_name = query.sort == "name"
    return repositories.list_repositories(
        request.app.database,
        conditions,
        sort="alpha" if by_name else "updated",
        descending=not by_name,
        skip=params.skip,
        limit=params.size,
    )


@endpoint("GET /{username}", scope=("user", "repository"), guards=(of_user,), slow=True)
def show_owner(
    request: RequestContext, subject: UserFromPath, query: OwnerPageQuery, page: PageParams
) -> RawResponse:
    """Show a user or an organization."""
    owner = subject.account
    if owner.is_organization:
        return show_organization(request, owner, query, page)
    return show_person(request, owner, query, page)


def show_person(request: RequestContext, owner: Account, query: OwnerPageQuery, params: PageParams) -> RawResponse:
    """Render the page of a user."""
    groups, total = organizations.list_of_user(request.app, request.actor, owner, skip=0, limit=SHOWN)
    email = shown_email(request.actor, owner) if request.actor.user is not None and not owner.hides_email else ""
    is_own = request.actor.user is not None and request.actor.user.id == owner.id
    return render_owner(
        request,
        owner,
        query,
        params,
        tabs=[OwnerTab("repositories", "Repositories")],
        groups=[organization_schema(request, group) for group in groups],
        more_groups=total - len(groups),
        email=owner.email if is_own else email,
        is_own=is_own,
        may_create=is_own,
    )


def show_organization(
    request: RequestContext, owner: Account, query: OwnerPageQuery, params: PageParams
) -> RawResponse:
    """Render the page of an organization, with teams for members."""
    organization = organizations.access_in(request.app, request.actor, owner)
    mode = organization.mode
    if mode == Mode.NONE:
        raise ApiError(404)
    belongs = access.is_member_mode(mode)
    showing = query.show if query.show in {"people", "teams"} else "repositories"
    page_params = params if showing == "people" else PageParams(1, SHOWN)
    people, people_total = members.list_members(
        request.app, request.actor, organization, skip=page_params.skip, limit=page_params.size
    )
    tabs = [OwnerTab("repositories", "Repositories"), OwnerTab("people", "People", people_total)]
    page_teams: list[Team] = []
    teams_total = 0
    sizes: dict[int, int] = {}
    own_team_ids: set[int] = set()
    if belongs:
        page_params = params if showing == "teams" else PageParams(1, 1)
        page_teams, teams_total = teams.list_teams(
            request.app, request.actor, organization, skip=page_params.skip, limit=page_params.size
        )
        tabs.append(OwnerTab("teams", "Teams", teams_total))
    if showing == "teams" and belongs:
        numbers = [team.id for team in page_teams]
        sizes = membership.team_sizes(request.app.database, numbers)
        own_team_ids = membership.teams_among(request.app.database, numbers, request.user)
    me = request.actor.user
    how = membership.memberships(request.app.database, owner, [me.id]).get(me.id) if me and belongs else None
    may_create = mode >= Mode.OWNER or (
        me is not None and belongs and organization_store.may_create_repositories(request.app.database, owner, me)
    )
    return render_owner(
        request,
        owner,
        msgspec.structs.replace(query, show=showing if showing != "teams" or belongs else "repositories"),
        params,
        tabs=tabs,
        people=[user(request, account) for account in people],
        people_total=people_total,
        teams=[team_schema(request, team, owner) for team in page_teams] if showing == "teams" else [],
        teams_total=teams_total,
        sizes=sizes,
        mine=own_team_ids,
        how=how,
        owns=mode >= Mode.OWNER,
        email=owner.email if me is not None else "",
        may_create=may_create,
    )


def render_owner(
    request: RequestContext, owner: Account, query: OwnerPageQuery, page_params: PageParams, **values: object
) -> RawResponse:
    """Render the page; repositories are loaded only for their tab."""
    owned_repositories, total = (
        owned(request, owner, query, page_params) if query.show not in {"people", "teams"} else ([], 0)
    )
    parameters = {"q": query.q, "sort": query.sort if query.sort != "updated" else "", "show": query.show}
    parameters["show"] = "" if parameters["show"] == "repositories" else parameters["show"]
    filters = urlencode({name: value for name, value in parameters.items() if value})
    context: dict[str, Any] = {
        "groups": [],
        "more_groups": 0,
        "people": [],
        "people_total": 0,
        "teams": [],
        "teams_total": 0,
        "sizes": {},
        "mine": set(),
        "how": None,
        "owns": False,
        "is_own": False,
        **values,
    }
    return page(
        request,
        "people/owner.html",
        title=owner.full_name or owner.name,
        owner=owner,
        path=f"/{quote(owner.name)}",
        query=query,
        sorts=SORTS,
        repositories=owned_repositories,
        total=total,
        at=page_params,
        more=f"?{filters}&page=" if filters else "?page=",
        **context,
    )


@endpoint("POST /-/orgs/{org}/membership", scope="organization", guards=(signed_in, in_organization))
def change_publicity(
    request: RequestContext, organization: OrganizationAccess, body: PublicityForm
) -> RawResponse:
    """Publish or hide the membership of the user who is signed in."""
    members.set_public(request.app, request.actor, organization, request.user, is_public=bool(body.publicly))
    notice = "membership-published" if body.publicly else "membership-hidden"
    return redirect_to(f"/{quote(request.path['org'])}", notice, organization.account.name)
