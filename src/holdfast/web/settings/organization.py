"""The settings of an organization: profile, members, and the danger zone."""

import re
from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.hosting.access import OrganizationAccess
from holdfast.hosting.errors import HostingError, NoSuchTeam
from holdfast.hosting.guards import in_organization, owns_organization
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.users import user
from holdfast.hosting.services import members, organizations, teams, users
from holdfast.hosting.services.fields import required_text
from holdfast.hosting.store.members import memberships
from holdfast.web.pages import redirect_to
from holdfast.web.settings.danger_zone import check_typed
from holdfast.web.settings.settings_layout import in_organization_settings, organization_path

__all__ = [
    "add_member_page",
    "change_organization_settings",
    "delete_organization_page",
    "list_members_page",
    "remove_member_page",
    "rename_organization_page",
    "show_organization_dangers",
    "show_organization_settings",
]

AT: Final = "/-/orgs/{org}/settings"
GUARDS: Final = (in_organization, owns_organization)
# The number of teams offered for a new member.
TEAMS_OFFERED: Final = 50
TEAM_ID: Final = re.compile(r"[0-9]{1,18}")


class OrganizationProfileForm(msgspec.Struct, frozen=True):
    """The fields of the form; an unchecked checkbox is empty."""

    full_name: str = ""
    email: str = ""
    description: str = ""
    website: str = ""
    location: str = ""
    visibility: str = ""
    repo_admin_change_team_access: str = ""


class MemberForm(msgspec.Struct, frozen=True):
    """The user to add, and the team."""

    name: str = ""
    team: str = ""


class OrganizationDangerForm(msgspec.Struct, frozen=True):
    """The fields of the form."""

    new_name: str = ""
    confirm: str = ""


def show_profile(
    request: RequestContext, form: OrganizationProfileForm, refusal: HostingError | None = None
) -> RawResponse:
    """Render the profile of an organization."""
    return in_organization_settings(
        request,
        "settings/organization.html",
        at="Profile",
        title="Settings",
        refusal=refusal,
        form=form,
        path=organization_path(request.resolved(OrganizationAccess)),
    )


@endpoint(f"GET {AT}", scope="organization", guards=GUARDS, slow=True)
def show_organization_settings(request: RequestContext, organization: OrganizationAccess) -> RawResponse:
    """Show an organization's profile."""
    account = organization.account
    form = OrganizationProfileForm(
        full_name=account.full_name,
        email=account.email,
        description=account.description,
        website=account.website,
        location=account.location,
        visibility=account.visibility,
        repo_admin_change_team_access="on" if account.repository_admins_change_teams else "",
    )
    return show_profile(request, form)


@endpoint(f"POST {AT}", scope="organization", guards=GUARDS)
def change_organization_settings(
    request: RequestContext, organization: OrganizationAccess, body: OrganizationProfileForm
) -> RawResponse:
    """Edit the profile of an organization."""
    changes = organizations.OrganizationEdit(
        full_name=body.full_name.strip(),
        email=body.email.strip(),
        description=body.description.strip(),
        website=body.website.strip(),
        location=body.location.strip(),
        visibility=body.visibility.strip(),
        repository_admins_change_teams=bool(body.repo_admin_change_team_access),
    )
    try:
        organizations.edit(request.app, request.actor, organization, changes)
    except HostingError as error:
        return show_profile(request, body, error)
    return redirect_to(organization_path(organization), "organization-saved", organization.account.name)


def show_members(
    request: RequestContext,
    organization: OrganizationAccess,
    page: PageParams,
    form: MemberForm,
    refusal: HostingError | None = None,
) -> RawResponse:
    """Render the members of an organization and the form to add one."""
    accounts, total = members.list_members(
        request.app, request.actor, organization, skip=page.skip, limit=page.size
    )
    how = memberships(request.app.database, organization.account, [person.id for person in accounts])
    offered, _ = teams.list_teams(request.app, request.actor, organization, skip=0, limit=TEAMS_OFFERED)
    return in_organization_settings(
        request,
        "settings/members.html",
        at="Members",
        title="Members",
        refusal=refusal,
        people=[(user(request, person), how.get(person.id)) for person in accounts],
        total=total,
        page=page,
        teams=offered,
        form=form,
        path=organization_path(organization),
    )


@endpoint(f"GET {AT}/members", scope="organization", guards=GUARDS, slow=True)
def list_members_page(request: RequestContext, organization: OrganizationAccess, page: PageParams) -> RawResponse:
    """List the members of an organization."""
    return show_members(request, organization, page, MemberForm())


@endpoint(f"POST {AT}/members", scope="organization", guards=GUARDS)
def add_member_page(request: RequestContext, organization: OrganizationAccess, body: MemberForm) -> RawResponse:
    """Add a user to a team, and so to the organization."""
    try:
        team_id = int(body.team) if TEAM_ID.fullmatch(body.team) else 0
        team = teams.find(request.app, request.actor, team_id)
        if team.organization.account.id != organization.account.id:
            raise NoSuchTeam("not found")
        person = users.find_visible(request.app, request.actor, required_text(body.name, "Name"))
        teams.add_member(request.app, request.actor, team, person)
    except HostingError as error:
        return show_members(request, organization, PageParams(1, 30), body, error)
    return redirect_to(f"{organization_path(organization)}/members", "member-added", person.name)


@endpoint(f"POST {AT}/members/remove", scope="organization", guards=GUARDS)
def remove_member_page(request: RequestContext, organization: OrganizationAccess, body: MemberForm) -> RawResponse:
    """Remove a user from all teams, and so from the organization."""
    try:
        person = users.find_visible(request.app, request.actor, body.name.strip())
        members.remove(request.app, request.actor, organization, person)
    except HostingError as error:
        return show_members(request, organization, PageParams(1, 30), MemberForm(), error)
    return redirect_to(f"{organization_path(organization)}/members", "member-removed", person.name)


def show_dangers(
    request: RequestContext, form: OrganizationDangerForm, refusal: HostingError | None = None
) -> RawResponse:
    """Show the danger zone."""
    return in_organization_settings(
        request,
        "settings/organization_danger_zone.html",
        at="Danger zone",
        title="Danger zone",
        refusal=refusal,
        form=form,
        path=organization_path(request.resolved(OrganizationAccess)),
    )


@endpoint(f"GET {AT}/danger", scope="organization", guards=GUARDS, slow=True)
def show_organization_dangers(request: RequestContext, organization: OrganizationAccess) -> RawResponse:
    """Show the danger zone."""
    return show_dangers(request, OrganizationDangerForm(new_name=organization.account.name))


@endpoint(f"POST {AT}/danger/rename", scope="organization", guards=GUARDS)
def rename_organization_page(
    request: RequestContext, organization: OrganizationAccess, body: OrganizationDangerForm
) -> RawResponse:
    """Rename an organization."""
    name = body.new_name.strip()
    try:
        check_typed(body.confirm, organization.account.name)
        organizations.rename(request.app, request.actor, organization, name)
    except HostingError as error:
        return show_dangers(request, body, error)
    return redirect_to(f"/-/orgs/{quote(name)}/settings", "organization-renamed", name)


@endpoint(f"POST {AT}/danger/delete", scope="organization", guards=GUARDS)
def delete_organization_page(
    request: RequestContext, organization: OrganizationAccess, body: OrganizationDangerForm
) -> RawResponse:
    """Delete an organization that owns no repositories."""
    try:
        check_typed(body.confirm, organization.account.name)
        organizations.delete(request.app, request.actor, organization)
    except HostingError as error:
        return show_dangers(request, body, error)
    return redirect_to("/", "organization-deleted", organization.account.name)
