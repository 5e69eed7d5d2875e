"""The teams of an organization: their settings, members and repositories."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec import UNSET

from holdfast.hosting.access import Mode, OrganizationAccess, TeamAccess, Unit
from holdfast.hosting.errors import HostingError, InvalidValue
from holdfast.hosting.guards import in_organization, in_team, owns_organization, owns_team, sees_team
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.organizations import TeamSchema
from holdfast.hosting.schemas.organizations import team as team_schema
from holdfast.hosting.schemas.users import user
from holdfast.hosting.services import teams, users
from holdfast.hosting.services.fields import required_text
from holdfast.hosting.services.teams import TeamSettings
from holdfast.hosting.store import members
from holdfast.web.pages import redirect_to
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


def of_organization(request: RequestContext) -> None:
    """Guard: require that the team belongs to the organization in the path."""
    organization = request.resolved(TeamAccess).organization
    if organization.account.id != request.resolved(OrganizationAccess).account.id:
        raise ApiError(404)


AT: Final = "/-/orgs/{org}/settings/teams"
GUARDS: Final = (in_organization, owns_organization)
# Members of a team may see it.
LOOKING: Final = (in_organization, in_team, sees_team, of_organization)
CHANGING: Final = (in_organization, in_team, owns_team, of_organization)
# The units of a repository that exist; a team keeps the modes it has in the others.
UNITS: Final = (
    (Unit.CODE, "Code"),
    (Unit.ISSUES, "Issues"),
    (Unit.PULLS, "Pull requests"),
)
ALL_UNITS: Final = tuple(unit for unit in Unit if unit not in {Unit.EXTERNAL_ISSUES, Unit.EXTERNAL_WIKI})
PERMISSIONS: Final = (
    ("read", "Read"),
    ("write", "Write"),
    ("admin", "Admin", "Also manages settings, collaborators and webhooks."),
    ("units", "Custom", "As selected below."),
)
SHOWN: Final = 50


class TeamForm(msgspec.Struct, frozen=True):
    """The fields of the form; an unchecked checkbox is empty."""

    name: str = ""
    description: str = ""
    permission: str = "read"
    includes_all_repositories: str = ""
    can_create_org_repo: str = ""
    code: str = "none"
    issues: str = "none"
    pulls: str = "none"


class NameForm(msgspec.Struct, frozen=True):
    """The user, repository or team of a form."""

    name: str = ""
    confirm: str = ""


def field_of(unit: Unit) -> str:
    """Return the field name of a unit in the form."""
    return unit.value.removeprefix("repo.")


def form_of(team: TeamSchema) -> TeamForm:
    """Return the form filled with the settings of a team."""
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


def settings_of(form: TeamForm, current: Mapping[str, int]) -> TeamSettings:
    """Return the settings of a form; a single permission for all units is stored for each unit.

    `current` are the current modes of the team, by unit.
    """
    mode, units = units_of(form, current)
    return TeamSettings(
        name=form.name.strip(),
        description=form.description.strip(),
        mode=mode,
        units=units or UNSET,
        includes_all_repositories=bool(form.includes_all_repositories),
        may_create_repositories=bool(form.can_create_org_repo),
    )


def units_of(form: TeamForm, current: Mapping[str, int]) -> tuple[Mode, dict[Unit, Mode]]:
    """Return the mode of a team and its modes by unit; units that the form does not offer are unchanged."""
    if form.permission == "admin":
        return Mode.ADMIN, {}
    if form.permission in {"read", "write"}:
        mode = Mode[form.permission.upper()]
        return mode, dict.fromkeys(ALL_UNITS, mode)
    if form.permission != "units":
        raise InvalidValue("Permission", "choose a permission")
    mode_names = {unit: getattr(form, field_of(unit)) for unit, _ in UNITS}
    if not set(mode_names.values()) <= {"none", "read", "write"}:
        raise InvalidValue("Permission", "choose none, read or write for each feature")
    chosen = {unit: Mode[mode_name.upper()] for unit, mode_name in mode_names.items()}
    if set(chosen.values()) == {Mode.NONE}:
        raise InvalidValue("Permission", "choose at least one feature the team can read")
    others = {Unit(unit): Mode(mode) for unit, mode in current.items()}
    return min(mode for mode in chosen.values() if mode), {**others, **chosen}


def show_form(request: RequestContext, form: TeamForm, refusal: HostingError | None = None) -> RawResponse:
    """Show the form of a new team."""
    return in_organization_settings(
        request,
        "settings/new_team.html",
        at="Teams",
        title="New team",
        refusal=refusal,
        form=form,
        units=[(field_of(unit), texts) for unit, texts in UNITS],
        permissions=PERMISSIONS,
        path=f"{organization_path(request.resolved(OrganizationAccess))}/teams",
    )


@endpoint(f"GET {AT}", scope="organization", guards=GUARDS, slow=True)
def list_teams_page(request: RequestContext, organization: OrganizationAccess, page: PageParams) -> RawResponse:
    """Show the teams of an organization."""
    stored_teams, total = teams.list_teams(
        request.app, request.actor, organization, skip=page.skip, limit=page.size
    )
    return in_organization_settings(
        request,
        "settings/teams.html",
        at="Teams",
        title="Teams",
        teams=[team_schema(request, team, organization.account) for team in stored_teams],
        total=total,
        page=page,
        sizes=members.team_sizes(request.app.database, [team.id for team in stored_teams]),
        path=f"{organization_path(organization)}/teams",
    )


@endpoint(f"GET {AT}/new", scope="organization", guards=GUARDS, slow=True)
def new_team_page(request: RequestContext, organization: OrganizationAccess) -> RawResponse:  # noqa: ARG001  # set by a guard
    """Show the form of a new team."""
    return show_form(request, TeamForm(includes_all_repositories="on"))


@endpoint(f"POST {AT}/new", scope="organization", guards=GUARDS)
def create_team_page(request: RequestContext, organization: OrganizationAccess, body: TeamForm) -> RawResponse:
    """Create a team."""
    try:
        created = teams.create(
            request.app, request.actor, organization, settings_of(body, dict.fromkeys(ALL_UNITS, 0))
        )
    except HostingError as error:
        return show_form(request, body, error)
    return redirect_to(f"{organization_path(organization)}/teams/{created.id}", "team-created", created.name)


def show_team(
    request: RequestContext,
    target: TeamAccess,
    form: TeamForm | None = None,
    refusal: HostingError | None = None,
) -> RawResponse:
    """Render a team with its members and repositories, with forms for owners."""
    schema = team_schema(request, target.team, target.organization.account)
    people, total = teams.list_members(request.app, request.actor, target, skip=0, limit=SHOWN)
    page = teams.list_repositories(request.app, request.actor, target, skip=0, limit=SHOWN)
    return in_organization_settings(
        request,
        "settings/team.html",
        at="Teams",
        title=f"Team {schema.name}",
        refusal=refusal,
        team=schema,
        is_owners=target.team.is_owners,
        form=form or form_of(schema),
        units=[(field_of(unit), texts) for unit, texts in UNITS],
        permissions=PERMISSIONS,
        people=[user(request, person) for person in people],
        more_people=total - len(people),
        repositories=page.items,
        more_repositories=page.total - len(page.items),
        path=f"{organization_path(target.organization)}/teams",
    )


@endpoint(f"GET {AT}/{{id}}", scope="organization", guards=LOOKING, slow=True)
def show_team_page(request: RequestContext, target: TeamAccess) -> RawResponse:
    """Show a team."""
    return show_team(request, target)


def change(
    request: RequestContext,
    target: TeamAccess,
    action: Callable[[], object],
    notice: tuple[str, str],
    form: TeamForm | None = None,
) -> RawResponse:
    """Change a team and show it again, with an error or with a notice and its subject."""
    try:
        action()
    except HostingError as error:
        return show_team(request, target, form, error)
    return redirect_to(f"{organization_path(target.organization)}/teams/{target.team.id}", *notice)


@endpoint(f"POST {AT}/{{id}}", scope="organization", guards=CHANGING)
def change_team_page(request: RequestContext, target: TeamAccess, body: TeamForm) -> RawResponse:
    """Edit a team; only the description of the owners' team can be changed."""
    team = target.team

    def edit() -> None:
        settings = TeamSettings(description=body.description.strip())
        if not team.is_owners:
            settings = settings_of(body, team.units or dict.fromkeys(ALL_UNITS, team.mode))
        teams.edit(request.app, request.actor, target, settings)

    return change(request, target, edit, ("team-saved", team.name), body)


@endpoint(f"POST {AT}/{{id}}/delete", scope="organization", guards=CHANGING)
def delete_team_page(request: RequestContext, target: TeamAccess, body: NameForm) -> RawResponse:
    """Delete a team."""
    try:
        check_typed(body.confirm, target.team.name)
        teams.delete(request.app, request.actor, target)
    except HostingError as error:
        return show_team(request, target, None, error)
    return redirect_to(f"{organization_path(target.organization)}/teams", "team-deleted", target.team.name)


@endpoint(f"POST {AT}/{{id}}/members", scope="organization", guards=CHANGING)
def add_team_member_page(request: RequestContext, target: TeamAccess, body: NameForm) -> RawResponse:
    """Add a user to a team."""

    def add() -> None:
        person = users.find_visible(request.app, request.actor, required_text(body.name, "Name"))
        teams.add_member(request.app, request.actor, target, person)

    return change(request, target, add, ("team-member-added", body.name.strip()))


@endpoint(f"POST {AT}/{{id}}/members/remove", scope="organization", guards=CHANGING)
def remove_team_member_page(request: RequestContext, target: TeamAccess, body: NameForm) -> RawResponse:
    """Remove a user from a team."""

    def remove() -> None:
        person = users.find_visible(request.app, request.actor, required_text(body.name, "Name"))
        teams.remove_member(request.app, request.actor, target, person)

    return change(request, target, remove, ("team-member-removed", body.name.strip()))


@endpoint(f"POST {AT}/{{id}}/repositories", scope="organization", guards=CHANGING)
def add_team_repository_page(request: RequestContext, target: TeamAccess, body: NameForm) -> RawResponse:
    """Give a team access to a repository of the organization."""

    def add() -> None:
        name = required_text(body.name, "Name").rpartition("/")[2]
        repository = teams.find_repository(request.app, request.actor, target, name)
        teams.add_repository(request.app, request.actor, target, repository)

    return change(request, target, add, ("team-repository-added", body.name.strip()))


@endpoint(f"POST {AT}/{{id}}/repositories/remove", scope="organization", guards=CHANGING)
def remove_team_repository_page(request: RequestContext, target: TeamAccess, body: NameForm) -> RawResponse:
    """Remove a team's access to a repository."""

    def remove() -> None:
        name = required_text(body.name, "Name").rpartition("/")[2]
        repository = teams.find_repository(request.app, request.actor, target, name)
        teams.remove_repository(request.app, request.actor, target, repository)

    return change(request, target, remove, ("team-repository-removed", body.name.strip()))
