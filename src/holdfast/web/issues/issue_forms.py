"""Forms on the page of an issue: title and body, state, labels, assignees, milestone, due date, lock, deletion."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec

import msgspec
from markupsafe import Markup

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import DoesNotExist, HostingError, Outdated, StillBlocked
from holdfast.hosting.guards import (
    CHANGE_ISSUES,
    LINK_ISSUES,
    administers,
    in_repository,
    not_archived,
    reads_issues,
)
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import issue_subscriptions, issues
from holdfast.hosting.services.issues import IssueEdit
from holdfast.hosting.store.issues import Issue
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.issues.choices import as_ids, end_of_day, milestone_with_title
from holdfast.web.issues.issue_page import RejectedForm, preview_of, show
from holdfast.web.issues.rows import issue_path, page_path
from holdfast.web.pages import redirect_to
from holdfast.web.repository_frame import ISSUES, root_path, show_in

__all__ = [
    "change_state",
    "page_edit_issue",
    "state_changed",
    "submit_assignees",
    "submit_deadline",
    "submit_delete_issue",
    "submit_edit_issue",
    "submit_issue_labels",
    "submit_issue_milestone",
    "submit_lock",
    "submit_state",
    "submit_subscription",
]

P = ParamSpec("P")


class WordsForm(msgspec.Struct, frozen=True):
    """Title and body, and the title and the version of the body they are based on."""

    title: str = ""
    body: str = ""
    version: str = ""
    before: str = ""
    then: str = ""


class StateForm(msgspec.Struct, frozen=True):
    """The new state."""

    state: str = ""


class LabelsForm(msgspec.Struct, frozen=True):
    """The labels that are checked, and those that were checked when the form was opened.

    `more` is the name of a label that is not listed.
    """

    label: list[str] = []
    chosen: list[str] = []
    more: str = ""


class AssigneesForm(msgspec.Struct, frozen=True):
    """The users who are checked, and those who were checked when the form was opened.

    `more` is a username that is not listed.
    """

    assignee: list[str] = []
    chosen: list[str] = []
    more: str = ""


class IssueMilestoneForm(msgspec.Struct, frozen=True):
    """The milestone of the issue; `more` is the title of one that is not listed."""

    milestone: str = ""
    more: str = ""


class DeadlineForm(msgspec.Struct, frozen=True):
    """The due date; empty removes it."""

    due_date: str = ""


class SubscribeForm(msgspec.Struct, frozen=True):
    """Whether to subscribe or to unsubscribe."""

    subscribe: str = ""


class LockForm(msgspec.Struct, frozen=True):
    """Whether to lock the issue, and the reason."""

    locked: str = ""
    reason: str = ""


def apply_change(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    change: Callable[Concatenate[App, Actor, RepositoryAccess, Issue, P], object],
    *args: P.args,
    **kwargs: P.kwargs,
) -> RawResponse:
    """Call a service that changes an issue; redirect to the issue, or show it with the error."""
    issue = issues.find(request.app, target, index)
    try:
        change(request.app, request.actor, target, issue, *args, **kwargs)
    except DoesNotExist:
        raise
    except HostingError as error:
        return show(
            request, target, index, tried=RejectedForm(problem=message_for(error), status=status_for(error))
        )
    return redirect_to(page_path(target.repository, issue), "issue-edited", issue_name(issue))


def issue_name(issue: Issue) -> str:
    """Return the name of an issue or pull request in notices."""
    return f"{'Pull request' if issue.is_pull else 'Issue'} #{issue.number}"


def change_state(
    request: RequestContext, target: RepositoryAccess, index: int, state: str, *, comment: str = ""
) -> RawResponse | None:
    """Close or reopen an issue; return the page with the error and the comment if it is rejected."""
    issue = issues.find(request.app, target, index)
    try:
        issues.edit(request.app, request.actor, target, issue, IssueEdit(state=state))
    except DoesNotExist:
        raise
    except HostingError as error:
        tried = RejectedForm(
            problem=message_for(error),
            comment=comment,
            is_blocked=isinstance(error, StillBlocked),
            status=status_for(error),
        )
        return show(request, target, index, tried=tried)
    return None


@endpoint("POST /{owner}/{repo}/issues/{index}/state", scope="issue", guards=CHANGE_ISSUES)
def submit_state(request: RequestContext, target: RepositoryAccess, index: int, body: StateForm) -> RawResponse:
    """Close or reopen an issue."""
    return change_state(request, target, index, body.state) or state_changed(request, target, index)


def state_changed(request: RequestContext, target: RepositoryAccess, index: int) -> RawResponse:
    """Redirect to an issue that was closed or reopened."""
    issue = issues.find(request.app, target, index)
    notice = "issue-closed" if issue.is_closed else "issue-reopened"
    return redirect_to(page_path(target.repository, issue), notice, issue_name(issue))


@endpoint("POST /{owner}/{repo}/issues/{index}/labels", scope="issue", guards=CHANGE_ISSUES)
def submit_issue_labels(
    request: RequestContext, target: RepositoryAccess, index: int, body: LabelsForm
) -> RawResponse:
    """Add the labels that were checked to an issue, and remove those that were unchecked.

    Labels that the form does not list, or that somebody else has changed since it was opened, stay as they are.
    """
    wanted, before = as_ids(body.label), as_ids(body.chosen)
    more: list[int | str] = [number for number in wanted if number not in before]
    if body.more.strip():
        more.append(body.more.strip())
    less = [number for number in before if number not in wanted]
    return apply_change(request, target, index, issues.change_labels, more=more, less=less)


@endpoint("POST /{owner}/{repo}/issues/{index}/assignees", scope="issue", guards=CHANGE_ISSUES)
def submit_assignees(
    request: RequestContext, target: RepositoryAccess, index: int, body: AssigneesForm
) -> RawResponse:
    """Assign the users who were checked to an issue, and remove those who were unchecked, as with labels."""
    wanted = [name for name in (*body.assignee, body.more.strip()) if name]
    more = [name for name in wanted if name not in body.chosen]
    less = [name for name in body.chosen if name not in wanted]
    return apply_change(request, target, index, issues.change_assignees, more=more, less=less)


@endpoint("POST /{owner}/{repo}/issues/{index}/assign-me", scope="issue", guards=CHANGE_ISSUES)
def submit_assign_me(request: RequestContext, target: RepositoryAccess, index: int) -> RawResponse:
    """Assign an issue to the user."""
    return apply_change(request, target, index, issues.add_assignees, [request.user.name])


@endpoint("POST /{owner}/{repo}/issues/{index}/milestone", scope="issue", guards=CHANGE_ISSUES)
def submit_issue_milestone(
    request: RequestContext, target: RepositoryAccess, index: int, body: IssueMilestoneForm
) -> RawResponse:
    """Set or remove the milestone of an issue."""
    return apply_change(request, target, index, set_milestone, body)


def set_milestone(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, form: IssueMilestoneForm
) -> None:
    """Set the milestone of an issue to the selected one, or to the one whose title was typed."""
    selected, title = next(iter(as_ids([form.milestone])), 0), form.more.strip()
    milestone_id = milestone_with_title(app.database, target.repository, title) if title else selected
    issues.edit(app, actor, target, issue, IssueEdit(milestone_id=milestone_id))


@endpoint("POST /{owner}/{repo}/issues/{index}/deadline", scope="issue", guards=CHANGE_ISSUES)
def submit_deadline(
    request: RequestContext, target: RepositoryAccess, index: int, body: DeadlineForm
) -> RawResponse:
    """Set or remove the due date of an issue."""
    return apply_change(request, target, index, set_due_day, body.due_date)


def set_due_day(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, day: str) -> None:
    """Set the due date of an issue to the end of a day; an empty text removes it."""
    issues.set_due_date(app, actor, target, issue, end_of_day(day, "DueDate"))


@endpoint("POST /{owner}/{repo}/issues/{index}/lock", scope="issue", guards=CHANGE_ISSUES)
def submit_lock(request: RequestContext, target: RepositoryAccess, index: int, body: LockForm) -> RawResponse:
    """Lock an issue, or unlock it."""
    if body.locked != "true":
        return apply_change(request, target, index, issues.unlock)
    return apply_change(request, target, index, issues.lock, body.reason.strip())


@endpoint("POST /{owner}/{repo}/issues/{index}/subscription", scope="issue", guards=LINK_ISSUES)
def submit_subscription(
    request: RequestContext, target: RepositoryAccess, index: int, body: SubscribeForm
) -> RawResponse:
    """Subscribe the user to an issue, or unsubscribe them."""
    issue = issues.find(request.app, target, index)
    wanted = bool(body.subscribe)
    issue_subscriptions.choose(request.app, request.actor, issue, request.user, is_subscribed=wanted)
    notice = "issue-subscribed" if wanted else "issue-unsubscribed"
    return redirect_to(page_path(target.repository, issue), notice, f"#{issue.number}")


@endpoint(
    "POST /{owner}/{repo}/issues/{index}/delete",
    scope="issue",
    guards=(in_repository, reads_issues, administers, not_archived),
)
def submit_delete_issue(request: RequestContext, target: RepositoryAccess, index: int) -> RawResponse:
    """Delete an issue."""
    issues.delete(request.app, request.actor, target, issues.find(request.app, target, index))
    return redirect_to(f"{root_path(target)}/issues", "issue-deleted", f"#{index}")


@endpoint("GET /{owner}/{repo}/issues/{index}/edit", scope="issue", guards=CHANGE_ISSUES, slow=True)
def page_edit_issue(request: RequestContext, target: RepositoryAccess, index: int) -> RawResponse:
    """Show the form for title and body."""
    issue = issues.find(request.app, target, index)
    access.require_issue_edit(request.actor, target, issue, issue.author_id)
    return form(request, target, index, form_of_issue(issue))


def form_of_issue(issue: Issue) -> WordsForm:
    """Return the form with the title and the body of an issue."""
    return WordsForm(issue.title, issue.body, str(issue.content_version), issue.title)


@endpoint("POST /{owner}/{repo}/issues/{index}/edit", scope="issue", guards=CHANGE_ISSUES, keeps_form=True)
def submit_edit_issue(
    request: RequestContext, target: RepositoryAccess, index: int, body: WordsForm
) -> RawResponse:
    """Edit title and body; what somebody else changed in the meantime is not overwritten.

    A title that was not edited stays as it is now.
    """
    if body.then == "preview":
        return form(request, target, index, body, preview=preview_of(target, body.body))
    issue = issues.find(request.app, target, index)
    version = next(iter(as_ids([body.version])), None)
    is_renamed = body.title != body.before or not body.title
    changes = IssueEdit(
        title=body.title if is_renamed else None,
        body=body.body,
        content_version=version,
        previous_title=body.before if is_renamed and body.before else None,
    )
    try:
        issues.edit(request.app, request.actor, target, issue, changes)
    except DoesNotExist:
        raise
    except Outdated as error:
        # Submitting the form again overwrites the version that is shown now.
        now = issues.find(request.app, target, index)
        again = msgspec.structs.replace(
            form_of_issue(now), title=body.title if is_renamed else now.title, body=body.body
        )
        return form(request, target, index, again, seen=body, theirs=now, status=status_for(error))
    except HostingError as error:
        return form(request, target, index, body, problem=message_for(error), status=status_for(error))
    return redirect_to(page_path(target.repository, issue), "issue-edited", issue_name(issue))


def form(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    typed: WordsForm,
    *,
    problem: str = "",
    preview: Markup | None = None,
    seen: WordsForm | None = None,
    theirs: Issue | None = None,
    status: int = 200,
) -> RawResponse:
    """Render the form for title and body with the typed values.

    `theirs` is the issue as somebody else changed it while the form `seen` was edited.
    """
    their_title = their_body = None
    if seen is not None and theirs is not None:
        if seen.title not in {seen.before, theirs.title} and seen.before != theirs.title:
            their_title = theirs.title
        if seen.version != str(theirs.content_version):
            their_body = theirs.body
    return show_in(
        request,
        target,
        "issues/edit.html",
        tab=ISSUES,
        title=f"Edit #{index} · {target.repository.full_name}",
        status=status,
        path=issue_path(target.repository, index),
        index=index,
        typed=typed,
        problem=problem,
        preview=preview,
        their_title=their_title,
        their_body=their_body,
    )
