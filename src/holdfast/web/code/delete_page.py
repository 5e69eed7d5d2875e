"""The page that deletes a file."""

from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import HostingError
from holdfast.hosting.git.encoding import argument
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.file_changes import FileChange
from holdfast.web.code.change_forms import (
    CHANGING,
    CommitForm,
    barrier,
    branch_location,
    commit_changes,
    entry_at,
    new_commit_form,
    url_after,
)
from holdfast.web.code.location import CodeLocation
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import CODE, show_in

__all__ = ["page_delete", "page_deleted"]

CHANGED: Final = "This file has changed since you opened the page. Review the changes before you delete it."


class DeleteFileForm(CommitForm, frozen=True, kw_only=True):
    """The form that deletes a file; `sha` is the version to delete."""

    sha: str = ""


def delete_form(
    request: RequestContext,
    target: RepositoryAccess,
    location: CodeLocation,
    typed: DeleteFileForm,
    *,
    status: int = 200,
    problem: str = "",
) -> RawResponse:
    """Show the form."""
    return show_in(
        request,
        target,
        "code/delete.html",
        tab=CODE,
        title=f"Delete {location.title} · {target.repository.full_name}",
        status=status,
        location=location,
        typed=typed,
        is_first=False,
        problem=problem,
        remark=barrier(request, target, location.ref, location.title),
    )


@endpoint("GET /{owner}/{repo}/_delete/{filepath...}", scope="repository", guards=CHANGING, slow=True)
def page_delete(request: RequestContext, target: RepositoryAccess, filepath: str) -> RawResponse:  # noqa: ARG001  # part of the route; a guard reads it
    """Show the form to delete a file."""
    location = branch_location(request, target)
    entry = entry_at(location, is_text=False)
    form = new_commit_form(request, location, barrier(request, target, location.ref, location.title))
    typed = DeleteFileForm(sha=entry.id, target=form.target, new_branch=form.new_branch)
    return delete_form(request, target, location, typed)


@endpoint("POST /{owner}/{repo}/_delete/{filepath...}", scope="repository", guards=CHANGING)
def page_deleted(
    request: RequestContext,
    target: RepositoryAccess,
    filepath: str,  # noqa: ARG001  # part of the route; a guard reads it
    body: DeleteFileForm,
) -> RawResponse:
    """Delete a file."""
    location = branch_location(request, target)
    entry_at(location, is_text=False)
    try:
        change = FileChange(operation="delete", path=argument(location.path), sha=body.sha)
        commit_changes(request, target, location, body, [change])
    except HostingError as error:
        now = entry_at(branch_location(request, target), is_text=False)
        changed = now.id != body.sha
        typed = msgspec.structs.replace(body, sha=now.id)
        problem = CHANGED if changed else message_for(error)
        return delete_form(request, target, location, typed, status=status_for(error), problem=problem)
    # The folder no longer exists if this was its last file.
    return redirect_to(url_after(location, body, ""), "file-deleted", location.title)
