"""Issue search in all repositories the caller can read."""

from typing import Literal

from sqlalchemy import ColumnElement, false

from holdfast.hosting.api.issue_queries import ListQuery, filter_of, order_of
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.issues import IssueSchema, issue_list
from holdfast.hosting.store import issue_lists

__all__ = ["search_issues"]


class SearchIssuesQuery(ListQuery, frozen=True, kw_only=True):
    """Search filters; those from `created` to `reviewed` are about the caller."""

    type: Literal["issues", "pulls", "all"] = "all"
    labels: str = ""
    milestones: str = ""
    owner: str = ""
    team: str = ""
    created: bool = False
    assigned: bool = False
    mentioned: bool = False
    review_requested: bool = False
    reviewed: bool = False
    created_by: str = ""
    priority_repo_id: int = 0


def places_of(request: RequestContext, query: SearchIssuesQuery) -> list[ColumnElement[bool]]:
    """Return the conditions on repositories and owners."""
    conditions: list[ColumnElement[bool]] = []
    if query.owner:
        conditions.append(issue_lists.owned_by(query.owner))
    if query.team:
        if not query.owner:
            raise ApiError(400, "team requires the organization as owner")
        conditions.append(issue_lists.in_team(query.team))
    about_caller = query.created or query.assigned or query.mentioned or query.review_requested or query.reviewed
    if about_caller and request.actor.user is None:
        conditions.append(false())
    return conditions


@endpoint("GET /repos/issues/search", scope="issue", slow=True, refuses=(400,), cacheable=True)
def search_issues(request: RequestContext, query: SearchIssuesQuery, page: PageParams) -> PagedList[IssueSchema]:
    """Search the issues and pull requests of all repositories the caller can read."""
    me = "" if request.actor.user is None else request.actor.user.name
    filters = filter_of(
        query,
        labels=query.labels,
        milestones=query.milestones,
        author=query.created_by or (me if query.created else ""),
        assignee=me if query.assigned else "",
        mentioned=me if query.mentioned else "",
        review_requested_from=me if query.review_requested else "",
        reviewed_by=me if query.reviewed else "",
    )
    caller, places = request.actor, places_of(request, query)
    kinds = {"issues": (False,), "pulls": (True,)}.get(query.type, (False, True))
    issues, total = issue_lists.list_issues(
        request.app.database,
        [issue_lists.visible_to(caller.user, public_only=caller.public_only, kinds=kinds), *places],
        filters,
        sort=order_of(query),
        kept=issue_lists.kept_visible(caller.user, public_only=caller.public_only, kinds=kinds, places=places),
        first_repository=query.priority_repo_id,
        skip=page.skip,
        limit=page.size,
    )
    return PagedList(issue_list(request, issues), total)
