"""The bytes of files, at the addresses they have on the website."""

from holdfast.hosting.api.raw import Found, found_in, media, raw
from holdfast.hosting.git.encoding import argument
from holdfast.hosting.guards import Place
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.endpoints import Raw, endpoint
from holdfast.web.code.location import READING, spot_at

__all__ = ["page_media", "page_raw"]


def found(call: Call, place: Place, kind: str) -> Found:
    """Find the file an address names."""
    spot = spot_at(call, place, kind)
    return found_in(call, place, spot.repo, spot.commit, argument(spot.path))


@endpoint("GET /{owner}/{repo}/raw/{kind}/{filepath...}", scope="repository", guards=READING)
def page_raw(call: Call, place: Place, kind: str, filepath: str) -> Raw:  # noqa: ARG001  # read from the raw path
    """Return the bytes of a file."""
    return raw(found(call, place, kind))


@endpoint("GET /{owner}/{repo}/media/{kind}/{filepath...}", scope="repository", guards=READING)
def page_media(call: Call, place: Place, kind: str, filepath: str) -> Raw:  # noqa: ARG001
    """Return the bytes of a file, and of a large one those its pointer stands for."""
    return media(found(call, place, kind))
