"""The raw content of a file, and the LFS object of a file that is stored with LFS."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.file_responses.blobs import CommittedFile, blob_response, find_file, media_response
from holdfast.hosting.git import refs
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.revisions import open_git
from holdfast.hosting.store.branch_renames import FormerBranches

__all__ = ["RawQuery", "get_media", "get_raw"]

READING: Final = (in_repository, reads(Unit.CODE))
ALSO: Final = {206: RawResponse, 304: type(None), 416: RawResponse}


class RawQuery(msgspec.Struct, frozen=True):
    """The revision, unless it is part of the path."""

    ref: str = ""


def find_by_ref(request: RequestContext, target: RepositoryAccess, ref: str, path: str) -> CommittedFile:
    """Find a file by a path that may start with a branch, a tag or a commit."""
    if target.repository.is_empty:
        raise ApiError(404, "repository is empty")
    repo = open_git(request.app, target)
    full = refs.resolve(repo, ref.strip(), "") if ref.strip().startswith("refs/") else None
    if full is not None:
        return find_file(request, target, repo, full.commit, path)
    former = FormerBranches(request.app.database, target.repository)
    split = refs.split_ref_path(repo, ref, path, target.repository.default_branch, former)
    if split is None or split.commit is None:
        raise ApiError(404, "unable to find a git ref")
    if split.is_fallback and ref.strip():
        # A given ref never falls back to another: a wrong version of a file is worse than an error.
        raise ApiError(404)
    return find_file(request, target, repo, split.commit, split.path)


@endpoint(
    "GET /repos/{owner}/{repo}/raw/{filepath...}",
    scope="repository",
    guards=READING,
    refuses=(400,),
    also=ALSO,
    cacheable=True,
)
def get_raw(request: RequestContext, target: RepositoryAccess, filepath: str, query: RawQuery) -> RawResponse:
    """Return the raw content of a file; its path may start with a branch, a tag or a commit."""
    return blob_response(find_by_ref(request, target, query.ref, filepath))


@endpoint(
    "GET /repos/{owner}/{repo}/media/{filepath...}",
    scope="repository",
    guards=READING,
    refuses=(400, 503),
    also={**ALSO, 303: RawResponse},
)
def get_media(request: RequestContext, target: RepositoryAccess, filepath: str, query: RawQuery) -> RawResponse:
    """Return the raw content of a file; for an LFS pointer, the content of its object."""
    return media_response(find_by_ref(request, target, query.ref, filepath))
