"""Changes to an issue: its words, its state, and what writers say about it."""

from collections.abc import Mapping

import msgspec
from markupsafe import Markup

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.assignees import add_issue_assignees
from holdfast.hosting.api.issue_access import WRITING, ask_to_edit, the_issue
from holdfast.hosting.api.issue_labels import replace_issue_labels
from holdfast.hosting.api.issues import delete_issue, edit_issue, lock_issue, set_issue_deadline, unlock_issue
from holdfast.hosting.guards import administers, in_repository, not_archived, reads_issues
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import Endpoint, RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.web.api_actions import act
from holdfast.web.error_messages import message_for
from holdfast.web.issues.choices import as_ids, end_of_day
from holdfast.web.issues.issue_page import RejectedForm, preview_of, show
from holdfast.web.issues.rows import issue_path
from holdfast.web.pages import go
from holdfast.web.repository_frame import ISSUES, root_path, show_in

__all__ = [
    "change_state",
    "page_edit_issue",
    "submit_assignees",
    "submit_deadline",
    "submit_delete_issue",
    "submit_edit_issue",
    "submit_issue_labels",
    "submit_issue_milestone",
    "submit_lock",
    "submit_state",
]


class WordsForm(msgspec.Struct, frozen=True):
    """The title and the body, and the version of the body they were made from."""

    title: str = ""
    body: str = ""
    version: str = ""
    then: str = ""


class StateForm(msgspec.Struct, frozen=True):
    """The state an issue is to have."""

    state: str = ""


class LabelsForm(msgspec.Struct, frozen=True):
    """All labels it is to have."""

    label: list[str] = []


class AssigneesForm(msgspec.Struct, frozen=True):
    """All people it is to be assigned to; `more` names somebody who is not on the list."""

    assignee: list[str] = []
    more: str = ""


class IssueMilestoneForm(msgspec.Struct, frozen=True):
    """The milestone it is to belong to."""

    milestone: str = ""


class DeadlineForm(msgspec.Struct, frozen=True):
    """The day it is due; none when it is empty."""

    due_date: str = ""


class LockForm(msgspec.Struct, frozen=True):
    """Whether it is to be locked, and why."""

    locked: str = ""
    reason: str = ""


def changed(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    wanted: Endpoint,
    body: Mapping[str, object] | None = None,
) -> RawResponse:
    """Do something to an issue, and show it again: as it is now, or with the reason why not."""
    try:
        act(request, wanted, {"index": index}, body=body)
    except ApiError as refusal:
        if refusal.status == 404:
            raise
        return show(
            request, target, index, tried=RejectedForm(problem=message_for(refusal), status=refusal.status)
        )
    return go(issue_path(target.repository, index), "changed")


def change_state(
    request: RequestContext, target: RepositoryAccess, index: int, state: str, *, comment: str = ""
) -> RawResponse | None:
    """Close or reopen an issue; return the page that says why not, with the comment that came along."""
    try:
        act(request, edit_issue, {"index": index}, body={"state": state})
    except ApiError as refusal:
        if refusal.status == 404:
            raise
        return show(
            request,
            target,
            index,
            tried=RejectedForm(
                problem=message_for(refusal),
                comment=comment,
                is_blocked=refusal.status == 412 and state == "closed",
                status=refusal.status,
            ),
        )
    return None


@endpoint("POST /{owner}/{repo}/issues/{index}/state", scope="issue", guards=WRITING)
def submit_state(request: RequestContext, target: RepositoryAccess, index: int, body: StateForm) -> RawResponse:
    """Close or reopen an issue."""
    return change_state(request, target, index, body.state) or go(issue_path(target.repository, index), "changed")


@endpoint("POST /{owner}/{repo}/issues/{index}/labels", scope="issue", guards=WRITING)
def submit_issue_labels(
    request: RequestContext, target: RepositoryAccess, index: int, body: LabelsForm
) -> RawResponse:
    """Give an issue exactly the labels that are ticked."""
    return changed(request, target, index, replace_issue_labels, {"labels": as_ids(body.label)})


@endpoint("POST /{owner}/{repo}/issues/{index}/assignees", scope="issue", guards=WRITING)
def submit_assignees(
    request: RequestContext, target: RepositoryAccess, index: int, body: AssigneesForm
) -> RawResponse:
    """Assign an issue to exactly those who are ticked, and to one who is named."""
    names = [name for name in (*body.assignee, body.more.strip()) if name]
    return changed(request, target, index, edit_issue, {"assignees": names})


@endpoint("POST /{owner}/{repo}/issues/{index}/assign-me", scope="issue", guards=WRITING)
def submit_assign_me(request: RequestContext, target: RepositoryAccess, index: int) -> RawResponse:
    """Assign an issue to whoever asks."""
    return changed(request, target, index, add_issue_assignees, {"assignees": [request.user.name]})


@endpoint("POST /{owner}/{repo}/issues/{index}/milestone", scope="issue", guards=WRITING)
def submit_issue_milestone(
    request: RequestContext, target: RepositoryAccess, index: int, body: IssueMilestoneForm
) -> RawResponse:
    """Put an issue into a milestone, or take it out."""
    return changed(request, target, index, edit_issue, {"milestone": next(iter(as_ids([body.milestone])), 0)})


@endpoint("POST /{owner}/{repo}/issues/{index}/deadline", scope="issue", guards=WRITING)
def submit_deadline(
    request: RequestContext, target: RepositoryAccess, index: int, body: DeadlineForm
) -> RawResponse:
    """Say when an issue is due."""
    wanted = {"due_date": end_of_day(body.due_date)} if body.due_date.strip() else {}
    return changed(request, target, index, set_issue_deadline, wanted)


@endpoint("POST /{owner}/{repo}/issues/{index}/lock", scope="issue", guards=WRITING)
def submit_lock(request: RequestContext, target: RepositoryAccess, index: int, body: LockForm) -> RawResponse:
    """Lock an issue, or unlock it."""
    if body.locked != "true":
        return changed(request, target, index, unlock_issue)
    return changed(request, target, index, lock_issue, {"lock_reason": body.reason.strip()})


@endpoint(
    "POST /{owner}/{repo}/issues/{index}/delete",
    scope="issue",
    guards=(in_repository, reads_issues, administers, not_archived),
)
def submit_delete_issue(request: RequestContext, target: RepositoryAccess, index: int) -> RawResponse:
    """Delete an issue for good."""
    act(request, delete_issue, {"index": index})
    return go(f"{root_path(target)}/issues", "deleted")


@endpoint("GET /{owner}/{repo}/issues/{index}/edit", scope="issue", guards=WRITING, slow=True)
def page_edit_issue(request: RequestContext, target: RepositoryAccess, index: int) -> RawResponse:
    """Show the form for the words of an issue."""
    issue = the_issue(request, target, index)
    ask_to_edit(request, target, issue, issue.author_id)
    return form(request, target, index, WordsForm(issue.title, issue.body, str(issue.content_version)))


@endpoint("POST /{owner}/{repo}/issues/{index}/edit", scope="issue", guards=WRITING)
def submit_edit_issue(
    request: RequestContext, target: RepositoryAccess, index: int, body: WordsForm
) -> RawResponse:
    """Change the words of an issue; one that somebody else changed meanwhile is not written over."""
    if body.then == "preview":
        return form(request, target, index, body, preview=preview_of(target, body.body))
    # To the API an empty title says nothing; one of nothing but space it refuses.
    wanted: dict[str, object] = {"title": body.title or " ", "body": body.body}
    versions = as_ids([body.version])
    if versions:
        wanted["content_version"] = versions[0]
    try:
        act(request, edit_issue, {"index": index}, body=wanted)
    except ApiError as refusal:
        if refusal.status == 404:
            raise
        if refusal.status == 409:
            # Sent again it is meant, because whoever sends it has seen the other words.
            now = the_issue(request, target, index)
            again = WordsForm(body.title, body.body, str(now.content_version))
            return form(request, target, index, again, theirs=now.body, status=409)
        return form(request, target, index, body, problem=message_for(refusal), status=refusal.status)
    return go(issue_path(target.repository, index), "changed")


def form(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    typed: WordsForm,
    *,
    problem: str = "",
    preview: Markup | None = None,
    theirs: str | None = None,
    status: int = 200,
) -> RawResponse:
    """Show the form for the words of an issue with what was typed."""
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
        theirs=theirs,
    )
