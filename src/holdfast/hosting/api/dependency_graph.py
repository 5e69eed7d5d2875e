"""The API of the dependency graph of an issue."""

from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import READ_ISSUES
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.dependencies import DependencyGraph
from holdfast.hosting.services import dependencies, issues

__all__ = ["show_dependency_graph"]


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
