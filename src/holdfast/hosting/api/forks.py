"""Forks of repositories."""

from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.repositories import encode, encode_page
from holdfast.hosting.error_responses import error_status
from holdfast.hosting.errors import MergeRefused, NotAFork, NotFastForward
from holdfast.hosting.guards import editable, in_repository, reads, signed_in, writes
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.repositories import RepositorySchema
from holdfast.hosting.services import forks
from holdfast.hosting.services.repositories import LONGEST_NAME

__all__ = ["create_fork", "list_forks", "merge_upstream"]


class CreateForkOption(msgspec.Struct, frozen=True):
    """The owner of a new fork: the caller, unless an organization is named."""

    organization: str | None = None
    name: Annotated[str, Meta(max_length=LONGEST_NAME)] | None = None


class MergeUpstreamRequest(msgspec.Struct, frozen=True):
    """The branch to update; by default the default branch."""

    branch: str = ""
    ff_only: bool = False


class MergeUpstreamResponse(msgspec.Struct, frozen=True):
    """How the branch was updated."""

    merge_type: str


@endpoint(
    "POST /repos/{owner}/{repo}/forks",
    scope="repository",
    guards=(in_repository, reads(Unit.CODE), signed_in),
    status=202,
    refuses=(401, 403, 409, 422),
)
def create_fork(request: RequestContext, target: RepositoryAccess, body: CreateForkOption) -> RepositorySchema:
    """Fork a repository; the fork can be cloned at once."""
    repository = forks.fork(
        request.app, request.actor, target, organization=body.organization or "", name=body.name or ""
    )
    return encode(request, repository)


@endpoint(
    "GET /repos/{owner}/{repo}/forks",
    scope="repository",
    guards=(in_repository, reads(Unit.CODE)),
    refuses=(403,),
    slow=True,
)
def list_forks(request: RequestContext, target: RepositoryAccess, page: PageParams) -> PagedList[RepositorySchema]:
    """List the forks of a repository that the caller may see."""
    repository_page = forks.list_forks(request.app, request.actor, target, skip=page.skip, limit=page.size)
    return encode_page(request, repository_page)


@endpoint(
    "POST /repos/{owner}/{repo}/merge-upstream",
    scope="repository",
    guards=(in_repository, reads(Unit.CODE), editable, signed_in, writes(Unit.CODE)),
    refuses=(400, 401, 403, 409, 422, 423),
    slow=True,
    status=200,
)
def merge_upstream(
    request: RequestContext, target: RepositoryAccess, body: MergeUpstreamRequest
) -> MergeUpstreamResponse:
    """Update a branch of a fork from its parent."""
    with error_status(400, NotAFork, NotFastForward), error_status(409, MergeRefused):
        merged = forks.merge_upstream(request.app, request.actor, target, body.branch, ff_only=body.ff_only)
    return MergeUpstreamResponse(merged)
