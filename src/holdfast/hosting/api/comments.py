"""The API of comments on issues and pull requests, and of timelines."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import CHANGE_ISSUES, READ_ISSUES
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.long_lists import batches_of, list_or_stream
from holdfast.hosting.http.pagination import PagedList, PageParams, page_or_all, paging_headers
from holdfast.hosting.http.responses import RawResponse
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.comments import (
    CommentSchema,
    TimelineComment,
    comment_list,
    comment_shape,
    one_comment,
    timeline,
)
from holdfast.hosting.schemas.dependencies import reader
from holdfast.hosting.schemas.times import seconds
from holdfast.hosting.services import comments as service
from holdfast.hosting.services import issues
from holdfast.hosting.store import comments
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.repositories import Repository

__all__ = [
    "create_comment",
    "delete_comment",
    "edit_comment",
    "list_comments",
    "list_repository_comments",
    "show_comment",
    "show_timeline",
]


class CommentsQuery(msgspec.Struct, frozen=True):
    """A time range of updates."""

    since: datetime | None = None
    before: datetime | None = None


class CommentOption(msgspec.Struct, frozen=True):
    """The body of a comment."""

    body: Annotated[str, Meta(description=f"At most {service.BODY_LENGTH} characters"), Required] = ""


@endpoint(
    "GET /repos/{owner}/{repo}/issues/{index}/comments",
    scope="issue",
    guards=READ_ISSUES,
    slow=True,
    cacheable=True,
)
def list_comments(
    request: RequestContext, target: RepositoryAccess, index: int, query: CommentsQuery, page: PageParams
) -> list[CommentSchema] | RawResponse:
    """List the comments on an issue, oldest first; not paged by default, and streamed if they are long."""
    issue = issues.find(request.app, target, index)
    page = page_or_all(request, page)
    ids, total = comments.plain_ids(
        request.app.database,
        issue,
        since=seconds(query.since),
        before=seconds(query.before),
        skip=page.skip,
        limit=page.size,
    )
    request.response_headers |= paging_headers(request, page, total)
    batches = comment_batches(request, target.repository, issue, ids)
    return list_or_stream(batches, lambda comment: comment.body)


def comment_batches(
    request: RequestContext, repository: Repository, issue: Issue, ids: Sequence[int]
) -> Iterator[list[CommentSchema]]:
    """Yield comments in batches; those that were deleted meanwhile are left out."""
    for some in batches_of(ids):
        with request.app.database.read() as connection:
            by_id = comments.comments_by_id(connection, some)
        yield comment_list(request, repository, [(by_id[number], issue) for number in some if number in by_id])


@endpoint(
    "GET /repos/{owner}/{repo}/issues/comments", scope="issue", guards=READ_ISSUES, slow=True, cacheable=True
)
def list_repository_comments(
    request: RequestContext, target: RepositoryAccess, query: CommentsQuery, page: PageParams
) -> PagedList[CommentSchema]:
    """List the comments on all issues of a repository, oldest first."""
    comments_with_issues, total = comments.comments_in(
        request.app.database,
        target.repository,
        kinds=access.issue_kinds(target.permissions),
        since=seconds(query.since),
        before=seconds(query.before),
        skip=page.skip,
        limit=page.size,
    )
    return PagedList(comment_list(request, target.repository, comments_with_issues), total)


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/comments",
    scope="issue",
    guards=CHANGE_ISSUES,
    status=201,
    refuses=(423,),
)
def create_comment(
    request: RequestContext, target: RepositoryAccess, index: int, body: CommentOption
) -> CommentSchema:
    """Comment on an issue."""
    issue = issues.find(request.app, target, index)
    created = service.create(request.app, request.actor, target, issue, body.body)
    return comment_shape(request, target.repository, issue, created, request.user)


@endpoint("GET /repos/{owner}/{repo}/issues/comments/{id}", scope="issue", guards=READ_ISSUES)
def show_comment(request: RequestContext, target: RepositoryAccess, id: int) -> CommentSchema:  # noqa: A002  # the name in the path
    """Show a comment."""
    comment, issue = service.find(request.app, target, id)
    return one_comment(request, target.repository, issue, comment)


@endpoint("PATCH /repos/{owner}/{repo}/issues/comments/{id}", scope="issue", guards=CHANGE_ISSUES, refuses=(423,))
def edit_comment(request: RequestContext, target: RepositoryAccess, id: int, body: CommentOption) -> CommentSchema:  # noqa: A002  # the path parameter's name
    """Change the body of a comment."""
    comment_with_issue = service.find(request.app, target, id)
    changed = service.edit(request.app, request.actor, target, comment_with_issue, body.body)
    return one_comment(request, target.repository, comment_with_issue[1], changed)


@endpoint("DELETE /repos/{owner}/{repo}/issues/comments/{id}", scope="issue", guards=CHANGE_ISSUES, refuses=(423,))
def delete_comment(request: RequestContext, target: RepositoryAccess, id: int) -> None:  # noqa: A002  # the path parameter's name
    """Delete a comment."""
    service.delete(request.app, request.actor, target, service.find(request.app, target, id))


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/timeline", scope="issue", guards=READ_ISSUES, slow=True)
def show_timeline(
    request: RequestContext, target: RepositoryAccess, index: int, query: CommentsQuery, page: PageParams
) -> PagedList[TimelineComment]:
    """List the timeline of an issue, oldest first."""
    issue = issues.find(request.app, target, index)
    entries, total = comments.entries_of(
        request.app.database,
        issue,
        plain=False,
        reader=reader(request),
        since=seconds(query.since),
        before=seconds(query.before),
        skip=page.skip,
        limit=page.size,
    )
    return PagedList(timeline(request, target.repository, issue, entries), total)
