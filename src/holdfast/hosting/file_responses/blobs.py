"""Responses with the content of files in a repository: blobs, and the LFS objects their pointers refer to."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from anyio import to_thread

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import LfsError, PathRefused
from holdfast.hosting.file_responses.byte_cache import KeptBytes
from holdfast.hosting.file_responses.files import ServedFile, last_modified, not_modified, serve
from holdfast.hosting.file_responses.media_types import LOOKED_AT, media_type
from holdfast.hosting.git import last_commits, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.paths import requested_path
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.trees import MissingPath, TreeEntry
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.lfs import pointer
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import lfs

__all__ = ["CommittedFile", "blob_media_type", "blob_response", "find_file", "media_response"]

SIGNED_SECONDS: Final = 300
# Up to this size a file is read on the event loop; larger ones in a thread, in chunks.
QUICK_BYTES: Final = 128 * 1024
KEPT_BYTES: Final = 32 * 2**20

blobs = KeptBytes(KEPT_BYTES)


@dataclass(frozen=True, slots=True)
class CommittedFile:
    """A file in a commit, and the request for it."""

    request: RequestContext
    target: RepositoryAccess
    repo: Repo
    commit: str
    entry: TreeEntry

    @property
    def is_public(self) -> bool:
        """Whether the file is public, so that shared caches may store it."""
        repository = self.target.repository
        return not repository.is_private and repository.owner.visibility == "public"

    def modified(self) -> int | None:
        """Return the time of the newest commit that changed it."""
        last_commit = last_commits.cached_answer(self.repo, self.commit, self.entry.raw_path)
        if last_commit is None:
            self.request.require_thread()
            last_commit = last_commits.of_path(self.repo, self.commit, self.entry.raw_path)
        return None if last_commit is None else last_commit.committer.time


def find_file(
    request: RequestContext, target: RepositoryAccess, repo: Repo, commit: str, path: str
) -> CommittedFile:
    """Find a file in a commit; a directory or a submodule has no content and gives 404."""
    try:
        wanted = requested_path(path)
    except PathRefused:
        raise ApiError(404) from None
    entry = entry_at(repo.folder, commit, wanted)
    if not isinstance(entry, TreeEntry) or entry.type not in {"file", "symlink"}:
        raise ApiError(404)
    return CommittedFile(request, target, repo, commit, entry)


@lru_cache(maxsize=8192)
def entry_at(folder: Path, commit: str, path: str) -> TreeEntry | MissingPath:
    """Return the entry at a path in a commit; cached, since commits are immutable."""
    repo = open_repository(folder)
    return trees.find(repo, read_commit(repo, commit).tree, path)


def small_blob(repo: Repo, blob: str) -> bytes:
    """Return a small blob; cached, since blobs are immutable."""
    content = blobs.get(blob)
    if content is None:
        content = trees.read_blob(repo, blob)
        blobs.put(blob, content)
    return content


def blob_response(file: CommittedFile) -> RawResponse:
    """Respond with the content of a blob, or 304."""
    request, entry = file.request, file.entry
    request.response_headers |= {"X-Gitea-Object-Type": entry.type, "X-Service-Object-Type": entry.type}
    fresh = not_modified(request, entry.id, file.modified, is_public=file.is_public)
    if fresh is not None:
        last_commit = last_commits.cached_answer(file.repo, file.commit, entry.raw_path)
        if last_commit is not None:
            fresh.headers.update(last_modified(last_commit.committer.time))
        return fresh
    content = small_blob(file.repo, entry.id) if entry.size <= QUICK_BYTES else None
    if content is None:
        request.require_thread()

    def read(start: int, stop: int) -> bytes | Iterator[bytes]:
        if content is not None:
            return content[start:stop]
        return streamed(file.repo.folder, entry.id, start, stop)

    kind = blob_media_type(file.repo.folder, entry.id)
    return serve(
        request, ServedFile(entry.name, kind, entry.size, entry.id, file.modified(), file.is_public, read)
    )


def streamed(folder: Path, blob: str, start: int, stop: int) -> Iterator[bytes]:
    """Yield a large blob's bytes; opens the repository again, since a `Repo` belongs to its thread."""
    yield from trees.stream_blob(open_repository(folder), blob, start, stop)


@lru_cache(maxsize=8192)
def blob_media_type(folder: Path, blob: str) -> str:
    """Return the media type of a blob."""
    return media_type(b"".join(trees.stream_blob(open_repository(folder), blob, 0, LOOKED_AT)))


def blob_response_in_thread(file: CommittedFile) -> RawResponse:
    """Respond with a blob from another thread than the one that opened the repository."""
    file.request.on_loop = False
    return blob_response(replace(file, repo=open_repository(file.repo.folder)))


def media_response(file: CommittedFile) -> RawResponse:
    """Respond with the LFS object a pointer refers to, or with the blob if there is no pointer or no object."""
    request, entry = file.request, file.entry
    if entry.size > pointer.MOST_BYTES or entry.type != "file":
        return blob_response(file)
    stored = LfsPointer.parse(small_blob(file.repo, entry.id))
    if stored is None:
        return blob_response(file)
    since = lfs.linked_at(request.app.database, file.target.repository, stored.oid)
    if since is None:
        return blob_response(file)
    request.response_headers |= {"X-Gitea-Object-Type": entry.type, "X-Service-Object-Type": entry.type}
    fresh = not_modified(request, stored.oid, lambda: since, is_public=file.is_public)

    async def large() -> RawResponse:
        try:
            size = await request.app.lfs.size(stored.oid)
            if size is None:
                return await to_thread.run_sync(blob_response_in_thread, file)
            if fresh is not None:
                fresh.headers.update(last_modified(since))
                return fresh
            address = await request.app.lfs.signed_url(stored.oid, SIGNED_SECONDS)
            if address is not None:
                return RawResponse(b"", status=303, headers={"Location": address})
            beginning = b"".join(
                [piece async for piece in request.app.lfs.read(stored.oid, 0, min(LOOKED_AT, size))]
            )
        except LfsError as error:
            raise ApiError(503, str(error)) from None
        kind = media_type(beginning)
        served = ServedFile(
            entry.name,
            kind,
            size,
            stored.oid,
            since,
            file.is_public,
            lambda start, stop: request.app.lfs.read(stored.oid, start, stop),
        )
        return serve(request, served)

    return RawResponse(b"", then=large)
