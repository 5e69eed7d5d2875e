"""The contents of many files in one response."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.api.contents import ContentsQuery, entry_at_path, view_at
from holdfast.hosting.guards import in_repository, reads, signed_in, writes
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.contents import WHOLE, CommitView, ContentsResponse, contents_of

__all__ = ["read_files", "show_files"]

MOST_FILES: Final = 30
MAY_WRITE: Final = writes(Unit.CODE)
MOST_BYTES: Final = 100 * 2**20


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


def contents_or_none(view: CommitView, path: str) -> ContentsResponse | None:
    """Encode the entry at a path; None if it does not exist."""
    if "\0" in path:
        return None
    try:
        return contents_of(view, entry_at_path(view, path), WHOLE)
    except ApiError:
        return None


def files_at(
    request: RequestContext, target: RepositoryAccess, ref: str, paths: list[str]
) -> list[ContentsResponse | None]:
    """Encode as many of the files as fit into one response, in order."""
    view = view_at(request, target, ref)
    contents_responses: list[ContentsResponse | None] = []
    size = 0
    for path in paths[:MOST_FILES]:
        contents_response = contents_or_none(view, path)
        size += (
            0 if contents_response is None or contents_response.content is None else len(contents_response.content)
        )
        if size > MOST_BYTES:
            break
        contents_responses.append(contents_response)
    return contents_responses


@endpoint(
    "GET /repos/{owner}/{repo}/file-contents",
    scope="repository",
    guards=(in_repository, reads(Unit.CODE)),
    refuses=(400,),
    slow=True,
)
def show_files(
    request: RequestContext, target: RepositoryAccess, query: FilesQuery
) -> list[ContentsResponse | None]:
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
) -> list[ContentsResponse | None]:
    """Show many files with contents, for lists too long for a query string; requires write access by default."""
    return files_at(request, target, query.ref, body.files)
