"""Changes of files: one or many in one commit."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api import base64_strict
from holdfast.hosting.api.commit_options import (
    REFUSES,
    WRITING,
    FileOptions,
    LongPath,
    commit_request,
    encode_files,
    largest_body,
    mode_given,
    writes_branch,
)
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.file_commits import (
    FileDeleteResponse,
    FileResponse,
    FilesResponse,
    file_commit,
)
from holdfast.hosting.services import file_commits, patch_commits
from holdfast.hosting.services.file_changes import OPERATIONS, FileChange, Operation
from holdfast.hosting.services.file_commits import CommitResult
from holdfast.hosting.services.file_contents import FileContent

__all__ = ["apply_diff_patch", "change_files", "create_file", "delete_file", "update_file"]

NAMED: Final[dict[str, Operation]] = {name: name for name in OPERATIONS}
Sha = Annotated[str, Meta(title="SHA")]
LastCommit = Annotated[
    str, Meta(title="LastCommitID", description="A commit since which the file must not have changed.")
]
Mode = Annotated[str, Meta(description="100644, 100755 or 120000; what the file has, when it is missing.")]


class ChangeFileOperation(msgspec.Struct, frozen=True):
    """One change of one file."""

    operation: Annotated[str, Required] = ""
    path: Annotated[LongPath, Required] = ""
    content: str = ""
    sha: Sha = ""
    from_path: LongPath = ""
    last_commit_id: LastCommit = ""
    mode: Mode = ""


class ChangeFilesOptions(FileOptions, frozen=True, kw_only=True):
    """Changes of several files in one commit."""

    files: Annotated[list[ChangeFileOperation], Required] = msgspec.field(default_factory=list)


class CreateFileOptions(FileOptions, frozen=True, kw_only=True):
    """A new file."""

    content: str = ""
    mode: Mode = ""


class UpdateFileOptions(FileOptions, frozen=True, kw_only=True):
    """A file's new content; without `sha` it must be a new file."""

    content: str = ""
    sha: Sha = ""
    from_path: LongPath = ""
    last_commit_id: LastCommit = ""
    mode: Mode = ""


class DeleteFileOptions(FileOptions, frozen=True, kw_only=True):
    """The file to delete."""

    sha: Annotated[Sha, Required] = ""


class ApplyDiffPatchFileOptions(FileOptions, frozen=True, kw_only=True):
    """A patch to commit, as `git diff` writes it."""

    content: Annotated[str, Required] = ""


def change_of(entry: ChangeFileOperation) -> FileChange:
    """Decode a change; a renamed file keeps its content."""
    operation = NAMED.get(entry.operation)
    if operation is None:
        raise ApiError(422, f"invalid file operation: {entry.operation}, must be one of {', '.join(OPERATIONS)}")
    content = base64_strict.decode(entry.content)
    return FileChange(
        operation=operation,
        path=entry.path,
        from_path=entry.from_path,
        content=None if operation in {"rename", "delete"} else FileContent(content),
        sha=entry.sha,
        last_commit_id=entry.last_commit_id,
        mode=mode_given(entry.mode),
    )


def commit_changes(
    request: RequestContext, target: RepositoryAccess, body: FileOptions, entries: list[ChangeFileOperation]
) -> CommitResult:
    """Decode the changes and commit them."""
    writes_branch(request)
    changes = [change_of(entry) for entry in entries]
    options = commit_request(request, body, changes, msgspec.json.encode(body))
    return file_commits.commit(request.app, request.actor, target, options)


def one_file(request: RequestContext, target: RepositoryAccess, result: CommitResult) -> FileResponse:
    """Respond with the result of a change of a single file."""
    return FileResponse(encode_files(request, target, result)[0], *file_commit(request, target, result.commit))


@endpoint(
    "POST /repos/{owner}/{repo}/contents",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=REFUSES,
    largest_body=largest_body,
)
def change_files(request: RequestContext, target: RepositoryAccess, body: ChangeFilesOptions) -> FilesResponse:
    """Create, update, rename and delete files in one commit."""
    result = commit_changes(request, target, body, body.files)
    return FilesResponse(encode_files(request, target, result), *file_commit(request, target, result.commit))


@endpoint(
    "POST /repos/{owner}/{repo}/contents/{filepath...}",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=REFUSES,
    largest_body=largest_body,
)
def create_file(
    request: RequestContext, target: RepositoryAccess, filepath: str, body: CreateFileOptions
) -> FileResponse:
    """Create a file."""
    entry = ChangeFileOperation("create", filepath, body.content, mode=body.mode)
    return one_file(request, target, commit_changes(request, target, body, [entry]))


@endpoint(
    "PUT /repos/{owner}/{repo}/contents/{filepath...}",
    scope="repository",
    guards=WRITING,
    refuses=REFUSES,
    also={201: FileResponse},
    largest_body=largest_body,
)
def update_file(
    request: RequestContext, target: RepositoryAccess, filepath: str, body: UpdateFileOptions
) -> tuple[int, FileResponse]:
    """Update a file, or create it if no sha is given."""
    is_update = bool(body.sha or body.last_commit_id)
    entry = ChangeFileOperation(
        "update" if is_update else "create",
        filepath,
        body.content,
        body.sha,
        body.from_path,
        body.last_commit_id,
        body.mode,
    )
    return 200 if is_update else 201, one_file(request, target, commit_changes(request, target, body, [entry]))


@endpoint(
    "DELETE /repos/{owner}/{repo}/contents/{filepath...}",
    scope="repository",
    guards=WRITING,
    refuses=(400, *REFUSES),
)
def delete_file(
    request: RequestContext, target: RepositoryAccess, filepath: str, body: DeleteFileOptions
) -> FileDeleteResponse:
    """Delete a file."""
    result = commit_changes(request, target, body, [ChangeFileOperation("delete", filepath, sha=body.sha)])
    return FileDeleteResponse(None, *file_commit(request, target, result.commit))


@endpoint(
    "POST /repos/{owner}/{repo}/diffpatch",
    scope="repository",
    guards=WRITING,
    refuses=REFUSES,
    largest_body=largest_body,
    slow=True,
)
def apply_diff_patch(
    request: RequestContext, target: RepositoryAccess, body: ApplyDiffPatchFileOptions
) -> FileResponse:
    """Apply a patch to a branch and commit the result; `content` of the response is null."""
    writes_branch(request)
    options = commit_request(request, body, [], msgspec.json.encode(body))
    result = patch_commits.commit_patch(request.app, request.actor, target, body.content, options)
    return FileResponse(None, *file_commit(request, target, result.commit))
