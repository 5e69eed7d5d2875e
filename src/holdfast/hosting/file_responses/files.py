"""Files as they are: with their type, only when they have changed, and in parts."""

import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from holdfast.hosting.file_responses.ranges import ByteRange, Unsatisfiable, asked_for
from holdfast.hosting.http.endpoints import RawResponse
from holdfast.hosting.request_context import RequestContext

__all__ = ["Served", "disposition", "last_modified", "not_modified", "serve"]

HOURS: Final = 6 * 3600
LATEST: Final = 253_402_300_799
NO_SCRIPTS: Final = "default-src 'none'; style-src 'unsafe-inline'"
TOKEN: Final = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

Pieces = bytes | Iterable[bytes] | AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class Served:
    """A file to be served: `read` returns its bytes from one place up to another."""

    name: str
    media_type: str
    size: int
    etag: str
    modified: int | None
    is_public: bool
    read: Callable[[int, int], Pieces]


@lru_cache(maxsize=4096)
def disposition(name: str, kind: str = "inline") -> str:
    """Say what a file is called, so that no name can say anything else."""
    plain = "".join(letter if " " <= letter <= "~" else "_" for letter in name)
    if plain == name and name and TOKEN.issuperset(name):
        return f"{kind}; filename={name}"
    quoted = plain.replace("\\", "\\\\").replace('"', '\\"')
    if plain == name:
        return f'{kind}; filename="{quoted}"'
    return f"{kind}; filename=\"{quoted}\"; filename*=utf-8''{quote(name, safe='')}"


def policy(media_type: str) -> str:
    """Return what a browser may do with a file it shows; the players of sound and films are left alone."""
    if media_type.startswith(("audio/", "video/")):
        return ""
    return NO_SCRIPTS if media_type == "application/pdf" else f"{NO_SCRIPTS}; sandbox"


def matches(header: str, etag: str) -> bool:
    """Tell whether one of the tags a client has is that of the file."""
    tags = (tag.strip().removeprefix("W/") for tag in header.split(","))
    return any(tag in {"*", f'"{etag}"'} for tag in tags)


def not_modified(
    request: RequestContext, etag: str, modified: Callable[[], int | None], *, is_public: bool
) -> RawResponse | None:
    """Answer that the client has the file already; when its tag tells, nobody looks for the time."""
    tags, since = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
    when = None
    if tags is not None:
        if not matches(tags, etag):
            return None
    elif since is not None:
        when = modified()
        known = date_of(since)
        if when is None or known is None or when > known:
            return None
    else:
        return None
    return RawResponse(b"", status=304, headers=validators(etag, when, is_public=is_public))


def date_of(text: str) -> int | None:
    """Read a date of HTTP's; what is none tells nothing."""
    try:
        return int(parsedate_to_datetime(text).timestamp())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def validators(etag: str, modified: int | None, *, is_public: bool) -> dict[str, str]:
    """Return the headers by which a client knows the file again."""
    kept = f"{'public' if is_public else 'private'}, max-age={HOURS}"
    return {"ETag": f'"{etag}"', "Cache-Control": kept, **last_modified(modified)}


def last_modified(when: int | None) -> dict[str, str]:
    """Say when a file was changed, if that is known and a calendar has it."""
    return {} if when is None or not 0 <= when <= LATEST else {"Last-Modified": dated(when)}


@lru_cache(maxsize=4096)
def dated(when: int) -> str:
    """Write a date of HTTP's."""
    return formatdate(when, usegmt=True)


def serve(request: RequestContext, file: Served) -> RawResponse:
    """Answer with a file, or with the parts of it that are asked for."""
    headers = validators(file.etag, file.modified, is_public=file.is_public) | {
        "Content-Disposition": disposition(file.name),
        "Access-Control-Expose-Headers": "Content-Disposition",
        "Content-Security-Policy": policy(file.media_type),
        "Accept-Ranges": "bytes",
    }
    try:
        # Only of a GET can a part be asked for (RFC 9110, 14.2).
        wanted = request.headers.get("range", "") if request.scope["method"] == "GET" else ""
        parts = asked_for(wanted, file.size) if still(request, file) else []
    except Unsatisfiable:
        headers = {"Content-Range": f"bytes */{file.size}", "Cache-Control": "no-store"}
        return RawResponse(b"the range lies outside of the file\n", "text/plain;charset=utf-8", 416, headers)
    if not parts:
        return whole(file, ByteRange(0, file.size), 200, headers)
    if len(parts) == 1:
        headers["Content-Range"] = parts[0].told(file.size)
        return whole(file, parts[0], 206, headers)
    return several(file, parts, headers)


def still(request: RequestContext, file: Served) -> bool:
    """Tell whether parts are wanted of the file as it is now, not of one the client began with."""
    begun = request.headers.get("if-range")
    if begun is None:
        return True
    if begun.startswith(('"', "W/")):
        return begun == f'"{file.etag}"'
    return file.modified is not None and date_of(begun) == file.modified


def whole(file: Served, part: ByteRange, status: int, headers: dict[str, str]) -> RawResponse:
    """Answer with one stretch of a file."""
    content = file.read(part.start, part.stop)
    if not isinstance(content, bytes):
        headers["Content-Length"] = str(part.stop - part.start)
    return RawResponse(content, file.media_type, status, headers)


def several(file: Served, parts: list[ByteRange], headers: dict[str, str]) -> RawResponse:
    """Answer with some stretches of a file, each with its place."""
    boundary = secrets.token_hex(16)
    heads = [
        (
            f"--{boundary}\r\nContent-Type: {file.media_type}\r\nContent-Range: {part.told(file.size)}\r\n\r\n"
        ).encode()
        for part in parts
    ]
    end = f"--{boundary}--\r\n".encode()
    size = sum(part.stop - part.start + len(head) + 2 for part, head in zip(parts, heads, strict=True))
    headers["Content-Length"] = str(size + len(end))
    stretches = [file.read(part.start, part.stop) for part in parts]
    kind = f"multipart/byteranges; boundary={boundary}"
    at_hand = [stretch for stretch in stretches if not isinstance(stretch, AsyncIterator)]
    if len(at_hand) < len(stretches):
        return RawResponse(joined_async(heads, stretches, end), kind, 206, headers)
    return RawResponse(joined(heads, at_hand, end), kind, 206, headers)


def joined(heads: list[bytes], stretches: list[bytes | Iterable[bytes]], end: bytes) -> Iterator[bytes]:
    """Yield stretches one after the other."""
    for head, stretch in zip(heads, stretches, strict=True):
        yield head
        yield from [stretch] if isinstance(stretch, bytes) else stretch
        yield b"\r\n"
    yield end


async def joined_async(heads: list[bytes], stretches: list[Pieces], end: bytes) -> AsyncIterator[bytes]:
    """Yield stretches one after the other as they arrive."""
    for head, stretch in zip(heads, stretches, strict=True):
        yield head
        if isinstance(stretch, AsyncIterator):
            async for piece in stretch:
                yield piece
        yield b"\r\n"
    yield end
