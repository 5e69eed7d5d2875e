"""Teams: what their people may do, who they are, and where."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting import access
from holdfast.hosting.access import Mode, OrganizationAccess, RepositoryAccess, Unit
from holdfast.hosting.api.repositories import page_of_repositories
from holdfast.hosting.error_responses import answering
from holdfast.hosting.errors import NoSuchTeam, OwnersStay, TeamTaken
from holdfast.hosting.guards import (
    UserFromPath,
    entered,
    in_its_organization,
    in_organization,
    of_user,
    owns_organization,
    person,
    seen,
    signed_in,
)
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint, number
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.organizations import TeamSchema, team
from holdfast.hosting.schemas.repositories import RepositorySchema, repository
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import teams as services
from holdfast.hosting.store import accounts, members, repositories
from holdfast.hosting.store import teams as store

__all__ = [
    "add_team_member",
    "add_team_repository",
    "create_team",
    "delete_team",
    "edit_team",
    "list_my_teams",
    "list_team_members",
    "list_team_repositories",
    "list_teams",
    "remove_team_member",
    "remove_team_repository",
    "search_teams",
    "show_team",
    "show_team_member",
    "show_team_repository",
]

ModeWord = Literal["none", "read", "write", "admin"]
TeamName = Annotated[str, Meta(max_length=255)]
Description = Annotated[str, Meta(max_length=255)]


class CreateTeamOption(msgspec.Struct, frozen=True):
    """A new team; without units its permission is for all of them."""

    name: Annotated[TeamName, Required] = ""
    description: Description = ""
    includes_all_repositories: bool = False
    permission: Literal["", "none", "read", "write", "admin"] = ""
    units: list[Unit] = []
    units_map: dict[Unit, ModeWord] = {}
    can_create_org_repo: bool = False


class EditTeamOption(msgspec.Struct, frozen=True):
    """What to change; a key that is absent keeps its value."""

    name: TeamName | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    includes_all_repositories: bool | UnsetType = UNSET
    permission: Literal["", "none", "read", "write", "admin", "owner"] | UnsetType = UNSET
    units: list[Unit] | UnsetType = UNSET
    units_map: dict[Unit, ModeWord | Literal["owner"]] | UnsetType = UNSET
    can_create_org_repo: bool | UnsetType = UNSET


class TeamSearchQuery(msgspec.Struct, frozen=True):
    """What to look for."""

    q: str = ""
    include_desc: bool = True


class TeamSearchResults(msgspec.Struct, frozen=True):
    """The teams found."""

    ok: bool
    data: list[TeamSchema]


@dataclass(frozen=True, slots=True)
class Group:
    """The team a request is about."""

    team: store.Team


def mode_of(word: str) -> Mode:
    """Return the mode a word names."""
    return Mode[word.upper()]


def in_team(request: RequestContext) -> Group:
    """Find the team and its organization; to strangers neither is there."""
    signed_in(request)
    try:
        found = store.find_team(request.app.database, number(request.path["id"]))
    except NoSuchTeam:
        raise ApiError(404) from None
    organization = entered(request, accounts.find_account(request.app.database, found.organization_id))
    if not access.belongs(organization.mode):
        raise ApiError(404)
    request.resolved_values[OrganizationAccess] = organization
    return Group(found)


def sees_team(request: RequestContext) -> None:
    """Ask that the caller is in the team, or owns its organization."""
    is_in = members.is_in_team(request.app.database, request.resolved(Group).team.id, request.user)
    if not access.sees_team(request.resolved(OrganizationAccess).mode, in_team=is_in):
        raise ApiError(403, "Must be a team member")


def in_team_repository(request: RequestContext) -> RepositoryAccess:
    """Find a repository of the team's organization; clients send junk for `org`, which does not count."""
    account = request.resolved(OrganizationAccess).account
    kept = repositories.find_repository(request.app.database, account.name, request.path["repo"])
    may = seen(request, kept)
    if may.mode == Mode.NONE:
        raise ApiError(404)
    return RepositoryAccess(kept, may)


def may_give(request: RequestContext) -> None:
    """Ask that the caller may decide which teams have the repository."""
    organization = request.resolved(OrganizationAccess)
    if not access.may_give_to_teams(
        organization.account, organization.mode, request.resolved(RepositoryAccess).permissions
    ):
        raise ApiError(403, "Must be an organization owner, or an admin of the repository where those may do it")


def shape(request: RequestContext, kept: store.Team) -> TeamSchema:
    """Make the shape of a team whose organization was found before."""
    return team(request, kept, request.resolved(OrganizationAccess).account)


@endpoint(
    "GET /orgs/{org}/teams",
    scope="organization",
    guards=(in_organization, in_its_organization),
    refuses=(401, 403, 404),
    slow=True,
)
def list_teams(
    request: RequestContext, organization: OrganizationAccess, page: PageParams
) -> PagedList[TeamSchema]:
    """List the teams of an organization, for those who belong to it."""
    found, total = services.list_teams(request.app, request.actor, organization, skip=page.skip, limit=page.size)
    return PagedList([shape(request, kept) for kept in found], total)


@endpoint(
    "GET /orgs/{org}/teams/search",
    scope="organization",
    guards=(in_organization, in_its_organization),
    refuses=(401, 403, 404, 422),
    slow=True,
)
def search_teams(
    request: RequestContext, organization: OrganizationAccess, query: TeamSearchQuery, page: PageParams
) -> TeamSearchResults:
    """Search for teams by a part of their name or description."""
    found, total = services.list_teams(
        request.app,
        request.actor,
        organization,
        query.q,
        in_description=query.include_desc,
        skip=page.skip,
        limit=page.size,
    )
    request.response_headers |= paging_headers(request, page, total)
    return TeamSearchResults(True, [shape(request, kept) for kept in found])


@endpoint("GET /user/teams", scope=("user", "organization"), guards=(signed_in,), refuses=(401,), slow=True)
def list_my_teams(request: RequestContext, page: PageParams) -> PagedList[TeamSchema]:
    """List the teams the caller is in."""
    found, total = store.teams_of_user(
        request.app.database, request.user, publicly=request.actor.public_only, skip=page.skip, limit=page.size
    )
    return PagedList([team(request, kept, account) for kept, account in found], total)


def units_of(mode: Mode, listed: list[Unit], mapped: Mapping[Unit, str]) -> dict[str, int]:
    """Return the modes in units: those of the map, or one mode for each of a list."""
    if mapped:
        return {unit.value: mode_of(word) for unit, word in mapped.items()}
    return {unit.value: mode for unit in listed}


@endpoint(
    "POST /orgs/{org}/teams",
    scope="organization",
    guards=(in_organization, owns_organization),
    status=201,
    refuses=(401, 403, 404, 422),
)
def create_team(request: RequestContext, organization: OrganizationAccess, body: CreateTeamOption) -> TeamSchema:
    """Make a team."""
    mode = mode_of(body.permission or "read")
    wanted = store.NewTeam(
        name=body.name,
        description=body.description,
        mode=mode,
        units=units_of(mode, body.units, body.units_map),
        includes_all_repositories=body.includes_all_repositories,
        may_create_repositories=body.can_create_org_repo,
    )
    with answering(422, TeamTaken):
        return shape(request, store.create_team(request.app.database, organization.account, wanted))


IN_TEAM: Final = (in_team, sees_team)
OWNER: Final = (in_team, owns_organization)


@endpoint("GET /teams/{id}", scope="organization", guards=IN_TEAM, refuses=(401, 403, 404))
def show_team(request: RequestContext, group: Group) -> TeamSchema:
    """Show a team."""
    return shape(request, group.team)


@endpoint("PATCH /teams/{id}", scope="organization", guards=OWNER, refuses=(401, 403, 404, 422))
def edit_team(request: RequestContext, group: Group, body: EditTeamOption) -> TeamSchema:
    """Change a team."""
    with answering(422, TeamTaken):
        return shape(request, store.change_team(request.app.database, group.team, edited(group.team, body)))


def edited(kept: store.Team, body: EditTeamOption) -> store.NewTeam:
    """Work out what a team is to become."""
    mode = Mode(kept.mode) if body.permission is UNSET or not body.permission else mode_of(body.permission)
    units = dict(kept.units)
    if kept.is_owners:
        units = {}
    elif body.units_map is not UNSET and body.units_map:
        if "owner" in body.units_map.values():
            raise ApiError(422, "[UnitsMap]: only the team of the owners can have the mode owner")
        units = units_of(mode, [], body.units_map)
    elif body.units is not UNSET and body.units:
        units = units_of(mode, body.units, {})
    elif body.permission is not UNSET and body.permission:
        units = dict.fromkeys(units, int(mode))
    if mode == Mode.OWNER and not kept.is_owners:
        raise ApiError(422, "[Permission]: only the team of the owners can have the permission owner")
    return store.NewTeam(
        name=body.name if body.name is not UNSET and body.name else kept.name,
        description=kept.description if body.description is UNSET else body.description,
        mode=mode,
        units=units,
        includes_all_repositories=kept.includes_all_repositories
        if body.includes_all_repositories is UNSET
        else body.includes_all_repositories,
        may_create_repositories=kept.may_create_repositories
        if body.can_create_org_repo is UNSET
        else body.can_create_org_repo,
    )


@endpoint("DELETE /teams/{id}", scope="organization", guards=OWNER, refuses=(401, 403, 404))
def delete_team(request: RequestContext, group: Group) -> None:
    """Remove a team; people who were in no other leave the organization with it."""
    with answering(403, OwnersStay):
        store.delete_team(request.app.database, group.team)


@endpoint("GET /teams/{id}/members", scope="organization", guards=IN_TEAM, refuses=(401, 403, 404))
def list_team_members(request: RequestContext, group: Group, page: PageParams) -> PagedList[UserSchema]:
    """List the people in a team."""
    found, total = members.team_members_of(request.app.database, group.team.id, skip=page.skip, limit=page.size)
    return PagedList([user(request, account) for account in found], total)


@endpoint(
    "GET /teams/{id}/members/{username}",
    scope="organization",
    guards=(in_team, sees_team, of_user, person),
    refuses=(401, 403, 404),
)
def show_team_member(request: RequestContext, group: Group, subject: UserFromPath) -> UserSchema:
    """Show somebody who is in a team."""
    if not members.is_in_team(request.app.database, group.team.id, subject.account):
        raise ApiError(404, "user is not in the team")
    return user(request, subject.account)


MEMBER: Final = (in_team, owns_organization, of_user, person)


@endpoint("PUT /teams/{id}/members/{username}", scope="organization", guards=MEMBER, refuses=(401, 403, 404))
def add_team_member(request: RequestContext, group: Group, subject: UserFromPath) -> None:
    """Put somebody into a team, and so into its organization."""
    organization = request.resolved(OrganizationAccess)
    services.add_member(request.app, request.actor, organization, group.team, subject.account)


@endpoint("DELETE /teams/{id}/members/{username}", scope="organization", guards=MEMBER, refuses=(401, 403, 404))
def remove_team_member(request: RequestContext, group: Group, subject: UserFromPath) -> None:
    """Take somebody out of a team; out of their last one, they leave the organization."""
    members.leave_team(request.app.database, group.team.organization_id, group.team.id, subject.account)


@endpoint("GET /teams/{id}/repos", scope="organization", guards=IN_TEAM, refuses=(401, 403, 404), slow=True)
def list_team_repositories(request: RequestContext, group: Group, page: PageParams) -> PagedList[RepositorySchema]:
    """List the repositories of a team."""
    return page_of_repositories(request, page, store.its_repositories(group.team))


@endpoint(
    "GET /teams/{id}/repos/{org}/{repo}",
    scope="organization",
    guards=(in_team, sees_team, in_team_repository),
    refuses=(401, 403, 404),
)
def show_team_repository(request: RequestContext, group: Group, target: RepositoryAccess) -> RepositorySchema:
    """Show a repository of a team."""
    if not store.has_repository(request.app.database, group.team, target.repository.id):
        raise ApiError(404, "the team does not have the repository")
    return repository(request, target.repository, target.permissions)


GIVING: Final = (in_team, sees_team, in_team_repository, may_give)


@endpoint("PUT /teams/{id}/repos/{org}/{repo}", scope="organization", guards=GIVING, refuses=(401, 403, 404))
def add_team_repository(request: RequestContext, group: Group, target: RepositoryAccess) -> None:
    """Give a repository to a team."""
    store.give_repository(request.app.database, group.team, target.repository.id)


@endpoint(
    "DELETE /teams/{id}/repos/{org}/{repo}", scope="organization", guards=GIVING, refuses=(401, 403, 404, 422)
)
def remove_team_repository(request: RequestContext, group: Group, target: RepositoryAccess) -> None:
    """Take a repository from a team."""
    store.take_repository(request.app.database, group.team, target.repository.id)
