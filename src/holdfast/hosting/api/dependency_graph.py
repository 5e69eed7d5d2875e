"""Everything an issue waits for and everything that waits for it, as one graph."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.issue_access import the_issue
from holdfast.hosting.guards import READ_ISSUES
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.schemas.dependencies import DependencyEdge, DependencyGraph, node, reader
from holdfast.hosting.store.dependency_graph import edges_around, steps
from holdfast.hosting.store.visible_issues import seen_by_id

__all__ = ["show_dependency_graph"]

MOST: Final = 5000


class GraphQuery(msgspec.Struct, frozen=True):
    """How many steps to follow in each direction; as many as there are when it is not said."""

    depth: Annotated[int, Meta(ge=1, le=10_000)] | None = None


@endpoint(
    "GET /repos/{owner}/{repo}/issues/{index}/dependencies/graph", scope="issue", guards=READ_ISSUES, slow=True
)
def show_dependency_graph(
    request: RequestContext, target: RepositoryAccess, index: int, query: GraphQuery
) -> DependencyGraph:
    """Show what blocks an issue and what it blocks, directly and through others.

    An issue the caller may not read is a hidden node, and what lies behind it is not followed. Of a very large
    graph the nearest issues are shown, and `truncated` says that there are more.
    """
    if not target.repository.allows_dependencies:
        raise ApiError(404)
    issue = the_issue(request, target, index)
    with request.app.database.read() as connection:
        edges = edges_around(connection, issue.id, most=MOST)
        around = sorted(steps(issue.id, edges).items(), key=lambda item: abs(item[1]))
        seen = seen_by_id(connection, [number for number, _ in around[:MOST]], reader(request))
    hidden = {number for number, one in seen.items() if not one.is_readable}
    depths = {number: depth for number, depth in steps(issue.id, edges, hidden).items() if number in seen}
    farthest = query.depth or max(map(abs, depths.values()))
    near = [(abs(depth), number) for number, depth in depths.items() if abs(depth) <= farthest]
    keys = {number: key for key, (_, number) in enumerate(sorted(near))}
    return DependencyGraph(
        nodes=[node(request, seen[number], key=key, depth=depths[number]) for number, key in keys.items()],
        edges=[
            DependencyEdge(keys[one], keys[other])
            for one, other in sorted(edges)
            if one in keys and other in keys and not (one in hidden and other in hidden)
        ],
        truncated=len(near) < len(depths) or len(around) > MOST,
    )
