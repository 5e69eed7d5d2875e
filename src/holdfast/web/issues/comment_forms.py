"""Forms that create, edit and delete comments of an issue, and the page of a single comment."""

from typing import Final

import msgspec
from markupsafe import Markup

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import DoesNotExist, HostingError, NoSuchComment, Outdated
from holdfast.hosting.guards import CHANGE_ISSUES, READ_ISSUES
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import comments as service
from holdfast.hosting.services import issues
from holdfast.hosting.store import accounts
from holdfast.hosting.store.comments import body_version
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.issues.issue_forms import change_state, state_changed
from holdfast.web.issues.issue_page import LAST, RejectedForm, comment_url, preview_of, show
from holdfast.web.issues.rows import issue_path, page_path
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import ISSUES, show_in

__all__ = ["page_comment", "submit_comment", "submit_delete_comment", "submit_edit_comment"]

CHANGED: Final = (
    "This comment was changed while you were editing. The current version is below, yours is in the form; saving "
    "replaces the current version."
)


class CommentForm(msgspec.Struct, frozen=True):
    """A comment, what else to do (`preview`, `close`, `reopen` or nothing), and the version that is edited."""

    body: str = ""
    version: str = ""
    then: str = ""


@endpoint("POST /{owner}/{repo}/issues/{index}/comments", scope="issue", guards=CHANGE_ISSUES, keeps_form=True)
def submit_comment(
    request: RequestContext, target: RepositoryAccess, index: int, body: CommentForm
) -> RawResponse:
    """Comment on an issue, close or reopen it, or both; without the comment if closing is rejected."""
    if body.then == "preview":
        tried = RejectedForm(comment=body.body, preview=preview_of(target, body.body))
        return show(request, target, index, part=LAST, tried=tried)
    state = {"close": "closed", "reopen": "open"}.get(body.then)
    issue = issues.find(request.app, target, index)
    try:
        if body.body.strip():
            # Before the state changes: the issue may have been locked since the page was opened.
            access.require_comment(request.actor, target, issue)
    except HostingError as error:
        tried = RejectedForm(problem=message_for(error), comment=body.body, status=status_for(error))
        return show(request, target, index, part=LAST, tried=tried)
    if state is not None:
        refused = change_state(request, target, index, state, comment=body.body)
        if refused is not None:
            return refused
        if not body.body.strip():
            return state_changed(request, target, index)
    issue = issues.find(request.app, target, index)
    try:
        comment = service.create(request.app, request.actor, target, issue, body.body)
    except DoesNotExist:
        raise
    except HostingError as error:
        tried = RejectedForm(problem=message_for(error), comment=body.body, status=status_for(error))
        return show(request, target, index, part=LAST, tried=tried)
    return redirect_to(place_of(request, target, comment.id))


@endpoint("GET /{owner}/{repo}/issues/{index}/comments/{id}", scope="issue", guards=READ_ISSUES, slow=True)
def page_comment(request: RequestContext, target: RepositoryAccess, index: int, id: int) -> RawResponse:  # noqa: A002  # the name in the path
    """Show one full comment, with the form to edit it if the viewer may."""
    return comment_page(request, target, index, id)


@endpoint(
    "POST /{owner}/{repo}/issues/{index}/comments/{id}", scope="issue", guards=CHANGE_ISSUES, keeps_form=True
)
def submit_edit_comment(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    id: int,  # noqa: A002  # named in the path
    body: CommentForm,
) -> RawResponse:
    """Edit a comment; one that changed in the meantime is not overwritten."""
    if body.then == "preview":
        return comment_page(request, target, index, id, typed=body, preview=preview_of(target, body.body))
    comment_with_issue = service.find(request.app, target, id)
    try:
        service.edit(request.app, request.actor, target, comment_with_issue, body.body, version=body.version)
    except DoesNotExist:
        raise
    except Outdated as error:
        # Submitting the form again overwrites the version that is shown now.
        again = CommentForm(body.body)
        return comment_page(request, target, index, id, typed=again, problem=CHANGED, status=status_for(error))
    except HostingError as error:
        problem = message_for(error)
        return comment_page(request, target, index, id, typed=body, problem=problem, status=status_for(error))
    return redirect_to(place_of(request, target, id), "comment-edited")


@endpoint("POST /{owner}/{repo}/issues/{index}/comments/{id}/delete", scope="issue", guards=CHANGE_ISSUES)
def submit_delete_comment(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,  # noqa: ARG001  # named in the path
    id: int,  # noqa: A002  # named in the path
) -> RawResponse:
    """Delete a comment."""
    comment_with_issue = service.find(request.app, target, id)
    service.delete(request.app, request.actor, target, comment_with_issue)
    return redirect_to(page_path(target.repository, comment_with_issue[1]), "comment-deleted")


def place_of(request: RequestContext, target: RepositoryAccess, number: int) -> str:
    """Return the URL of a comment in the timeline."""
    comment, issue = service.find(request.app, target, number)
    return comment_url(request, target, issue, comment)


def comment_page(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    number: int,
    *,
    typed: CommentForm | None = None,
    problem: str = "",
    preview: Markup | None = None,
    status: int = 200,
) -> RawResponse:
    """Render a comment on its own page; 404 for a comment of another issue."""
    comment, issue = service.find(request.app, target, number)
    if issue.number != index:
        raise NoSuchComment("not found")
    with request.app.database.read() as connection:
        people = accounts.accounts_by_id(connection, [comment.author_id] if comment.author_id else [])
    may_edit = not target.repository.is_archived and access.may_edit(
        request.actor, target.permissions, is_pull=issue.is_pull, author_id=comment.author_id
    )
    return show_in(
        request,
        target,
        "issues/comment.html",
        tab=ISSUES,
        title=f"Comment on #{index} · {target.repository.full_name}",
        status=status,
        path=issue_path(target.repository, index),
        back=place_of(request, target, number),
        issue=issue,
        comment=comment,
        author=people.get(comment.author_id or 0),
        text=preview_of(target, comment.body),
        typed=comment.body if typed is None else typed.body,
        edited_version=(typed and typed.version) or body_version(comment.body),
        may_edit=may_edit,
        problem=problem,
        preview=preview,
    )
