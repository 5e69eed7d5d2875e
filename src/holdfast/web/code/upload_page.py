"""The page that uploads files to a repository."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import HostingError
from holdfast.hosting.git import paths
from holdfast.hosting.http.decoders import SentFile
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_contents import FileContent
from holdfast.settings import Settings
from holdfast.web.chats.file_kinds import LOOK, is_plain_backup
from holdfast.web.chats.revocation import is_public
from holdfast.web.code.change_forms import (
    CHANGING,
    CommitForm,
    barrier,
    branch_location,
    commit_changes,
    new_commit_form,
    url_after,
)
from holdfast.web.code.location import CodeLocation
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import CODE, show_in

__all__ = ["page_upload", "page_uploaded", "plain_name"]

MOST_FILES: Final = 200


class UploadForm(CommitForm, frozen=True, kw_only=True):
    """The files to upload, and the target folder."""

    folder: str = ""
    plain: str = ""
    """Confirms the upload of an unencrypted chat backup to a public repository."""
    files: list[SentFile] = msgspec.field(default_factory=list)


def largest_form(settings: Settings) -> int:
    """Return the size limit of a form with files."""
    return settings.max_file_mb * 2**20 + 2**20


def plain_name(sent: str) -> str:
    """Return the base name of an uploaded file; some clients send its full local path."""
    return sent.replace("\\", "/").rpartition("/")[2]


def upload_form(
    request: RequestContext,
    target: RepositoryAccess,
    location: CodeLocation,
    typed: UploadForm,
    *,
    status: int = 200,
    problem: str = "",
    exposed: str = "",
) -> RawResponse:
    """Render the form; files have to be chosen again, since browsers do not allow to prefill them."""
    return show_in(
        request,
        target,
        "code/upload.html",
        tab=CODE,
        title=f"Upload files · {target.repository.full_name}",
        status=status,
        location=location,
        typed=typed,
        is_first=not location.commit,
        action=location.change("_upload"),
        back=location.address("src") if location.commit else location.root,
        problem=problem,
        exposed=exposed,
        is_public=is_public(target.repository),
        remark=barrier(request, target, location.ref, typed.folder),
        megabytes=request.app.settings.max_file_mb,
    )


@endpoint("GET /{owner}/{repo}/_upload/{filepath...}", scope="repository", guards=CHANGING, slow=True)
def page_upload(request: RequestContext, target: RepositoryAccess, filepath: str) -> RawResponse:  # noqa: ARG001  # part of the route; a guard reads it
    """Show the form to upload files."""
    location = branch_location(request, target)
    form = new_commit_form(request, location, barrier(request, target, location.ref, ""))
    typed = UploadForm(folder=location.title, target=form.target, new_branch=form.new_branch)
    return upload_form(request, target, location, typed)


@endpoint(
    "POST /{owner}/{repo}/_upload/{filepath...}", scope="repository", guards=CHANGING, largest_body=largest_form
)
def page_uploaded(
    request: RequestContext,
    target: RepositoryAccess,
    filepath: str,  # noqa: ARG001  # named in the path
    body: UploadForm,  # named in the path
) -> RawResponse:
    """Commit uploaded files to a folder; existing files are replaced."""
    location = branch_location(request, target)
    folder = paths.clean(body.folder)
    named = [(plain_name(file.name), file.content) for file in body.files]
    if not named:
        return upload_form(request, target, location, body, status=422, problem="Choose at least one file.")
    if len(named) > MOST_FILES:
        problem = f"At most {MOST_FILES} files can be uploaded at once."
        return upload_form(request, target, location, body, status=422, problem=problem)
    exposed = next((name for name, content in named if is_plain_backup(content[:LOOK], name, len(content))), "")
    if exposed and is_public(target.repository) and not body.plain:
        problem = f"{exposed} is an unencrypted chat backup, and this repository is public."
        return upload_form(request, target, location, body, status=422, problem=problem, exposed=exposed)
    changes = [
        FileChange(
            operation="upload",
            path=f"{folder}/{name}" if folder else name,
            content=FileContent(content),
        )
        for name, content in named
    ]
    form = body if body.message.strip() else msgspec.structs.replace(body, message=summary(named))
    try:
        commit_changes(request, target, location, form, changes)
    except HostingError as error:
        return upload_form(request, target, location, body, status=status_for(error), problem=message_for(error))
    uploaded = named[0][0] if len(named) == 1 else f"{len(named)} files"
    return redirect_to(url_after(location, body, folder), "files-uploaded", uploaded)


def summary(named: list[tuple[str, bytes]]) -> str:
    """Return the commit message."""
    return f"Upload {named[0][0]}" if len(named) == 1 else f"Upload {len(named)} files"
