"""Who issues are assigned to, and who they can be assigned to."""

from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.issue_access import WRITING, ask_to_write, the_issue
from holdfast.hosting.guards import in_repository
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PageParams, page_or_all, paging_headers
from holdfast.hosting.schemas.issues import IssueSchema, one_issue
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.store import assignees

__all__ = ["add_issue_assignees", "list_assignees", "remove_issue_assignees"]


class AssigneesOption(msgspec.Struct, frozen=True):
    """People by their names."""

    assignees: Annotated[list[str], Meta(max_length=100)] = []


@endpoint("GET /repos/{owner}/{repo}/assignees", scope="repository", guards=(in_repository,), slow=True)
def list_assignees(request: RequestContext, target: RepositoryAccess, page: PageParams) -> list[UserSchema]:
    """List who can be assigned: everybody who may write; all of them unless a page is asked for."""
    page = page_or_all(request, page)
    found, total = assignees.assignable(request.app.database, target.repository, skip=page.skip, limit=page.size)
    request.response_headers |= paging_headers(request, page, total)
    return [user(request, account) for account in found]


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/assignees",
    scope="issue",
    guards=WRITING,
    status=201,
    refuses=(423,),
)
def add_issue_assignees(
    request: RequestContext, target: RepositoryAccess, index: int, body: AssigneesOption
) -> IssueSchema:
    """Assign an issue to more people."""
    issue = the_issue(request, target, index)
    ask_to_write(target, issue)
    people = assignees.people_named(request.app.database, target.repository, body.assignees)
    assignees.add_assignees(request.app.database, target.repository, issue, request.user, people)
    return one_issue(request, target.repository, the_issue(request, target, index))


@endpoint("DELETE /repos/{owner}/{repo}/issues/{index}/assignees", scope="issue", guards=WRITING, refuses=(423,))
def remove_issue_assignees(
    request: RequestContext, target: RepositoryAccess, index: int, body: AssigneesOption
) -> IssueSchema:
    """Free people of an issue; who it was not assigned to is not missed."""
    issue = the_issue(request, target, index)
    ask_to_write(target, issue)
    assignees.remove_assignees(request.app.database, target.repository, issue, request.user, body.assignees)
    return one_issue(request, target.repository, the_issue(request, target, index))
