"""Writing one file as it is: its bytes are the body, however many there are."""

import hashlib
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.hosting.api.call import Call
from holdfast.hosting.api.commit_options import (
    REFUSES,
    WRITING,
    Branch,
    FileOptions,
    NewBranch,
    mode_given,
    request_for,
    writes_branch,
)
from holdfast.hosting.api.declare import Upload, endpoint
from holdfast.hosting.api.guards import Place
from holdfast.hosting.api.refusal import Refusal
from holdfast.hosting.api.shapes.file_commits import FileResponse, file_commit, file_shapes
from holdfast.hosting.committing import Committed, commit_files
from holdfast.hosting.errors import FileExists, NoSuchObject, ShaMismatch
from holdfast.hosting.file_changes import FileChange, Operation
from holdfast.hosting.git.names import is_id
from holdfast.hosting.large_files import Content
from holdfast.settings import Settings

__all__ = ["upload_file"]

WEAK: Final = "W/"


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


def condition(call: Call) -> tuple[Operation, str]:
    """Read what must hold of the file: nothing, that it is not there, or that it is the one the caller knows."""
    match, none = call.headers.get("if-match", "").strip(), call.headers.get("if-none-match", "").strip()
    if match and none:
        raise Refusal(422, "[If-Match]: cannot be used together with If-None-Match")
    if none:
        if none != "*":
            raise Refusal(422, "[If-None-Match]: only * can be asked for")
        return "create", ""
    if not match:
        return "upload", ""
    tag = match.removeprefix(WEAK).strip('"')
    if not is_id(tag):
        raise Refusal(422, "[If-Match]: must be the id of a blob in quotes, such as the ETag of the file")
    return "update", tag


def digest(upload: Upload) -> str:
    """Return a digest of what came."""
    with upload.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@endpoint(
    "PUT /repos/{owner}/{repo}/raw/{filepath...}",
    scope="repository",
    guards=(*WRITING, writes_branch),
    refuses=(412, *REFUSES),
    also={201: FileResponse},
    largest_body=largest_file,
)
def upload_file(
    call: Call, place: Place, filepath: str, query: UploadQuery, upload: Upload
) -> tuple[int, FileResponse]:
    """Write a file whose bytes are the body: a new one, or in place of the one that is there.

    `If-Match` with the id of its blob asks that the file is the one the caller knows; `If-None-Match: *` asks that
    there is none. 412 when that does not hold.
    """
    operation, sha = condition(call)
    change = FileChange(
        operation=operation, path=filepath, content=Content(upload.path), sha=sha, mode=mode_given(query.mode)
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
    asked = msgspec.json.encode(
        [query, operation, sha, digest(upload) if "idempotency-key" in call.headers else ""]
    )
    made = committed(call, place, options, change, asked)
    shape = FileResponse(file_shapes(call, place, made)[0], *file_commit(call, place, made.commit))
    return 201 if made.files[0] is not None and made.files[0].is_new else 200, shape


def committed(call: Call, place: Place, options: FileOptions, change: FileChange, asked: bytes) -> Committed:
    """Commit it; a condition that does not hold has a status of its own."""
    try:
        return commit_files(call.host, request_for(call, place, options, [change], asked))
    except (ShaMismatch, NoSuchObject) as error:
        if change.operation == "update":
            raise Refusal(412, str(error)) from None
        raise
    except FileExists as error:
        raise Refusal(412, str(error)) from None
