"""The API of dependencies between issues: blockers, blocked issues, and the graph of both."""

from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import LINK_ISSUES, READ_ISSUES
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ErrorBody
from holdfast.hosting.http.pagination import DEFAULT_SIZE, PagedList, PageParams, page_of, whole_number
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.dependencies import DependencyGraph, dependent_issues, reader
from holdfast.hosting.schemas.issues import IssueSchema, one_issue
from holdfast.hosting.services import dependencies, issues
from holdfast.hosting.services.dependencies import IssueReference
from holdfast.hosting.store import visible_issues
from holdfast.hosting.store.issues import find_issue

__all__ = [
    "add_block",
    "add_dependency",
    "list_blocks",
    "list_dependencies",
    "remove_block",
    "remove_dependency",
    "set_dependencies",
    "show_dependency_graph",
]

# Maximum page size, beyond every list; multiplied by any page number it fits into 64 bits.
MAX_SIZE: Final = 2**31
# The error of a disabled feature is a JSON string instead of an object.
ALSO: Final = {400: str | ErrorBody}


class IssueMeta(msgspec.Struct, frozen=True, kw_only=True):
    """An issue; without owner and name it is in the same repository. `repo` is a synonym of `name`."""

    index: int = 0
    owner: str = ""
    name: str = ""
    repo: str = ""
    # gitea-js sends it without the JSON media type.
    plain_json: ClassVar[bool] = True

    @property
    def reference(self) -> IssueReference:
        """The reference to the issue."""
        return IssueReference(self.index, self.owner, self.name or self.repo)


class DependenciesOption(msgspec.Struct, frozen=True):
    """All blockers of an issue; also accepted as a bare list."""

    dependencies: Annotated[list[IssueMeta], Meta(max_length=1000)] = []
    bare_list: ClassVar[str] = "dependencies"


def shown_again(request: RequestContext, target: RepositoryAccess, index: int) -> IssueSchema:
    """Show the current state of the issue."""
    return one_issue(request, target.repository, find_issue(request.app.database, target.repository, index))


@endpoint(
    "GET /repos/{owner}/{repo}/issues/{index}/dependencies",
    scope="issue",
    guards=READ_ISSUES,
    slow=True,
    cacheable=True,
)
def list_dependencies(
    request: RequestContext, target: RepositoryAccess, index: int, page: PageParams
) -> PagedList[IssueSchema]:
    """List the blockers of an issue; unreadable ones are listed without details."""
    dependencies.require_dependencies(target)
    issue = issues.find(request.app, target, index)
    blockers, total = visible_issues.blockers_of(
        request.app.database, issue, reader(request), skip=page.skip, limit=page.size
    )
    return PagedList(
        dependent_issues(request, blockers, writes=access.may_write_issue(target.permissions, issue)), total
    )


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/dependencies",
    scope="issue",
    guards=LINK_ISSUES,
    status=201,
    refuses=(409, 423),
    also=ALSO,
)
def add_dependency(request: RequestContext, target: RepositoryAccess, index: int, body: IssueMeta) -> IssueSchema:
    """Add a blocker to an issue."""
    issue = issues.find(request.app, target, index)
    dependencies.add_blocker(request.app, request.actor, target, issue, body.reference)
    return shown_again(request, target, index)


@endpoint(
    "PUT /repos/{owner}/{repo}/issues/{index}/dependencies",
    scope="issue",
    guards=LINK_ISSUES,
    refuses=(409, 423),
    also=ALSO,
)
def set_dependencies(
    request: RequestContext, target: RepositoryAccess, index: int, body: DependenciesOption
) -> IssueSchema:
    """Replace all blockers of an issue.

    Blockers the caller could not remove one by one stay: issues they may not read and, where dependencies on other
    repositories are disabled, issues of other repositories.
    """
    issue = issues.find(request.app, target, index)
    references = [meta.reference for meta in body.dependencies]
    dependencies.set_blockers(request.app, request.actor, target, issue, references)
    return shown_again(request, target, index)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/dependencies",
    scope="issue",
    guards=LINK_ISSUES,
    status=201,
    refuses=(409, 423),
    also=ALSO,
)
def remove_dependency(
    request: RequestContext, target: RepositoryAccess, index: int, body: IssueMeta
) -> IssueSchema:
    """Remove a blocker from an issue."""
    issue = issues.find(request.app, target, index)
    dependencies.remove_blocker(request.app, request.actor, target, issue, body.reference)
    return shown_again(request, target, index)


def unbounded_page(request: RequestContext) -> PageParams:
    """Return the requested page of a list without a practical size limit; `limit=1` means the default size."""
    parameters = dict(request.query_pairs())
    size = whole_number(parameters.get("limit") or parameters.get("per_page"))
    return PageParams(page_of(request).number, DEFAULT_SIZE if size <= 1 else min(size, MAX_SIZE))


@endpoint(
    "GET /repos/{owner}/{repo}/issues/{index}/blocks", scope="issue", guards=READ_ISSUES, slow=True, cacheable=True
)
def list_blocks(
    request: RequestContext, target: RepositoryAccess, index: int, page: PageParams
) -> PagedList[IssueSchema]:
    """List the issues an issue blocks; unreadable ones are neither listed nor counted."""
    issue = issues.find(request.app, target, index)
    page = unbounded_page(request)
    blocked, total = visible_issues.blocked_by(
        request.app.database, issue, reader(request), skip=page.skip, limit=page.size
    )
    return PagedList(dependent_issues(request, blocked), total, page)


@endpoint(
    "POST /repos/{owner}/{repo}/issues/{index}/blocks",
    scope="issue",
    guards=LINK_ISSUES,
    status=201,
    refuses=(409,),
    also=ALSO,
)
def add_block(request: RequestContext, target: RepositoryAccess, index: int, body: IssueMeta) -> IssueSchema:
    """Make an issue a blocker of another."""
    issue = issues.find(request.app, target, index)
    dependencies.add_blocked(request.app, request.actor, target, issue, body.reference)
    return shown_again(request, target, index)


@endpoint(
    "DELETE /repos/{owner}/{repo}/issues/{index}/blocks",
    scope="issue",
    guards=LINK_ISSUES,
    status=201,
    refuses=(409,),
    also=ALSO,
)
def remove_block(request: RequestContext, target: RepositoryAccess, index: int, body: IssueMeta) -> IssueSchema:
    """Stop an issue from blocking another."""
    issue = issues.find(request.app, target, index)
    dependencies.remove_blocked(request.app, request.actor, target, issue, body.reference)
    return shown_again(request, target, index)


class GraphQuery(msgspec.Struct, frozen=True):
    """The maximum number of steps in each direction; unlimited by default."""

    depth: Annotated[int, Meta(ge=1, le=10_000)] | None = None


@endpoint(
    "GET /repos/{owner}/{repo}/issues/{index}/dependencies/graph", scope="issue", guards=READ_ISSUES, slow=True
)
def show_dependency_graph(
    request: RequestContext, target: RepositoryAccess, index: int, query: GraphQuery
) -> DependencyGraph:
    """Show the blockers of an issue and what it blocks, transitively.

    An unreadable issue is a hidden node and not expanded. Of a very large graph the nearest issues are returned,
    with `truncated` set.
    """
    dependencies.require_dependencies(target)
    issue = issues.find(request.app, target, index)
    return dependencies.graph(request, target, issue, query.depth)
