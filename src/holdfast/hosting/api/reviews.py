"""The API of pull request reviews and review requests."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import in_repository, not_archived, sees_pulls, signed_in
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.long_lists import batches_of, list_or_stream
from holdfast.hosting.http.pagination import PagedList, PageParams, page_or_all, paging_headers
from holdfast.hosting.http.responses import RawResponse
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.reviews import PullReview, PullReviewComment, line_comment_list, review_list
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.services import line_comments, pulls, reviews
from holdfast.hosting.services.line_comments import LONGEST_BODY, LineDraft
from holdfast.hosting.services.reviews import LONGEST_MESSAGE, ReviewDraft, ReviewRequests
from holdfast.hosting.store import line_comments as stored_comments
from holdfast.hosting.store import reviews as stored_reviews
from holdfast.hosting.store.comments import comments_by_id
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.review_changes import LinePlace
from holdfast.hosting.store.reviews import Review

__all__ = [
    "create_review",
    "delete_review",
    "dismiss_review",
    "list_review_comments",
    "list_reviewers",
    "list_reviews",
    "remove_review_requests",
    "request_reviews",
    "resolve_comment",
    "show_review",
    "submit_review",
    "undismiss_review",
    "unresolve_comment",
]

READING = (in_repository, sees_pulls)
WRITING = (*READING, signed_in, not_archived)

Message = Annotated[str, Meta(max_length=LONGEST_MESSAGE)]


class CreatePullReviewComment(msgspec.Struct, frozen=True):
    """A comment on a line of the new file (`new_position`) or the old file (`old_position`)."""

    path: str = ""
    body: Annotated[str, Meta(max_length=LONGEST_BODY)] = ""
    old_position: int = 0
    new_position: int = 0

    def draft(self) -> LineDraft:
        """Return what the service takes."""
        return LineDraft(
            path=self.path, body=self.body, old_position=self.old_position, new_position=self.new_position
        )


class CreatePullReviewOptions(msgspec.Struct, frozen=True):
    """A review; an empty event leaves it pending, and an empty commit is the head of the pull request."""

    event: str = ""
    body: Message = ""
    commit_id: str = ""
    comments: Annotated[list[CreatePullReviewComment], Meta(max_length=100)] | None = None


class SubmitPullReviewOptions(msgspec.Struct, frozen=True):
    """The event and body with which a pending review is submitted."""

    event: str = ""
    body: Message = ""


class DismissPullReviewOptions(msgspec.Struct, frozen=True):
    """The reason of a dismissal, and whether the reviewer's earlier reviews are dismissed too."""

    message: Message = ""
    priors: bool = False


class PullReviewRequestOptions(msgspec.Struct, frozen=True):
    """Users and teams by name."""

    reviewers: Annotated[list[str], Meta(max_length=50)] | None = None
    team_reviewers: Annotated[list[str], Meta(max_length=50)] | None = None

    def requests(self) -> ReviewRequests:
        """Return what the service takes."""
        return ReviewRequests(reviewers=self.reviewers or (), team_reviewers=self.team_reviewers or ())


def schemas_of(
    request: RequestContext, target: RepositoryAccess, issue: Issue, page: Sequence[Review]
) -> list[PullReview]:
    """Encode reviews of a pull request."""
    head = reviews.head_of(request.app, issue)
    return review_list(request, target.repository, issue, page, head=head)


@endpoint("GET /repos/{owner}/{repo}/reviewers", scope="repository", guards=READING, slow=True)
def list_reviewers(request: RequestContext, target: RepositoryAccess, page: PageParams) -> list[UserSchema]:
    """List the users with granted access to pull requests, whose review can be requested; not paged by default."""
    page = page_or_all(request, page)
    accounts, total = stored_reviews.reviewers(
        request.app.database, target.repository, skip=page.skip, limit=page.size
    )
    request.response_headers |= paging_headers(request, page, total)
    return [user(request, account) for account in accounts]


@endpoint("GET /repos/{owner}/{repo}/pulls/{index}/reviews", scope="repository", guards=READING, slow=True)
def list_reviews(
    request: RequestContext, target: RepositoryAccess, index: int, page: PageParams
) -> PagedList[PullReview]:
    """List the reviews and open review requests of a pull request, oldest first."""
    issue = pulls.find(request.app, target, index)
    page_reviews, total = reviews.list_all(request.app, request.actor, issue, skip=page.skip, limit=page.size)
    return PagedList(schemas_of(request, target, issue, page_reviews), total)


@endpoint(
    "POST /repos/{owner}/{repo}/pulls/{index}/reviews",
    scope="repository",
    guards=WRITING,
    status=200,
    refuses=(423,),
    slow=True,
)
def create_review(
    request: RequestContext, target: RepositoryAccess, index: int, body: CreatePullReviewOptions
) -> PullReview:
    """Review a pull request; without an event the review is pending, and visible only to its author."""
    issue = pulls.find(request.app, target, index)
    draft = ReviewDraft(
        event=body.event,
        body=body.body,
        commit_id=body.commit_id,
        comments=[create_pull_review_comment.draft() for create_pull_review_comment in body.comments or ()],
    )
    review = reviews.create(request.app, request.actor, target, issue, draft)
    return schemas_of(request, target, issue, [review])[0]


@endpoint("GET /repos/{owner}/{repo}/pulls/{index}/reviews/{id}", scope="repository", guards=READING)
def show_review(request: RequestContext, target: RepositoryAccess, index: int, id: int) -> PullReview:  # noqa: A002  # the path parameter's name
    """Show a review."""
    issue = pulls.find(request.app, target, index)
    review = reviews.find(request.app, request.actor, issue, id)
    return schemas_of(request, target, issue, [review])[0]


@endpoint(
    "POST /repos/{owner}/{repo}/pulls/{index}/reviews/{id}",
    scope="repository",
    guards=WRITING,
    status=200,
    refuses=(423,),
)
def submit_review(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    id: int,  # noqa: A002  # the path parameter's name
    body: SubmitPullReviewOptions,
) -> PullReview:
    """Submit a pending review."""
    issue = pulls.find(request.app, target, index)
    review = reviews.find(request.app, request.actor, issue, id)
    submitted = reviews.submit(request.app, request.actor, target, issue, review, event=body.event, body=body.body)
    return schemas_of(request, target, issue, [submitted])[0]


@endpoint(
    "DELETE /repos/{owner}/{repo}/pulls/{index}/reviews/{id}", scope="repository", guards=WRITING, refuses=(423,)
)
def delete_review(request: RequestContext, target: RepositoryAccess, index: int, id: int) -> None:  # noqa: A002  # the path parameter's name
    """Delete a review with its line comments; allowed for the reviewer and repository administrators."""
    issue = pulls.find(request.app, target, index)
    review = reviews.find(request.app, request.actor, issue, id)
    reviews.delete(request.app, request.actor, target, issue, review)


@endpoint(
    "GET /repos/{owner}/{repo}/pulls/{index}/reviews/{id}/comments",
    scope="repository",
    guards=READING,
    slow=True,
)
def list_review_comments(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    id: int,  # noqa: A002  # the path parameter's name
    page: PageParams,
) -> list[PullReviewComment] | RawResponse:
    """List the line comments of a review with their current positions; not paged by default, streamed if long."""
    issue = pulls.find(request.app, target, index)
    review = reviews.find(request.app, request.actor, issue, id)
    page = page_or_all(request, page)
    places, total = stored_comments.places_in_review(request.app.database, review, skip=page.skip, limit=page.size)
    request.response_headers |= paging_headers(request, page, total)
    head = reviews.head_of(request.app, issue)
    current = line_comments.current_positions(request.app, target, issue, places, head)
    positions = {number: (at.path, at.line, at.commit_id) for number, at in current.items()}
    batches = line_comment_batches(request, target.repository, issue, places, positions)
    return list_or_stream(batches, lambda comment: comment.body)


def line_comment_batches(
    request: RequestContext,
    repository: Repository,
    issue: Issue,
    places: Sequence[LinePlace],
    positions: Mapping[int, tuple[str, int, str]],
) -> Iterator[list[PullReviewComment]]:
    """Yield line comments in batches; those that were deleted meanwhile are left out."""
    for some in batches_of(places):
        with request.app.database.read() as connection:
            by_id = comments_by_id(connection, [place.comment_id for place in some])
        present = [(by_id[place.comment_id], place) for place in some if place.comment_id in by_id]
        yield line_comment_list(request, repository, issue, present, positions)


@endpoint(
    "POST /repos/{owner}/{repo}/pulls/{index}/reviews/{id}/dismissals",
    scope="repository",
    guards=WRITING,
    status=200,
    refuses=(423,),
)
def dismiss_review(
    request: RequestContext,
    target: RepositoryAccess,
    index: int,
    id: int,  # noqa: A002  # the path parameter's name
    body: DismissPullReviewOptions,
) -> PullReview:
    """Dismiss an approval or a request for changes, so that it no longer counts."""
    issue = pulls.find(request.app, target, index)
    review = reviews.find(request.app, request.actor, issue, id)
    dismissed = reviews.dismiss(
        request.app, request.actor, target, issue, review, message=body.message, priors=body.priors
    )
    return schemas_of(request, target, issue, [dismissed])[0]


@endpoint(
    "POST /repos/{owner}/{repo}/pulls/{index}/reviews/{id}/undismissals",
    scope="repository",
    guards=WRITING,
    status=200,
    refuses=(423,),
)
def undismiss_review(request: RequestContext, target: RepositoryAccess, index: int, id: int) -> PullReview:  # noqa: A002  # the path parameter's name
    """Undo the dismissal of a review."""
    issue = pulls.find(request.app, target, index)
    review = reviews.find(request.app, request.actor, issue, id)
    restored = reviews.undismiss(request.app, request.actor, target, issue, review)
    return schemas_of(request, target, issue, [restored])[0]


@endpoint(
    "POST /repos/{owner}/{repo}/pulls/{index}/requested_reviewers",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(423,),
)
def request_reviews(
    request: RequestContext, target: RepositoryAccess, index: int, body: PullReviewRequestOptions
) -> list[PullReview]:
    """Request reviews from users and teams; returns the new requests."""
    issue = pulls.find(request.app, target, index)
    requested = reviews.request(request.app, request.actor, target, issue, body.requests())
    return schemas_of(request, target, issue, requested)


@endpoint(
    "DELETE /repos/{owner}/{repo}/pulls/{index}/requested_reviewers",
    scope="repository",
    guards=WRITING,
    refuses=(423,),
)
def remove_review_requests(
    request: RequestContext, target: RepositoryAccess, index: int, body: PullReviewRequestOptions
) -> None:
    """Cancel review requests; users and teams without a request are ignored."""
    issue = pulls.find(request.app, target, index)
    reviews.cancel_requests(request.app, request.actor, target, issue, body.requests())


@endpoint(
    "POST /repos/{owner}/{repo}/pulls/comments/{id}/resolve",
    scope="repository",
    guards=WRITING,
    refuses=(400, 423),
    status=204,
)
def resolve_comment(request: RequestContext, target: RepositoryAccess, id: int) -> None:  # noqa: A002  # the path parameter's name
    """Resolve the conversation of a line comment."""
    line_comments.resolve(request.app, request.actor, target, id)


@endpoint(
    "POST /repos/{owner}/{repo}/pulls/comments/{id}/unresolve",
    scope="repository",
    guards=WRITING,
    refuses=(400, 423),
    status=204,
)
def unresolve_comment(request: RequestContext, target: RepositoryAccess, id: int) -> None:  # noqa: A002  # the path parameter's name
    """Reopen the conversation of a line comment."""
    line_comments.unresolve(request.app, request.actor, target, id)
