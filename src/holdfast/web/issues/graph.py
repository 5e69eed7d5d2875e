"""The page with the dependency graph of an issue."""

from dataclasses import dataclass
from typing import Final

import msgspec

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import READ_ISSUES
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.dependencies import DependencyGraph
from holdfast.hosting.services import dependencies, issues
from holdfast.web.issues.choices import as_ids
from holdfast.web.issues.graph_svg import Box, Drawing, draw_graph
from holdfast.web.issues.rows import issue_path
from holdfast.web.repository_frame import ISSUES, show_in

__all__ = ["page_dependencies"]

DEPTHS: Final = (1, 2, 3, 5)


class GraphPageQuery(msgspec.Struct, frozen=True):
    """The number of levels to follow in each direction; empty means all."""

    depth: str = ""


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A row of the table below the graph."""

    box: Box
    blockers: list[Box]
    blocked: int


@endpoint("GET /{owner}/{repo}/issues/{index}/dependencies", scope="issue", guards=READ_ISSUES, slow=True)
def page_dependencies(
    request: RequestContext, target: RepositoryAccess, index: int, query: GraphPageQuery
) -> RawResponse:
    """Draw the dependencies around an issue."""
    issue = issues.find(request.app, target, index)
    depth = next((number for number in as_ids([query.depth]) if number in DEPTHS), None)
    graph = dependencies.graph(request, target, issue, depth)
    drawing = draw_graph(graph, target.repository.full_name)
    return show_in(
        request,
        target,
        "issues/graph.html",
        tab=ISSUES,
        title=f"Dependencies of #{index} · {target.repository.full_name}",
        issue=issue,
        path=issue_path(target.repository, index),
        drawing=drawing,
        lines=lines(graph, drawing),
        depth=depth,
        depths=DEPTHS,
        truncated=graph.truncated and depth is None,
    )


def lines(graph: DependencyGraph, drawing: Drawing) -> list[GraphRow]:
    """Return the rows of the table below the graph."""
    boxes = drawing.boxes
    blockers: dict[int, list[Box]] = {}
    blocked: dict[int, int] = {}
    for edge in graph.edges:
        if edge.issue < len(boxes) and edge.blocker < len(boxes):
            blockers.setdefault(edge.issue, []).append(boxes[edge.blocker])
            blocked[edge.blocker] = blocked.get(edge.blocker, 0) + 1
    return [GraphRow(box, blockers.get(box.node.key, []), blocked.get(box.node.key, 0)) for box in boxes]
