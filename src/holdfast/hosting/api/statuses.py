"""Commit statuses. There is no endpoint that sets one yet, so every list is empty."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import repository_api
from holdfast.hosting.schemas.repositories import RepositorySchema, repository
from holdfast.hosting.schemas.times import Time
from holdfast.hosting.schemas.users import UserSchema
from holdfast.hosting.services.revisions import open_git, resolve_commit

__all__ = ["list_statuses", "list_statuses_of_commit", "show_combined_status"]

READING: Final = (in_repository, reads(Unit.CODE))
STATES: Final = ("pending", "success", "error", "failure", "warning", "skipped")
ORDERS: Final = ("oldest", "recentupdate", "leastupdate", "leastindex", "highestindex")


class CommitStatus(msgspec.Struct, frozen=True):
    """The status of a commit in one context."""

    id: int
    status: str
    target_url: str
    description: str
    url: str
    context: str
    creator: UserSchema | None
    created_at: Time
    updated_at: Time


class CombinedStatus(msgspec.Struct, frozen=True):
    """The newest status of each context of a commit, and the combined state, empty without any."""

    state: str
    sha: str
    total_count: int
    statuses: list[CommitStatus]
    repository: RepositorySchema
    commit_url: str
    url: str


class StatusesQuery(msgspec.Struct, frozen=True):
    """The filter and order of a list of statuses."""

    sort: str = ""
    state: str = ""


def statuses_of(
    request: RequestContext, target: RepositoryAccess, ref: str, query: StatusesQuery
) -> PagedList[CommitStatus]:
    """Return the statuses of a commit, which must exist."""
    resolve_commit(open_git(request.app, target), target, ref)
    for name, value, allowed in (("sort", query.sort, ORDERS), ("state", query.state, STATES)):
        if value and value not in allowed:
            raise ApiError(400, f"{name} must be one of {', '.join(allowed)}")
    return PagedList([], 0)


@endpoint(
    "GET /repos/{owner}/{repo}/commits/{ref...}/statuses",
    scope="repository",
    guards=READING,
    refuses=(400,),
    slow=True,
)
def list_statuses(
    request: RequestContext,
    target: RepositoryAccess,
    ref: str,
    query: StatusesQuery,
    page: PageParams,  # noqa: ARG001  # the list has pages
) -> PagedList[CommitStatus]:
    """List the statuses of the commit a branch, a tag or an id stands for."""
    return statuses_of(request, target, ref, query)


@endpoint(
    "GET /repos/{owner}/{repo}/statuses/{sha}", scope="repository", guards=READING, refuses=(400,), slow=True
)
def list_statuses_of_commit(
    request: RequestContext,
    target: RepositoryAccess,
    sha: str,
    query: StatusesQuery,
    page: PageParams,  # noqa: ARG001  # the list has pages
) -> PagedList[CommitStatus]:
    """List the statuses of a commit by its id."""
    return statuses_of(request, target, sha, query)


@endpoint("GET /repos/{owner}/{repo}/commits/{ref...}/status", scope="repository", guards=READING, slow=True)
def show_combined_status(
    request: RequestContext, target: RepositoryAccess, ref: str, page: PageParams
) -> CombinedStatus:
    """Show the combined status of a commit; the state is empty while there are no statuses."""
    sha = resolve_commit(open_git(request.app, target), target, ref)
    api = repository_api(request, target.repository)
    request.response_headers |= paging_headers(request, page, 0)
    return CombinedStatus(
        state="",
        sha=sha,
        total_count=0,
        statuses=[],
        repository=repository(request, target.repository, target.permissions),
        commit_url=f"{api}/commits/{sha}",
        url=f"{api}/commits/{sha}/status",
    )
