"""The bytes of files, at the addresses they have on the website."""

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.raw import Found, found_in, media, raw
from holdfast.hosting.git.encoding import argument
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.web.code.location import READING, spot_at

__all__ = ["page_media", "page_raw"]


def found(request: RequestContext, target: RepositoryAccess, kind: str) -> Found:
    """Find the file an address names."""
    spot = spot_at(request, target, kind)
    return found_in(request, target, spot.repo, spot.commit, argument(spot.path))


@endpoint("GET /{owner}/{repo}/raw/{kind}/{filepath...}", scope="repository", guards=READING)
def page_raw(request: RequestContext, target: RepositoryAccess, kind: str, filepath: str) -> RawResponse:  # noqa: ARG001  # read from the raw path
    """Return the bytes of a file."""
    return raw(found(request, target, kind))


@endpoint("GET /{owner}/{repo}/media/{kind}/{filepath...}", scope="repository", guards=READING)
def page_media(request: RequestContext, target: RepositoryAccess, kind: str, filepath: str) -> RawResponse:  # noqa: ARG001
    """Return the bytes of a file, and of a large one those its pointer stands for."""
    return media(found(request, target, kind))
