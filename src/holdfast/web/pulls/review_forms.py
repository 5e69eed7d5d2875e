"""Forms of reviews: request and remove, submit, discard and dismiss, comment on lines, resolve conversations."""

import re
from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.errors import DoesNotExist, HostingError
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import line_comments, pulls, reviews, suggestions
from holdfast.hosting.services.line_comments import LineDraft
from holdfast.hosting.services.reviews import ReviewDraft, ReviewRequests
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.reviews import Review, ReviewState
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.issues.choices import as_ids
from holdfast.web.issues.rows import page_path
from holdfast.web.pages import redirect_to
from holdfast.web.pulls.files_page import FilesPageQuery, RejectedReview, files_page
from holdfast.web.pulls.merge_forms import CHANGE_PULLS, show_rejection
from holdfast.web.pulls.reviewers import last_reviews

__all__ = [
    "submit_delete_pending",
    "submit_discard_review",
    "submit_dismiss_review",
    "submit_line_comment",
    "submit_resolve",
    "submit_review",
    "submit_reviewers",
    "submit_suggestion",
]

# The id of a line on the page: the number of its file, and its side and number.
SPOT: Final = re.compile(r"l[0-9]{1,6}-[no][0-9]{1,9}")


class ReviewersForm(msgspec.Struct, frozen=True):
    """A user, or a team as `organization/team`, whose review is requested or whose request is removed."""

    reviewer: str = ""
    team: str = ""
    then: str = "add"


class ReviewForm(msgspec.Struct, frozen=True):
    """A review: `event` is COMMENT, APPROVED or REQUEST_CHANGES, and `head` the commit that was shown."""

    event: str = ""
    body: str = ""
    head: str = ""


class LineCommentForm(msgspec.Struct, frozen=True):
    """A comment on a line before (`old`) or after (`new`) the change; `then` is `review` or `single`."""

    path: str = ""
    side: str = "new"
    line: str = ""
    body: str = ""
    head: str = ""
    file: str = ""
    first: str = ""
    skip: str = ""
    view: str = ""
    context: str = ""
    spot: str = ""
    then: str = "single"


class ResolveForm(msgspec.Struct, frozen=True):
    """Whether a conversation is resolved, and the page to go back to: `files` or the conversation."""

    resolved: str = "true"
    back: str = ""


class SuggestionForm(msgspec.Struct, frozen=True):
    """The page to go back to (`conversation`, or the changed files), and the version of the comment."""

    back: str = ""
    version: str = ""


class DismissForm(msgspec.Struct, frozen=True):
    """Why a review is dismissed."""

    message: str = ""


@endpoint("POST /{owner}/{repo}/pulls/{index}/reviewers", scope="issue", guards=CHANGE_PULLS)
def submit_reviewers(
    request: RequestContext, target: RepositoryAccess, index: int, body: ReviewersForm
) -> RawResponse:
    """Request a review, or remove the request."""
    issue = pulls.find(request.app, target, index)
    name, team = body.reviewer.strip(), body.team.strip()
    owner, slash, rest = name.partition("/")
    if slash and owner.casefold() == target.repository.owner.name.casefold():
        name, team = "", rest
    requests = ReviewRequests(reviewers=[name] if name else [], team_reviewers=[team] if team else [])
    subject, notice = name or team, "review-requested"
    try:
        if body.then == "remove":
            reviews.cancel_requests(request.app, request.actor, target, issue, requests)
            is_own = name.casefold() == request.user.name.casefold()
            notice = "review-declined" if is_own else "review-request-removed"
        else:
            reviews.request(request.app, request.actor, target, issue, requests)
    except HostingError as error:
        return show_rejection(request, target, index, error)
    return redirect_to(page_path(target.repository, issue), notice, subject)


def pending_of(request: RequestContext, issue: Issue) -> Review | None:
    """Return the pending review of the user."""
    return next((review for review in last_reviews(request, issue) if review.state == ReviewState.PENDING), None)


@endpoint("POST /{owner}/{repo}/pulls/{index}/reviews", scope="issue", guards=CHANGE_PULLS, keeps_form=True)
def submit_review(request: RequestContext, target: RepositoryAccess, index: int, body: ReviewForm) -> RawResponse:
    """Submit a review with the pending line comments."""
    issue = pulls.find(request.app, target, index)
    pending = pending_of(request, issue)
    try:
        if pending is not None:
            reviews.submit(
                request.app, request.actor, target, issue, pending, event=body.event, body=body.body.strip()
            )
        else:
            draft = ReviewDraft(event=body.event or "COMMENT", body=body.body.strip(), commit_id=body.head)
            reviews.create(request.app, request.actor, target, issue, draft)
    except DoesNotExist:
        raise
    except HostingError as error:
        tried = RejectedReview(
            problem=message_for(error), body=body.body, event=body.event, status=status_for(error)
        )
        return files_page(request, target, index, FilesPageQuery(), tried)
    return redirect_to(page_path(target.repository, issue), "review-submitted")


@endpoint("POST /{owner}/{repo}/pulls/{index}/reviews/discard", scope="issue", guards=CHANGE_PULLS)
def submit_discard_review(request: RequestContext, target: RepositoryAccess, index: int) -> RawResponse:
    """Delete the pending review of the user with its line comments."""
    issue = pulls.find(request.app, target, index)
    pending = pending_of(request, issue)
    if pending is not None:
        reviews.delete(request.app, request.actor, target, issue, pending)
    return redirect_to(f"{page_path(target.repository, issue)}/files", "review-discarded")


@endpoint(
    "POST /{owner}/{repo}/pulls/{index}/reviews/{id}/dismiss", scope="issue", guards=CHANGE_PULLS, keeps_form=True
)
def submit_dismiss_review(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    id: int,  # noqa: A002  # named in the path
    body: DismissForm,
) -> RawResponse:
    """Dismiss an approval or a request for changes."""
    issue = pulls.find(request.app, target, index)
    review = reviews.find(request.app, request.actor, issue, id)
    try:
        reviews.dismiss(
            request.app, request.actor, target, issue, review, message=body.message.strip(), priors=False
        )
    except HostingError as error:
        return show_rejection(request, target, index, error)
    return redirect_to(page_path(target.repository, issue), "review-dismissed")


@endpoint("POST /{owner}/{repo}/pulls/{index}/comments", scope="issue", guards=CHANGE_PULLS, keeps_form=True)
def submit_line_comment(
    request: RequestContext, target: RepositoryAccess, index: int, body: LineCommentForm
) -> RawResponse:
    """Comment on a line, as a single comment or as part of the pending review."""
    issue = pulls.find(request.app, target, index)
    line = next(iter(as_ids([body.line])), 0)
    sides = {"old_position": line} if body.side == "old" else {"new_position": line}
    comment = LineDraft(path=body.path, body=body.body, **sides)
    in_review = body.then == "review" or pending_of(request, issue) is not None
    draft = ReviewDraft(event="" if in_review else "COMMENT", commit_id=body.head, comments=[comment])
    query = FilesPageQuery(file=body.file, first=body.first, skip=body.skip, view=body.view, context=body.context)
    try:
        reviews.create(request.app, request.actor, target, issue, draft)
    except DoesNotExist:
        raise
    except HostingError as error:
        tried = RejectedReview(
            problem=message_for(error),
            path=body.path,
            side=body.side,
            line=line,
            comment=body.body,
            status=status_for(error),
        )
        return files_page(request, target, index, query, tried)
    place = f"#{body.spot}" if SPOT.fullmatch(body.spot) else ""
    return redirect_to(f"{page_path(target.repository, issue)}/files{query.link()}{place}")


@endpoint("POST /{owner}/{repo}/pulls/{index}/comments/{id}/resolve", scope="issue", guards=CHANGE_PULLS)
def submit_resolve(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    id: int,  # noqa: A002  # named in the path
    body: ResolveForm,
) -> RawResponse:
    """Resolve a conversation about a line, or reopen it."""
    issue = pulls.find(request.app, target, index)
    change = line_comments.unresolve if body.resolved == "false" else line_comments.resolve
    change(request.app, request.actor, target, id)
    path = page_path(target.repository, issue)
    return redirect_to(f"{path}/files" if body.back == "files" else f"{path}#issuecomment-{id}")


@endpoint("POST /{owner}/{repo}/pulls/{index}/comments/{id}/apply", scope="issue", guards=CHANGE_PULLS)
def submit_suggestion(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    id: int,  # noqa: A002  # named in the path
    body: SuggestionForm,
) -> RawResponse:
    """Commit the change that a line comment suggests to the head branch."""
    issue = pulls.find(request.app, target, index)
    try:
        path = suggestions.apply(request.app, request.actor, target, issue, id, version=body.version)
    except DoesNotExist:
        raise
    except HostingError as error:
        return show_rejection(request, target, index, error)
    files = "" if body.back == "conversation" else "/files"
    return redirect_to(f"{page_path(target.repository, issue)}{files}", "suggestion-applied", path)


@endpoint("POST /{owner}/{repo}/pulls/{index}/comments/{id}/delete", scope="issue", guards=CHANGE_PULLS)
def submit_delete_pending(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    id: int,  # noqa: A002  # named in the path
) -> RawResponse:
    """Delete a comment of the pending review of the user."""
    issue = pulls.find(request.app, target, index)
    line_comments.delete_pending(request.app, request.actor, target, issue, id)
    return redirect_to(f"{page_path(target.repository, issue)}/files", "comment-deleted")
