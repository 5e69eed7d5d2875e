"""The teams of an organization: what their people may do, who they are, and where."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from holdfast.hosting.access import Mode, OrganizationAccess, Unit
from holdfast.hosting.api import teams
from holdfast.hosting.api.teams import Group, in_team, sees_team
from holdfast.hosting.guards import in_organization, owns_organization
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.organizations import TeamSchema
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.users import UserSchema
from holdfast.hosting.store import members
from holdfast.web.api_actions import act
from holdfast.web.pages import go
from holdfast.web.settings.collaborators import named
from holdfast.web.settings.danger_zone import check_typed
from holdfast.web.settings.settings_layout import in_organization_settings, organization_path

__all__ = [
    "add_team_member_page",
    "add_team_repository_page",
    "change_team_page",
    "create_team_page",
    "delete_team_page",
    "list_teams_page",
    "new_team_page",
    "remove_team_member_page",
    "remove_team_repository_page",
    "show_team_page",
]

AT: Final = "/-/orgs/{org}/settings/teams"
GUARDS: Final = (in_organization, owns_organization)
# Those who are only in the team may look at it.
LOOKING: Final = (in_organization, in_team, sees_team)
CHANGING: Final = (in_organization, in_team, owns_organization)
# The parts of a repository that there are; a team keeps what it was given of the others.
UNITS: Final = (
    (Unit.CODE, "Code"),
    (Unit.ISSUES, "Issues"),
    (Unit.PULLS, "Pull requests"),
)
OFFERED: Final = frozenset(unit.value for unit, _ in UNITS)
ALL_UNITS: Final = tuple(unit.value for unit in Unit if unit not in {Unit.EXTERNAL_ISSUES, Unit.EXTERNAL_WIKI})
NO_OTHERS: Final[Mapping[str, str]] = dict.fromkeys((unit for unit in ALL_UNITS if unit not in OFFERED), "none")
PERMISSIONS: Final = (
    ("read", "Read everything"),
    ("write", "Write everything"),
    ("admin", "Look after the repositories", "Also their settings, collaborators and webhooks."),
    ("units", "Each part by itself", "As chosen below."),
)
SHOWN: Final = 50


class TeamForm(msgspec.Struct, frozen=True):
    """What was typed; a checkbox that is not ticked is empty."""

    name: str = ""
    description: str = ""
    permission: str = "read"
    includes_all_repositories: str = ""
    can_create_org_repo: str = ""
    code: str = "none"
    issues: str = "none"
    pulls: str = "none"


class NameForm(msgspec.Struct, frozen=True):
    """Who or what the form is about."""

    name: str = ""
    confirm: str = ""


def field_of(unit: Unit) -> str:
    """Return the name a unit has in the form."""
    return unit.value.removeprefix("repo.")


def form_of(team: TeamSchema) -> TeamForm:
    """Return the form of a team there is."""
    modes = {unit: team.units_map.get(unit.value, "none") for unit, _ in UNITS}
    alike = set(modes.values()) == {team.permission} or team.permission in {"admin", "owner"}
    return TeamForm(
        name=team.name,
        description=team.description,
        permission=team.permission if alike and team.permission != "none" else "units",
        includes_all_repositories="on" if team.includes_all_repositories else "",
        can_create_org_repo="on" if team.can_create_org_repo else "",
        **{field_of(unit): mode if mode in {"none", "read", "write"} else "write" for unit, mode in modes.items()},
    )


def others_of(group: Group) -> dict[str, str]:
    """Return what a team may do in the parts of a repository that the form does not offer."""
    team = group.team
    modes = team.units or dict.fromkeys(ALL_UNITS, team.mode)
    return {unit: Mode(mode).name.lower() for unit, mode in modes.items() if unit not in OFFERED}


def body_of(form: TeamForm, others: Mapping[str, str] = NO_OTHERS) -> dict[str, Any]:
    """Return what the API is asked; one permission for everything is written down for each part.

    `others` is what the team has of the parts that the form does not offer.
    """
    body: dict[str, Any] = {
        "name": form.name.strip(),
        "description": form.description.strip(),
        "includes_all_repositories": bool(form.includes_all_repositories),
        "can_create_org_repo": bool(form.can_create_org_repo),
    }
    if form.permission == "admin":
        return {**body, "permission": "admin"}
    if form.permission in {"read", "write"}:
        units = dict.fromkeys(ALL_UNITS, form.permission)
        return {**body, "permission": form.permission, "units_map": units}
    if form.permission != "units":
        raise ApiError(422, "Choose what the team may do")
    units = {unit.value: getattr(form, field_of(unit)) for unit, _ in UNITS}
    if set(units.values()) == {"none"}:
        raise ApiError(422, "Choose at least one part the team may read")
    lowest = "read" if "read" in units.values() else "write"
    return {**body, "permission": lowest, "units_map": {**others, **units}}


def show_form(request: RequestContext, form: TeamForm, refusal: ApiError | None = None) -> RawResponse:
    """Show the form of a new team."""
    return in_organization_settings(
        request,
        "settings/new_team.html",
        at="Teams",
        title="New team",
        refusal=refusal,
        form=form,
        units=[(field_of(unit), words) for unit, words in UNITS],
        permissions=PERMISSIONS,
        path=f"{organization_path(request.resolved(OrganizationAccess))}/teams",
    )


@endpoint(f"GET {AT}", scope="organization", guards=GUARDS, slow=True)
def list_teams_page(request: RequestContext, organization: OrganizationAccess, page: PageParams) -> RawResponse:
    """Show an organization's teams."""
    listed = act(request, teams.list_teams, page=page)
    sizes = members.team_sizes(request.app.database, [team.id for team in listed.items])
    return in_organization_settings(
        request,
        "settings/teams.html",
        at="Teams",
        title="Teams",
        teams=listed.items,
        total=listed.total,
        page=page,
        sizes=sizes,
        path=f"{organization_path(organization)}/teams",
    )


@endpoint(f"GET {AT}/new", scope="organization", guards=GUARDS, slow=True)
def new_team_page(request: RequestContext, organization: OrganizationAccess) -> RawResponse:  # noqa: ARG001  # guards give it
    """Ask what a new team is to be."""
    return show_form(request, TeamForm(includes_all_repositories="on"))


@endpoint(f"POST {AT}/new", scope="organization", guards=GUARDS)
def create_team_page(request: RequestContext, organization: OrganizationAccess, body: TeamForm) -> RawResponse:
    """Make a team."""
    try:
        made = act(request, teams.create_team, body=body_of(body))
    except ApiError as refusal:
        return show_form(request, body, refusal)
    return go(f"{organization_path(organization)}/teams/{made.id}", "created")


def of_this(request: RequestContext) -> None:
    """Refuse a team of another organization than the address says; the guards found the team's own last."""
    if request.path["org"].casefold() != request.resolved(OrganizationAccess).account.name.casefold():
        raise ApiError(404)


def show_team(
    request: RequestContext, group: Group, form: TeamForm | None = None, refusal: ApiError | None = None
) -> RawResponse:
    """Show a team with its people and repositories, and for owners with the forms that change it."""
    of_this(request)
    # The guards of these have been asked already: whoever is here sees the team.
    shape: TeamSchema = teams.shape(request, group.team)
    people: PagedList[UserSchema] = teams.list_team_members.run(request, group, PageParams(1, SHOWN))  # type: ignore[assignment]
    where: PagedList[RepositorySchema] = teams.list_team_repositories.run(request, group, PageParams(1, SHOWN))  # type: ignore[assignment]
    organization = request.resolved(OrganizationAccess)
    return in_organization_settings(
        request,
        "settings/team.html",
        at="Teams",
        title=f"Team {shape.name}",
        refusal=refusal,
        team=shape,
        is_owners=group.team.mode == Mode.OWNER,
        form=form or form_of(shape),
        units=[(field_of(unit), words) for unit, words in UNITS],
        permissions=PERMISSIONS,
        people=people.items,
        more_people=people.total - len(people.items),
        repositories=where.items,
        more_repositories=where.total - len(where.items),
        path=f"{organization_path(organization)}/teams",
    )


@endpoint(f"GET {AT}/{{id}}", scope="organization", guards=LOOKING, slow=True)
def show_team_page(request: RequestContext, group: Group) -> RawResponse:
    """Show a team."""
    return show_team(request, group)


@endpoint(f"POST {AT}/{{id}}", scope="organization", guards=CHANGING)
def change_team_page(
    request: RequestContext, group: Group, organization: OrganizationAccess, body: TeamForm
) -> RawResponse:
    """Change a team."""
    of_this(request)
    wanted = {"description": body.description.strip()}
    try:
        act(request, teams.edit_team, body=wanted if group.team.is_owners else body_of(body, others_of(group)))
    except ApiError as refusal:
        return show_team(request, group, body, refusal)
    return go(f"{organization_path(organization)}/teams/{group.team.id}", "changed")


@endpoint(f"POST {AT}/{{id}}/delete", scope="organization", guards=CHANGING)
def delete_team_page(
    request: RequestContext, group: Group, organization: OrganizationAccess, body: NameForm
) -> RawResponse:
    """Remove a team."""
    of_this(request)
    try:
        check_typed(body.confirm, group.team.name)
        act(request, teams.delete_team)
    except ApiError as refusal:
        return show_team(request, group, None, refusal)
    return go(f"{organization_path(organization)}/teams", "deleted")


@endpoint(f"POST {AT}/{{id}}/members", scope="organization", guards=CHANGING)
def add_team_member_page(
    request: RequestContext, group: Group, organization: OrganizationAccess, body: NameForm
) -> RawResponse:
    """Put somebody into a team."""
    of_this(request)
    try:
        act(request, teams.add_team_member, {"username": named(body.name)})
    except ApiError as refusal:
        return show_team(request, group, None, refusal)
    return go(f"{organization_path(organization)}/teams/{group.team.id}", "added")


@endpoint(f"POST {AT}/{{id}}/members/remove", scope="organization", guards=CHANGING)
def remove_team_member_page(
    request: RequestContext, group: Group, organization: OrganizationAccess, body: NameForm
) -> RawResponse:
    """Take somebody out of a team."""
    of_this(request)
    try:
        act(request, teams.remove_team_member, {"username": named(body.name)})
    except ApiError as refusal:
        return show_team(request, group, None, refusal)
    return go(f"{organization_path(organization)}/teams/{group.team.id}", "removed")


@endpoint(f"POST {AT}/{{id}}/repositories", scope="organization", guards=CHANGING)
def add_team_repository_page(
    request: RequestContext, group: Group, organization: OrganizationAccess, body: NameForm
) -> RawResponse:
    """Give a team one of the organization's repositories."""
    of_this(request)
    place = {"org": organization.account.name, "repo": named(body.name).rpartition("/")[2]}
    try:
        act(request, teams.add_team_repository, place)
    except ApiError as refusal:
        return show_team(request, group, None, refusal)
    return go(f"{organization_path(organization)}/teams/{group.team.id}", "added")


@endpoint(f"POST {AT}/{{id}}/repositories/remove", scope="organization", guards=CHANGING)
def remove_team_repository_page(
    request: RequestContext, group: Group, organization: OrganizationAccess, body: NameForm
) -> RawResponse:
    """Take a repository from a team."""
    of_this(request)
    place = {"org": organization.account.name, "repo": named(body.name).rpartition("/")[2]}
    try:
        act(request, teams.remove_team_repository, place)
    except ApiError as refusal:
        return show_team(request, group, None, refusal)
    return go(f"{organization_path(organization)}/teams/{group.team.id}", "removed")
