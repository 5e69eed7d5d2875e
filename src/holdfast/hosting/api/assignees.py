"""The API of assignees of an issue, and of users who can be assigned in a repository."""

from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import CHANGE_ISSUES, in_repository
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PageParams, page_or_all, paging_headers
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.issues import IssueSchema, one_issue
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import issues
from holdfast.hosting.store import assignees

__all__ = ["add_issue_assignees", "list_assignees", "remove_issue_assignees"]


class AssigneesOption(msgspec.Struct, frozen=True):
    """Users by name."""

    assignees: Annotated[list[str], Meta(max_length=100)] = []


@endpoint("GET /repos/{owner}/{repo}/assignees", scope="repository", guards=(in_repository,), slow=True)
def list_assignees(request: RequestContext, target: RepositoryAccess, page: PageParams) -> list[UserSchema]:
    """List the users who can be assigned: those with write access; not paged by default."""
    page = page_or_all(request, page)
    accounts, total = assignees.assignable(
        request.app.database, target.repository, skip=page.skip, limit=page.size
    )
    request.response_headers |= paging_headers(request, page, total)
    return [user(request, account) for account in accounts]


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/assignees",
    scope="issue",
    guards=CHANGE_ISSUES,
    status=201,
    refuses=(423,),
)
def add_issue_assignees(
    request: RequestContext, target: RepositoryAccess, index: int, body: AssigneesOption
) -> IssueSchema:
    """Add assignees to an issue."""
    issue = issues.find(request.app, target, index)
    changed = issues.add_assignees(request.app, request.actor, target, issue, body.assignees)
    return one_issue(request, target.repository, changed)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/assignees", scope="issue", guards=CHANGE_ISSUES, refuses=(423,)
)
def remove_issue_assignees(
    request: RequestContext, target: RepositoryAccess, index: int, body: AssigneesOption
) -> IssueSchema:
    """Remove assignees from an issue; names that are not among them are ignored."""
    issue = issues.find(request.app, target, index)
    changed = issues.remove_assignees(request.app, request.actor, target, issue, body.assignees)
    return one_issue(request, target.repository, changed)
