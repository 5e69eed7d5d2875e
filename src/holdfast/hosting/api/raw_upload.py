"""Uploads of a single file whose bytes are the request body."""

import hashlib
from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.commit_options import (
    REFUSES,
    WRITING,
    Branch,
    FileOptions,
    NewBranch,
    commit_request,
    encode_files,
    mode_given,
    writes_branch,
)
from holdfast.hosting.error_responses import error_status
from holdfast.hosting.errors import ConditionFailed
from holdfast.hosting.file_responses.entity_tags import tags_of
from holdfast.hosting.http.body import Upload
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.file_commits import FileResponse, file_commit
from holdfast.hosting.services import file_commits
from holdfast.hosting.services.file_changes import Condition, FileChange
from holdfast.hosting.services.file_contents import FileContent
from holdfast.settings import Settings

__all__ = ["upload_file"]


class UploadQuery(msgspec.Struct, frozen=True):
    """The branches and the options of the commit."""

    message: str = ""
    branch: Branch = ""
    new_branch: NewBranch = ""
    force_push: bool = False
    signoff: bool = False
    mode: Annotated[str, Meta(description="100644, 100755 or 120000; what the file has, when it is missing.")] = ""
    expected_head: str = ""
    dry_run: bool = False


def largest_file(settings: Settings) -> int:
    """Return the maximum size; uploads are not held in memory, so the limit is that of LFS objects."""
    return settings.max_lfs_mb * 2**20


def digest(upload: Upload) -> str:
    """Return a digest of the upload."""
    with upload.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def condition_of(request: RequestContext) -> Condition:
    """Parse the precondition headers, before the body is read.

    `If-Match` uses the strong comparison: it never matches a weak tag.
    """
    match, none = tags_of(request, "If-Match"), tags_of(request, "If-None-Match")
    return Condition(
        is_there=match is not None and match.any,
        is_missing=none is not None and none.any,
        one_of=None if match is None or match.any else match.strong,
        none_of=frozenset() if none is None else none.strong | none.weak,
    )


@endpoint(
    "PUT /repos/{owner}/{repo}/raw/{filepath...}",
    scope="repository",
    guards=(*WRITING, condition_of, writes_branch),
    refuses=(400, 412, *REFUSES),
    also={201: FileResponse},
    largest_body=largest_file,
)
def upload_file(  # noqa: PLR0917  # called with keyword arguments
    request: RequestContext,
    target: RepositoryAccess,
    condition: Condition,
    filepath: str,
    query: UploadQuery,
    upload: Upload,
) -> tuple[int, FileResponse]:
    """Create or replace a file; the body is its content.

    `If-Match` requires that the file exists (`*`), or that its blob is one of those listed; `If-None-Match` that
    it does not exist (`*`), or is none of those. Otherwise the response is 412; a weak ETag never matches
    `If-Match`.
    """
    change = FileChange(
        operation="create" if condition.is_missing else "upload",
        path=filepath,
        content=FileContent(upload.path),
        mode=mode_given(query.mode),
        condition=condition,
    )
    options = FileOptions(
        message=query.message,
        branch=query.branch,
        new_branch=query.new_branch,
        force_push=query.force_push,
        signoff=query.signoff,
        expected_head=query.expected_head,
        dry_run=query.dry_run,
    )
    conditions = [request.headers.getlist("if-match"), request.headers.getlist("if-none-match")]
    fingerprint = msgspec.json.encode(
        [query, conditions, digest(upload) if "idempotency-key" in request.headers else ""]
    )
    commit = commit_request(request, options, [change], fingerprint)
    with error_status(412, ConditionFailed):
        result = file_commits.commit(request.app, request.actor, target, commit)
    response = FileResponse(encode_files(request, target, result)[0], *file_commit(request, target, result.commit))
    return 201 if result.files[0] is not None and result.files[0].is_new else 200, response
