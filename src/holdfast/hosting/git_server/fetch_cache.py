"""Responses of `git upload-pack`, kept for the next who send the same request.

For each clone git lists and packs the objects of the whole history, and most clones of a repository ask for the
same. What it responds is determined by the request and the refs, so that a response is known by the request's
bytes and the repository's version. Lists of refs are kept in memory. Packs are kept as files, if the request names
no commit that the client has: a fetch is seldom asked for twice.
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

# Most of it are the ids that a clone wants: about a thousand branches.
LARGEST_REQUEST: Final = 64 * 1024
LIST_BYTES: Final = 32 * 2**20
LARGEST_LIST: Final = 2**20
# A pack that would take more of the cache than that is not kept.
LARGEST_SHARE: Final = 4
# So much of the disk stays free.
FREE_BYTES: Final = 2**30
HAVE: Final = re.compile(rb"[0-9a-f]{4}have [0-9a-f]{40}")
CHUNK: Final = 256 * 1024

ref_lists = KeptBytes(LIST_BYTES, LARGEST_LIST)

MakeResponse = Callable[[], AsyncGenerator[bytes, None]]


class FetchCache:
    """The responses about one repository, at the version it has."""

    def __init__(self, app: App, repository: Repository) -> None:
        self._files = app.fetches
        self._repository = repository

    @property
    def enabled(self) -> bool:
        """Whether responses about this repository are kept."""
        # Before its adoption nothing counts the changes of a repository.
        return self._files.enabled and self._repository.version != NOT_ADOPTED

    def ref_list(
        self, request: bytes, variables: Mapping[str, str], make: MakeResponse
    ) -> AsyncGenerator[bytes, None]:
        """Yield a list of refs, from memory if it was made before."""
        if not self.enabled:
            return make()
        key = (self._files.folder, self._key(request, variables))
        response = ref_lists.get(key)
        return keep(key, make()) if response is None else one_piece(response)

    def response(
        self, request: bytes, variables: Mapping[str, str], make: MakeResponse
    ) -> AsyncGenerator[bytes, None]:
        """Yield the response to a request of a client that lists refs, clones or fetches."""
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
                pass  # it was evicted in between
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
        return f"{repository.id}-{repository.version}-{digest.hexdigest()[:40]}"


async def keep(key: Hashable, pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield a list of refs, and keep it if git has completed it."""
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
    """Yield a response that is in memory."""
    yield response


async def pieces_of(file: FileIO) -> AsyncGenerator[bytes, None]:
    """Yield an open file, which is closed afterwards."""
    with file:
        while piece := file.read(CHUNK):
            yield piece
