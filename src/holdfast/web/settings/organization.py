"""An organization's settings: what it says about itself, its people, and what cannot be taken back."""

from typing import Final
from urllib.parse import quote

import msgspec

from holdfast.hosting.api import members, organizations, teams
from holdfast.hosting.guards import Organization, in_organization, owns_organization
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.endpoints import Raw, endpoint
from holdfast.hosting.http.errors import Refusal
from holdfast.hosting.http.pagination import Page
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


class ProfileForm(msgspec.Struct, frozen=True):
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


class DangerForm(msgspec.Struct, frozen=True):
    """What was typed."""

    new_name: str = ""
    confirm: str = ""


def show_profile(call: Call, form: ProfileForm, refusal: Refusal | None = None) -> Raw:
    """Show what an organization says about itself."""
    return in_organization_settings(
        call,
        "settings/organization.html",
        at="Profile",
        title="Settings",
        refusal=refusal,
        form=form,
        path=organization_path(call.give(Organization)),
    )


@endpoint(f"GET {AT}", scope="organization", guards=GUARDS, slow=True)
def show_organization_settings(call: Call, organization: Organization) -> Raw:
    """Show an organization's profile."""
    account = organization.account
    form = ProfileForm(
        full_name=account.full_name,
        email=account.email,
        description=account.description,
        website=account.website,
        location=account.location,
        visibility=account.visibility,
        repo_admin_change_team_access="on" if account.repository_admins_change_teams else "",
    )
    return show_profile(call, form)


@endpoint(f"POST {AT}", scope="organization", guards=GUARDS)
def change_organization_settings(call: Call, organization: Organization, body: ProfileForm) -> Raw:
    """Change an organization's profile."""
    wanted = {name: value.strip() for name, value in msgspec.structs.asdict(body).items()}
    try:
        act(
            call,
            organizations.edit_organization,
            body={**wanted, "repo_admin_change_team_access": bool(body.repo_admin_change_team_access)},
        )
    except Refusal as refusal:
        return show_profile(call, body, refusal)
    return go(organization_path(organization), "changed")


def show_members(
    call: Call, organization: Organization, page: Page, form: MemberForm, refusal: Refusal | None = None
) -> Raw:
    """Show an organization's people, and the form that takes somebody in."""
    listed = act(call, members.list_members, page=page)
    how = membership.memberships(call.host.database, organization.account, [person.id for person in listed.items])
    offered = act(call, teams.list_teams, page=Page(1, TEAMS_OFFERED))
    return in_organization_settings(
        call,
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
def list_members_page(call: Call, organization: Organization, page: Page) -> Raw:
    """Show who belongs to an organization."""
    return show_members(call, organization, page, MemberForm())


@endpoint(f"POST {AT}/members", scope="organization", guards=GUARDS)
def add_member_page(call: Call, organization: Organization, body: MemberForm) -> Raw:
    """Put somebody into a team, and so into the organization."""
    try:
        act(call, teams.show_team, {"id": body.team})
        act(call, teams.add_team_member, {"id": body.team, "username": named(body.name)})
    except Refusal as refusal:
        return show_members(call, organization, Page(1, 30), body, refusal)
    return go(f"{organization_path(organization)}/members", "added")


@endpoint(f"POST {AT}/members/remove", scope="organization", guards=GUARDS)
def remove_member_page(call: Call, organization: Organization, body: MemberForm) -> Raw:
    """Take somebody out of all teams, and so out of the organization."""
    try:
        act(call, members.remove_member, {"username": body.name.strip()})
    except Refusal as refusal:
        return show_members(call, organization, Page(1, 30), MemberForm(), refusal)
    return go(f"{organization_path(organization)}/members", "removed")


def show_dangers(call: Call, form: DangerForm, refusal: Refusal | None = None) -> Raw:
    """Show what cannot be taken back easily."""
    return in_organization_settings(
        call,
        "settings/organization_dangers.html",
        at="Danger zone",
        title="Danger zone",
        refusal=refusal,
        form=form,
        path=organization_path(call.give(Organization)),
    )


@endpoint(f"GET {AT}/danger", scope="organization", guards=GUARDS, slow=True)
def show_organization_dangers(call: Call, organization: Organization) -> Raw:
    """Show what cannot be taken back easily."""
    return show_dangers(call, DangerForm(new_name=organization.account.name))


@endpoint(f"POST {AT}/danger/rename", scope="organization", guards=GUARDS)
def rename_organization_page(call: Call, organization: Organization, body: DangerForm) -> Raw:
    """Give an organization another name."""
    name = body.new_name.strip()
    try:
        check_typed(body.confirm, organization.account.name)
        act(call, organizations.rename_organization, body={"new_name": name})
    except Refusal as refusal:
        return show_dangers(call, body, refusal)
    return go(f"/-/orgs/{quote(name)}/settings", "moved")


@endpoint(f"POST {AT}/danger/delete", scope="organization", guards=GUARDS)
def delete_organization_page(call: Call, organization: Organization, body: DangerForm) -> Raw:
    """Remove an organization that owns nothing any more."""
    try:
        check_typed(body.confirm, organization.account.name)
        act(call, organizations.delete_organization)
    except Refusal as refusal:
        return show_dangers(call, body, refusal)
    return go("/", "deleted")
