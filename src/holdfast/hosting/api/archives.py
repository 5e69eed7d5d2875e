"""Archives of a repository at a commit: zip, tar.gz and git bundle."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlencode

import msgspec

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import GitFailed, PathRefused
from holdfast.hosting.file_responses.files import disposition
from holdfast.hosting.git import archives, refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import raw
from holdfast.hosting.git.paths import requested_path
from holdfast.hosting.git.refs import ResolvedRef
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import repository_api
from holdfast.hosting.services.revisions import open_git

__all__ = ["get_archive", "get_bundle", "get_tarball", "get_zipball"]

READING: Final = (in_repository, reads(Unit.CODE))
MOST_PATHS: Final = 100
Suffix = Literal["zip", "tar.gz", "bundle"]
SUFFIXES: Final[tuple[Suffix, ...]] = ("tar.gz", "zip", "bundle")


class ArchiveQuery(msgspec.Struct, frozen=True):
    """The files and directories of an archive; all unless some are named."""

    path: list[str] = []


@dataclass(frozen=True, slots=True)
class ArchiveRequest:
    """The revision, format and paths of an archive."""

    ref: str
    suffix: Suffix
    paths: tuple[str, ...]


def named(repo: Repo, ref: str) -> ResolvedRef | None:
    """Resolve a tag, a branch, or any other revision of a commit."""
    for kind, found in (("tag", refs.tag(repo, ref)), ("branch", refs.branch(repo, ref))):
        commit = None if found is None else refs.commit_of(repo, found.id)
        if commit is not None:
            return ResolvedRef("tag" if kind == "tag" else "branch", ref, commit)
    commit = refs.rev_parse(repo, ref)
    return None if commit is None else ResolvedRef("commit", ref, commit)


def checked(repo: Repo, commit: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths normalized; raise an error for one that does not exist in the commit."""
    tree = read_commit(repo, commit).tree
    normalized = []
    try:
        normalized = [requested_path(path) for path in paths]
    except PathRefused:
        normalized = [""]
    if len(paths) > MOST_PATHS or not all(
        path and isinstance(trees.find(repo, tree, path), TreeEntry) for path in normalized
    ):
        raise ApiError(400, "path doesn't exist or is invalid")
    return tuple(normalized)


def take(request: RequestContext, target: RepositoryAccess, archive: ArchiveRequest) -> RawResponse:
    """Respond with an archive made by git."""
    repo, name = open_git(request.app, target), target.repository.name
    found = named(repo, archive.ref)
    if found is None:
        raise ApiError(404, f"unrecognized repository reference: {archive.ref}")
    if archive.suffix == "bundle" and archive.paths:
        raise ApiError(400, "cannot specify paths when requesting a bundle")
    paths = checked(repo, found.commit, archive.paths)
    sha, suffix = found.commit, archive.suffix
    query = urlencode([("rev", sha), *(("path", raw(path)) for path in paths)])
    address = f"{repository_api(request, target.repository)}/archive/{sha}.{suffix}?{query}"
    headers = {
        "Content-Disposition": disposition(f"{name}-{archive.ref.replace('/', '-')}.{suffix}", "attachment"),
        "Access-Control-Expose-Headers": "Content-Disposition",
        "Link": f'<{address}>; rel="immutable"',
    }
    if request.scope["method"] == "HEAD":
        return RawResponse((), headers=headers)
    folder = repo.folder
    if suffix == "bundle":
        pieces = archives.bundle(folder, found)
    else:
        pieces = archives.archive(folder, sha, suffix, prefix=name.lower(), paths=paths)

    async def begin() -> RawResponse:
        return RawResponse(await begun(pieces), headers=headers)

    return RawResponse(b"", then=begin)


async def begun(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Wait for the first chunk, so that an earlier error gets its own status code."""
    try:
        first = await anext(pieces, b"")
    except GitFailed:
        raise ApiError(503, "git could not create the archive") from None

    async def rest() -> AsyncGenerator[bytes, None]:
        async with aclosing(pieces):
            yield first
            async for piece in pieces:
                yield piece

    return rest()


@endpoint(
    "GET /repos/{owner}/{repo}/archive/{archive...}",
    scope="repository",
    guards=READING,
    refuses=(400, 503),
    slow=True,
)
def get_archive(
    request: RequestContext, target: RepositoryAccess, archive: str, query: ArchiveQuery
) -> RawResponse:
    """Download a branch, a tag or a commit as `.zip`, `.tar.gz` or `.bundle`; `path` restricts it."""
    for suffix in SUFFIXES:
        ref = archive.removesuffix(f".{suffix}")
        if ref and ref != archive:
            return take(request, target, ArchiveRequest(ref, suffix, tuple(query.path)))
    raise ApiError(400, f"unknown format: {archive}")


@endpoint(
    "GET /repos/{owner}/{repo}/tarball/{ref...}", scope="repository", guards=READING, refuses=(400, 503), slow=True
)
def get_tarball(request: RequestContext, target: RepositoryAccess, ref: str, query: ArchiveQuery) -> RawResponse:
    """Download a branch, a tag or a commit as a compressed tar."""
    return take(request, target, ArchiveRequest(ref, "tar.gz", tuple(query.path)))


@endpoint(
    "GET /repos/{owner}/{repo}/zipball/{ref...}", scope="repository", guards=READING, refuses=(400, 503), slow=True
)
def get_zipball(request: RequestContext, target: RepositoryAccess, ref: str, query: ArchiveQuery) -> RawResponse:
    """Download a branch, a tag or a commit as a zip."""
    return take(request, target, ArchiveRequest(ref, "zip", tuple(query.path)))


@endpoint(
    "GET /repos/{owner}/{repo}/bundle/{ref...}", scope="repository", guards=READING, refuses=(400, 503), slow=True
)
def get_bundle(request: RequestContext, target: RepositoryAccess, ref: str, query: ArchiveQuery) -> RawResponse:
    """Download a branch, a tag or a commit with its history as a git bundle."""
    return take(request, target, ArchiveRequest(ref, "bundle", tuple(query.path)))
