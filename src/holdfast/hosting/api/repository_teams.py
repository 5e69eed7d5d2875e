"""The teams with access to an organization's repository."""

from typing import Final

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import in_repository, signed_in
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PageParams, page_or_all, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.organizations import TeamSchema
from holdfast.hosting.schemas.organizations import team as encoded
from holdfast.hosting.services import repository_teams as service

__all__ = ["add_repository_team", "list_repository_teams", "remove_repository_team", "show_repository_team"]

GUARDS: Final = (in_repository, signed_in)


@endpoint("GET /repos/{owner}/{repo}/teams", scope="repository", guards=GUARDS, refuses=(401, 404, 405))
def list_repository_teams(request: RequestContext, target: RepositoryAccess, page: PageParams) -> list[TeamSchema]:
    """List the teams with access to a repository, for members of its organization; not paged by default."""
    page = page_or_all(request, page)
    teams, total = service.list_teams(request.app, request.actor, target, skip=page.skip, limit=page.size)
    request.response_headers |= paging_headers(request, page, total)
    return [encoded(request, team, target.repository.owner) for team in teams]


@endpoint("GET /repos/{owner}/{repo}/teams/{team}", scope="repository", guards=GUARDS, refuses=(401, 404, 405))
def show_repository_team(request: RequestContext, target: RepositoryAccess, team: str) -> TeamSchema:
    """Show a team with access to a repository."""
    return encoded(request, service.find(request.app, request.actor, target, team), target.repository.owner)


@endpoint(
    "PUT /repos/{owner}/{repo}/teams/{team}", scope="repository", guards=GUARDS, refuses=(401, 403, 404, 405, 422)
)
def add_repository_team(request: RequestContext, target: RepositoryAccess, team: str) -> None:
    """Give a team of the organization access to a repository."""
    service.add(request.app, request.actor, target, team)


@endpoint(
    "DELETE /repos/{owner}/{repo}/teams/{team}",
    scope="repository",
    guards=GUARDS,
    refuses=(401, 403, 404, 405, 422),
)
def remove_repository_team(request: RequestContext, target: RepositoryAccess, team: str) -> None:
    """Remove a team's access to a repository."""
    service.remove(request.app, request.actor, target, team)
