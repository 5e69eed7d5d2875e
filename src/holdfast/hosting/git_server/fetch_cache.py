"""A cache of `git upload-pack` responses.

For each clone git lists and packs the objects of the whole history, and most clones of a repository send the same
request. The response is determined by the request and the refs, so the cache key is the request's bytes and the
repository's version. Lists of refs are cached in memory. Packs are cached as files, if the request has no `have`
lines: a fetch is seldom repeated. After a damaged copy was deleted, the key is another one: git sends a corrupt
object of a pack as it is.
"""

import hashlib
import re
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping
from contextlib import aclosing
from io import FileIO
from typing import Final

from holdfast.hosting.app import App
from holdfast.hosting.file_responses.byte_cache import KeptBytes
from holdfast.hosting.git.program import git_version
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.repository_log import NOT_ADOPTED

__all__ = ["LARGEST_REQUEST", "FetchCache"]

# Most of it are the `want` lines of a clone: about a thousand branches.
LARGEST_REQUEST: Final = 64 * 1024
LIST_BYTES: Final = 32 * 2**20
LARGEST_LIST: Final = 2**20
# A pack larger than this fraction (one quarter) of the cache is not cached.
LARGEST_SHARE: Final = 4
# The minimum free space of the disk.
FREE_BYTES: Final = 2**30
HAVE: Final = re.compile(rb"[0-9a-f]{4}have [0-9a-f]{40}")
CHUNK: Final = 256 * 1024

ref_lists = KeptBytes(LIST_BYTES, LARGEST_LIST)

MakeResponse = Callable[[], AsyncGenerator[bytes, None]]


class FetchCache:
    """The cached responses of one repository, at its current version."""

    def __init__(self, app: App, repository: Repository) -> None:
        self._files = app.fetches
        self._copies = app.copies
        self._repository = repository

    @property
    def enabled(self) -> bool:
        """Whether responses of this repository are cached."""
        # Before its adoption, the version of a repository does not count changes.
        return self._files.enabled and self._repository.version != NOT_ADOPTED

    def ref_list(
        self, request: bytes, variables: Mapping[str, str], make: MakeResponse
    ) -> AsyncGenerator[bytes, None]:
        """Yield a list of refs, from memory if it is cached."""
        if not self.enabled:
            return make()
        key = (self._files.folder, self._key(request, variables))
        response = ref_lists.get(key)
        return keep(key, make()) if response is None else one_piece(response)

    def response(
        self, request: bytes, variables: Mapping[str, str], make: MakeResponse
    ) -> AsyncGenerator[bytes, None]:
        """Yield the response to a request that lists refs, clones or fetches."""
        if not self.enabled:
            return make()
        if b"command=ls-refs" in request:
            return self.ref_list(request, variables, make)
        if HAVE.search(request):
            return make()
        key = self._key(request, variables)
        path = self._files.find(key)
        if path is not None:
            try:
                return pieces_of(FileIO(path))
            except FileNotFoundError:
                pass  # evicted in between
        return self._files.stream(key, make) if self._has_room() else make()

    def _has_room(self) -> bool:
        size = self._repository.size
        try:
            free = self._files.free_bytes()
        except OSError:
            return False
        return size <= self._files.most_bytes // LARGEST_SHARE and free > max(2 * size, FREE_BYTES)

    def _key(self, request: bytes, variables: Mapping[str, str]) -> str:
        repository = self._repository
        digest = hashlib.sha256(f"{sorted(variables.items())}\n{git_version()}\n".encode())
        digest.update(request)
        digest.update(b"%d" % self._copies.last_damage(repository.id))
        return f"{repository.id}-{repository.version}-{digest.hexdigest()[:40]}"


async def keep(key: Hashable, pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield a list of refs, and cache it if git has completed it."""
    collected: list[bytes] = []
    size = 0
    async with aclosing(pieces):
        async for piece in pieces:
            size += len(piece)
            if size <= LARGEST_LIST:
                collected.append(piece)
            yield piece
    if size <= LARGEST_LIST:
        ref_lists.put(key, b"".join(collected))


async def one_piece(response: bytes) -> AsyncGenerator[bytes, None]:
    """Yield a cached response."""
    yield response


async def pieces_of(file: FileIO) -> AsyncGenerator[bytes, None]:
    """Yield the content of an open file in chunks, and close it."""
    with file:
        while piece := file.read(CHUNK):
            yield piece
