"""Teams of organizations."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.access import Mode, OrganizationAccess, RepositoryAccess, TeamAccess, Unit
from holdfast.hosting.api.repositories import encode_page
from holdfast.hosting.guards import (
    UserFromPath,
    in_its_organization,
    in_organization,
    in_team,
    of_user,
    owns_organization,
    owns_team,
    person,
    sees_team,
    signed_in,
)
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.organizations import TeamSchema, team
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.schemas.repositories import repository as repository_schema
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import teams

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
    """A new team; without units, its permission applies to all of them."""

    name: Annotated[TeamName, Required] = ""
    description: Description = ""
    includes_all_repositories: bool = False
    permission: Literal["", "none", "read", "write", "admin"] = ""
    units: list[Unit] = []
    units_map: dict[Unit, ModeWord] = {}
    can_create_org_repo: bool = False


class EditTeamOption(msgspec.Struct, frozen=True):
    """Changes; an absent key keeps the value."""

    name: TeamName | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    includes_all_repositories: bool | UnsetType = UNSET
    permission: Literal["", "none", "read", "write", "admin", "owner"] | UnsetType = UNSET
    units: list[Unit] | UnsetType = UNSET
    units_map: dict[Unit, ModeWord | Literal["owner"]] | UnsetType = UNSET
    can_create_org_repo: bool | UnsetType = UNSET


class TeamSearchQuery(msgspec.Struct, frozen=True):
    """The search text and options."""

    q: str = ""
    include_desc: bool = True


class TeamSearchResults(msgspec.Struct, frozen=True):
    """The teams found."""

    ok: bool
    data: list[TeamSchema]


def in_team_repository(request: RequestContext) -> RepositoryAccess:
    """Find a repository of the team's organization; `org` in the path is ignored, as clients send any value."""
    return teams.find_repository(request.app, request.actor, request.resolved(TeamAccess), request.path["repo"])


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
    stored_teams, total = teams.list_teams(
        request.app, request.actor, organization, skip=page.skip, limit=page.size
    )
    return PagedList([team(request, kept, organization.account) for kept in stored_teams], total)


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
    """Search teams by part of their name or description."""
    stored_teams, total = teams.list_teams(
        request.app,
        request.actor,
        organization,
        query.q,
        in_description=query.include_desc,
        skip=page.skip,
        limit=page.size,
    )
    request.response_headers |= paging_headers(request, page, total)
    return TeamSearchResults(True, [team(request, kept, organization.account) for kept in stored_teams])


@endpoint("GET /user/teams", scope=("user", "organization"), guards=(signed_in,), refuses=(401,), slow=True)
def list_my_teams(request: RequestContext, page: PageParams) -> PagedList[TeamSchema]:
    """List the teams of the authenticated user."""
    teams_with_owners, total = teams.list_own(request.app, request.actor, skip=page.skip, limit=page.size)
    return PagedList([team(request, kept, account) for kept, account in teams_with_owners], total)


def mode_of(name: str | UnsetType) -> Mode | UnsetType:
    """Return the access mode by name; UNSET for an empty name."""
    return Mode[name.upper()] if name else UNSET


def settings_of(body: CreateTeamOption | EditTeamOption, current: int = Mode.READ) -> teams.TeamSettings:
    """Return the settings in a body; `current` is the mode of the team if the body has none."""
    mode = mode_of(body.permission)
    units = dict.fromkeys(body.units or (), Mode(current) if mode is UNSET else mode)
    if body.units_map:
        units = {unit: Mode[mode_name.upper()] for unit, mode_name in body.units_map.items()}
    return teams.TeamSettings(
        name=body.name,
        description=body.description,
        mode=mode,
        units=units,
        includes_all_repositories=body.includes_all_repositories,
        may_create_repositories=body.can_create_org_repo,
    )


@endpoint(
    "POST /orgs/{org}/teams",
    scope="organization",
    guards=(in_organization, owns_organization),
    status=201,
    refuses=(401, 403, 404, 422),
)
def create_team(request: RequestContext, organization: OrganizationAccess, body: CreateTeamOption) -> TeamSchema:
    """Create a team."""
    created = teams.create(request.app, request.actor, organization, settings_of(body))
    return team(request, created, organization.account)


IN_TEAM: Final = (in_team, sees_team)
OWNER: Final = (in_team, owns_team)


@endpoint("GET /teams/{id}", scope="organization", guards=IN_TEAM, refuses=(401, 403, 404))
def show_team(request: RequestContext, target: TeamAccess) -> TeamSchema:
    """Show a team."""
    return team(request, target.team, target.organization.account)


@endpoint("PATCH /teams/{id}", scope="organization", guards=OWNER, refuses=(401, 403, 404, 422))
def edit_team(request: RequestContext, target: TeamAccess, body: EditTeamOption) -> TeamSchema:
    """Edit a team."""
    edited = teams.edit(request.app, request.actor, target, settings_of(body, target.team.mode))
    return team(request, edited, target.organization.account)


@endpoint("DELETE /teams/{id}", scope="organization", guards=OWNER, refuses=(401, 403, 404))
def delete_team(request: RequestContext, target: TeamAccess) -> None:
    """Delete a team; members without another team leave the organization."""
    teams.delete(request.app, request.actor, target)


@endpoint("GET /teams/{id}/members", scope="organization", guards=IN_TEAM, refuses=(401, 403, 404))
def list_team_members(request: RequestContext, target: TeamAccess, page: PageParams) -> PagedList[UserSchema]:
    """List the members of a team."""
    accounts, total = teams.list_members(request.app, request.actor, target, skip=page.skip, limit=page.size)
    return PagedList([user(request, account) for account in accounts], total)


@endpoint(
    "GET /teams/{id}/members/{username}",
    scope="organization",
    guards=(in_team, sees_team, of_user, person),
    refuses=(401, 403, 404),
)
def show_team_member(request: RequestContext, target: TeamAccess, subject: UserFromPath) -> UserSchema:
    """Show a member of a team."""
    if not teams.is_member(request.app, request.actor, target, subject.account):
        raise ApiError(404, "user is not in the team")
    return user(request, subject.account)


MEMBER: Final = (in_team, owns_team, of_user, person)


@endpoint("PUT /teams/{id}/members/{username}", scope="organization", guards=MEMBER, refuses=(401, 403, 404))
def add_team_member(request: RequestContext, target: TeamAccess, subject: UserFromPath) -> None:
    """Add a user to a team, and so to its organization."""
    teams.add_member(request.app, request.actor, target, subject.account)


@endpoint("DELETE /teams/{id}/members/{username}", scope="organization", guards=MEMBER, refuses=(401, 403, 404))
def remove_team_member(request: RequestContext, target: TeamAccess, subject: UserFromPath) -> None:
    """Remove a user from a team, and from the organization if it was their last team."""
    teams.remove_member(request.app, request.actor, target, subject.account)


@endpoint("GET /teams/{id}/repos", scope="organization", guards=IN_TEAM, refuses=(401, 403, 404), slow=True)
def list_team_repositories(
    request: RequestContext, target: TeamAccess, page: PageParams
) -> PagedList[RepositorySchema]:
    """List the repositories of a team."""
    repository_page = teams.list_repositories(request.app, request.actor, target, skip=page.skip, limit=page.size)
    return encode_page(request, repository_page)


@endpoint(
    "GET /teams/{id}/repos/{org}/{repo}",
    scope="organization",
    guards=(in_team, sees_team, in_team_repository),
    refuses=(401, 403, 404),
)
def show_team_repository(
    request: RequestContext, target: TeamAccess, repository: RepositoryAccess
) -> RepositorySchema:
    """Show a repository of a team."""
    if not teams.has_repository(request.app, request.actor, target, repository):
        raise ApiError(404, "the team does not have the repository")
    return repository_schema(request, repository.repository, repository.permissions)


IN_REPOSITORY: Final = (in_team, sees_team, in_team_repository)


@endpoint(
    "PUT /teams/{id}/repos/{org}/{repo}", scope="organization", guards=IN_REPOSITORY, refuses=(401, 403, 404)
)
def add_team_repository(request: RequestContext, target: TeamAccess, repository: RepositoryAccess) -> None:
    """Give a team access to a repository of its organization."""
    teams.add_repository(request.app, request.actor, target, repository)


@endpoint(
    "DELETE /teams/{id}/repos/{org}/{repo}",
    scope="organization",
    guards=IN_REPOSITORY,
    refuses=(401, 403, 404, 422),
)
def remove_team_repository(request: RequestContext, target: TeamAccess, repository: RepositoryAccess) -> None:
    """Remove a team's access to a repository."""
    teams.remove_repository(request.app, request.actor, target, repository)
