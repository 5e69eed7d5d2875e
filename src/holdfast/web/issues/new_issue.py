"""The form that opens an issue."""

import msgspec
from markupsafe import Markup

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.errors import HostingError
from holdfast.hosting.guards import in_repository, not_archived, sees_issues, signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import issues
from holdfast.hosting.services.issues import IssueDraft
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.issues.choices import as_ids, choices, end_of_day
from holdfast.web.issues.issue_page import preview_of
from holdfast.web.issues.rows import issue_path
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import ISSUES, show_in

__all__ = ["page_new_issue", "submit_new_issue"]

OPENING = (in_repository, sees_issues, signed_in, not_archived)


class NewIssueForm(msgspec.Struct, frozen=True):
    """The form of a new issue; only users with write access see more than the first two fields."""

    title: str = ""
    body: str = ""
    label: list[str] = []
    assignee: list[str] = []
    milestone: str = ""
    due_date: str = ""
    then: str = ""


@endpoint("GET /{owner}/{repo}/issues/new", scope="issue", guards=OPENING, slow=True)
def page_new_issue(request: RequestContext, target: RepositoryAccess, query: NewIssueForm) -> RawResponse:
    """Show the form, filled in from the query string."""
    return form(request, target, query)


@endpoint("POST /{owner}/{repo}/issues/new", scope="issue", guards=OPENING, keeps_form=True)
def submit_new_issue(request: RequestContext, target: RepositoryAccess, body: NewIssueForm) -> RawResponse:
    """Open an issue, or show its preview."""
    if body.then == "preview":
        return form(request, target, body, preview=preview_of(target, body.body))
    try:
        issue = issues.create(request.app, request.actor, target, draft_of(body))
    except HostingError as error:
        return form(request, target, body, problem=message_for(error), status=status_for(error))
    return redirect_to(issue_path(target.repository, issue.number), "issue-created", f"#{issue.number}")


def draft_of(body: NewIssueForm) -> IssueDraft:
    """Return the draft of the issue in a form."""
    return IssueDraft(
        title=body.title,
        body=body.body,
        labels=as_ids(body.label),
        assignees=[name for name in body.assignee if name],
        milestone_id=next(iter(as_ids([body.milestone])), 0),
        due_date=end_of_day(body.due_date, "DueDate"),
    )


def form(
    request: RequestContext,
    target: RepositoryAccess,
    typed: NewIssueForm,
    *,
    problem: str = "",
    preview: Markup | None = None,
    status: int = 200,
) -> RawResponse:
    """Render the form with the typed values."""
    writes = target.permissions.may_write(Unit.ISSUES)
    chosen = set(as_ids(typed.label))
    return show_in(
        request,
        target,
        "issues/new.html",
        tab=ISSUES,
        title=f"New issue · {target.repository.full_name}",
        status=status,
        typed=typed,
        chosen=chosen,
        people=set(typed.assignee),
        choices=choices(request, target, chosen=chosen) if writes else None,
        problem=problem,
        preview=preview,
    )
