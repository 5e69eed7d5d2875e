"""Commit statuses: create and list them, and show the combined status."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.guards import in_repository, not_archived, reads, signed_in, writes
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import repository_api
from holdfast.hosting.schemas.repositories import repository
from holdfast.hosting.schemas.statuses import CombinedStatus, CommitStatusSchema, commit_status
from holdfast.hosting.services import commit_statuses as service
from holdfast.hosting.services.commit_statuses import NewStatus
from holdfast.hosting.services.revisions import open_git, resolve_commit
from holdfast.hosting.store import commit_statuses
from holdfast.hosting.store.accounts import accounts_by_id
from holdfast.hosting.store.commit_statuses import STATES, CommitStatus

__all__ = ["create_status", "list_statuses", "list_statuses_of_commit", "show_combined_status"]

READING: Final = (in_repository, reads(Unit.CODE))
WRITING: Final = (in_repository, reads(Unit.CODE), not_archived, signed_in, writes(Unit.CODE))
ORDERS: Final = ("oldest", "recentupdate", "leastupdate", "leastindex", "highestindex")
OLDEST_FIRST: Final = frozenset({"oldest", "leastupdate", "leastindex"})


class StatusesQuery(msgspec.Struct, frozen=True):
    """The filter and order of a list of statuses."""

    sort: str = ""
    state: str = ""


class CreateStatusOption(msgspec.Struct, frozen=True):
    """A new status; the context is `default` unless given."""

    state: Annotated[Literal["pending", "success", "error", "failure", "warning", "skipped", ""], Required] = ""
    target_url: Annotated[str, Meta(max_length=service.URL_LENGTH)] = ""
    description: Annotated[str, Meta(max_length=service.DESCRIPTION_LENGTH)] = ""
    context: Annotated[str, Meta(max_length=service.CONTEXT_LENGTH)] = ""

    @property
    def new(self) -> NewStatus:
        """The status to create."""
        return NewStatus(
            state=self.state, context=self.context, description=self.description, target_url=self.target_url
        )


def encode_statuses(
    request: RequestContext, target: RepositoryAccess, statuses: Sequence[CommitStatus]
) -> list[CommitStatusSchema]:
    """Encode statuses with their creators, which are loaded with one query."""
    creators = {status.creator_id for status in statuses if status.creator_id is not None}
    with request.app.database.read() as connection:
        accounts = accounts_by_id(connection, creators)
    return [
        commit_status(request, target.repository, status, accounts.get(status.creator_id or 0))
        for status in statuses
    ]


def statuses_of(
    request: RequestContext, target: RepositoryAccess, ref: str, query: StatusesQuery, page: PageParams
) -> PagedList[CommitStatusSchema]:
    """Return a page of the statuses of a commit, which must exist."""
    sha = resolve_commit(open_git(request.app, target), target, ref)
    for name, value, allowed in (("sort", query.sort, ORDERS), ("state", query.state, STATES)):
        if value and value not in allowed:
            raise ApiError(400, f"{name} must be one of {', '.join(allowed)}")
    statuses, total = commit_statuses.statuses_of(
        request.app.database,
        target.repository,
        sha,
        state=query.state,
        oldest_first=query.sort in OLDEST_FIRST,
        skip=page.skip,
        limit=page.size,
    )
    return PagedList(encode_statuses(request, target, statuses), total)


@endpoint(
    "POST /repos/{owner}/{repo}/statuses/{sha}",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(423,),
    slow=True,
)
def create_status(
    request: RequestContext, target: RepositoryAccess, sha: str, body: CreateStatusOption
) -> CommitStatusSchema:
    """Add a status to a commit."""
    created = service.create(request.app, request.actor, target, sha, body.new)
    return commit_status(request, target.repository, created, request.user)


@endpoint(
    "GET /repos/{owner}/{repo}/commits/{ref...}/statuses",
    scope="repository",
    guards=READING,
    refuses=(400,),
    slow=True,
)
def list_statuses(
    request: RequestContext, target: RepositoryAccess, ref: str, query: StatusesQuery, page: PageParams
) -> PagedList[CommitStatusSchema]:
    """List the statuses of a commit, given as a branch, a tag or an id."""
    return statuses_of(request, target, ref, query, page)


@endpoint(
    "GET /repos/{owner}/{repo}/statuses/{sha}", scope="repository", guards=READING, refuses=(400,), slow=True
)
def list_statuses_of_commit(
    request: RequestContext, target: RepositoryAccess, sha: str, query: StatusesQuery, page: PageParams
) -> PagedList[CommitStatusSchema]:
    """List the statuses of a commit by its id."""
    return statuses_of(request, target, sha, query, page)


@endpoint(
    "GET /repos/{owner}/{repo}/commits/{ref...}/status",
    scope="repository",
    guards=READING,
    slow=True,
    cacheable=True,
)
def show_combined_status(
    request: RequestContext, target: RepositoryAccess, ref: str, page: PageParams
) -> CombinedStatus:
    """Show the combined status of a commit; the state is empty without statuses."""
    sha = resolve_commit(open_git(request.app, target), target, ref)
    database, home = request.app.database, target.repository
    states = commit_statuses.context_states(database, home, sha)
    statuses = (
        commit_statuses.latest_statuses(database, home, sha, skip=page.skip, limit=page.size) if states else []
    )
    api = repository_api(request, home)
    request.response_headers |= paging_headers(request, page, len(states))
    return CombinedStatus(
        state=commit_statuses.combined_state(states.values()),
        sha=sha,
        total_count=len(states),
        statuses=encode_statuses(request, target, statuses),
        repository=repository(request, home, target.permissions),
        commit_url=f"{api}/commits/{sha}",
        url=f"{api}/commits/{sha}/status",
    )
