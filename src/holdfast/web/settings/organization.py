"""An organization's settings: what it says about itself, its people, and what cannot be taken back."""

from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.hosting.access import OrganizationAccess
from holdfast.hosting.api import members, organizations, teams
from holdfast.hosting.guards import in_organization, owns_organization
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.store import members as membership
from holdfast.web.api_actions import act
from holdfast.web.pages import go
from holdfast.web.settings.collaborators import named
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
# So many teams are offered to put somebody in.
TEAMS_OFFERED: Final = 50


class OrganizationProfileForm(msgspec.Struct, frozen=True):
    """What was typed; a checkbox that is not ticked is empty."""

    full_name: str = ""
    email: str = ""
    description: str = ""
    website: str = ""
    location: str = ""
    visibility: str = ""
    repo_admin_change_team_access: str = ""


class MemberForm(msgspec.Struct, frozen=True):
    """Whom to take in, and into which team."""

    name: str = ""
    team: str = ""


class OrganizationDangerForm(msgspec.Struct, frozen=True):
    """What was typed."""

    new_name: str = ""
    confirm: str = ""


def show_profile(
    request: RequestContext, form: OrganizationProfileForm, refusal: ApiError | None = None
) -> RawResponse:
    """Show what an organization says about itself."""
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
    """Change an organization's profile."""
    wanted = {name: value.strip() for name, value in msgspec.structs.asdict(body).items()}
    try:
        act(
            request,
            organizations.edit_organization,
            body={**wanted, "repo_admin_change_team_access": bool(body.repo_admin_change_team_access)},
        )
    except ApiError as refusal:
        return show_profile(request, body, refusal)
    return go(organization_path(organization), "changed")


def show_members(
    request: RequestContext,
    organization: OrganizationAccess,
    page: PageParams,
    form: MemberForm,
    refusal: ApiError | None = None,
) -> RawResponse:
    """Show an organization's people, and the form that takes somebody in."""
    listed = act(request, members.list_members, page=page)
    how = membership.memberships(
        request.app.database, organization.account, [person.id for person in listed.items]
    )
    offered = act(request, teams.list_teams, page=PageParams(1, TEAMS_OFFERED))
    return in_organization_settings(
        request,
        "settings/members.html",
        at="Members",
        title="Members",
        refusal=refusal,
        people=[(person, how.get(person.id)) for person in listed.items],
        total=listed.total,
        page=page,
        teams=offered.items,
        form=form,
        path=organization_path(organization),
    )


@endpoint(f"GET {AT}/members", scope="organization", guards=GUARDS, slow=True)
def list_members_page(request: RequestContext, organization: OrganizationAccess, page: PageParams) -> RawResponse:
    """Show who belongs to an organization."""
    return show_members(request, organization, page, MemberForm())


@endpoint(f"POST {AT}/members", scope="organization", guards=GUARDS)
def add_member_page(request: RequestContext, organization: OrganizationAccess, body: MemberForm) -> RawResponse:
    """Put somebody into a team, and so into the organization."""
    try:
        act(request, teams.show_team, {"id": body.team})
        act(request, teams.add_team_member, {"id": body.team, "username": named(body.name)})
    except ApiError as refusal:
        return show_members(request, organization, PageParams(1, 30), body, refusal)
    return go(f"{organization_path(organization)}/members", "added")


@endpoint(f"POST {AT}/members/remove", scope="organization", guards=GUARDS)
def remove_member_page(request: RequestContext, organization: OrganizationAccess, body: MemberForm) -> RawResponse:
    """Take somebody out of all teams, and so out of the organization."""
    try:
        act(request, members.remove_member, {"username": body.name.strip()})
    except ApiError as refusal:
        return show_members(request, organization, PageParams(1, 30), MemberForm(), refusal)
    return go(f"{organization_path(organization)}/members", "removed")


def show_dangers(
    request: RequestContext, form: OrganizationDangerForm, refusal: ApiError | None = None
) -> RawResponse:
    """Show what cannot be taken back easily."""
    return in_organization_settings(
        request,
        "settings/organization_dangers.html",
        at="Danger zone",
        title="Danger zone",
        refusal=refusal,
        form=form,
        path=organization_path(request.resolved(OrganizationAccess)),
    )


@endpoint(f"GET {AT}/danger", scope="organization", guards=GUARDS, slow=True)
def show_organization_dangers(request: RequestContext, organization: OrganizationAccess) -> RawResponse:
    """Show what cannot be taken back easily."""
    return show_dangers(request, OrganizationDangerForm(new_name=organization.account.name))


@endpoint(f"POST {AT}/danger/rename", scope="organization", guards=GUARDS)
def rename_organization_page(
    request: RequestContext, organization: OrganizationAccess, body: OrganizationDangerForm
) -> RawResponse:
    """Give an organization another name."""
    name = body.new_name.strip()
    try:
        check_typed(body.confirm, organization.account.name)
        act(request, organizations.rename_organization, body={"new_name": name})
    except ApiError as refusal:
        return show_dangers(request, body, refusal)
    return go(f"/-/orgs/{quote(name)}/settings", "moved")


@endpoint(f"POST {AT}/danger/delete", scope="organization", guards=GUARDS)
def delete_organization_page(
    request: RequestContext, organization: OrganizationAccess, body: OrganizationDangerForm
) -> RawResponse:
    """Remove an organization that owns nothing any more."""
    try:
        check_typed(body.confirm, organization.account.name)
        act(request, organizations.delete_organization)
    except ApiError as refusal:
        return show_dangers(request, body, refusal)
    return go("/", "deleted")
