"""The timeline of an issue: comments and other entries."""

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.comments import CommentsQuery
from holdfast.hosting.guards import READ_ISSUES
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.comments import TimelineComment, timeline
from holdfast.hosting.schemas.times import seconds
from holdfast.hosting.services import issues
from holdfast.hosting.store import comments

__all__ = ["show_timeline"]


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/timeline", scope="issue", guards=READ_ISSUES, slow=True)
def show_timeline(
    request: RequestContext, target: RepositoryAccess, index: int, query: CommentsQuery, page: PageParams
) -> PagedList[TimelineComment]:
    """List the timeline of an issue, oldest first."""
    issue = issues.find(request.app, target, index)
    found, total = comments.entries_of(
        request.app.database,
        issue,
        plain=False,
        since=seconds(query.since),
        before=seconds(query.before),
        skip=page.skip,
        limit=page.size,
    )
    return PagedList(timeline(request, target.repository, issue, found), total)
