"""The form that opens an issue."""

import msgspec
from markupsafe import Markup

from holdfast.hosting.access import Unit
from holdfast.hosting.api.issue_access import sees_issues
from holdfast.hosting.api.issues import create_issue
from holdfast.hosting.guards import Place, in_repository, not_archived, signed_in
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.endpoints import Raw, endpoint
from holdfast.hosting.http.errors import Refusal
from holdfast.web.api_actions import act, problem_with
from holdfast.web.issues.choices import as_ids, choices, end_of_day
from holdfast.web.issues.issue_page import preview_of
from holdfast.web.issues.rows import issue_path
from holdfast.web.pages import go
from holdfast.web.repository_frame import ISSUES, show_in

__all__ = ["page_new_issue", "submit_new_issue"]

OPENING = (in_repository, sees_issues, signed_in, not_archived)


class NewIssueForm(msgspec.Struct, frozen=True):
    """What the form says; only writers see more than the first two fields."""

    title: str = ""
    body: str = ""
    label: list[str] = []
    assignee: list[str] = []
    milestone: str = ""
    due_date: str = ""
    then: str = ""


@endpoint("GET /{owner}/{repo}/issues/new", scope="issue", guards=OPENING, slow=True)
def page_new_issue(call: Call, place: Place, query: NewIssueForm) -> Raw:
    """Show the form; what the address says is filled in already."""
    return form(call, place, query)


@endpoint("POST /{owner}/{repo}/issues/new", scope="issue", guards=OPENING)
def submit_new_issue(call: Call, place: Place, body: NewIssueForm) -> Raw:
    """Open an issue, or show what it would look like."""
    if body.then == "preview":
        return form(call, place, body, preview=preview_of(place, body.body))
    wanted: dict[str, object] = {
        "title": body.title,
        "body": body.body,
        "labels": as_ids(body.label),
        "assignees": [name for name in body.assignee if name],
        "milestone": next(iter(as_ids([body.milestone])), 0),
    }
    if body.due_date:
        wanted["due_date"] = end_of_day(body.due_date)
    try:
        made = act(call, create_issue, body=wanted)
    except Refusal as refusal:
        return form(call, place, body, problem=problem_with(refusal), status=refusal.status)
    return go(issue_path(place.repository, made.number), "created")


def form(
    call: Call,
    place: Place,
    typed: NewIssueForm,
    *,
    problem: str = "",
    preview: Markup | None = None,
    status: int = 200,
) -> Raw:
    """Show the form with what was typed."""
    writes = place.access.may_write(Unit.ISSUES)
    return show_in(
        call,
        place,
        "issues/new.html",
        tab=ISSUES,
        title=f"New issue · {place.repository.full_name}",
        status=status,
        typed=typed,
        chosen=set(as_ids(typed.label)),
        people=set(typed.assignee),
        choices=choices(call, place) if writes else None,
        problem=problem,
        preview=preview,
    )
