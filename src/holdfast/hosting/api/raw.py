"""The bytes of a file, as git has them or with what a pointer to a large file stands for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
from anyio import to_thread

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.file_serving import Served, last_modified, not_modified, serve
from holdfast.hosting.api.opening import git_of
from holdfast.hosting.errors import LfsError, PathRefused
from holdfast.hosting.git import last_commits, refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.path_lookup import cleaned
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.trees import Entry, Missing
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.media_types import LOOKED_AT, media_type
from holdfast.hosting.http.response_cache import KeptBytes
from holdfast.hosting.lfs import pointer
from holdfast.hosting.lfs.pointer import Pointer
from holdfast.hosting.store import lfs
from holdfast.hosting.store.branch_renames import FormerBranches

__all__ = ["Found", "found_by_ref", "get_media", "get_raw", "media", "raw"]

READING: Final = (in_repository, reads(Unit.CODE))
SIGNED_SECONDS: Final = 300
# Up to this size a file is read at once, where the request is answered; larger ones in a thread, piece by piece.
QUICK_BYTES: Final = 128 * 1024
KEPT_BYTES: Final = 32 * 2**20
ALSO: Final = {206: RawResponse, 304: type(None), 416: RawResponse}

blobs = KeptBytes(KEPT_BYTES)


class RawQuery(msgspec.Struct, frozen=True):
    """Where to look, if the path does not say so itself."""

    ref: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that is there."""

    call: RequestContext
    place: RepositoryAccess
    repo: Repo
    commit: str
    entry: Entry

    @property
    def is_public(self) -> bool:
        """Whether anybody may see it, so that anything on the way may keep it."""
        repository = self.place.repository
        return not repository.is_private and repository.owner.visibility == "public"

    def modified(self) -> int | None:
        """Return when the newest commit that touched it was made."""
        found = last_commits.known(self.repo, self.commit, self.entry.raw_path)
        if found is None:
            self.call.require_thread()
            found = last_commits.of_path(self.repo, self.commit, self.entry.raw_path)
        return None if found is None else found.committer.time


def found_by_ref(request: RequestContext, target: RepositoryAccess, ref: str, path: str) -> Found:
    """Find a file by a path that may begin with a branch, a tag or a commit."""
    if target.repository.is_empty:
        raise ApiError(404, "repository is empty")
    repo = git_of(request, target)
    full = refs.resolve(repo, ref.strip(), "") if ref.strip().startswith("refs/") else None
    if full is not None:
        return found_in(request, target, repo, full.commit, path)
    former = FormerBranches(request.app.database, target.repository)
    split = refs.split_ref_path(repo, ref, path, target.repository.default_branch, former)
    if split is None or split.commit is None:
        raise ApiError(404, "unable to find a git ref")
    if split.is_fallback and ref.strip():
        # A ref that was asked for is not replaced by another: a file of the wrong version is worse than none.
        raise ApiError(404)
    return found_in(request, target, repo, split.commit, split.path)


def found_in(request: RequestContext, target: RepositoryAccess, repo: Repo, commit: str, path: str) -> Found:
    """Find a file in a commit; directories and submodules have no bytes."""
    try:
        wanted = cleaned(path)
    except PathRefused:
        raise ApiError(404) from None
    entry = entry_at(repo.folder, commit, wanted)
    if not isinstance(entry, Entry) or entry.type not in {"file", "symlink"}:
        raise ApiError(404)
    return Found(request, target, repo, commit, entry)


@lru_cache(maxsize=8192)
def entry_at(folder: Path, commit: str, path: str) -> Entry | Missing:
    """Return what lies at a path in a commit, where nothing ever changes."""
    repo = open_repository(folder)
    return trees.find(repo, read_commit(repo, commit).tree, path)


def small_blob(repo: Repo, blob: str) -> bytes:
    """Return a small blob, which an id stands for once and for all."""
    content = blobs.get(blob)
    if content is None:
        content = trees.read_blob(repo, blob)
        blobs.put(blob, content)
    return content


def raw(found: Found) -> RawResponse:
    """Serve a blob."""
    call, entry = found.call, found.entry
    call.response_headers |= {"X-Gitea-Object-Type": entry.type, "X-Service-Object-Type": entry.type}
    fresh = not_modified(call, entry.id, found.modified, is_public=found.is_public)
    if fresh is not None:
        known = last_commits.known(found.repo, found.commit, entry.raw_path)
        if known is not None:
            fresh.headers.update(last_modified(known.committer.time))
        return fresh
    content = small_blob(found.repo, entry.id) if entry.size <= QUICK_BYTES else None
    if content is None:
        call.require_thread()

    def read(start: int, stop: int) -> bytes | Iterator[bytes]:
        if content is not None:
            return content[start:stop]
        return streamed(found.repo.folder, entry.id, start, stop)

    kind = type_of_blob(found.repo.folder, entry.id)
    return serve(call, Served(entry.name, kind, entry.size, entry.id, found.modified(), found.is_public, read))


def streamed(folder: Path, blob: str, start: int, stop: int) -> Iterator[bytes]:
    """Yield a large blob's bytes; an open repository belongs to its thread, and this may run in another."""
    yield from trees.stream_blob(open_repository(folder), blob, start, stop)


@lru_cache(maxsize=8192)
def type_of_blob(folder: Path, blob: str) -> str:
    """Return the type of a blob."""
    return media_type(b"".join(trees.stream_blob(open_repository(folder), blob, 0, LOOKED_AT)))


def raw_elsewhere(found: Found) -> RawResponse:
    """Serve a blob in another thread than the one that found it."""
    found.call.on_loop = False
    return raw(replace(found, repo=open_repository(found.repo.folder)))


def media(found: Found) -> RawResponse:
    """Serve what a pointer stands for; a blob that is none, or whose object is not here, as it is."""
    call, entry = found.call, found.entry
    if entry.size > pointer.MOST_BYTES or entry.type != "file":
        return raw(found)
    stored = Pointer.parse(small_blob(found.repo, entry.id))
    if stored is None:
        return raw(found)
    since = lfs.linked_at(call.app.database, found.place.repository, stored.oid)
    if since is None:
        return raw(found)
    call.response_headers |= {"X-Gitea-Object-Type": entry.type, "X-Service-Object-Type": entry.type}
    fresh = not_modified(call, stored.oid, lambda: since, is_public=found.is_public)

    async def large() -> RawResponse:
        try:
            size = await call.app.lfs.size(stored.oid)
            if size is None:
                return await to_thread.run_sync(raw_elsewhere, found)
            if fresh is not None:
                fresh.headers.update(last_modified(since))
                return fresh
            address = await call.app.lfs.signed_url(stored.oid, SIGNED_SECONDS)
            if address is not None:
                return RawResponse(b"", status=303, headers={"Location": address})
            beginning = b"".join([piece async for piece in call.app.lfs.read(stored.oid, 0, min(LOOKED_AT, size))])
        except LfsError as error:
            raise ApiError(503, str(error)) from None
        kind = media_type(beginning)
        file = Served(
            entry.name,
            kind,
            size,
            stored.oid,
            since,
            found.is_public,
            lambda start, stop: call.app.lfs.read(stored.oid, start, stop),
        )
        return serve(call, file)

    return RawResponse(b"", then=large)


@endpoint(
    "GET /repos/{owner}/{repo}/raw/{filepath...}", scope="repository", guards=READING, refuses=(400,), also=ALSO
)
def get_raw(request: RequestContext, target: RepositoryAccess, filepath: str, query: RawQuery) -> RawResponse:
    """Return the bytes of a file; its path may begin with a branch, a tag or a commit."""
    return raw(found_by_ref(request, target, query.ref, filepath))


@endpoint(
    "GET /repos/{owner}/{repo}/media/{filepath...}",
    scope="repository",
    guards=READING,
    refuses=(400, 503),
    also={**ALSO, 303: RawResponse},
)
def get_media(request: RequestContext, target: RepositoryAccess, filepath: str, query: RawQuery) -> RawResponse:
    """Return the bytes of a file, and of a large one those its pointer stands for."""
    return media(found_by_ref(request, target, query.ref, filepath))
