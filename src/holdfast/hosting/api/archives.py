"""Archives of a repository at a commit: zip, tar.gz and git bundle."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.file_responses.archives import ArchiveRequest, archive_named, archive_response
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext

__all__ = ["get_archive", "get_bundle", "get_tarball", "get_zipball"]

READING: Final = (in_repository, reads(Unit.CODE))
ALSO: Final = {206: RawResponse, 304: type(None), 416: RawResponse}


class ArchiveQuery(msgspec.Struct, frozen=True):
    """The files and directories to include; all by default."""

    path: list[str] = []


@endpoint(
    "GET /repos/{owner}/{repo}/archive/{archive...}",
    scope="repository",
    guards=READING,
    refuses=(400, 422, 503),
    slow=True,
    also=ALSO,
)
def get_archive(
    request: RequestContext, target: RepositoryAccess, archive: str, query: ArchiveQuery
) -> RawResponse:
    """Download a branch, a tag or a commit as `.zip`, `.tar.gz` or `.bundle`; `path` restricts it."""
    return archive_named(request, target, archive, tuple(query.path))


@endpoint(
    "GET /repos/{owner}/{repo}/tarball/{ref...}",
    scope="repository",
    guards=READING,
    refuses=(400, 422, 503),
    slow=True,
    also=ALSO,
)
def get_tarball(request: RequestContext, target: RepositoryAccess, ref: str, query: ArchiveQuery) -> RawResponse:
    """Download a branch, a tag or a commit as a compressed tar."""
    return archive_response(request, target, ArchiveRequest(ref, "tar.gz", tuple(query.path)))


@endpoint(
    "GET /repos/{owner}/{repo}/zipball/{ref...}",
    scope="repository",
    guards=READING,
    refuses=(400, 422, 503),
    slow=True,
    also=ALSO,
)
def get_zipball(request: RequestContext, target: RepositoryAccess, ref: str, query: ArchiveQuery) -> RawResponse:
    """Download a branch, a tag or a commit as a zip."""
    return archive_response(request, target, ArchiveRequest(ref, "zip", tuple(query.path)))


@endpoint(
    "GET /repos/{owner}/{repo}/bundle/{ref...}", scope="repository", guards=READING, refuses=(400, 503), slow=True
)
def get_bundle(request: RequestContext, target: RepositoryAccess, ref: str, query: ArchiveQuery) -> RawResponse:
    """Download a branch, a tag or a commit with its history as a git bundle."""
    return archive_response(request, target, ArchiveRequest(ref, "bundle", tuple(query.path)))
