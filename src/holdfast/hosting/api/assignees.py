"""Who issues are assigned to, and who they can be assigned to."""

from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting.api.issue_access import WRITING, ask_to_write, the_issue
from holdfast.hosting.guards import Place, in_repository
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import Page, page_or_all, paging_headers
from holdfast.hosting.schemas.issues import Issue, one_issue
from holdfast.hosting.schemas.users import User, user
from holdfast.hosting.store import assignees

__all__ = ["add_issue_assignees", "list_assignees", "remove_issue_assignees"]


class AssigneesOption(msgspec.Struct, frozen=True):
    """People by their names."""

    assignees: Annotated[list[str], Meta(max_length=100)] = []


@endpoint("GET /repos/{owner}/{repo}/assignees", scope="repository", guards=(in_repository,), slow=True)
def list_assignees(call: Call, place: Place, page: Page) -> list[User]:
    """List who can be assigned: everybody who may write; all of them unless a page is asked for."""
    page = page_or_all(call, page)
    found, total = assignees.assignable(call.host.database, place.repository, skip=page.skip, limit=page.size)
    call.answer_headers |= paging_headers(call, page, total)
    return [user(call, account) for account in found]


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/assignees",
    scope="issue",
    guards=WRITING,
    status=201,
    refuses=(423,),
)
def add_issue_assignees(call: Call, place: Place, index: int, body: AssigneesOption) -> Issue:
    """Assign an issue to more people."""
    issue = the_issue(call, place, index)
    ask_to_write(place, issue)
    people = assignees.people_named(call.host.database, place.repository, body.assignees)
    assignees.add_assignees(call.host.database, place.repository, issue, call.user, people)
    return one_issue(call, place.repository, the_issue(call, place, index))


@endpoint("DELETE /repos/{owner}/{repo}/issues/{index}/assignees", scope="issue", guards=WRITING, refuses=(423,))
def remove_issue_assignees(call: Call, place: Place, index: int, body: AssigneesOption) -> Issue:
    """Free people of an issue; who it was not assigned to is not missed."""
    issue = the_issue(call, place, index)
    ask_to_write(place, issue)
    assignees.remove_assignees(call.host.database, place.repository, issue, call.user, body.assignees)
    return one_issue(call, place.repository, the_issue(call, place, index))
