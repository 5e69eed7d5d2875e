"""Comments on issues and pull requests."""

from datetime import datetime
from typing import Annotated

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.issue_access import READING, WRITING, ask_to_edit, the_issue
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams, page_or_all, paging_headers
from holdfast.hosting.schemas.comments import CommentSchema, comment_list, comment_shape, one_comment
from holdfast.hosting.schemas.times import seconds
from holdfast.hosting.store import comments, issues
from holdfast.hosting.webhooks.payloads import DeletedEntity, before_deleting

__all__ = [
    "create_comment",
    "delete_comment",
    "edit_comment",
    "list_comments",
    "list_repository_comments",
    "show_comment",
]


class CommentsQuery(msgspec.Struct, frozen=True):
    """Only what changed in a stretch of time."""

    since: datetime | None = None
    before: datetime | None = None


class CommentOption(msgspec.Struct, frozen=True):
    """What a comment says."""

    body: Annotated[str, Required] = ""


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/comments", scope="issue", guards=READING, slow=True)
def list_comments(
    request: RequestContext, target: RepositoryAccess, index: int, query: CommentsQuery, page: PageParams
) -> list[CommentSchema]:
    """List the comments on an issue, oldest first; all of them unless a page is asked for."""
    issue = the_issue(request, target, index)
    page = page_or_all(request, page)
    found, total = comments.entries_of(
        request.app.database,
        issue,
        plain=True,
        since=seconds(query.since),
        before=seconds(query.before),
        skip=page.skip,
        limit=page.size,
    )
    request.response_headers |= paging_headers(request, page, total)
    return comment_list(request, target.repository, [(comment, issue) for comment in found])


@endpoint("GET /repos/{owner}/{repo}/issues/comments", scope="issue", guards=READING, slow=True)
def list_repository_comments(
    request: RequestContext, target: RepositoryAccess, query: CommentsQuery, page: PageParams
) -> PagedList[CommentSchema]:
    """List the comments on all issues of a repository, oldest first."""
    found, total = comments.comments_in(
        request.app.database,
        target.repository,
        kinds=access.issue_kinds(target.permissions),
        since=seconds(query.since),
        before=seconds(query.before),
        skip=page.skip,
        limit=page.size,
    )
    return PagedList(comment_list(request, target.repository, found), total)


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/comments",
    scope="issue",
    guards=WRITING,
    status=201,
    refuses=(423,),
)
def create_comment(
    request: RequestContext, target: RepositoryAccess, index: int, body: CommentOption
) -> CommentSchema:
    """Comment on an issue."""
    issue = the_issue(request, target, index)
    if not access.may_comment(target.permissions, is_pull=issue.is_pull, is_locked=issue.is_locked):
        raise ApiError(403, "this issue is locked: only people with write access may comment")
    made = comments.add_comment(request.app.database, target.repository, issue, request.user, body.body)
    return comment_shape(request, target.repository, issue, made, request.user)


def the_comment(
    request: RequestContext, target: RepositoryAccess, number: int
) -> tuple[comments.Comment, issues.Issue]:
    """Return a comment and its issue; one the caller may not read is not there."""
    comment, issue = comments.find_comment(request.app.database, target.repository, number)
    if not target.permissions.may_read(access.issue_unit(is_pull=issue.is_pull)):
        raise ApiError(404)
    return comment, issue


@endpoint("GET /repos/{owner}/{repo}/issues/comments/{id}", scope="issue", guards=READING)
def show_comment(request: RequestContext, target: RepositoryAccess, id: int) -> CommentSchema:  # noqa: A002  # the name in the path
    """Show a comment."""
    comment, issue = the_comment(request, target, id)
    return one_comment(request, target.repository, issue, comment)


@endpoint("PATCH /repos/{owner}/{repo}/issues/comments/{id}", scope="issue", guards=WRITING, refuses=(423,))
def edit_comment(request: RequestContext, target: RepositoryAccess, id: int, body: CommentOption) -> CommentSchema:  # noqa: A002
    """Change what a comment says."""
    comment, issue = the_comment(request, target, id)
    ask_to_edit(request, target, issue, comment.author_id)
    changed = comments.edit_comment(
        request.app.database, target.repository, issue, comment, actor=request.user, body=body.body
    )
    return one_comment(request, target.repository, issue, changed)


@endpoint("DELETE /repos/{owner}/{repo}/issues/comments/{id}", scope="issue", guards=WRITING, refuses=(423,))
def delete_comment(request: RequestContext, target: RepositoryAccess, id: int) -> None:  # noqa: A002
    """Delete a comment."""
    comment, issue = the_comment(request, target, id)
    ask_to_edit(request, target, issue, comment.author_id)
    first = before_deleting(request.app, DeletedEntity(comment_id=comment.id))
    comments.delete_comment(
        request.app.database, target.repository, issue, comment, actor=request.user, first=first
    )
