"""Writing one file as it is: its bytes are the body, however many there are."""

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
    commit_asked_for,
    encode_files,
    mode_given,
    writes_branch,
)
from holdfast.hosting.error_responses import answering
from holdfast.hosting.errors import ConditionFailed
from holdfast.hosting.http.body import Upload
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.entity_tags import tags_of
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.file_commits import FileResponse, file_commit
from holdfast.hosting.services import file_commits
from holdfast.hosting.services.file_changes import Condition, FileChange
from holdfast.hosting.services.file_contents import FileContent
from holdfast.settings import Settings

__all__ = ["upload_file"]


class UploadQuery(msgspec.Struct, frozen=True):
    """Where to put a file, and what to say about it."""

    message: str = ""
    branch: Branch = ""
    new_branch: NewBranch = ""
    force_push: bool = False
    signoff: bool = False
    mode: Annotated[str, Meta(description="100644, 100755 or 120000; what the file has, when it is missing.")] = ""
    expected_head: str = ""
    dry_run: bool = False


def largest_file(settings: Settings) -> int:
    """Return how many bytes a file may have: it is not held in memory, so as many as a large file."""
    return settings.max_lfs_mb * 2**20


def digest(upload: Upload) -> str:
    """Return a digest of what came."""
    with upload.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def condition_of(request: RequestContext) -> Condition:
    """Find what the headers ask of the file that is to be written, before its bytes are read.

    A weak tag says that two files are alike, not that they are the same: `If-Match` never matches one.
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
def upload_file(  # noqa: PLR0917  # called by the names of what it takes
    request: RequestContext,
    target: RepositoryAccess,
    condition: Condition,
    filepath: str,
    query: UploadQuery,
    upload: Upload,
) -> tuple[int, FileResponse]:
    """Write a file whose bytes are the body: a new one, or in place of the one that is there.

    `If-Match` asks that the file is there (`*`), or is one of those whose ids are listed; `If-None-Match` that
    there is none (`*`), or that it is none of those. 412 when that does not hold; no weak tag matches `If-Match`.
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
    asked = msgspec.json.encode(
        [query, conditions, digest(upload) if "idempotency-key" in request.headers else ""]
    )
    wanted = commit_asked_for(request, options, [change], asked)
    with answering(412, ConditionFailed):
        made = file_commits.commit(request.app, request.actor, target, wanted)
    shape = FileResponse(encode_files(request, target, made)[0], *file_commit(request, target, made.commit))
    return 201 if made.files[0] is not None and made.files[0].is_new else 200, shape
