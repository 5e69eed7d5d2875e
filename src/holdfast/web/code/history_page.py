"""The history of a branch, a tag or a commit, or of one path in it."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.git import history
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.web.code.commit_rows import CommitRow, lines_of
from holdfast.web.code.location import READING, location_at
from holdfast.web.code.switcher import switcher
from holdfast.web.pages import moment
from holdfast.web.repository_frame import COMMITS, show_in

__all__ = ["Day", "by_day", "page_history"]

PER_PAGE: Final = 40
# The last page: git walks over all commits before a page, so the offset is limited.
LAST_PAGE: Final = 25_000


@dataclass(frozen=True, slots=True)
class Day:
    """The commits of one day."""

    date: datetime
    lines: list[CommitRow]


class CommitHistoryQuery(msgspec.Struct, frozen=True):
    """The page number."""

    page: str = ""


def by_day(lines: list[CommitRow]) -> list[Day]:
    """Group consecutive commits of the same day."""
    grouped = groupby(lines, key=lambda line: moment(line.time).date())
    return [Day(moment(group[0].time), group) for _, commit_rows in grouped for group in [list(commit_rows)]]


@endpoint("GET /{owner}/{repo}/commits/{kind}/{filepath...}", scope="repository", guards=READING, slow=True)
def page_history(
    request: RequestContext,
    target: RepositoryAccess,
    kind: str,
    filepath: str,  # noqa: ARG001  # named in the path
    query: CommitHistoryQuery,  # named in the path
) -> RawResponse:
    """List the commits, newest first."""
    location = location_at(request, target, kind)
    page_number = int(query.page) if query.page.isascii() and query.page.isdigit() and len(query.page) < 8 else 1
    number = min(max(page_number, 1), LAST_PAGE)
    span = history.commit_range(location.repo, location.commit, path=location.path)
    commits = history.commits(location.repo, span, skip=(number - 1) * PER_PAGE, limit=PER_PAGE + 1)
    return show_in(
        request,
        target,
        "code/history.html",
        tab=COMMITS,
        title=f"History of {location.title or location.name} · {target.repository.full_name}",
        location=location,
        crumbs=location.crumbs("commits"),
        switch=switcher(request.app, target.repository, location, "commits"),
        days=by_day(lines_of(request, commits[:PER_PAGE])),
        number=number,
        has_more=len(commits) > PER_PAGE,
    )
