"""File responses: media type, conditional requests and byte ranges."""

import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from holdfast.hosting.file_responses.ranges import ByteRange, Unsatisfiable, parse_range_header
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.request_context import RequestContext

__all__ = ["ServedFile", "disposition", "last_modified", "not_modified", "serve"]

HOURS: Final = 6 * 3600
LATEST: Final = 253_402_300_799
NO_SCRIPTS: Final = "default-src 'none'; style-src 'unsafe-inline'"
TOKEN: Final = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

Pieces = bytes | Iterable[bytes] | AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A file to serve: `read` returns its bytes from `start` up to `stop`."""

    name: str
    media_type: str
    size: int
    etag: str
    modified: int | None
    is_public: bool
    read: Callable[[int, int], Pieces]


@lru_cache(maxsize=4096)
def disposition(name: str, kind: str = "inline") -> str:
    """Return a `Content-Disposition` header with a file name; no name can inject parameters."""
    plain = "".join(letter if " " <= letter <= "~" else "_" for letter in name)
    if plain == name and name and TOKEN.issuperset(name):
        return f"{kind}; filename={name}"
    quoted = plain.replace("\\", "\\\\").replace('"', '\\"')
    if plain == name:
        return f'{kind}; filename="{quoted}"'
    return f"{kind}; filename=\"{quoted}\"; filename*=utf-8''{quote(name, safe='')}"


def content_security_policy(media_type: str) -> str:
    """Return the `Content-Security-Policy` of a file; none for audio and video, whose players it would break."""
    if media_type.startswith(("audio/", "video/")):
        return ""
    return NO_SCRIPTS if media_type == "application/pdf" else f"{NO_SCRIPTS}; sandbox"


def has_tag(header: str, etag: str) -> bool:
    """Return whether an `If-None-Match` header has the entity tag of the file."""
    tags = (tag.strip().removeprefix("W/") for tag in header.split(","))
    return any(tag in {"*", f'"{etag}"'} for tag in tags)


def not_modified(
    request: RequestContext, etag: str, modified: Callable[[], int | None], *, is_public: bool
) -> RawResponse | None:
    """Return a 304 response if the client has the file; the modification time is read only without an ETag."""
    tags, since = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
    when = None
    if tags is not None:
        if not has_tag(tags, etag):
            return None
    elif since is not None:
        when = modified()
        cached_at = parse_http_date(since)
        if when is None or cached_at is None or when > cached_at:
            return None
    else:
        return None
    return RawResponse(b"", status=304, headers=validators(etag, when, is_public=is_public))


def parse_http_date(text: str) -> int | None:
    """Parse an HTTP date; None if it is invalid."""
    try:
        return int(parsedate_to_datetime(text).timestamp())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def validators(etag: str, modified: int | None, *, is_public: bool) -> dict[str, str]:
    """Return the validators of a file, and its `Cache-Control` header."""
    kept = f"{'public' if is_public else 'private'}, max-age={HOURS}"
    return {"ETag": f'"{etag}"', "Cache-Control": kept, **last_modified(modified)}


def last_modified(when: int | None) -> dict[str, str]:
    """Return the `Last-Modified` header, if the time is known and HTTP can express it."""
    return {} if when is None or not 0 <= when <= LATEST else {"Last-Modified": http_date(when)}


@lru_cache(maxsize=4096)
def http_date(when: int) -> str:
    """Format an HTTP date."""
    return formatdate(when, usegmt=True)


def serve(request: RequestContext, file: ServedFile) -> RawResponse:
    """Return the response with a file, or with the requested ranges of it."""
    headers = validators(file.etag, file.modified, is_public=file.is_public) | {
        "Content-Disposition": disposition(file.name),
        "Access-Control-Expose-Headers": "Content-Disposition",
        "Content-Security-Policy": content_security_policy(file.media_type),
        "Accept-Ranges": "bytes",
    }
    try:
        # Other methods ignore the header (RFC 9110, 14.2).
        requested = request.headers.get("range", "") if request.scope["method"] == "GET" else ""
        parts = parse_range_header(requested, file.size) if if_range_holds(request, file) else []
    except Unsatisfiable:
        headers = {"Content-Range": f"bytes */{file.size}", "Cache-Control": "no-store"}
        return RawResponse(b"the range lies outside of the file\n", "text/plain;charset=utf-8", 416, headers)
    if not parts:
        return single_range(file, ByteRange(0, file.size), 200, headers)
    if len(parts) == 1:
        headers["Content-Range"] = parts[0].content_range(file.size)
        return single_range(file, parts[0], 206, headers)
    return multiple_ranges(file, parts, headers)


def if_range_holds(request: RequestContext, file: ServedFile) -> bool:
    """Return whether the `If-Range` condition holds: the client has ranges of the current version."""
    condition = request.headers.get("if-range")
    if condition is None:
        return True
    if condition.startswith(('"', "W/")):
        return condition == f'"{file.etag}"'
    return file.modified is not None and parse_http_date(condition) == file.modified


def single_range(file: ServedFile, part: ByteRange, status: int, headers: dict[str, str]) -> RawResponse:
    """Return the response with the whole file or one range."""
    content = file.read(part.start, part.stop)
    if not isinstance(content, bytes):
        headers["Content-Length"] = str(part.stop - part.start)
    return RawResponse(content, file.media_type, status, headers)


def multiple_ranges(file: ServedFile, parts: list[ByteRange], headers: dict[str, str]) -> RawResponse:
    """Return the `multipart/byteranges` response with several ranges."""
    boundary = secrets.token_hex(16)
    media_type = f"multipart/byteranges; boundary={boundary}"
    kind = f"Content-Type: {file.media_type}"
    heads = [
        f"--{boundary}\r\n{kind}\r\nContent-Range: {part.content_range(file.size)}\r\n\r\n".encode()
        for part in parts
    ]
    end = f"--{boundary}--\r\n".encode()
    size = sum(part.stop - part.start + len(head) + 2 for part, head in zip(parts, heads, strict=True))
    headers["Content-Length"] = str(size + len(end))
    contents = [file.read(part.start, part.stop) for part in parts]
    in_memory = [content for content in contents if not isinstance(content, AsyncIterator)]
    if len(in_memory) < len(contents):
        return RawResponse(multipart_async(heads, contents, end), media_type, 206, headers)
    return RawResponse(multipart(heads, in_memory, end), media_type, 206, headers)


def multipart(heads: list[bytes], contents: list[bytes | Iterable[bytes]], end: bytes) -> Iterator[bytes]:
    """Yield the parts of a multipart body."""
    for head, content in zip(heads, contents, strict=True):
        yield head
        yield from [content] if isinstance(content, bytes) else content
        yield b"\r\n"
    yield end


async def multipart_async(heads: list[bytes], contents: list[Pieces], end: bytes) -> AsyncIterator[bytes]:
    """Yield the parts of a multipart body as they arrive from the object store."""
    for head, content in zip(heads, contents, strict=True):
        yield head
        if isinstance(content, AsyncIterator):
            async for piece in content:
                yield piece
        yield b"\r\n"
    yield end
