"""The timeline of an issue: its comments, and everything else that happened to it."""

from holdfast.hosting.api.comments import CommentsQuery
from holdfast.hosting.api.issue_access import READING, the_issue
from holdfast.hosting.guards import Place
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import Listed, Page
from holdfast.hosting.schemas.comments import TimelineComment, timeline
from holdfast.hosting.schemas.times import seconds
from holdfast.hosting.store import comments

__all__ = ["show_timeline"]


@endpoint("GET /repos/{owner}/{repo}/issues/{index}/timeline", scope="issue", guards=READING, slow=True)
def show_timeline(
    call: Call, place: Place, index: int, query: CommentsQuery, page: Page
) -> Listed[TimelineComment]:
    """List everything that happened to an issue, oldest first."""
    issue = the_issue(call, place, index)
    found, total = comments.entries_of(
        call.host.database,
        issue,
        plain=False,
        since=seconds(query.since),
        before=seconds(query.before),
        skip=page.skip,
        limit=page.size,
    )
    return Listed(timeline(call, place.repository, issue, found), total)
