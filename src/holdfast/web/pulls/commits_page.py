"""The commits of a pull request."""

from typing import Final

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import NoSuchObject
from holdfast.hosting.git.commits import Commit
from holdfast.hosting.guards import in_repository, reads, sees_pulls
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import pull_changes, pulls
from holdfast.web.code.commit_rows import lines_of
from holdfast.web.issues.rows import rows_of
from holdfast.web.pulls.pull_head import pull_head
from holdfast.web.repository_frame import PULLS, show_in

__all__ = ["READ_CHANGES", "page_pull_commits"]

READ_CHANGES: Final = (in_repository, sees_pulls, reads(Unit.CODE))
SIZE: Final = 50


@endpoint("GET /{owner}/{repo}/pulls/{index}/commits", scope="issue", guards=READ_CHANGES, slow=True)
def page_pull_commits(
    request: RequestContext, target: RepositoryAccess, index: int, page: PageParams
) -> RawResponse:
    """List the commits of a pull request, newest first."""
    issue = pulls.find(request.app, target, index)
    number, commits, total = PageParams(page.number, SIZE).number, list[Commit](), 0
    try:
        span = pull_changes.open_span(request.app, target, issue)
    except NoSuchObject:
        span = None
    if span is not None:
        commits, total = pull_changes.commits(span, skip=(number - 1) * SIZE, limit=SIZE)
    head = pull_head(request, target, issue)
    return show_in(
        request,
        target,
        "pulls/commits.html",
        tab=PULLS,
        title=f"Commits · {issue.title} · #{issue.number} · {target.repository.full_name}",
        issue=issue,
        row=rows_of(request, [issue], target.repository)[0],
        head=head,
        section="commits",
        lines=lines_of(request, commits),
        number=number,
        size=SIZE,
        total=total,
    )
