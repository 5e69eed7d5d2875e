"""The API of pull requests: open, list, edit and close them."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta, field

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.issue_options import EditIssueOption, OpenOption
from holdfast.hosting.api.issue_queries import ListQuery, filter_of, order_of
from holdfast.hosting.api.ref_names import RefName
from holdfast.hosting.errors import NoSuchIssue
from holdfast.hosting.guards import in_repository, not_archived, sees_pulls, signed_in
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.pulls import PullRequest, pull_list
from holdfast.hosting.services import pull_changes, pulls
from holdfast.hosting.services.reviews import ReviewRequests
from holdfast.hosting.store import issue_lists
from holdfast.hosting.store.issues import Issue

__all__ = ["create_pull", "edit_pull", "list_pulls", "show_pull", "show_pull_between"]

# A number that fits into a 64-bit column.
MOST_DIGITS: Final = 19
READING = (in_repository, sees_pulls)
WRITING = (*READING, signed_in, not_archived)


class PullQuery(ListQuery, frozen=True, kw_only=True):
    """Filters of pull requests; labels are ids, and a milestone is an id or a title."""

    labels: Annotated[list[int], Meta(max_length=100)] = field(default_factory=list)
    milestone: str = ""
    poster: str = ""
    head: str = ""
    base: str = ""
    base_branch: str = ""


class CreatePullRequestOption(OpenOption, frozen=True, kw_only=True):
    """A new pull request that would merge `head` into `base`."""

    head: Annotated[str, Meta(max_length=255), Required] = ""
    base: Annotated[str, Meta(max_length=100), Required, RefName] = ""
    allow_maintainer_edit: bool = False
    reviewers: Annotated[list[str], Meta(max_length=50)] | None = None
    team_reviewers: Annotated[list[str], Meta(max_length=50)] | None = None

    def requests(self) -> ReviewRequests | None:
        """Return the requested reviewers; None if there are none."""
        if not self.reviewers and not self.team_reviewers:
            return None
        return ReviewRequests(reviewers=self.reviewers or (), team_reviewers=self.team_reviewers or ())


class EditPullRequestOption(EditIssueOption, frozen=True, kw_only=True):
    """Changes; an absent key and an empty title or base keep the value."""

    base: Annotated[str, Meta(max_length=100), RefName] = ""
    allow_maintainer_edit: bool | None = None


class TextQuery(msgspec.Struct, frozen=True):
    """Whether a diff includes the content of binary files."""

    binary: bool = False


def pull_schemas(request: RequestContext, target: RepositoryAccess, issues: Sequence[Issue]) -> list[PullRequest]:
    """Encode pull requests."""
    return pull_list(request, target.repository, target.permissions, issues)


@endpoint("GET /repos/{owner}/{repo}/pulls", scope="repository", guards=READING, cacheable=True)
def list_pulls(
    request: RequestContext, target: RepositoryAccess, query: PullQuery, page: PageParams
) -> PagedList[PullRequest]:
    """List the pull requests of a repository."""
    filters = filter_of(
        query, label_ids=tuple(query.labels), milestones=query.milestone.replace(",", " "), author=query.poster
    )
    conditions = [issue_lists.in_repository(target.repository, (True,))]
    branches = issue_lists.between_branches(query.head.rpartition(":")[2], query.base or query.base_branch)
    issues, total = issue_lists.list_issues(
        request.app.database,
        [*conditions, *branches],
        filters,
        sort=order_of(query),
        kept=None if branches else issue_lists.kept_in(target.repository, (True,)),
        repository_id=target.repository.id,
        skip=page.skip,
        limit=page.size,
    )
    return PagedList(pull_schemas(request, target, issues), total)


@endpoint("POST /repos/{owner}/{repo}/pulls", scope="repository", guards=WRITING, status=201, refuses=(409, 423))
def create_pull(request: RequestContext, target: RepositoryAccess, body: CreatePullRequestOption) -> PullRequest:
    """Open a pull request from a branch of the repository or of a fork."""
    created = pulls.create(
        request.app,
        request.actor,
        target,
        body.draft(),
        head=body.head,
        base=body.base,
        allow_maintainer_edit=body.allow_maintainer_edit,
        asked=body.requests(),
    )
    return pull_schemas(request, target, [created])[0]


@endpoint("GET /repos/{owner}/{repo}/pulls/{index}", scope="repository", guards=READING, slow=True)
def show_pull(
    request: RequestContext, target: RepositoryAccess, index: str, query: TextQuery
) -> PullRequest | RawResponse:
    """Show a pull request; with the suffix `.diff` or `.patch`, its changes as text."""
    number, dot, form = index.partition(".")
    if not (number.isascii() and number.isdigit() and len(number) < MOST_DIGITS):
        raise NoSuchIssue(f"pull request does not exist [index: {index}]")
    issue = pulls.find(request.app, target, int(number))
    if not dot:
        return pull_schemas(request, target, [issue])[0]
    content = pull_changes.text_of(request.app, target, issue, form, binary=query.binary)
    return RawResponse(content, "text/plain;charset=utf-8")


@endpoint("GET /repos/{owner}/{repo}/pulls/{base}/{head}", scope="repository", guards=READING)
def show_pull_between(request: RequestContext, target: RepositoryAccess, base: str, head: str) -> PullRequest:
    """Show the pull request between two branches; the head may be `owner:branch`."""
    return pull_schemas(request, target, [pulls.find_between(request.app, target, base, head)])[0]


@endpoint(
    "PATCH /repos/{owner}/{repo}/pulls/{index}",
    scope="repository",
    guards=WRITING,
    status=201,
    refuses=(409, 412, 423),
)
def edit_pull(
    request: RequestContext, target: RepositoryAccess, index: int, body: EditPullRequestOption
) -> PullRequest:
    """Edit a pull request; its author may change title, body and state, the rest needs write access."""
    issue = pulls.find(request.app, target, index)
    changed = pulls.edit(
        request.app,
        request.actor,
        target,
        issue,
        body.changes(body.base or None),
        allow_maintainer_edit=body.allow_maintainer_edit,
    )
    return pull_schemas(request, target, [changed])[0]
