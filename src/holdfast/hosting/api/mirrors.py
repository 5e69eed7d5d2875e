"""Mirrors of repositories."""

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.error_responses import error_status
from holdfast.hosting.errors import NotAMirror
from holdfast.hosting.guards import in_repository, reads, signed_in, writes
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.responses import RawResponse
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import mirrors

__all__ = ["sync_mirror"]


@endpoint(
    "POST /repos/{owner}/{repo}/mirror-sync",
    scope="repository",
    guards=(in_repository, reads(Unit.CODE), signed_in, writes(Unit.CODE)),
    status=200,
    refuses=(400, 401, 403, 423),
)
def sync_mirror(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Schedule an update of a mirror, which starts within seconds."""
    with error_status(400, NotAMirror):
        mirrors.request_sync(request.app, request.actor, target)
    return RawResponse((), status=200)
