"""Comments on issues and pull requests."""

from datetime import datetime
from typing import Annotated

import msgspec

from holdfast.hosting import access
from holdfast.hosting.api.issue_access import READING, WRITING, ask_to_edit, the_issue
from holdfast.hosting.guards import Place
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import Refusal
from holdfast.hosting.http.pagination import Listed, Page, page_or_all, paging_headers
from holdfast.hosting.schemas.comments import Comment, comment_list, one_comment
from holdfast.hosting.schemas.times import seconds
from holdfast.hosting.store import comments, issues
from holdfast.hosting.webhooks.payloads import Doomed, before_deleting

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
def list_comments(call: Call, place: Place, index: int, query: CommentsQuery, page: Page) -> list[Comment]:
    """List the comments on an issue, oldest first; all of them unless a page is asked for."""
    issue = the_issue(call, place, index)
    page = page_or_all(call, page)
    found, total = comments.entries_of(
        call.host.database,
        issue,
        plain=True,
        since=seconds(query.since),
        before=seconds(query.before),
        skip=page.skip,
        limit=page.size,
    )
    call.answer_headers |= paging_headers(call, page, total)
    return comment_list(call, place.repository, [(comment, issue) for comment in found])


@endpoint("GET /repos/{owner}/{repo}/issues/comments", scope="issue", guards=READING, slow=True)
def list_repository_comments(call: Call, place: Place, query: CommentsQuery, page: Page) -> Listed[Comment]:
    """List the comments on all issues of a repository, oldest first."""
    found, total = comments.comments_in(
        call.host.database,
        place.repository,
        kinds=access.issue_kinds(place.access),
        since=seconds(query.since),
        before=seconds(query.before),
        skip=page.skip,
        limit=page.size,
    )
    return Listed(comment_list(call, place.repository, found), total)


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/comments",
    scope="issue",
    guards=WRITING,
    status=201,
    refuses=(423,),
)
def create_comment(call: Call, place: Place, index: int, body: CommentOption) -> Comment:
    """Comment on an issue."""
    issue = the_issue(call, place, index)
    if not access.may_comment(place.access, is_pull=issue.is_pull, is_locked=issue.is_locked):
        raise Refusal(403, "this issue is locked: only people with write access may comment")
    made = comments.add_comment(call.host.database, place.repository, issue, call.user, body.body)
    return one_comment(call, place.repository, issue, made)


def the_comment(call: Call, place: Place, number: int) -> tuple[comments.Comment, issues.Issue]:
    """Return a comment and its issue; one the caller may not read is not there."""
    comment, issue = comments.find_comment(call.host.database, place.repository, number)
    if not place.access.may_read(access.issue_unit(is_pull=issue.is_pull)):
        raise Refusal(404)
    return comment, issue


@endpoint("GET /repos/{owner}/{repo}/issues/comments/{id}", scope="issue", guards=READING)
def show_comment(call: Call, place: Place, id: int) -> Comment:  # noqa: A002  # the name in the path
    """Show a comment."""
    comment, issue = the_comment(call, place, id)
    return one_comment(call, place.repository, issue, comment)


@endpoint("PATCH /repos/{owner}/{repo}/issues/comments/{id}", scope="issue", guards=WRITING, refuses=(423,))
def edit_comment(call: Call, place: Place, id: int, body: CommentOption) -> Comment:  # noqa: A002
    """Change what a comment says."""
    comment, issue = the_comment(call, place, id)
    ask_to_edit(call, place, issue, comment.author_id)
    changed = comments.edit_comment(
        call.host.database, place.repository, issue, comment, actor=call.user, body=body.body
    )
    return one_comment(call, place.repository, issue, changed)


@endpoint("DELETE /repos/{owner}/{repo}/issues/comments/{id}", scope="issue", guards=WRITING, refuses=(423,))
def delete_comment(call: Call, place: Place, id: int) -> None:  # noqa: A002
    """Delete a comment."""
    comment, issue = the_comment(call, place, id)
    ask_to_edit(call, place, issue, comment.author_id)
    first = before_deleting(call.host, Doomed(comment_id=comment.id))
    comments.delete_comment(call.host.database, place.repository, issue, comment, actor=call.user, first=first)
