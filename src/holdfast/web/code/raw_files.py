"""The raw content of files at their addresses on the website."""

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.file_responses.blobs import CommittedFile, blob_response, find_file, media_response
from holdfast.hosting.git.encoding import argument
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.web.code.location import READING, spot_at

__all__ = ["page_media", "page_raw"]


def file_at(request: RequestContext, target: RepositoryAccess, kind: str) -> CommittedFile:
    """Find the file an address names."""
    spot = spot_at(request, target, kind)
    return find_file(request, target, spot.repo, spot.commit, argument(spot.path))


@endpoint("GET /{owner}/{repo}/raw/{kind}/{filepath...}", scope="repository", guards=READING)
def page_raw(request: RequestContext, target: RepositoryAccess, kind: str, filepath: str) -> RawResponse:  # noqa: ARG001  # read from the raw path
    """Return the content of a file."""
    return blob_response(file_at(request, target, kind))


@endpoint("GET /{owner}/{repo}/media/{kind}/{filepath...}", scope="repository", guards=READING)
def page_media(request: RequestContext, target: RepositoryAccess, kind: str, filepath: str) -> RawResponse:  # noqa: ARG001  # part of the route; a guard reads it
    """Return the content of a file; of one stored with LFS, its object."""
    return media_response(file_at(request, target, kind))
