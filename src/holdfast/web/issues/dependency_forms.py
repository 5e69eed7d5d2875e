"""Forms for dependencies of an issue: search for another issue, add it and remove it."""

import re
from typing import Final
from urllib.parse import urlencode

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import DoesNotExist, HostingError
from holdfast.hosting.guards import LINK_ISSUES
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.dependencies import reader
from holdfast.hosting.services import dependencies, issues
from holdfast.hosting.services.dependencies import IssueReference
from holdfast.hosting.store import issue_lists, visible_issues
from holdfast.hosting.store.issue_lists import Filter
from holdfast.hosting.store.issues import Issue
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.issues.issue_page import RejectedForm, show
from holdfast.web.issues.rows import IssueRow, issue_path, rows_of
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import ISSUES, show_in

__all__ = ["page_find_related", "submit_dependency", "submit_dependency_removal"]

FOUND: Final = 20
# The short form, or the URL of an issue; the host name of the URL is ignored.
REFERENCE: Final = re.compile(
    r"(?:https?://[^/\s]+/)?(?:([\w.-]+)/([\w.-]+)(?:#|/(?:issues|pulls)/))?#?(\d{1,18})/?", re.ASCII
)
BLOCKS: Final = "blocks"
SIDES: Final = {"blocked-by": "is blocked by", BLOCKS: "blocks"}


class RelationForm(msgspec.Struct, frozen=True):
    """The other issue, by reference or search terms, and the side of the dependency."""

    wanted: str = ""
    side: str = "blocked-by"


class IssueSearchQuery(msgspec.Struct, frozen=True):
    """The query of the search."""

    q: str = ""
    side: str = "blocked-by"


def parse_reference(text: str) -> IssueReference | None:
    """Parse `12`, `#12`, `owner/name#12` or the URL of an issue; None for any other text."""
    match = REFERENCE.fullmatch(text.strip())
    return None if match is None else IssueReference(int(match[3]), match[1] or "", match[2] or "")


def name_of(reference: IssueReference) -> str:
    """Return a reference in its short form, such as `#12` or `owner/name#12`."""
    place = f"{reference.owner}/{reference.name}" if reference.owner else ""
    return f"{place}#{reference.number}"


def side_of(text: str) -> str:
    """Return the side of a form; the default for an unknown one."""
    return text if text in SIDES else "blocked-by"


@endpoint("POST /{owner}/{repo}/issues/{index}/dependencies", scope="issue", guards=LINK_ISSUES)
def submit_dependency(
    request: RequestContext, target: RepositoryAccess, index: int, body: RelationForm
) -> RawResponse:
    """Add a dependency on the referenced issue, or search for it."""
    side, reference = side_of(body.side), parse_reference(body.wanted)
    path = issue_path(target.repository, index)
    if reference is None:
        return redirect_to(f"{path}/dependencies/add?{urlencode({'side': side, 'q': body.wanted.strip()})}")
    issue = issues.find(request.app, target, index)
    add = dependencies.add_blocked if side == BLOCKS else dependencies.add_blocker
    try:
        add(request.app, request.actor, target, issue, reference)
    except HostingError as error:
        # The message does not tell which of the two applies: the other issue may be hidden from the viewer.
        problem = (
            f"{body.wanted.strip()} cannot be added: there is no such issue that you can read, or you may not "
            "change what the issue on the other side depends on."
            if isinstance(error, DoesNotExist)
            else message_for(error)
        )
        tried = RejectedForm(problem=problem, wanted=body.wanted, status=status_for(error))
        return show(request, target, index, tried=tried)
    return redirect_to(f"{path}#dependencies", "dependency-added", f"#{index} {SIDES[side]} {name_of(reference)}")


@endpoint("POST /{owner}/{repo}/issues/{index}/dependencies/remove", scope="issue", guards=LINK_ISSUES)
def submit_dependency_removal(
    request: RequestContext, target: RepositoryAccess, index: int, body: RelationForm
) -> RawResponse:
    """Remove a dependency."""
    reference = parse_reference(body.wanted)
    if reference is None:
        raise ApiError(422, "name the issue by its number")
    issue = issues.find(request.app, target, index)
    side = side_of(body.side)
    removed = f"#{index} {SIDES[side]} {name_of(reference)}"
    remove = dependencies.remove_blocked if side == BLOCKS else dependencies.remove_blocker
    try:
        remove(request.app, request.actor, target, issue, reference)
    except HostingError as error:
        gone = "This dependency was removed already, or you may not remove it."
        problem = gone if isinstance(error, DoesNotExist) else message_for(error)
        return show(request, target, index, tried=RejectedForm(problem=problem, status=status_for(error)))
    return redirect_to(f"{issue_path(target.repository, index)}#dependencies", "dependency-removed", removed)


@endpoint("GET /{owner}/{repo}/issues/{index}/dependencies/add", scope="issue", guards=LINK_ISSUES, slow=True)
def page_find_related(
    request: RequestContext, target: RepositoryAccess, index: int, query: IssueSearchQuery
) -> RawResponse:
    """Search for an issue to add."""
    issue = issues.find(request.app, target, index)
    side, text = side_of(query.side), query.q.strip()
    rows, total = candidates(request, target, issue, text) if text else ([], 0)
    return show_in(
        request,
        target,
        "issues/dependency_search.html",
        tab=ISSUES,
        title=f"Dependencies of #{index} · {target.repository.full_name}",
        issue=issue,
        path=issue_path(target.repository, index),
        side=side,
        sides=SIDES,
        text=text,
        rows=rows,
        total=total,
    )


def candidates(
    request: RequestContext, target: RepositoryAccess, issue: Issue, text: str
) -> tuple[list[IssueRow], int]:
    """Return the matching issues, those of the same repository first, and their total."""
    caller, repository = request.actor, target.repository
    where = [issue_lists.visible_to(caller.user, public_only=caller.public_only)]
    if not request.app.settings.allow_cross_repository_dependencies:
        where.append(issue_lists.in_repository(repository, (False, True)))
    # The issues that are related already are few, and are filtered out afterwards.
    excluded_ids = {issue.id}
    for related in (visible_issues.blockers_of, visible_issues.blocked_by):
        excluded_ids |= {
            visible_issue.issue.id
            for visible_issue in related(request.app.database, issue, reader(request), skip=0, limit=FOUND)[0]
        }
    matching_issues, total = issue_lists.list_issues(
        request.app.database,
        where,
        Filter(text=text),
        sort="recentupdate",
        first_repository=repository.id,
        skip=0,
        limit=FOUND + len(excluded_ids),
    )
    left = [candidate for candidate in matching_issues if candidate.id not in excluded_ids]
    return rows_of(request, left[:FOUND]), total - (len(matching_issues) - len(left))
