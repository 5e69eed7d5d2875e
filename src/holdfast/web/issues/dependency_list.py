"""The page that lists all issues on one side of an issue's dependencies."""

from typing import Final

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import READ_ISSUES
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.dependencies import reader
from holdfast.hosting.services import dependencies, issues
from holdfast.hosting.store import visible_issues
from holdfast.web.issues.dependency_forms import BLOCKS, SIDES, side_of
from holdfast.web.issues.related import related_issue
from holdfast.web.issues.rows import issue_path
from holdfast.web.repository_frame import ISSUES, show_in

__all__ = ["page_dependency_list"]

PER_PAGE: Final = 50


class DependencyListQuery(msgspec.Struct, frozen=True):
    """The side of the dependencies, and the page number."""

    side: str = ""
    page: str = ""


@endpoint("GET /{owner}/{repo}/issues/{index}/dependencies/list", scope="issue", guards=READ_ISSUES, slow=True)
def page_dependency_list(
    request: RequestContext, target: RepositoryAccess, index: int, query: DependencyListQuery
) -> RawResponse:
    """List the issues that block an issue, or those it blocks."""
    issue = issues.find(request.app, target, index)
    dependencies.require_dependencies(target)
    side = side_of(query.side)
    number = int(query.page) if query.page.isascii() and query.page.isdigit() and len(query.page) < 8 else 1
    list_side = visible_issues.blocked_by if side == BLOCKS else visible_issues.blockers_of
    page_issues, total = list_side(
        request.app.database, issue, reader(request), skip=(max(number, 1) - 1) * PER_PAGE, limit=PER_PAGE
    )
    # Users who may edit an issue see the references of all its blockers; those it blocks need read permission.
    writes = (
        side != BLOCKS and not target.repository.is_archived and access.may_write_issue(target.permissions, issue)
    )
    rows = [
        related_issue(visible_issue, target.repository, writes=writes)
        for visible_issue in page_issues
        if visible_issue.is_readable or side != BLOCKS
    ]
    return show_in(
        request,
        target,
        "issues/dependency_list.html",
        tab=ISSUES,
        title=f"Dependencies of #{index} · {target.repository.full_name}",
        issue=issue,
        path=issue_path(target.repository, index),
        side=side,
        sides=SIDES,
        rows=rows,
        number=max(number, 1),
        size=PER_PAGE,
        total=total,
    )
