"""The raw content of files, at the URLs of the website."""

from typing import Final

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.file_responses.archives import archive_named
from holdfast.hosting.file_responses.blobs import CommittedFile, blob_response, find_file, media_response
from holdfast.hosting.git.encoding import argument
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.revisions import open_git
from holdfast.web.code.location import AFTER_KIND, READING, find_location, location_at, path_suffix
from holdfast.web.repository_frame import root_path

__all__ = ["download_archive", "page_media", "page_raw"]

KINDS: Final = ("branch", "tag", "commit")


def file_at(request: RequestContext, target: RepositoryAccess, kind: str) -> CommittedFile:
    """Return the file of a URL; raise a 404 error if there is none."""
    location = location_at(request, target, kind)
    return find_file(request, target, location.repo, location.commit, argument(location.path))


@endpoint("GET /{owner}/{repo}/raw/{kind}/{filepath...}", scope="repository", guards=READING)
def page_raw(request: RequestContext, target: RepositoryAccess, kind: str, filepath: str) -> RawResponse:  # noqa: ARG001  # read from the raw path
    """Return the content of a file; a URL of the older form, without a kind, is redirected."""
    if kind not in KINDS:
        return redirect_to_kind(request, target)
    return blob_response(file_at(request, target, kind))


def redirect_to_kind(request: RequestContext, target: RepositoryAccess) -> RawResponse:
    """Redirect `/raw/{ref}/{path}` to the URL that says whether the ref is a branch, a tag or a commit."""
    repo, joined = open_git(request.app, target), path_suffix(request, AFTER_KIND - 1)
    for kind in KINDS:
        location = find_location(repo, root_path(target), kind, joined)
        if location is not None:
            return RawResponse(b"", "text/plain;charset=utf-8", 303, {"Location": location.address("raw")})
    raise ApiError(404)


@endpoint("GET /{owner}/{repo}/media/{kind}/{filepath...}", scope="repository", guards=READING)
def page_media(request: RequestContext, target: RepositoryAccess, kind: str, filepath: str) -> RawResponse:  # noqa: ARG001  # part of the route; a guard reads it
    """Return the content of a file; for an LFS pointer, its object."""
    return media_response(file_at(request, target, kind))


@endpoint("GET /{owner}/{repo}/archive/{archive...}", scope="repository", guards=READING, slow=True)
def download_archive(request: RequestContext, target: RepositoryAccess, archive: str) -> RawResponse:
    """Download a branch, a tag or a commit as `.zip`, `.tar.gz` or `.bundle`."""
    return archive_named(request, target, archive)
