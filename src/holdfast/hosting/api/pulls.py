"""The API of pull requests, which can be opened, discussed and closed; merging is not implemented."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, field

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.issue_options import EditIssueOption, OpenOption
from holdfast.hosting.api.issue_queries import ListQuery, filter_of, order_of
from holdfast.hosting.api.ref_names import RefName
from holdfast.hosting.guards import in_repository, not_archived, sees_pulls, signed_in
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.pulls import PullRequest, pull_list
from holdfast.hosting.services import pulls
from holdfast.hosting.store import issue_lists
from holdfast.hosting.store.issues import Issue

__all__ = ["create_pull", "edit_pull", "list_pulls", "show_pull"]

READING = (in_repository, sees_pulls)
WRITING = (*READING, signed_in, not_archived)


class PullQuery(ListQuery, frozen=True, kw_only=True):
    """Filters of pull requests; labels are ids, and a milestone is an id or a title."""

    labels: Annotated[list[int], Meta(max_length=100)] = field(default_factory=list)
    milestone: str = ""
    poster: str = ""
    head: str = ""
    base: str = ""


class CreatePullRequestOption(OpenOption, frozen=True, kw_only=True):
    """A new pull request that would merge `head` into `base`."""

    head: Annotated[str, Meta(max_length=255), Required] = ""
    base: Annotated[str, Meta(max_length=100), Required, RefName] = ""


class EditPullRequestOption(EditIssueOption, frozen=True, kw_only=True):
    """Changes; an absent key and an empty title or base keep the value."""

    base: Annotated[str, Meta(max_length=100), RefName] = ""


def pull_schemas(request: RequestContext, target: RepositoryAccess, found: Sequence[Issue]) -> list[PullRequest]:
    """Encode pull requests, with the state of their branches as far as it is computed in time."""
    states = pulls.states(request.app, target, found)
    return pull_list(request, target.repository, target.permissions, found, states)


@endpoint("GET /repos/{owner}/{repo}/pulls", scope="repository", guards=READING, slow=True)
def list_pulls(
    request: RequestContext, target: RepositoryAccess, query: PullQuery, page: PageParams
) -> PagedList[PullRequest]:
    """List the pull requests of a repository."""
    filters = filter_of(
        query, label_ids=tuple(query.labels), milestones=query.milestone.replace(",", " "), author=query.poster
    )
    conditions = [issue_lists.in_repository(target.repository, (True,))]
    conditions += issue_lists.between_branches(query.head.rpartition(":")[2], query.base)
    found, total = issue_lists.list_issues(
        request.app.database, conditions, filters, sort=order_of(query), skip=page.skip, limit=page.size
    )
    return PagedList(pull_schemas(request, target, found), total)


@endpoint("POST /repos/{owner}/{repo}/pulls", scope="repository", guards=WRITING, status=201, refuses=(409, 423))
def create_pull(request: RequestContext, target: RepositoryAccess, body: CreatePullRequestOption) -> PullRequest:
    """Open a pull request; it can be discussed and closed, but not merged."""
    created = pulls.create(request.app, request.actor, target, body.draft(), head=body.head, base=body.base)
    return pull_schemas(request, target, [created])[0]


@endpoint("GET /repos/{owner}/{repo}/pulls/{index}", scope="repository", guards=READING, slow=True)
def show_pull(request: RequestContext, target: RepositoryAccess, index: int) -> PullRequest:
    """Show a pull request."""
    return pull_schemas(request, target, [pulls.find(request.app, target, index)])[0]


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
    """Change a pull request; its author may change title, body and state, the rest needs write access."""
    issue = pulls.find(request.app, target, index)
    changed = pulls.edit(request.app, request.actor, target, issue, body.changes(body.base or None))
    return pull_schemas(request, target, [changed])[0]
