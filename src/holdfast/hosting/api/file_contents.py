"""The contents of many files in one response."""

import base64
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.contents import ContentsQuery, entry_at_path, view_at
from holdfast.hosting.git.trees import read_blob
from holdfast.hosting.guards import in_repository, reads, signed_in, writes
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import count_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.contents import LARGEST_BLOB, WHOLE, CommitView, ContentsResponse, contents_of

__all__ = ["read_files", "show_files"]

MOST_FILES: Final = 30
MAY_WRITE: Final = writes(Unit.CODE)
MOST_BYTES: Final = 100 * 2**20
# Larger responses are streamed.
IN_MEMORY: Final = 4 * 2**20
WITHOUT_CONTENT: Final = replace(WHOLE, content=False)
JSON: Final = "application/json;charset=utf-8"


class FilesQuery(msgspec.Struct, frozen=True):
    """The revision, and the paths of files as JSON with a list `files`."""

    ref: str = ""
    body: Annotated[str, Meta(description='JSON such as {"files": ["README.md"]}')] = ""


class GetFilesOptions(msgspec.Struct, frozen=True):
    """The paths of files."""

    files: Annotated[list[str], Required] = []


class FileContentsQuery(msgspec.Struct, frozen=True):
    """The paths of files in a query; all fields are optional."""

    files: list[str | None] | None = None


def entry_or_none(view: CommitView, path: str) -> ContentsResponse | None:
    """Encode the entry at a path, without content; None if it does not exist."""
    if "\0" in path:
        return None
    try:
        return contents_of(view, entry_at_path(view, path), WITHOUT_CONTENT)
    except ApiError:
        return None


def content_length(entry: ContentsResponse | None) -> int:
    """Return the length of the content of an entry as base64; 0 if it has none."""
    if entry is None or entry.type != "file" or entry.size > LARGEST_BLOB:
        return 0
    return (entry.size + 2) // 3 * 4


def with_content(view: CommitView, entry: ContentsResponse | None) -> ContentsResponse | None:
    """Return an entry with its content, if it is a file that is not too large."""
    if entry is None or entry.type != "file" or entry.size > LARGEST_BLOB:
        return entry
    content = base64.b64encode(read_blob(view.repo, entry.sha)).decode()
    return msgspec.structs.replace(entry, encoding="base64", content=content)


def files_at(
    request: RequestContext, target: RepositoryAccess, ref: str, paths: list[str]
) -> list[ContentsResponse | None] | RawResponse:
    """Encode as many of the files as fit into one response, in order; a large response is streamed."""
    view = view_at(request, target, ref)
    entries: list[ContentsResponse | None] = []
    size = 0
    for path in paths[:MOST_FILES]:
        entry = entry_or_none(view, path)
        size += content_length(entry)
        if size > MOST_BYTES:
            break
        entries.append(entry)
    if size <= IN_MEMORY:
        return [with_content(view, entry) for entry in entries]
    request.response_headers |= count_headers(len(entries))
    # Each thread that sends a part opens the repository for itself.
    return RawResponse(pieces(msgspec.structs.replace(view, opened=None), entries), JSON)


def pieces(view: CommitView, entries: list[ContentsResponse | None]) -> Iterator[bytes]:
    """Yield a list of entries as JSON, with the content of one at a time in memory."""
    for number, entry in enumerate(entries):
        yield b"," if number else b"["
        yield msgspec.json.encode(with_content(view, entry))
    yield b"]"


@endpoint(
    "GET /repos/{owner}/{repo}/file-contents",
    scope="repository",
    guards=(in_repository, reads(Unit.CODE)),
    refuses=(400,),
    slow=True,
)
def show_files(
    request: RequestContext, target: RepositoryAccess, query: FilesQuery
) -> list[ContentsResponse | None] | RawResponse:
    """Show many files with their contents; a file that cannot be shown is null."""
    try:
        files = msgspec.json.decode(query.body, type=FileContentsQuery | None)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise ApiError(400, "invalid body parameter") from None
    paths = [path or "" for path in (files.files if files is not None else None) or ()]
    return files_at(request, target, query.ref, paths)


def writes_if_told(request: RequestContext) -> None:
    """Require write access, depending on the settings."""
    if request.app.settings.posted_reads_need_write:
        MAY_WRITE(request)


@endpoint(
    "POST /repos/{owner}/{repo}/file-contents",
    scope="repository",
    guards=(in_repository, reads(Unit.CODE), signed_in, writes_if_told),
)
def read_files(
    request: RequestContext, target: RepositoryAccess, query: ContentsQuery, body: GetFilesOptions
) -> list[ContentsResponse | None] | RawResponse:
    """Show many files with contents, for lists too long for a query string; requires write access by default."""
    return files_at(request, target, query.ref, body.files)
