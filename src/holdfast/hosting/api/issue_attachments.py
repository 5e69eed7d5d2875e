"""Files of issues, pull requests and comments: list, upload, rename and delete them."""

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.release_assets import (
    AttachmentQuery,
    EditAttachmentOptions,
    largest_attachment,
    uploaded_file,
)
from holdfast.hosting.guards import CHANGE_ISSUES, READ_ISSUES
from holdfast.hosting.http.body import Upload
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.attachments import AttachmentSchema, attachment
from holdfast.hosting.services import issue_attachments as service
from holdfast.hosting.services.issue_attachments import FilesOwner

__all__ = [
    "create_comment_attachment",
    "create_issue_attachment",
    "delete_comment_attachment",
    "delete_issue_attachment",
    "edit_comment_attachment",
    "edit_issue_attachment",
    "list_comment_attachments",
    "list_issue_attachments",
    "show_comment_attachment",
    "show_issue_attachment",
]


def create(
    request: RequestContext, target: RepositoryAccess, owner: FilesOwner, query: AttachmentQuery, upload: Upload
) -> AttachmentSchema:
    """Add an uploaded file to an issue or a comment."""
    name, path = uploaded_file(request, upload, query)
    return attachment(request, service.add(request.app, request.actor, target, owner, name=name, path=path))


def edit(
    request: RequestContext,
    target: RepositoryAccess,
    owner: FilesOwner,
    number: int,
    body: EditAttachmentOptions,
) -> AttachmentSchema:
    """Rename a file of an issue or a comment."""
    file = service.find(request.app, owner, number)
    if body.name:
        file = service.rename(request.app, request.actor, target, owner, file, name=body.name)
    return attachment(request, file)


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/assets", scope="issue", guards=READ_ISSUES)
def list_issue_attachments(
    request: RequestContext, target: RepositoryAccess, index: int
) -> list[AttachmentSchema]:
    """List the files of an issue or a pull request."""
    owner = service.of_issue(request.app, target, index)
    return [attachment(request, stored) for stored in service.list_files(request.app, owner)]


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/assets",
    scope="issue",
    guards=CHANGE_ISSUES,
    status=201,
    refuses=(400, 404, 413, 423),
    largest_body=largest_attachment,
)
def create_issue_attachment(
    request: RequestContext, target: RepositoryAccess, index: int, query: AttachmentQuery, upload: Upload
) -> AttachmentSchema:
    """Add a file to an issue: the field `attachment` of a form, or the body with `?name=`."""
    return create(request, target, service.of_issue(request.app, target, index), query, upload)


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}", scope="issue", guards=READ_ISSUES)
def show_issue_attachment(
    request: RequestContext, target: RepositoryAccess, index: int, attachment_id: int
) -> AttachmentSchema:
    """Show a file of an issue."""
    owner = service.of_issue(request.app, target, index)
    return attachment(request, service.find(request.app, owner, attachment_id))


@endpoint(
    "PATCH /repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}",
    scope="issue",
    guards=CHANGE_ISSUES,
    status=201,
    refuses=(404, 423),
)
def edit_issue_attachment(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    attachment_id: int,
    body: EditAttachmentOptions,
) -> AttachmentSchema:
    """Rename a file of an issue."""
    return edit(request, target, service.of_issue(request.app, target, index), attachment_id, body)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}",
    scope="issue",
    guards=CHANGE_ISSUES,
    refuses=(423,),
)
def delete_issue_attachment(
    request: RequestContext, target: RepositoryAccess, index: int, attachment_id: int
) -> None:
    """Delete a file of an issue."""
    owner = service.of_issue(request.app, target, index)
    file = service.find(request.app, owner, attachment_id)
    service.delete(request.app, request.actor, target, owner, file)


@endpoint("GET /repos/{owner}/{repo}/issues/comments/{id}/assets", scope="issue", guards=READ_ISSUES)
def list_comment_attachments(request: RequestContext, target: RepositoryAccess, id: int) -> list[AttachmentSchema]:  # noqa: A002  # the name in the path
    """List the files of a comment."""
    owner = service.of_comment(request.app, target, id)
    return [attachment(request, stored) for stored in service.list_files(request.app, owner)]


@endpoint(
    "POST /repos/{owner}/{repo}/issues/comments/{id}/assets",
    scope="issue",
    guards=CHANGE_ISSUES,
    status=201,
    refuses=(400, 404, 413, 423),
    largest_body=largest_attachment,
)
def create_comment_attachment(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    query: AttachmentQuery,
    upload: Upload,
) -> AttachmentSchema:
    """Add a file to a comment: the field `attachment` of a form, or the body with `?name=`."""
    return create(request, target, service.of_comment(request.app, target, id), query, upload)


@endpoint(
    "GET /repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}", scope="issue", guards=READ_ISSUES
)
def show_comment_attachment(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    attachment_id: int,
) -> AttachmentSchema:
    """Show a file of a comment."""
    owner = service.of_comment(request.app, target, id)
    return attachment(request, service.find(request.app, owner, attachment_id))


@endpoint(
    "PATCH /repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}",
    scope="issue",
    guards=CHANGE_ISSUES,
    status=201,
    refuses=(404, 423),
)
def edit_comment_attachment(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    attachment_id: int,
    body: EditAttachmentOptions,
) -> AttachmentSchema:
    """Rename a file of a comment."""
    return edit(request, target, service.of_comment(request.app, target, id), attachment_id, body)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}",
    scope="issue",
    guards=CHANGE_ISSUES,
    refuses=(423,),
)
def delete_comment_attachment(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    attachment_id: int,
) -> None:
    """Delete a file of a comment."""
    owner = service.of_comment(request.app, target, id)
    file = service.find(request.app, owner, attachment_id)
    service.delete(request.app, request.actor, target, owner, file)
