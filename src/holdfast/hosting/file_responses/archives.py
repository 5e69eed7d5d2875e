"""Archives of a branch, a tag or a commit, made by git while they are sent, and kept for the next who ask."""

import hashlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlencode

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import GitFailed, PathRefused
from holdfast.hosting.file_responses.byte_cache import KeptBytes
from holdfast.hosting.file_responses.files import ServedFile, disposition, not_modified, serve
from holdfast.hosting.git import archives, refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import raw
from holdfast.hosting.git.paths import requested_path
from holdfast.hosting.git.program import git_version
from holdfast.hosting.git.refs import ResolvedRef
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import repository_api
from holdfast.hosting.services.revisions import open_git

__all__ = ["ArchiveRequest", "archive_named", "archive_response"]

MOST_PATHS: Final = 100
# Archives up to a size are kept in memory too, so that they are sent in one piece.
KEPT_BYTES: Final = 32 * 2**20
LARGEST_KEPT: Final = 8 * 2**20
CHUNK: Final = 2**20
REVALIDATE: Final = "max-age=0, private, must-revalidate"
Suffix = Literal["zip", "tar.gz", "bundle"]
SUFFIXES: Final[tuple[Suffix, ...]] = ("tar.gz", "zip", "bundle")

kept = KeptBytes(KEPT_BYTES, LARGEST_KEPT)


@dataclass(frozen=True, slots=True)
class ArchiveRequest:
    """The revision, format and paths of an archive."""

    ref: str
    suffix: Suffix
    paths: tuple[str, ...]


def resolve_revision(repo: Repo, ref: str) -> ResolvedRef | None:
    """Resolve a tag, a branch, or any other revision of a commit."""
    for kind, git_ref in (("tag", refs.tag(repo, ref)), ("branch", refs.branch(repo, ref))):
        commit = None if git_ref is None else refs.commit_of(repo, git_ref.id)
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


def archive_response(request: RequestContext, target: RepositoryAccess, archive: ArchiveRequest) -> RawResponse:
    """Respond with an archive made by git."""
    repo, name = open_git(request.app, target), target.repository.name
    resolved = resolve_revision(repo, archive.ref)
    if resolved is None:
        raise ApiError(404, f"unrecognized repository reference: {archive.ref}")
    if archive.suffix == "bundle" and archive.paths:
        raise ApiError(400, "cannot specify paths when requesting a bundle")
    paths = checked(repo, resolved.commit, archive.paths)
    sha, suffix = resolved.commit, archive.suffix
    query = urlencode([("rev", sha), *(("path", raw(path)) for path in paths)])
    address = f"{repository_api(request, target.repository)}/archive/{sha}.{suffix}?{query}"
    headers = {
        "Content-Disposition": disposition(f"{name}-{archive.ref.replace('/', '-')}.{suffix}", "attachment"),
        "Access-Control-Expose-Headers": "Content-Disposition",
        "Link": f'<{address}>; rel="immutable"',
    }
    folder, is_head = repo.folder, request.scope["method"] == "HEAD"
    if suffix == "bundle":
        return (
            RawResponse((), headers=headers) if is_head else streamed(archives.bundle(folder, resolved), headers)
        )
    prefix = name.lower()
    if paths or not request.app.archives.enabled or archives.depends_on_refs(folder, sha):
        if is_head:
            return RawResponse((), headers=headers)
        return streamed(archives.archive(folder, sha, suffix, prefix=prefix, paths=paths), headers)
    key = archive_key(target.repository.id, sha, suffix, prefix)
    response = kept_response(request, key, headers)
    if response is not None:
        return response
    headers["ETag"] = f'"{key}"'
    if is_head:
        return RawResponse((), headers=headers)

    def make() -> AsyncGenerator[bytes, None]:
        return archives.archive(folder, sha, suffix, prefix=prefix)

    async def begin() -> RawResponse:
        try:
            pieces = await begun(request.app.archives.stream(key, make))
        except OSError:
            # The disk is full or cannot be written: it is not kept.
            pieces = await begun(make())
        return RawResponse(pieces, headers=headers)

    return RawResponse(b"", then=begin)


def streamed(pieces: AsyncGenerator[bytes, None], headers: dict[str, str]) -> RawResponse:
    """Respond with what git writes."""

    async def begin() -> RawResponse:
        return RawResponse(await begun(pieces), headers=headers)

    return RawResponse(b"", then=begin)


@lru_cache(maxsize=4096)
def archive_key(repository_id: int, commit: str, suffix: Suffix, prefix: str) -> str:
    """Return the name of an archive, which is its entity tag too: one version of git writes the same bytes."""
    parts = (commit, suffix, prefix, git_version(), str(archives.LEVEL))
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return f"{repository_id}-{digest[:40]}"


def kept_response(request: RequestContext, key: str, headers: dict[str, str]) -> RawResponse | None:
    """Respond with an archive that is kept, or with parts of it, or 304; None if it is not kept."""
    fresh = not_modified(request, key, lambda: None, is_public=False)
    if fresh is not None:
        fresh.headers["Cache-Control"] = REVALIDATE
        return fresh
    content = kept.get(key)
    path = None if content is not None else request.app.archives.find(key)
    if content is None and path is None:
        return None
    size = len(content) if content is not None else 0
    if path is not None:
        try:
            size = path.stat().st_size
            if size <= LARGEST_KEPT:
                content = path.read_bytes()
                kept.put(key, content)
        except FileNotFoundError:
            return None

    def read(start: int, stop: int) -> bytes | Iterator[bytes]:
        if content is not None:
            return content if (start, stop) == (0, size) else content[start:stop]
        return b"" if path is None else file_pieces(path, start, stop)

    served = ServedFile("", "application/octet-stream", size, key, None, False, read)
    response = serve(request, served)
    # A branch moves on: what a client has is good only as long as the entity tag is the same.
    response.headers.update(headers | {"Cache-Control": REVALIDATE})
    return response


def file_pieces(path: Path, start: int, stop: int) -> Iterator[bytes]:
    """Yield a part of a file."""
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while start < stop and (piece := file.read(min(CHUNK, stop - start))):
            yield piece
            start += len(piece)


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


def archive_named(
    request: RequestContext, target: RepositoryAccess, name: str, paths: tuple[str, ...] = ()
) -> RawResponse:
    """Respond with the archive that a name with its suffix stands for."""
    for suffix in SUFFIXES:
        ref = name.removesuffix(f".{suffix}")
        if ref and ref != name:
            return archive_response(request, target, ArchiveRequest(ref, suffix, paths))
    raise ApiError(400, f"unknown format: {name}")
