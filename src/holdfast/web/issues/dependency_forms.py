"""Lets an issue depend on others: named by number or found by words, added and removed."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.dependencies import (
    LINKING,
    add_block,
    add_dependency,
    remove_block,
    remove_dependency,
)
from holdfast.hosting.api.issue_access import the_issue
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.schemas.dependencies import reader
from holdfast.hosting.store import issue_lists, visible_issues
from holdfast.hosting.store.issue_lists import Filter
from holdfast.hosting.store.issues import Issue
from holdfast.web.api_actions import act
from holdfast.web.error_messages import message_for
from holdfast.web.issues.issue_page import RejectedForm, show
from holdfast.web.issues.rows import IssueRow, issue_path, rows_of
from holdfast.web.pages import go
from holdfast.web.repository_frame import ISSUES, show_in

__all__ = ["page_find_related", "submit_dependency", "submit_dependency_removal"]

FOUND: Final = 20
# An address of this service's or of another's that looks like it works as well as the short form.
NAMED: Final = re.compile(
    r"(?:https?://[^/\s]+/)?(?:([\w.-]+)/([\w.-]+)(?:#|/(?:issues|pulls)/))?#?(\d{1,18})/?", re.ASCII
)
BLOCKS: Final = "blocks"
SIDES: Final = {"blocked-by": "is blocked by", BLOCKS: "blocks"}


class RelationForm(msgspec.Struct, frozen=True):
    """The other issue, by its number, its full name or words of it, and on which side of the relation it is."""

    wanted: str = ""
    side: str = "blocked-by"


class IssueSearchQuery(msgspec.Struct, frozen=True):
    """What is looked for."""

    q: str = ""
    side: str = "blocked-by"


@dataclass(frozen=True, slots=True)
class IssueReference:
    """An issue as somebody wrote it; without an owner it is one of the same repository."""

    owner: str
    name: str
    number: int

    @property
    def body(self) -> dict[str, object]:
        """What the API takes."""
        return {"owner": self.owner, "name": self.name, "index": self.number}


def named(text: str) -> IssueReference | None:
    """Read `12`, `#12`, `owner/name#12` or an address; None when it is none of these."""
    found = NAMED.fullmatch(text.strip())
    return None if found is None else IssueReference(found[1] or "", found[2] or "", int(found[3]))


def side_of(text: str) -> str:
    """Return the side a form names."""
    return text if text in SIDES else "blocked-by"


@endpoint("POST /{owner}/{repo}/issues/{index}/dependencies", scope="issue", guards=LINKING)
def submit_dependency(
    request: RequestContext, target: RepositoryAccess, index: int, body: RelationForm
) -> RawResponse:
    """Add a relation to the issue that is named, or show those that words may mean."""
    side, other = side_of(body.side), named(body.wanted)
    path = issue_path(target.repository, index)
    if other is None:
        return go(f"{path}/dependencies/add?{urlencode({'side': side, 'q': body.wanted.strip()})}")
    try:
        act(request, add_block if side == BLOCKS else add_dependency, {"index": index}, body=other.body)
    except ApiError as refusal:
        the_issue(request, target, index)
        return show(
            request,
            target,
            index,
            tried=RejectedForm(problem=why_not(refusal, body.wanted), wanted=body.wanted, status=refusal.status),
        )
    return go(f"{path}#dependencies", "added")


def why_not(refusal: ApiError, wanted: str) -> str:
    """Say why two issues cannot be related, without telling more than the API does."""
    if refusal.status == 404:
        return (
            f"{wanted.strip()} cannot be added: there is no such issue that you can read, or you may not change "
            "what the issue on the other side depends on."
        )
    if refusal.message.startswith("circular dependency: "):
        way = refusal.message.removeprefix("circular dependency: ").replace("->", "→")
        return f"That would make a circle, and none of them could ever be closed: {way}."
    return message_for(refusal)


@endpoint("POST /{owner}/{repo}/issues/{index}/dependencies/remove", scope="issue", guards=LINKING)
def submit_dependency_removal(
    request: RequestContext, target: RepositoryAccess, index: int, body: RelationForm
) -> RawResponse:
    """Remove a relation."""
    other = named(body.wanted)
    if other is None:
        raise ApiError(422, "name the issue by its number")
    wanted = remove_block if side_of(body.side) == BLOCKS else remove_dependency
    try:
        act(request, wanted, {"index": index}, body=other.body)
    except ApiError as refusal:
        # Somebody else was faster: what is shown then is right.
        the_issue(request, target, index)
        problem = "That dependency is gone already, or you may not remove it."
        problem = problem if refusal.status == 404 else message_for(refusal)
        return show(request, target, index, tried=RejectedForm(problem=problem, status=refusal.status))
    return go(f"{issue_path(target.repository, index)}#dependencies", "removed")


@endpoint("GET /{owner}/{repo}/issues/{index}/dependencies/add", scope="issue", guards=LINKING, slow=True)
def page_find_related(
    request: RequestContext, target: RepositoryAccess, index: int, query: IssueSearchQuery
) -> RawResponse:
    """Show the issues that words may mean, to choose one."""
    issue = the_issue(request, target, index)
    side, text = side_of(query.side), query.q.strip()
    rows, total = candidates(request, target, issue, text) if text else ([], 0)
    return show_in(
        request,
        target,
        "issues/find.html",
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
    """Return issues that speak of something, those of the same repository first, and how many more there are."""
    caller, repository = request.actor, target.repository
    where = [issue_lists.visible_to(caller.user, public_only=caller.public_only)]
    if not request.app.settings.allow_cross_repository_dependencies:
        where.append(issue_lists.in_repository(repository, (False, True)))
    # Those that are related already are few, and are left out afterwards.
    known = {issue.id}
    for related in (visible_issues.blockers_of, visible_issues.blocked_by):
        known |= {
            one.issue.id for one in related(request.app.database, issue, reader(request), skip=0, limit=FOUND)[0]
        }
    found, total = issue_lists.list_issues(
        request.app.database,
        where,
        Filter(text=text),
        sort="recentupdate",
        first_repository=repository.id,
        skip=0,
        limit=FOUND + len(known),
    )
    left = [one for one in found if one.id not in known]
    return rows_of(request, left[:FOUND]), total - (len(found) - len(left))
