"""A cache of responses, valid for one version of the database; ETags and conditional requests.

The response of a cacheable endpoint depends only on the database, git objects and the request. It is cached with
the database version that was read before it was built, and used while that is the current version. Every request
is authenticated, and the caller is part of the cache key. Guards are not run again: they read the same database.
The cache belongs to the event loop and needs no lock.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

from starlette.responses import Response

from holdfast.hosting.http.context import EndpointRequest
from holdfast.hosting.http.responses import RawResponse

__all__ = ["ResponseCache", "add_entity_tag", "conditional"]

MAX_BYTES: Final = 16 * 2**20
LARGEST: Final = 2**20
# The request headers that a response may depend on.
VARYING: Final = frozenset(
    {
        b"accept-encoding",
        b"user-agent",
        b"range",
        b"if-match",
        b"if-none-match",
        b"if-modified-since",
        b"if-unmodified-since",
        b"if-range",
    }
)


@dataclass(frozen=True, slots=True)
class KeptResponse:
    """A cached response, and the headers that its request set for it."""

    body: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    response_headers: dict[str, str]


class ResponseCache:
    """A cache of responses for one version of the database, with a maximum size in bytes."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._version: object = None
        self._size = 0
        self._kept: dict[bytes, KeptResponse] = {}

    def get(self, version: object, request: EndpointRequest) -> Response | None:
        """Return the cached response to an equal request for this version of the database, or None."""
        if version is None or version != self._version:
            return None
        kept_response = self._kept.get(key_of(request))
        if kept_response is None:
            return None
        request.response_headers |= kept_response.response_headers
        response = Response(kept_response.body)
        response.raw_headers = list(kept_response.headers)
        return response

    def put(self, version: object, request: EndpointRequest, response: Response) -> None:
        """Cache a response that was built from this version of the database, or a later one."""
        if version is None or not is_whole(response) or len(response.body) > LARGEST:
            return
        body = bytes(response.body)
        if version != self._version or self._size + len(body) > self._max_bytes:
            self._kept.clear()
            self._size, self._version = 0, version
        kept_response = KeptResponse(body, tuple(response.raw_headers), dict(request.response_headers))
        if self._kept.setdefault(key_of(request), kept_response) is kept_response:
            self._size += len(body)


def key_of(request: EndpointRequest) -> bytes:
    """Return the cache key: a hash of everything a response depends on."""
    scope = request.scope
    key = hashlib.blake2b(digest_size=16)
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    root, caller = request.root.encode("utf-8", "replace"), repr(request.caller).encode()
    for part in (path, scope["query_string"], root, caller):
        key.update(b"%d:%b" % (len(part), part))
    for name, value in scope["headers"]:
        if name in VARYING:
            key.update(b"%b=%d:%b" % (name, len(value), value))
    return key.digest()


def is_whole(response: Response) -> bool:
    """Return whether a response is a success whose whole body is in memory, not streamed."""
    if isinstance(response, RawResponse) and (response.pieces is not None or response.then is not None):
        return False
    return response.status_code == 200


def add_entity_tag(response: Response) -> None:
    """Add an `ETag`, the hash of the body as sent, to a successful response without one."""
    if is_whole(response) and all(name != b"etag" for name, _ in response.raw_headers):
        tag = hashlib.blake2b(response.body, digest_size=16).hexdigest()
        response.raw_headers.append((b"etag", b'"%b"' % tag.encode()))


def conditional(request: EndpointRequest, response: Response) -> Response:
    """Return a response, or 304 if `If-None-Match` of the request matches its `ETag`."""
    header = request.header("if-none-match")
    if header is None or response.status_code != 200:
        return response
    tag = next((value.decode() for name, value in response.raw_headers if name == b"etag"), None)
    if tag is None:
        return response
    tags = {part.strip().removeprefix("W/") for part in header.split(",")}
    if not tags & {tag, "*"}:
        return response
    return Response(status_code=304, headers={"ETag": tag, "Vary": "Accept-Encoding"})
