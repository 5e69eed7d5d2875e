"""Forms of the merge box: merge, auto-merge and cancel, update and delete the branch, draft or ready."""

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import DoesNotExist, HostingError
from holdfast.hosting.guards import in_repository, not_archived, sees_pulls, signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import branches, pull_merges, pulls
from holdfast.hosting.services.fields import check_required
from holdfast.hosting.services.issues import IssueEdit
from holdfast.hosting.services.pull_merges import MergeOrder
from holdfast.hosting.store.issues import DRAFT_PREFIXES, Issue
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.issues.issue_page import RejectedForm, RejectedMerge, show
from holdfast.web.issues.rows import page_path
from holdfast.web.pages import redirect_to

__all__ = [
    "CHANGE_PULLS",
    "show_rejection",
    "submit_base",
    "submit_cancel_merge",
    "submit_delete_head",
    "submit_draft",
    "submit_merge",
    "submit_update_head",
]

CHANGE_PULLS = (in_repository, sees_pulls, signed_in, not_archived)
DRAFT = "Draft: "
METHOD_NOT_ALLOWED, CONFLICT = 405, 409


class MergeForm(msgspec.Struct, frozen=True):
    """How to merge; `then` is `merge`, `schedule` or `force`, `head` and `base` the commit and branch shown."""

    style: str = ""
    title: str = ""
    message: str = ""
    head: str = ""
    base: str = ""
    offered: str = ""
    delete_branch: str = ""
    then: str = "merge"


class UpdateForm(msgspec.Struct, frozen=True):
    """How to update the head branch: `merge` or `rebase`."""

    style: str = "merge"


class DraftForm(msgspec.Struct, frozen=True):
    """Whether a pull request is to be a draft."""

    draft: str = ""


class BaseForm(msgspec.Struct, frozen=True):
    """The branch to merge into."""

    base: str = ""


def show_rejection(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    error: HostingError,
    merge: RejectedMerge = RejectedMerge(),  # noqa: B008  # immutable
) -> RawResponse:
    """Show the conversation with the error of a form, and the typed values of a rejected merge."""
    status = status_for(error)
    # The API returns 405 for a rejected merge; the page returns 409, since 405 is about the method of a URL.
    status = CONFLICT if status == METHOD_NOT_ALLOWED else status
    tried = RejectedForm(problem=message_for(error), status=status, merge=merge)
    return show(request, target, index, tried=tried)


def name_of(issue: Issue) -> str:
    """Return the name of a pull request in notices."""
    return f"#{issue.number}"


@endpoint("POST /{owner}/{repo}/pulls/{index}/merge", scope="issue", guards=CHANGE_PULLS, keeps_form=True)
def submit_merge(request: RequestContext, target: RepositoryAccess, index: int, body: MergeForm) -> RawResponse:
    """Merge a pull request, or schedule the merge; it fails if a branch changed after the page was shown."""
    issue = pulls.find(request.app, target, index)
    order = MergeOrder(
        style=body.style,
        title=body.title,
        message=body.message,
        head_commit_id=body.head,
        base_branch=body.base,
        delete_branch=body.delete_branch == "true" if body.offered else None,
        force=body.then == "force",
        when_checks_succeed=body.then == "schedule",
    )
    try:
        is_merged = pull_merges.merge(request.app, request.actor, target, issue, order)
    except DoesNotExist:
        raise
    except HostingError as error:
        typed = RejectedMerge(
            style=body.style, title=body.title, message=body.message, deletes_branch=order.delete_branch
        )
        return show_rejection(request, target, index, error, typed)
    notice = "pull-merged" if is_merged else "pull-scheduled"
    return redirect_to(page_path(target.repository, issue), notice, name_of(issue))


@endpoint("POST /{owner}/{repo}/pulls/{index}/merge/cancel", scope="issue", guards=CHANGE_PULLS)
def submit_cancel_merge(request: RequestContext, target: RepositoryAccess, index: int) -> RawResponse:
    """Cancel a scheduled merge."""
    issue = pulls.find(request.app, target, index)
    try:
        pull_merges.cancel_scheduled(request.app, request.actor, target, issue)
    except HostingError as error:
        return show_rejection(request, target, index, error)
    return redirect_to(page_path(target.repository, issue), "pull-merge-cancelled", name_of(issue))


@endpoint("POST /{owner}/{repo}/pulls/{index}/update", scope="issue", guards=CHANGE_PULLS)
def submit_update_head(
    request: RequestContext, target: RepositoryAccess, index: int, body: UpdateForm
) -> RawResponse:
    """Update the head branch with the base branch, by merge or rebase."""
    issue = pulls.find(request.app, target, index)
    try:
        pull_merges.update_head(request.app, request.actor, target, issue, body.style)
    except HostingError as error:
        return show_rejection(request, target, index, error)
    return redirect_to(page_path(target.repository, issue), "pull-updated", issue.head_branch)


@endpoint("POST /{owner}/{repo}/pulls/{index}/branch/delete", scope="issue", guards=CHANGE_PULLS)
def submit_delete_head(request: RequestContext, target: RepositoryAccess, index: int) -> RawResponse:
    """Delete the head branch of a closed pull request of the same repository."""
    issue = pulls.find(request.app, target, index)
    if not issue.is_closed or issue.head_repository_id != target.repository.id:
        return redirect_to(page_path(target.repository, issue))
    try:
        branches.delete(request.app, request.actor, target, issue.head_branch)
    except HostingError as error:
        return show_rejection(request, target, index, error)
    return redirect_to(page_path(target.repository, issue), "branch-deleted", issue.head_branch)


@endpoint("POST /{owner}/{repo}/pulls/{index}/draft", scope="issue", guards=CHANGE_PULLS)
def submit_draft(request: RequestContext, target: RepositoryAccess, index: int, body: DraftForm) -> RawResponse:
    """Convert a pull request to a draft, or mark it as ready for review, by the draft prefix of its title."""
    issue = pulls.find(request.app, target, index)
    is_draft = body.draft == "true"
    title = without_prefix(issue.title)
    try:
        changes = IssueEdit(title=f"{DRAFT}{title}" if is_draft else title)
        pulls.edit(request.app, request.actor, target, issue, changes)
    except HostingError as error:
        return show_rejection(request, target, index, error)
    notice = "pull-draft" if is_draft else "pull-ready"
    return redirect_to(page_path(target.repository, issue), notice, name_of(issue))


def without_prefix(title: str) -> str:
    """Return a title without the prefixes that mark a draft; the title itself if nothing else is left."""
    left = title.strip()
    while (
        prefix := next(
            (draft_prefix for draft_prefix in DRAFT_PREFIXES if left.casefold().startswith(draft_prefix)), ""
        )
    ) != "":
        left = left[len(prefix) :].strip()
    return left or title


@endpoint("POST /{owner}/{repo}/pulls/{index}/base", scope="issue", guards=CHANGE_PULLS)
def submit_base(request: RequestContext, target: RepositoryAccess, index: int, body: BaseForm) -> RawResponse:
    """Change the base branch of a pull request."""
    issue = pulls.find(request.app, target, index)
    base = body.base.strip()
    try:
        check_required(base, "Base")
        pulls.edit(request.app, request.actor, target, issue, IssueEdit(base_branch=base))
    except HostingError as error:
        return show_rejection(request, target, index, error)
    return redirect_to(page_path(target.repository, issue), "pull-base-changed", base)
