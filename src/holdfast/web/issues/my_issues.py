"""The issues and pull requests a user opened, is assigned to, is mentioned in or is asked to review."""

from dataclasses import replace
from typing import Final

import msgspec

from holdfast.hosting.guards import signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import issue_lists
from holdfast.hosting.store.issue_lists import Filter
from holdfast.web.issues.issue_list import SIZE, SORTS, STATES, IssueFilter
from holdfast.web.issues.rows import rows_of
from holdfast.web.pages import page as show

__all__ = ["page_your_issues", "page_your_pulls"]

ABOUT: Final = {"assigned": "Assigned to you", "created": "Opened by you", "mentioned": "Mentioning you"}
PULLS_ABOUT: Final = ABOUT | {"review-requested": "Review requests"}


class YoursQuery(msgspec.Struct, frozen=True):
    """The query of the list."""

    about: str = ""
    state: str = "open"
    q: str = ""
    sort: str = "recentupdate"
    ready: str = ""


@endpoint("GET /-/issues", scope="issue", guards=(signed_in,), slow=True)
def page_your_issues(request: RequestContext, query: YoursQuery, page: PageParams) -> RawResponse:
    """List the issues of the user in all repositories they can read."""
    return your_list(request, query, page, is_pull=False)


@endpoint("GET /-/pulls", scope="issue", guards=(signed_in,), slow=True)
def page_your_pulls(request: RequestContext, query: YoursQuery, page: PageParams) -> RawResponse:
    """List the pull requests of the user in all repositories they can read."""
    return your_list(request, query, page, is_pull=True)


def your_list(request: RequestContext, query: YoursQuery, page: PageParams, *, is_pull: bool) -> RawResponse:
    """Render the issues or the pull requests of the user."""
    database, user = request.app.database, request.user
    abouts = PULLS_ABOUT if is_pull else ABOUT
    about = query.about if query.about in abouts else "created" if is_pull else "assigned"
    ready = query.ready == "true"
    issue_filter = IssueFilter(
        state="open" if ready else query.state if query.state in STATES else "open",
        q=query.q.strip(),
        sort=query.sort if query.sort in SORTS else "recentupdate",
        ready=ready,
    )
    where = [issue_lists.visible_to(user, public_only=request.actor.public_only, kinds=(is_pull,))]
    wanted = with_person(issue_filter.filter(is_closed=STATES[issue_filter.state]), about, user.name)
    page_params = PageParams(page.number, SIZE)
    issues, total = issue_lists.list_issues(
        database, where, wanted, sort=issue_filter.sort, skip=page_params.skip, limit=SIZE
    )
    counts = {issue_filter.state: total}
    if not ready and issue_filter.state != "all":
        other_state = "closed" if issue_filter.state == "open" else "open"
        counts[other_state] = issue_lists.count_issues(
            database, where, with_person(issue_filter.filter(is_closed=STATES[other_state]), about, user.name)
        )
    return show(
        request,
        "issues/yours.html",
        title="Your pull requests" if is_pull else "Your issues",
        things="pull requests" if is_pull else "issues",
        here_path="/-/pulls" if is_pull else "/-/issues",
        issue_filter=issue_filter,
        about=about,
        abouts=abouts,
        rows=rows_of(request, issues),
        total=total,
        counts=counts,
        number=page_params.number,
        size=SIZE,
        sorts=SORTS,
    )


def with_person(wanted: Filter, about: str, name: str) -> Filter:
    """Return the filter limited to issues assigned to, opened by, mentioning or to be reviewed by a user."""
    match about:
        case "assigned":
            return replace(wanted, assignee=name)
        case "created":
            return replace(wanted, author=name)
        case "review-requested":
            return replace(wanted, review_requested_from=name)
        case _:
            return replace(wanted, mentioned=name)
