"""Reactions to issues and comments."""

from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import CHANGE_ISSUES, READ_ISSUES
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams, page_or_all, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import comments, issues
from holdfast.hosting.services import reactions as service
from holdfast.hosting.store.reactions import IssueReaction

__all__ = [
    "create_comment_reaction",
    "create_issue_reaction",
    "delete_comment_reaction",
    "delete_issue_reaction",
    "list_comment_reactions",
    "list_issue_reactions",
]


class ReactionSchema(msgspec.Struct, frozen=True):
    """A reaction of a user."""

    user: UserSchema
    content: str
    created_at: Time


class EditReactionOption(msgspec.Struct, frozen=True):
    """A reaction to add or to remove: `+1`, `-1`, `laugh`, `hooray`, `confused`, `heart`, `rocket` or `eyes`."""

    content: Annotated[str, Meta(max_length=255)] = ""


def encode(request: RequestContext, issue_reaction: IssueReaction) -> ReactionSchema:
    """Encode a reaction."""
    return ReactionSchema(
        user(request, issue_reaction.user), issue_reaction.content, moment(issue_reaction.created_at)
    )


@endpoint(
    "GET /repos/{owner}/{repo}/issues/{index}/reactions", scope="issue", guards=READ_ISSUES, refuses=(403, 404)
)
def list_issue_reactions(
    request: RequestContext, target: RepositoryAccess, index: int, page: PageParams
) -> PagedList[ReactionSchema]:
    """List the reactions to an issue, oldest first."""
    issue = issues.find(request.app, target, index)
    issue_reactions, total = service.list_reactions(request.app, issue, None, skip=page.skip, limit=page.size)
    return PagedList([encode(request, issue_reaction) for issue_reaction in issue_reactions], total)


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/reactions",
    scope="issue",
    guards=CHANGE_ISSUES,
    also={201: ReactionSchema},
    refuses=(403, 404, 423),
)
def create_issue_reaction(
    request: RequestContext, target: RepositoryAccess, index: int, body: EditReactionOption
) -> tuple[int, ReactionSchema]:
    """React to an issue; 200 if the reaction already exists."""
    issue = issues.find(request.app, target, index)
    issue_reaction, is_new = service.add(request.app, request.actor, target, issue, None, content=body.content)
    return 201 if is_new else 200, encode(request, issue_reaction)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/reactions",
    scope="issue",
    guards=CHANGE_ISSUES,
    refuses=(403, 404, 423),
)
def delete_issue_reaction(
    request: RequestContext, target: RepositoryAccess, index: int, body: EditReactionOption
) -> None:
    """Remove the authenticated user's reaction to an issue."""
    issue = issues.find(request.app, target, index)
    service.remove(request.app, request.actor, target, issue, None, content=body.content)


@endpoint(
    "GET /repos/{owner}/{repo}/issues/comments/{id}/reactions",
    scope="issue",
    guards=READ_ISSUES,
    refuses=(403, 404),
)
def list_comment_reactions(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    page: PageParams,
) -> list[ReactionSchema]:
    """List the reactions to a comment, oldest first; not paged by default."""
    comment, issue = comments.find(request.app, target, id)
    page = page_or_all(request, page)
    issue_reactions, total = service.list_reactions(request.app, issue, comment, skip=page.skip, limit=page.size)
    request.response_headers |= paging_headers(request, page, total)
    return [encode(request, issue_reaction) for issue_reaction in issue_reactions]


@endpoint(
    "POST /repos/{owner}/{repo}/issues/comments/{id}/reactions",
    scope="issue",
    guards=CHANGE_ISSUES,
    also={201: ReactionSchema},
    refuses=(403, 404, 423),
)
def create_comment_reaction(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    body: EditReactionOption,
) -> tuple[int, ReactionSchema]:
    """React to a comment; 200 if the reaction already exists."""
    comment, issue = comments.find(request.app, target, id)
    issue_reaction, is_new = service.add(request.app, request.actor, target, issue, comment, content=body.content)
    return 201 if is_new else 200, encode(request, issue_reaction)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/comments/{id}/reactions",
    scope="issue",
    guards=CHANGE_ISSUES,
    refuses=(403, 404, 423),
)
def delete_comment_reaction(
    request: RequestContext,
    target: RepositoryAccess,
    id: int,  # noqa: A002  # named in the path
    body: EditReactionOption,
) -> None:
    """Remove the authenticated user's reaction to a comment."""
    comment, issue = comments.find(request.app, target, id)
    service.remove(request.app, request.actor, target, issue, comment, content=body.content)
